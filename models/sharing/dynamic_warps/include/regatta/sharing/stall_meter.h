// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Pipeline stalls of an SM, for itself and for others.
class StallCount : public virtual sc_core::sc_interface {
 public:
  /// Scheduler-cycles since the start of the run, up to the end of cycle `cycle`. All that happens in it has happened,
  /// and nothing later.
  virtual std::uint64_t stalls_through(std::uint64_t cycle) const = 0;
};

/// Counts scheduler-cycles in which a warp is ready and the pipeline has no room for it (structural stalls). Waiting
/// for results, barriers and gates does not count: the thesis calls it idle.
class StallMeter final : public sc_core::sc_module, public protocol::Observer, public StallCount {
 public:
  sc_core::sc_export<StallCount> stalls;

  explicit StallMeter(const sc_core::sc_module_name& name);

  bool keeps_cycle_time() const override { return true; }
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::cycles, protocol::Event::kernel_finished};
  }
  void cycles(protocol::Cycle from, std::uint64_t count, const std::vector<protocol::Stall>& stall) override;
  void kernel_finished(protocol::Cycle, const protocol::KernelContext&) override { rate_ = 0; }
  void kernel_broken_off(protocol::Cycle, const protocol::KernelContext&) override { rate_ = 0; }

  std::uint64_t stalls_through(std::uint64_t cycle) const override;

 private:
  std::uint64_t counted_ = 0;
  std::uint64_t end_ = 0;  ///< the last cycle that is counted
  unsigned rate_ = 0;      ///< in each of the cycles since, in which the SM has slept
};

}  // namespace regatta::models
