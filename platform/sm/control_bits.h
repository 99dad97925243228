// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/control.h>

#include "dependences.h"

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::sm {

/// Dependences as the compiler wrote them into the instructions (trace/control.h): stall counts, yields, and counters
/// that instructions raise and wait for. Nothing is checked: several writes of one register may be in flight, and reads
/// find what is there.
///
/// Time of a sub-core stands still while its allocate stage waits for read ports, so that stall counts hold however
/// long that takes.
class ControlBitsUnit final : public Dependences {
 public:
  explicit ControlBitsUnit(Core& core)
      : core_(core),
        frozen_(core.config.schedulers, 0),
        ripe_(core.config.schedulers),
        latest_(core.config.schedulers) {}
  /// Throws support::UnfitTrace if the kernel has no control bits, or if they assume a latency that is less than this
  /// machine's.
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  WarpState state(const Warp& warp, const InstructionTraits& next) const override;
  protocol::Stall reason(const Warp& warp) const override;
  std::string describe_wait(const Warp& warp, const InstructionTraits& next) const override;
  void issued(Warp& warp, DynamicInstruction& d) override;
  const std::vector<Warp*>& stalled(unsigned scheduler) override;
  Warp& due(std::uint32_t value) override;
  void sources_read(Warp& warp, DynamicInstruction& d) override;
  void retired(Warp& warp, DynamicInstruction& d) override;

 private:
  enum Step : std::uint32_t { raise, eligible };
  static constexpr unsigned step_shift = 26;
  struct Flow {
    std::uint64_t next = 0;  ///< in the sub-core's time: the next instruction issues no earlier
    bool yields = false;     ///< because of a yield alone
    std::array<int, trace::control_counters> counters{};
    std::array<int, trace::control_counters> of_memory{};   ///< of these, raised by accesses beyond the SM
    std::array<std::uint8_t, 256> writes{}, long_writes{};  ///< in flight, by register
  };
  Flow& flow(const Warp& w) { return flows_[w.info.warp.value()]; }
  const Flow& flow(const Warp& w) const { return flows_[w.info.warp.value()]; }
  /// Cycles of the sub-core until now in which its allocate stage did not wait.
  std::uint64_t time(unsigned scheduler) const { return core_.now.value() - frozen_[scheduler]; }
  void schedule(Step step, std::uint64_t cycles, std::uint32_t index) {
    core_.at(core_.now + cycles, Work::Kind::dependence, step << step_shift | index);
  }
  void change(const DynamicInstruction& d, unsigned counter, int by);

  Core& core_;
  std::vector<std::uint64_t> frozen_;  ///< cycles, per scheduler
  /// Per scheduler, warps whose stall count was over in cycle `since`, the last one in which any was.
  struct Ripe {
    Cycle since;
    std::vector<Warp*> warps;
  };
  std::vector<Ripe> ripe_;
  /// Per scheduler, the warp that has issued an instruction of stall count 1 last.
  struct Latest {
    Cycle at;
    Warp* warp = nullptr;
  };
  std::vector<Latest> latest_;
  std::vector<Warp*> held_back_;
  std::vector<trace::ControlBits> bits_;
  std::vector<Flow> flows_;  ///< by warp slot
};

}  // namespace regatta::sm
