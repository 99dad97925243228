// SPDX-License-Identifier: Apache-2.0
//
// The power states of registers and what leakage costs (Jatala, thesis, chapter 4).
#include <regatta/greener/power_states_config.h>

#include <array>
#include <cmath>

namespace regatta::schemes {

namespace {

/// Leakage of a register file of 128 KB in 32 banks at 380 K with long-channel transistors, from GPUWattch's CACTI. It
/// rises from 45 to 32 nm and falls to 22 nm, with double-gate transistors, as in the thesis (4.3.9).
struct NodeLeakage {
  unsigned nm;
  double mw;
};
constexpr std::array<NodeLeakage, 3> node_leakage{{{45, 492.1}, {32, 693.6}, {22, 409.5}}};
constexpr double reference_rows = 1024;        // 128 KB in rows of 32 lanes
constexpr double file_rows = 2048;             // among which `file` divides table 4.4's energies
constexpr double energy_node = 22;             // nm that table 4.4 is for
constexpr double energy_node_exponent = 1.71;  // of a register file's access energies, as the energy tables have it

}  // namespace

void GatedPowerConfig::validate() const {
  gate.validate();
  bool known = false;
  for (const NodeLeakage& n : node_leakage) known = known || n.nm == leakage_node;
  if (!known) {
    throw support::ConfigError("configuration: gated.leakage_node = " + std::to_string(leakage_node) +
                               ", expected 45, 32 or 22 (nm)");
  }
  const auto check = [](const char* knob, double value) {
    if (value >= 0 && value <= 1e6) return;
    throw support::ConfigError(std::string("configuration: gated.") + knob + " = " + std::to_string(value) +
                               ", expected 0 to 1000000");
  };
  check("leakage_mw", leakage_mw);
  check("wake_sleep_energy", wake_sleep_pj);
  check("wake_off_energy", wake_off_pj);
}

double GatedPowerConfig::row_mw() const {
  double mw = leakage_mw;
  for (const NodeLeakage& n : node_leakage) {
    if (mw == 0 && n.nm == leakage_node) mw = n.mw;
  }
  return mw / reference_rows;
}

double GatedPowerConfig::wake_factor() const { return wake_energy_of == "row" ? file_rows : 1; }

double GatedPowerConfig::wake_pj(models::PowerState from) const {
  const double pj = from == models::PowerState::off ? wake_off_pj : wake_sleep_pj;
  return pj * wake_factor() * std::pow(leakage_node / energy_node, energy_node_exponent);
}

void GatedPowerConfig::declare(support::OptionSet& o) {
  o.add("gated.power", states,
        "state of a register after an access: always on, chosen by compiler and decoded instructions (GREENER), or "
        "asleep (Sleep-Reg)",
        {"always_on", "greener", "sleep_reg"});
  o.add("gated.leakage_node", leakage_node, "nm", "node of power.leakage_energy: 45, 32 or 22", 22, 45);
  o.add("gated.leakage_mw", leakage_mw, "mW",
        "leakage of 128 KB of registers that are on, for power.leakage_energy; 0: the node's");
  o.add("gated.wake_sleep_energy", wake_sleep_pj, "pJ",
        "energy to wake a sleeping row of 32 lanes at 22 nm, for power.leakage_energy");
  o.add("gated.wake_off_energy", wake_off_pj, "pJ",
        "energy to wake a row of 32 lanes that is off at 22 nm, for power.leakage_energy");
  o.add("gated.wake_energy_of", wake_energy_of,
        "what the wake-up energies of the thesis's Table 4.4 wake: the 2,048 rows of the file together, or each row "
        "that wakes (2,048 times as much, in both reports)",
        {"file", "row"});
  gate.declare(o);
}

}  // namespace regatta::schemes
