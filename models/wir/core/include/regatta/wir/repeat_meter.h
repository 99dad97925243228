// SPDX-License-Identifier: Apache-2.0
//
// How many computations are repeated at all (WIR figure 2), and what keeps them out of the reuse buffer.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/support/stats.h>
#include <regatta/wir/in_flight.h>
#include <regatta/wir/rename_tables.h>

#include <array>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// The reason that keeps an instruction out of the reuse buffer: the first that applies.
enum class ReuseBar : std::uint8_t {
  none,       ///< nothing: it looks up
  effect,     ///< a branch, barrier, store or another instruction without a result
  special,    ///< reads a special register
  predicate,  ///< reads or writes a predicate other than its guard
  wide,       ///< its result takes several registers
  kind,       ///< another instruction that is never reused
  divergent,  ///< a lane is switched off
  pinned,     ///< a source is pinned
  unwritten,  ///< a source was never written
  load,       ///< a load that the rules for loads, or the model, exclude
};
constexpr unsigned reuse_bars = static_cast<unsigned>(ReuseBar::load) + 1;

/// Counts, in windows of 1,000 warp instructions of an SM, those that repeat a computation of the window: the same
/// instruction except for its registers, on the same lanes, with the same source values. Branches, barriers and stores
/// never count as repeated. Also counts, for all and for the repeated ones, what kept them out of the reuse buffer.
class RepeatMeter : public sc_core::sc_module, public protocol::Observer, public support::StatProvider {
 public:
  RepeatMeter(const sc_core::sc_module_name& name, const InFlightTable& in_flight, const RenameAccess& tables)
      : sc_module(name), in_flight_(in_flight), tables_(tables), seen_(buckets) {}
  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void warp_started(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  struct Counters {
    std::uint64_t sampled = 0, found = 0, often = 0, loads = 0;
    std::array<std::uint64_t, reuse_bars> barred{}, barred_repeats{};  ///< by ReuseBar
    std::uint64_t barriers_max = 0;                                    ///< issued by a warp
  };
  const Counters& counters() const { return counters_; }

 private:
  static constexpr unsigned window = 1000;
  static constexpr unsigned buckets = 4096;
  static constexpr unsigned often = 10;
  struct Seen {
    std::uint64_t key = 0;
    std::uint64_t in_window = 0;
    std::uint32_t times = 0;
  };
  std::uint64_t value_of(const protocol::DynamicInstruction& d, unsigned destination) const;
  bool repeated(std::uint64_t key);
  ReuseBar bar_of(const protocol::DynamicInstruction& d) const;

  const InFlightTable& in_flight_;
  const RenameAccess& tables_;
  Counters counters_;
  std::vector<std::uint64_t> text_;    ///< by static index: of opcode and immediates; 0: never repeated
  std::vector<std::uint64_t> values_;  ///< by warp slot and register: of its contents
  std::vector<protocol::LaneMask> predicates_;
  std::vector<std::uint64_t> barriers_;  ///< by warp slot
  std::vector<Seen> seen_;
  std::uint64_t windows_ = 1;
  unsigned in_window_ = 0;
  unsigned registers_ = 1;
  unsigned lanes_ = 32;
};

}  // namespace regatta::models::wir
