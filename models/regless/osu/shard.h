// SPDX-License-Identifier: Apache-2.0
//
// One shard of the operand staging units: the registers of one warp scheduler's warps.
#pragma once

#include <regatta/protocol/request_rules.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/regless/osu.h>
#include <regatta/regless/register_map.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/small_divisor.h>

#include "in_place_array.h"
#include "shard_bank.h"

#include <array>

namespace regatta::models {

class OsuShard final : public sc_core::sc_module,
                       public StagingUnit,
                       public support::StatProvider,
                       tlm::tlm_bw_transport_if<> {
 public:
  /// `shard`: which of space.shards.
  OsuShard(const sc_core::sc_module_name& name, unsigned shard, const OsuConfig& config, const RegisterSpace& space,
           support::ClockDomain& clock);

  protocol::MemoryInitiatorSocket memory;

  // StagingUnit
  bool keeps_cycle_time() const override { return true; }
  unsigned banks() const override { return config_.banks; }
  unsigned lines_per_bank() const override { return lines_per_bank_; }
  unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    return bank_of(local(warp), reg.value());
  }
  void connect(StagingClient& client) override { client_ = &client; }
  unsigned request_room(unsigned bank) const override {
    return static_cast<unsigned>(lines_per_bank_ - banks_[bank].requests.size());
  }
  void preload(protocol::WarpSlot warp, protocol::RegisterId reg, bool last) override;
  void invalidate(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  bool can_issue(const protocol::DynamicInstruction& instruction) const override;
  void issued(const protocol::DynamicInstruction& instruction, const UseMarks& marks) override;
  void region_ended(protocol::WarpSlot warp, const protocol::GeneralRegisters& erase) override;

  // For the socket side.
  // `warp` is the number of the access's warp in the shard; a request arrives after `delay`, to which what it takes is
  // added.
  /// Reads a register into the payload.
  void read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned warp, sc_core::sc_time& delay);
  /// Writes a register, unless its bank has more than `most` cycles of work before it. Whether it did.
  bool write(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access, unsigned warp,
             sc_core::sc_time& delay, std::uint64_t most);
  /// Cycles of work before a write.
  std::uint64_t backlog(const protocol::WarpAccess& access, unsigned warp, const sc_core::sc_time& delay) {
    const std::uint64_t now = clock_.now();
    return home_of(warp, access.reg.value()).module.backlog(now, now + cycles(delay));
  }

  void connect_below(BackingStore& below) { below_ = &below; }
  OsuBank& bank_module(unsigned bank) { return banks_.at(bank).module; }
  void kernel_started(unsigned registers_per_warp);
  void warp_started(protocol::WarpSlot warp);
  void warp_finished(protocol::WarpSlot warp);
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  std::string check() const;
  bool idle() const;

 private:
  static constexpr std::uint64_t never = OsuBankAccess::never;
  using State = LineUse::State;
  using Request = ShardBank::Request;

  static constexpr std::uint16_t no_warp = 0xffff;
  /// A line on its way to memory.
  struct Buffered {
    enum class State : std::uint8_t { free, in_line, read_out, sent };
    State state = State::free;
    std::uint16_t warp = 0;
    std::uint8_t reg = 0;
    std::uint16_t bank = 0, line = no_line;  ///< in_line: where the value still is
    tlm::tlm_generic_payload* payload = nullptr;
  };
  static constexpr std::uint8_t no_place = 0xff;
  /// What waits to leave; a write-back has a place in the buffer.
  struct Outgoing {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint8_t place = no_place;
  };

  unsigned local(protocol::WarpSlot warp) const { return by_shards_.quotient(warp.value()); }
  protocol::WarpSlot global(unsigned warp) const {
    return protocol::WarpSlot(static_cast<std::uint16_t>(warp * space_.shards + shard_));
  }
  unsigned bank_of(unsigned warp, unsigned reg) const {
    return bank_mask_ != 0 ? (warp + reg) & bank_mask_ : (warp + reg) % config_.banks;
  }
  const ShardBank& home_of(unsigned warp, unsigned reg) const { return banks_[bank_of(warp, reg)]; }
  ShardBank& home_of(unsigned warp, unsigned reg) { return banks_[bank_of(warp, reg)]; }

  // Lines (shard.cpp).
  /// Whether a line of the bank could be taken; a dirty one takes a place of `room` in the write-back buffer.
  static bool has_line(const ShardBank& b, unsigned& room, std::uint64_t now) {
    const BankList from = b.module.next_list(now, room != 0);
    if (from == BankList::dirty) --room;
    return from != BankList::owned;
  }
  std::uint16_t allocate(ShardBank& b, unsigned warp, unsigned reg, std::uint64_t now);
  void claim(ShardBank& b, std::uint16_t line);
  void own(ShardBank& b, std::uint16_t line);
  /// The line came into a list.
  void listed(const ShardBank& b, std::uint16_t line) const {
    if (refused_) tell(b.module.line(line).available_at);
  }
  void release(ShardBank& b, std::uint16_t line, LastUse fate, std::uint64_t at);
  void settle(ShardBank& b, std::uint16_t line, std::uint64_t at) {
    const LineUse& u = b.module.use(line);
    if (u.fate != LastUse::none && u.reads == 0 && u.writes == 0 && u.state == State::owned)
      release(b, line, u.fate, at);
  }
  void drop(ShardBank& b, std::uint16_t line, std::uint64_t at);
  [[gnu::noinline, gnu::cold]] void read_no_line(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access);
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;
  [[gnu::noinline, gnu::cold]] void too_many_requests(unsigned bank) const;
  [[gnu::noinline, gnu::cold]] void failed(const tlm::tlm_generic_payload& payload) const;
  void came_free() {
    if (stalled_ != 0) try_stalled();
  }
  [[gnu::noinline]] void try_stalled();

  // Whether destinations find lines (shard_issue.cpp).
  [[gnu::noinline]] bool finds_lines(const protocol::InstructionTraits& traits, unsigned warp, std::uint64_t now) const;
  [[gnu::noinline, gnu::cold]] bool finds_lines_together(const protocol::InstructionTraits& traits, unsigned warp,
                                                         std::uint64_t now) const;
  [[gnu::noinline]] bool refuse(unsigned warp, std::uint64_t banks, std::uint64_t now) const;
  /// The first of `banks`, a bit each.
  const ShardBank& bank(std::uint64_t banks) const { return banks_[static_cast<unsigned>(__builtin_ctzll(banks))]; }
  std::uint64_t next_line(const ShardBank& b, std::uint64_t now) const;
  [[gnu::noinline]] void tell(std::uint64_t at) const;

  // What uses left-over cycles, and the way to memory (shard_flow.cpp).
  void request(protocol::WarpSlot warp, protocol::RegisterId reg, Request::Kind kind);
  void work();
  enum class Served : std::uint8_t { done, next_cycle, stalled };
  Served serve_request(ShardBank& b, std::uint64_t now);
  Served serve_invalidate(ShardBank& b, const Request& r, std::uint64_t now);
  Served serve_preload(ShardBank& b, const Request& r, std::uint64_t now);
  std::uint16_t fill_from_buffer(ShardBank& b, unsigned warp, unsigned reg, unsigned place, std::uint64_t now);
  void send_invalidation(unsigned warp, unsigned reg, std::uint64_t now);
  void serve_fill(ShardBank& b, std::uint64_t now);
  void to_buffer(ShardBank& b, const OsuBankAccess::Allocation& taken, std::uint64_t now);
  void leave(ShardBank& b, std::uint16_t line);
  int find_buffered(unsigned warp, unsigned reg) const;
  void free_place(unsigned place);
  bool cancel(unsigned place);
  /// Places that may be taken: what comes free in a cycle may be in the next one, so that the order of those who act in
  /// a cycle makes no difference.
  unsigned buffer_room(std::uint64_t now) const {
    return static_cast<unsigned>(buffer_.size()) - buffered_ - (freed_at_ == now ? freed_ : 0);
  }
  bool has_request_room() const { return requests_out_ < config_.request_queue; }
  void push_request(tlm::tlm_generic_payload* payload, std::uint64_t now);
  protocol::MemoryPayloadPool::Taken message(unsigned warp, unsigned reg, protocol::AccessClass access);
  void send(std::uint64_t now);
  void taken(std::uint64_t now, std::uint64_t at);
  void answered(tlm::tlm_generic_payload& payload, std::uint64_t when);
  bool is_stalled(unsigned bank) const { return (stalled_ >> bank & 1) != 0; }
  void activate(unsigned bank) { active_ |= std::uint64_t{1} << bank; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::uint64_t cycles(const sc_core::sc_time& delay) const { return clock_.cycles(delay); }

  const protocol::AnswerRules answer_rules_;
  const OsuConfig config_;
  const RegisterSpace space_;
  unsigned shard_;
  support::ClockDomain& clock_;
  support::SmallDivisor by_shards_;
  unsigned bank_mask_;  ///< 0: the banks are no power of two
  unsigned lines_per_bank_;
  unsigned registers_ = 0;  ///< per warp
  unsigned warps_;          ///< of this shard
  std::size_t bytes_;       ///< of a warp register
  InPlaceArray<ShardBank> banks_;
  std::vector<protocol::GeneralRegisters> owned_;   ///< per warp: registers whose lines are owned
  std::vector<protocol::GeneralRegisters> backed_;  ///< per warp: registers that memory has a copy of, current or not
  /// Why a warp was refused last, for whom nothing has changed while `changes` is the same: until when.
  struct Refusal {
    std::uint64_t banks = 0, changes = 0, until = 0;
  };
  mutable std::vector<Refusal> last_refusal_;  ///< per warp
  RegisterMap map_;
  StagingClient* client_ = nullptr;
  BackingStore* below_ = nullptr;

  std::vector<Buffered> buffer_;
  unsigned buffered_ = 0;           ///< places in use
  std::uint64_t places_freed_ = 0;  ///< ever
  unsigned freed_ = 0;              ///< of these, in cycle freed_at_
  std::uint64_t freed_at_ = 0;
  FixedQueue<Outgoing> outgoing_;  ///< in the order in which they arose, which is what keeps a register's in order
  unsigned requests_out_ = 0;      ///< of these, not write-backs
  protocol::MemoryPayloadPool pool_;
  tlm::tlm_generic_payload* waiting_ = nullptr;  ///< sent, not taken
  Outgoing sent_;                                ///< the last one that was sent
  std::uint64_t next_send_ = 0;
  std::uint64_t active_ = 0;  ///< banks with something to do, a bit each
  std::uint64_t stalled_ =
      0;  ///< of these, those whose first request waits for a line, the buffer or the way to memory
  std::uint64_t look_again_ = never;  ///< when a line can be taken that a stalled request waits for
  mutable bool refused_ = false;      ///< can_issue() said no, and it is not known to be said no more
  mutable std::uint64_t refused_last_ = 0;
  mutable std::uint64_t told_at_ = 0;  ///< when refused warps are asked again, as told last
  support::CycleClient wakeup_;

  std::uint64_t evictions_ = 0, clean_dropped_ = 0, erased_ = 0, from_free_ = 0, preloads_ = 0, undefined_preloads_ = 0;
  std::uint64_t buffer_hits_ = 0, invalidations_ = 0, reads_sent_ = 0, writes_sent_ = 0, invalidations_sent_ = 0;
  std::uint64_t stalled_requests_ = 0, buffer_full_ = 0, buffer_max_ = 0, not_staged_ = 0, lost_writes_ = 0,
                writes_cancelled_ = 0;
  mutable std::uint64_t refusals_ = 0;
  std::array<std::uint64_t, preload_source_count> sources_{};
};

}  // namespace regatta::models
