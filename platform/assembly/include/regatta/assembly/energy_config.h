// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>
#include <regatta/support/energy.h>

#include <string>
#include <vector>

namespace regatta::assembly {

/// The energy table of a machine, and options that replace single values of it.
struct EnergyConfig {
  EnergyConfig();

  std::string table = "maxwell28";  ///< a built-in table, or the path of a .toml file
  double node_nm = 0;               ///< dynamic energies are scaled to this node; 0: the table's own
  bool lane_gating = true;          ///< execution units consume energy for active lanes only

  struct Override {
    std::string name;      ///< "register_file.read"
    double value = unset;  ///< pJ or mW
  };
  static constexpr double unset = -1;
  std::vector<Override> overrides;

  /// Knobs energy.*.
  void declare(support::OptionSet& options);
  /// The table with its overrides. Throws ConfigError if the table does not exist or is malformed. `files` receives the
  /// files that were read; a built-in table adds none.
  support::EnergyTable load(std::vector<std::string>* files = nullptr) const;
};

/// Names of the built-in energy tables.
std::vector<std::string> energy_table_names();

/// The structures of the platform's and the built-in schemes' energy: the lines of the breakdown that
/// platform/energy/README.md lists.
const std::vector<std::string>& energy_structures();
/// A message for each module and structure that is neither one of energy_structures() nor of `further`, with the
/// nearest known name.
std::vector<std::string> unknown_structures(const std::vector<support::EnergyGroup>& groups,
                                            const std::vector<std::string>& further);

}  // namespace regatta::assembly
