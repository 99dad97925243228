// SPDX-License-Identifier: Apache-2.0
//
// A machine: the knobs of everything that is not a scheme's own, and the presets that set them.
#pragma once

#include <regatta/assembly/energy_config.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_config.h>
#include <regatta/models/register_file/register_file.h>
#include <regatta/sm/sm_config.h>
#include <regatta/support/config.h>

#include <string>
#include <vector>

namespace regatta::assembly {

struct MachineConfig {
  unsigned sms = 16;          ///< of the whole machine; fewer may be simulated
  unsigned clock_mhz = 1126;  ///< SM clock
  sm::SmConfig sm;
  models::RegisterFileConfig register_file;
  memory::L1Config l1;
  memory::MemorySystemConfig memory;
  EnergyConfig energy;

  /// Declares every knob of a machine.
  void declare(support::OptionSet& options);
  /// Refuses what does not fit together, by ConfigError with a sentence.
  void validate() const;
};

/// Names of the built-in presets.
std::vector<std::string> machine_names();
/// Text of a preset by name, or of a file when `name` is a path to a .toml file. `file` receives what to call it in
/// messages. Throws ConfigError naming the nearest preset when there is none.
std::string machine_text(const std::string& name, std::string& file);

}  // namespace regatta::assembly
