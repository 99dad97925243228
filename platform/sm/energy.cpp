// SPDX-License-Identifier: Apache-2.0
//
// Maps counters of the SM to events of the energy table. The front end is charged per instruction, structures that
// carry data through the pipeline by the width of a warp, execution units per lane, and shared memory per pass over its
// banks.
#include <regatta/sm/sm.h>

#include <regatta/support/energy.h>

#include "async_unit.h"
#include "collectors.h"
#include "execution_units.h"
#include "load_store_unit.h"
#include "sm_impl.h"
#include "sub_core_path.h"

namespace regatta::sm {

namespace {
constexpr double per_lane = 1.0 / 32;  // the table's events are of 32 lanes
}

void Sm::register_energy(support::EnergyGroup& g) {
  Impl& m = *impl_;
  g.event("front_end", "instruction_cache.access", m.front_end.instructions);
  g.event("front_end", "instruction_buffer.instruction", m.core.counters.warp_instructions);
  g.event("front_end", "scheduler.issue", m.core.counters.warp_instructions);
  g.event("pipeline", "pipeline.instruction", m.core.counters.warp_instructions, m.core.kernel.warp_size * per_lane);
  if (m.issue.takes_inserted()) {
    g.event("front_end", "instruction_buffer.instruction", m.issue.inserted);
    g.event("front_end", "scheduler.issue", m.issue.inserted);
    g.event("pipeline", "pipeline.instruction", m.issue.inserted, m.core.kernel.warp_size * per_lane);
  }
  if (m.issue.injected() != nullptr) {
    g.event("front_end", "scheduler.issue", *m.issue.injected());
    g.event("pipeline", "pipeline.instruction", *m.issue.injected(), m.core.kernel.warp_size * per_lane);
  }
  g.leakage("sm_static", "sm.static");
  g.leakage("sm_static", "sm.clock", {}, support::LeakageState{&m.active_cycles, 1, 1});
}

void OperandCollectors::register_energy(support::EnergyGroup& g) {
  g.event("register_structures", "operand_collector.instruction", instructions_, core_.kernel.warp_size * per_lane);
}

void SubCorePath::register_energy(support::EnergyGroup& g) {
  // Its stages hold the operands of an instruction as a collector unit does.
  g.event("register_structures", "operand_collector.instruction", instructions_, core_.kernel.warp_size * per_lane);
}

void ExecutionUnits::register_energy(support::EnergyGroup& g) {
  const auto lanes = [&](Use use) -> const std::uint64_t& { return uses_[static_cast<unsigned>(use)].lanes; };
  g.event("execution", "execution.integer", lanes(Use::integer), per_lane);
  g.event("execution", "execution.fp32", lanes(Use::fp32), per_lane);
  g.event("execution", "execution.special", lanes(Use::special), per_lane);
  g.event("execution", "execution.fp64", lanes(Use::fp64), per_lane);
  constexpr double per_product = 1.0 / 256;  // the table's event is of eight for each of 32 lanes
  constexpr double per_byte = 1.0 / 128;     // of a pass over 32 banks
  if (core_.config.tensor.units != 0) {
    g.event("execution", "execution.tensor", products_, per_product);
    g.event("shared_memory", "shared_memory.access", matrix_bytes_, per_byte);
  }
  g.event("load_store", "load_store.address", lanes(Use::address), per_lane);
  g.event("constant_cache", "constant_cache.access", uses_[static_cast<unsigned>(Use::constant)].instructions);
}

void LoadStoreUnit::register_energy(support::EnergyGroup& g) {
  g.event("shared_memory", "shared_memory.access", shared_passes_);
  g.event("shared_memory", "shared_memory.access", async_.shared_passes());
  g.event("shared_memory", "shared_memory.access", context_passes_);
}

}  // namespace regatta::sm
