// SPDX-License-Identifier: Apache-2.0
//
// The power axis of the gated schemes: who puts registers to sleep after their accesses.
#pragma once

#include <regatta/models/greener/power_gate.h>
#include <regatta/support/config.h>

#include <string>

namespace regatta::assembly {

struct GatedPowerConfig {
  std::string states = "always_on";  ///< gated.power
  models::PowerGateConfig gate;      ///< greener.*

  void declare(support::OptionSet& options);
};

}  // namespace regatta::assembly
