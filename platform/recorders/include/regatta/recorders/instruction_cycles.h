// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace regatta::recorders {

/// Scheduler-cycles by reason, indexed by protocol::Stall.
using CyclesByReason = std::array<std::uint64_t, protocol::stall_count>;

/// Charges each scheduler-cycle to one instruction, so that the sums over all instructions are the schedulers' cycles.
///
/// | the scheduler | the instruction |
/// | --- | --- |
/// | issued | the one issued, the first of two |
/// | waited for a result or a fetch, or was refused (gate, no unit, not its turn) | the next one of the oldest of its
/// warps that wait for this | | waited for a barrier | the barrier at which its oldest waiting warp is | | had nothing
/// to do | none |
///
/// The next instruction of a warp that has fetched none yet is not known: the cycle is charged to its last one.
class InstructionCycles : public protocol::Observer {
 public:
  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void cta_switched(protocol::Cycle, protocol::CtaSlot cta, bool active) override;
  void warp_started(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void warp_finished(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void fetched(protocol::Cycle, const protocol::WarpInfo& warp, const protocol::InstructionTraits& t) override;
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override;
  void warp_state(protocol::Cycle, const protocol::WarpInfo& warp, protocol::WarpState state) override;
  void cycles(protocol::Cycle, std::uint64_t count, const std::vector<protocol::Stall>& stall) override;

  /// Of the present or last launch, by static instruction; the last element is of no instruction. Empty before the
  /// first launch.
  const std::vector<CyclesByReason>& launch() const { return charged_; }

 private:
  struct Warp {
    bool resident = false;
    protocol::WarpState state = protocol::WarpState::absent;
    std::uint8_t scheduler = 0;
    std::uint16_t cta = 0;
    std::deque<std::uint32_t> fetched;  ///< static indices, to be issued
    std::uint32_t last = 0;             ///< issued last; of a new warp, the kernel's first
  };
  Warp& warp(protocol::WarpSlot slot);
  /// The oldest active warp of the scheduler in that state; null: none.
  const Warp* oldest(unsigned scheduler, protocol::WarpState state) const;
  std::size_t blamed(unsigned scheduler, protocol::Stall stall) const;

  std::vector<CyclesByReason> charged_;
  std::vector<Warp> warps_;           ///< by slot
  std::vector<std::uint16_t> order_;  ///< slots of resident warps, oldest first
  std::vector<bool> active_;          ///< by CTA slot
  struct Issue {
    std::uint64_t cycle = ~std::uint64_t{0};
    std::uint32_t instruction = 0;
  };
  std::vector<Issue> issues_;  ///< the last one of each scheduler
};

}  // namespace regatta::recorders
