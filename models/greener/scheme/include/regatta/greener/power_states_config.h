// SPDX-License-Identifier: Apache-2.0
//
// The power axis of the gated schemes: who puts registers to sleep after their accesses.
#pragma once

#include <regatta/greener/power_gate.h>
#include <regatta/support/config.h>

#include <string>

namespace regatta::models {
class SleepTransistorController;
}

namespace regatta::schemes {

struct GatedPowerConfig {
  std::string states = "always_on";  ///< gated.power
  models::PowerGateConfig gate;      ///< greener.*

  // What power.leakage_energy is made of: the thesis compares by leakage alone, on three nodes. The energy report goes
  // by the energy table instead.
  unsigned leakage_node = 22;     ///< nm: 45, 32 or 22 (table 4.2; figure 4.15)
  double leakage_mw = 0;          ///< of 128 KB of registers that are on; 0: the node's
  double wake_sleep_pj = 0.0182;  ///< of a row of 32 lanes at 22 nm: table 4.4's 37.3 pJ for 2,048 rows
  double wake_off_pj = 0.0575;    ///< likewise 117.74 pJ
  /// What Table 4.4's energies wake: all rows of the file, or one. The two energies above and those of the energy table
  /// are for `file`.
  std::string wake_energy_of = "file";

  void declare(support::OptionSet& options);
  void validate() const;
  /// mW of a row of 32 lanes that is on.
  double row_mw() const;
  /// By what the energies for `file` are multiplied.
  double wake_factor() const;
  /// pJ to wake a row of 32 lanes, on the node.
  double wake_pj(models::PowerState from) const;
};

}  // namespace regatta::schemes
