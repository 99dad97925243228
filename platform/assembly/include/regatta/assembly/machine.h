// SPDX-License-Identifier: Apache-2.0
//
// A machine: the knobs that do not belong to a scheme, and the presets that set them.
#pragma once

#include <regatta/assembly/energy_config.h>
#include <regatta/assembly/policies.h>
#include <regatta/baseline/register_file.h>
#include <regatta/baseline/schedulers.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_config.h>
#include <regatta/sm/sm_config.h>
#include <regatta/support/config.h>

#include <string>
#include <systemc>
#include <vector>

namespace regatta::assembly {

struct MachineConfig {
  std::string base;           ///< the machine on which this one builds; empty: none
  unsigned sms = 16;          ///< SMs of the whole machine; fewer may be simulated
  unsigned clock_mhz = 1126;  ///< SM clock
  sm::SmConfig sm;
  models::WarpSchedulerConfig scheduler;  ///< knobs of the policy named by sm.scheduler
  models::RegisterFileConfig register_file;
  memory::L1Config l1;
  memory::MemorySystemConfig memory;
  EnergyConfig energy;
  PolicyRegistry policies;  ///< choices of sm.scheduler and sm.residency

  /// Of the SMs. Time is counted in whole cycles everywhere; rounding the period to a picosecond changes no cycle
  /// count.
  sc_core::sc_time clock_period() const { return {1e6 / clock_mhz, sc_core::SC_PS}; }
  /// Declares every knob of a machine.
  void declare(support::OptionSet& options);
  /// Throws ConfigError, with a message, for combinations that do not work.
  void validate() const;

 private:
  void check_sub_cores() const;
};

/// Names of the built-in presets.
std::vector<std::string> machine_names();
/// Text of a preset by name, or of a file if `name` is the path of a .toml file. `file` receives the name for messages.
/// Throws ConfigError with the nearest preset if there is none; `said_by` names the option that asked for it.
std::string machine_text(const std::string& name, std::string& file, const std::string& said_by = "--machine");

/// Sets `options`, which `machine` has declared, to the machine of that name and its bases (machine.base). Returns the
/// files that were read; a preset adds none.
std::vector<std::string> load_machine(support::OptionSet& options, MachineConfig& machine, const std::string& name);

}  // namespace regatta::assembly
