// SPDX-License-Identifier: Apache-2.0
//
// The --config files of regatta-sim: what they say about the run itself (table [run]), and about knobs (all other
// tables); and --dump-config, which writes such a file.
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/support/config.h>

#include <string>
#include <vector>

#include "tool_report.h"

namespace regatta::assembly {

/// A file as it was read, once: it may be a pipe.
struct ConfigFile {
  std::string path;
  std::string text;
};
std::vector<ConfigFile> read_config_files(const std::vector<std::string>& paths);

/// Sets what the files' tables [run] say; later files win. The command line is to be scanned again after it, since it
/// wins over files.
void load_run_tables(const std::vector<ConfigFile>& files, ToolOptions& options, const SchemeRegistry& registry);
/// Sets `knobs`, those of the scheme among them, to what the files' other tables say; later files win.
void load_knobs(const std::vector<ConfigFile>& files, support::OptionSet& knobs);

/// The configuration in force as a --config file called `file`, which may be empty: read back, it gives the same run.
std::string config_text(ToolOptions options, const support::OptionSet& knobs, const SchemeRegistry& registry,
                        const std::string& file);

}  // namespace regatta::assembly
