// SPDX-License-Identifier: Apache-2.0
//
// A machine: the knobs of everything that is not a scheme's own, and the presets that set them.
#pragma once

#include <regatta/assembly/energy_config.h>
#include <regatta/assembly/policies.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_config.h>
#include <regatta/models/register_file/register_file.h>
#include <regatta/models/warp_scheduler/schedulers.h>
#include <regatta/sm/sm_config.h>
#include <regatta/support/config.h>

#include <string>
#include <vector>

namespace regatta::assembly {

struct MachineConfig {
  std::string base;           ///< the machine that this one differs from; empty: it stands alone
  unsigned sms = 16;          ///< of the whole machine; fewer may be simulated
  unsigned clock_mhz = 1126;  ///< SM clock
  sm::SmConfig sm;
  models::WarpSchedulerConfig scheduler;  ///< of the policy that sm.scheduler names
  models::RegisterFileConfig register_file;
  memory::L1Config l1;
  memory::MemorySystemConfig memory;
  EnergyConfig energy;
  PolicyRegistry policies;  ///< what sm.scheduler and sm.residency choose from

  /// Declares every knob of a machine.
  void declare(support::OptionSet& options);
  /// Refuses what does not fit together, by ConfigError with a sentence.
  void validate() const;
};

/// Names of the built-in presets.
std::vector<std::string> machine_names();
/// Text of a preset by name, or of a file when `name` is a path to a .toml file. `file` receives what to call it in
/// messages. Throws ConfigError naming the nearest preset when there is none; `said_by` says who asked for it.
std::string machine_text(const std::string& name, std::string& file, const std::string& said_by = "--machine");

/// Sets `options`, which `machine` has declared, to the machine of that name and to what it is based on (machine.base).
/// Returns the files that were read for it; a preset is none.
std::vector<std::string> load_machine(support::OptionSet& options, MachineConfig& machine, const std::string& name);

}  // namespace regatta::assembly
