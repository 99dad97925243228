// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim --list: the schemes, machines, schedulers, energy tables, knobs and statistics that the program knows,
// blocks of the user included.
#pragma once

#include <regatta/assembly/policies.h>
#include <regatta/assembly/scheme.h>
#include <regatta/support/config.h>

#include <string>
#include <vector>

#include "tool_options.h"

namespace regatta::assembly {

/// What the command line has chosen.
struct Chosen {
  const MachineConfig& machine;
  Scheme& scheme;
  const support::OptionSet& knobs;  ///< of both
  bool scheme_given, machine_given;
};

/// Prints what --list names, as a table or with --json as an array of objects. Returns the exit status. Throws
/// ConfigError if the command line would also write files, or if standard output cannot be written.
int print_list(const ToolOptions& options, const SchemeRegistry& registry, const PolicyRegistry& policies,
               const Chosen& chosen);

}  // namespace regatta::assembly
