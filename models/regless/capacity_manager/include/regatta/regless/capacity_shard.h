// SPDX-License-Identifier: Apache-2.0
//
// The capacity manager of one warp scheduler (RegLess, MICRO 2017, section 5.1): a state machine per warp, the stack of
// warps that wait for lines, and a counter of unreserved lines per bank of the staging unit.
#pragma once

#include <regatta/regless/region_table.h>

#include <regatta/protocol/extension_points.h>
#include <regatta/regless/staging_unit.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/small_divisor.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

struct CapacityManagerConfig {
  unsigned metadata_words = 16;  ///< of a warp: region words decoded and still needed
  unsigned fall_through = 0;     ///< cycles before the entry under a stack's top is tried too; 0: never (the paper)

  /// Knobs capacity_manager.*.
  void declare(support::OptionSet& options);
};

/// What the regions that ran were like; sums, from which means and deviations follow.
struct RegionCounters {
  std::uint64_t executed = 0;
  std::uint64_t instructions = 0;    ///< warp instructions
  std::uint64_t active_cycles = 0;   ///< warp-cycles, from the first in which it could issue to the last issue
  std::uint64_t preload_cycles = 0;  ///< warp-cycles, from a region's start to its last acknowledgement
  std::uint64_t drain_cycles = 0;    ///< warp-cycles, from its last issue to its last result written
  std::uint64_t preloads = 0;        ///< registers
  std::uint64_t invalidations = 0;   ///< registers
  std::uint64_t lines = 0;           ///< reserved
  std::uint64_t lines_squared = 0;
  std::array<std::uint64_t, preload_source_count> preloads_from{};  ///< answered
  std::uint64_t words = 0;                                          ///< decoded

  RegionCounters& operator+=(const RegionCounters& other);
};

class CapacityShard final : public sc_core::sc_module, public StagingClient, public support::StatProvider {
 public:
  /// A warp's way round: inactive (on the stack unless it waits at a barrier), preloading, active, draining.
  enum class State : std::uint8_t { absent, inactive, preloading, active, draining };

  /// `table` is of the running kernel; `room` is notified when room() may have got better.
  CapacityShard(const sc_core::sc_module_name& name, const CapacityManagerConfig& config, unsigned shards,
                const RegionTable& table, support::CycleEvent& room, support::ClockDomain& clock);

  sc_core::sc_port<StagingUnit> staging;

  // The sides of the gate and of the decode point, for the warps of this shard.
  void connect(protocol::GateListener& listener) { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction& instruction);
  void issued(const protocol::DynamicInstruction& instruction);
  void written_back(const protocol::DynamicInstruction& instruction);
  void barrier_opened(protocol::WarpSlot warp);
  void kernel_started(const protocol::KernelContext& context);
  void warp_started(protocol::WarpSlot warp);
  void warp_finished(protocol::WarpSlot warp);
  unsigned room(protocol::WarpSlot warp) const;
  void decoded(protocol::WarpSlot warp, std::uint32_t inserted, std::uint64_t sequence);

  // The staging unit's client.
  void preloaded(protocol::WarpSlot warp, protocol::RegisterId reg, PreloadSource source) override;
  void invalidated(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  void lines_available(std::uint64_t at) override;

  State state(protocol::WarpSlot warp) const { return warps_[local(warp)].state; }
  /// Lines of a bank that no region has reserved.
  unsigned free_lines(unsigned bank) const { return free_[bank]; }
  /// Warps on the stack, the top last.
  std::vector<protocol::WarpSlot> stack() const;
  const RegionCounters& counters() const { return counters_; }
  /// One line per warp that waits for something here.
  std::string describe_stuck() const;
  /// Warp-cycles in which a warp's region was active.
  std::uint64_t active_warp_cycles() const { return counters_.active_cycles; }

  void register_stats(support::StatGroup& group) override;

 private:
  using BankCounts = Region::BankCounts;
  struct StoredWord {
    std::uint32_t inserted = 0;
    std::uint64_t sequence = 0;  ///< of the instruction behind it
  };
  /// What every instruction touches comes first, in one line of the host's cache.
  struct alignas(64) Warp {
    protocol::WarpSlot slot;
    State state = State::absent;
    bool at_barrier = false;
    bool stacked = false;
    mutable bool refused_words = false;  ///< room() answered 0
    std::uint8_t rotation = 0;           ///< bank of register 0
    unsigned writes = 0;                 ///< results on their way to the staging unit
    unsigned heads = 0;                  ///< regions that could start as far as words go, in `words`
    BankCounts writing{};                ///< results on their way, by bank
    std::uint64_t end = 0;               ///< behind its region's last instruction, by sequence; 0: not known yet
    std::uint64_t last = 0;              ///< issued, by sequence
    // A ring: the marks of the region that runs, then the words of the regions behind it.
    unsigned head = 0, held = 0;
    std::vector<StoredWord> words;
    const Region* region = nullptr;  ///< while preloading or active
    BankCounts reserved{};           ///< lines, by bank
    std::uint64_t first = 0;         ///< the region's first instruction, by sequence
    std::uint64_t since = 0;         ///< cycle in which it came into its state
    unsigned acknowledgements = 0;   ///< awaited
    std::uint64_t age = 0;           ///< order of start

    /// Of `words`, that which is `i` places behind the first, i at most their number.
    std::size_t place(unsigned i) const {
      const std::size_t at = std::size_t{head} + i;
      return at < words.size() ? at : at - words.size();
    }
    const StoredWord& word(unsigned i) const { return words[place(i)]; }
  };
  /// A preload or an invalidation.
  struct Request {
    protocol::WarpSlot warp;
    protocol::RegisterId reg;
    enum class Kind : std::uint8_t { preload, last_preload, invalidate } kind = Kind::preload;
  };
  enum class Wait : std::uint8_t { none, words, lines };
  static constexpr unsigned wait_count = 3;

  std::size_t local(protocol::WarpSlot warp) const { return by_shards_.quotient(warp.value()); }
  Warp& of(protocol::WarpSlot warp) { return warps_[local(warp)]; }
  std::uint64_t now() const { return clock_.now(); }
  void end_of_elaboration() override;

  void tick();
  void account();
  void look_again() { client_.request(now() + 1); }
  bool fits(const Warp& warp) const;
  void activate(Warp& warp);
  static unsigned bank_of(const Warp& warp, protocol::RegisterId reg) {
    return (warp.rotation + reg.value()) % trace::region_banks;
  }
  bool ask(const Request& request);
  void ask_deferred();
  void acknowledged(Warp& warp);
  [[gnu::noinline, gnu::cold]] void unasked(const Warp& warp) const;
  void open(Warp& warp);
  void end_region(Warp& warp);
  void shrink(Warp& warp);
  void drained(Warp& warp);
  void push(Warp& warp);
  void unstack(Warp& warp);
  void drop_word(Warp& warp);
  void find_end(Warp& warp);
  void release_all(Warp& warp);
  void give_back(BankCounts lines);

  const CapacityManagerConfig config_;
  const support::SmallDivisor by_shards_;
  const RegionTable& table_;
  support::CycleEvent& room_event_;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  StagingUnit* unit_ = nullptr;
  protocol::GateListener* listener_ = nullptr;

  std::vector<Warp> warps_;          ///< by local index
  std::vector<std::uint8_t> stack_;  ///< local indices, the top last
  std::array<std::uint16_t, trace::region_banks> free_{};
  std::uint64_t age_ = 0;
  std::vector<Request> deferred_;  ///< requests that found it full, in order
  std::uint64_t deferred_count_ = 0;
  std::uint64_t released_at_ = 0;    ///< cycle in which barriers last put warps on the stack
  unsigned released_ = 0;            ///< how many of them, which are the topmost
  unsigned blocked_warp_ = no_warp;  ///< the topmost with a known region, when it did not fit
  std::uint64_t blocked_since_ = 0;

  RegionCounters counters_;
  Wait waiting_ = Wait::none;
  std::uint64_t accounted_ = 0;  ///< up to this cycle waits are counted
  std::array<std::uint64_t, wait_count> wait_cycles_{};
  std::uint64_t stacked_cycles_ = 0;  ///< warp-cycles on the stack
  std::uint64_t line_cycles_ = 0;     ///< reserved lines x cycles
  unsigned reserved_lines_ = 0;
  std::uint64_t fell_through_ = 0;
  std::uint64_t most_lines_ = 0;  ///< that a region reserved
  std::uint64_t late_ends_ = 0;   ///< regions whose end was known after their last issue

  static constexpr unsigned no_warp = ~0u;
};

const char* to_string(CapacityShard::State state);

}  // namespace regatta::models
