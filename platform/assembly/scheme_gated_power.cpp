// SPDX-License-Identifier: Apache-2.0
//
// GREENER and Sleep-Reg (Jatala, thesis, chapter 4): a gate in front of the register file's rows.
#include "scheme_gated.h"

namespace regatta::assembly {

void GatedPowerConfig::declare(support::OptionSet& o) {
  o.add("gated.power", states,
        "what becomes of a register after an access: nothing, what the compiler and the instructions at hand say "
        "(GREENER), or it sleeps (Sleep-Reg)",
        {"always_on", "greener", "sleep_reg"});
  gate.declare(o);
}

models::PowerGate* GatedScheme::add_power_states(Sm& sm) const {
  if (power_.states == "always_on") return nullptr;
  models::PowerGateConfig config = power_.gate;
  config.look_ahead = power_.states == "greener";
  config.warps = sm.context.machine.sm.max_warps;
  auto gate = std::make_unique<models::PowerGate>("power_gate", config, sm.transistors, sm.context.clock_period);
  sm.file.add_listener(*gate);
  if (auto observer = gate->make_decode_observer()) sm.parts.observers.push_back(std::move(observer));
  models::PowerGate* const made = gate.get();
  sm.parts.gates.push_back(std::move(gate));
  return made;
}

}  // namespace regatta::assembly
