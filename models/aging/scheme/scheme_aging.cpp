// SPDX-License-Identifier: Apache-2.0
//
// The aging-aware register file (Valero et al.) and its competitors: settings of the axes of a gated file.
#include <regatta/assembly/scheme.h>

#include "aging_axis.h"

#include <memory>
#include <utility>

namespace regatta::schemes {

void add_aging(assembly::SchemeRegistry& registry) {
  // All gated schemes have these axes: `--scheme greener --gated.compression rc`.
  for (const auto& scheme : registry.schemes()) {
    auto* const gated = dynamic_cast<GatedScheme*>(scheme.get());
    if (gated != nullptr && !gated->has_axis()) gated->set_axis(std::make_unique<AgingAxis>());
  }
  models::SleepTransistorConfig gating;  // aging paper, section 5.1.3: 10 cycles, 232.88 pJ, nothing asleep
  gating.wake_off = 10;
  gating.wake_off_energy = "wake_gated";
  const auto add = [&](const char* name, const char* help, const char* windows, const char* compression) {
    AgingConfig config;
    config.windows = windows;
    config.compression = compression;
    config.wear = true;
    auto scheme = std::make_unique<GatedScheme>(name, help, GatedPowerConfig{}, gating, "kernel",
                                                std::make_unique<AgingAxis>(std::move(config)));
    scheme->set_published({"Valero et al.", "hd7770", {}});
    registry.add(std::move(scheme));
  };
  add("rar", "RAR: the rows of a window rotate at every reassignment (aging-aware register file)", "rotating", "none");
  add("rc", "RC: compressed registers are kept in a table, and their rows are off (aging-aware register file)", "fixed",
      "rc");
  add("rc_rar", "RC and RAR together", "rotating", "rc");
  add("wc", "Warped-Compression: compressed registers use a part of their row, and the rest is off", "fixed", "wc");
  add("argo", "ARGO: warps take windows in turn, and unused windows are off", "round_robin", "none");
}

}  // namespace regatta::schemes
