// SPDX-License-Identifier: Apache-2.0
//
// Checks and measures warp instruction reuse: at the end of a kernel no physical register may be referenced;
// optionally, how many computations are repeated at all (WIR figure 2).
#pragma once

#include <regatta/models/wir/register_state.h>
#include <regatta/protocol/observer.h>

#include <vector>

namespace regatta::models::wir {

/// Reports a SystemC error if the counts at the end of a kernel differ from the actual references, if a register
/// leaked, or if more registers were in use than the policy allows.
class Watcher : public protocol::Observer {
 public:
  explicit Watcher(RegisterState& state) : state_(state) {}
  std::vector<protocol::Event> interests() const override { return {protocol::Event::kernel_finished}; }
  bool keeps_cycle_time() const override { return true; }
  void kernel_finished(protocol::Cycle, const protocol::KernelContext&) override;

 private:
  RegisterState& state_;
};

/// Counts, in windows of 1,000 warp instructions of an SM, those that repeat a computation of the window: the same
/// instruction except for its registers, on the same lanes, with the same source values. Branches, barriers and stores
/// never count as repeated. Also counts, for all and for the repeated ones, what kept them out of the reuse buffer.
class RepeatMeter : public protocol::Observer {
 public:
  explicit RepeatMeter(RegisterState& state) : state_(state), seen_(buckets) {}
  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void warp_started(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override;

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

  RegisterState& state_;
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
