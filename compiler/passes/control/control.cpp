// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/control.h>
#include <regatta/trace/verify_control.h>

#include <string>

#include "counters.h"
#include "pending.h"
#include "reuse_flags.h"
#include "stalls.h"

namespace regatta::passes {

trace::ControlSection plan_control(const trace::Kernel& kernel, const ControlLatencies& latencies) {
  trace::ControlSection control;
  control.bits.resize(kernel.instructions.size());
  for (const trace::StaticInstruction& i : kernel.instructions) {
    const unsigned latency = latencies.of(i);
    if (latency > max_fixed_latency)
      throw trace::InputError("error: kernel " + kernel.name + ": '" + i.opcode + "' has a latency of " +
                              std::to_string(latency) + " cycles, expected at most " +
                              std::to_string(max_fixed_latency) + ": a stall count has to bridge it");
    control.latency.push_back(static_cast<std::uint8_t>(latency));
  }
  const Hazards hazards(kernel);
  assign_counters(hazards, control.bits);
  place_stalls(hazards, control.latency, latencies.control_stall, control.bits);
  place_reuse_flags(hazards, control.bits);
#ifndef NDEBUG
  trace::verify_control(kernel, control);
#endif
  return control;
}

void add_control(trace::Kernel& kernel, const trace::ControlSection& control) {
  kernel.annotations.push_back(
      {trace::control_section, trace::control_section_version, trace::encode(kernel, control)});
}

ControlUse use_of(const trace::Kernel& kernel, const trace::ControlSection& control) {
  ControlUse use;
  for (std::size_t i = 0; i < control.bits.size(); ++i) {
    const trace::ControlBits& b = control.bits[i];
    const auto c = static_cast<std::size_t>(kernel.instructions[i].op_class);
    ++use.instructions;
    use.fixed += control.latency[i] != 0;
    use.yields += b.yield;
    use.waits += b.wait_mask != 0;
    use.write_counters += b.write_counter != trace::no_counter;
    use.read_counters += b.read_counter != trace::no_counter;
    use.reuse += b.reuse != 0;
    ++use.of_class[c];
    use.stalls[c] += b.stall;
  }
  return use;
}

}  // namespace regatta::passes
