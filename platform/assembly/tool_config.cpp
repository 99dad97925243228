// SPDX-License-Identifier: Apache-2.0
#include "tool_config.h"

#include <regatta/base/input_file.h>

namespace regatta::assembly {

namespace {

constexpr const char* run_table = "run";

/// The tool's own options that change what a run computes. Options for what a run shows or writes exist on the command
/// line only.
void declare_run(support::OptionSet& run, ToolOptions& o, const SchemeRegistry& registry) {
  std::vector<std::string> schemes;
  for (const auto& scheme : registry.schemes()) schemes.push_back(scheme->name());
  run.add_path("run.machine", o.machine, "as --machine");
  run.add_joined("run.scheme", o.scheme, "as --scheme", schemes, '+');
  run.add("run.sms", o.sms, "SMs", "as --sms", 1, 1024);
  run.add("run.check", o.check, "false: as --no-check");
  run.add("run.working_set", o.working_set, "cycles", "as --working-set", 0, 1'000'000'000'000);
  run.add("run.register_use", o.register_use, "warp instructions", "as --register-use", 0, 1'000'000'000'000);
}

/// Short options of the command line. A file sets the knob itself instead.
void add_shorts(support::OptionSet& run) {
  std::string unused;
  support::OptionSet scheduler, energy;
  scheduler.add("run.scheduler", unused, "");
  energy.add("run.energy", unused, "");
  run.add_absent(scheduler, "[sm] scheduler");
  run.add_absent(energy, "[energy] table");
}

}  // namespace

std::vector<ConfigFile> read_config_files(const std::vector<std::string>& paths) {
  std::vector<ConfigFile> files;
  for (const std::string& path : paths) {
    if (path.empty()) throw support::ConfigError("--config: found an empty text, expected the name of a file");
    files.push_back({path, base::read_text(path)});
  }
  return files;
}

void load_run_tables(const std::vector<ConfigFile>& files, ToolOptions& options, const SchemeRegistry& registry) {
  support::OptionSet run;
  declare_run(run, options, registry);
  add_shorts(run);
  for (const ConfigFile& file : files) {
    run.load_toml(file.text, file.path, "file", [](const std::string& table) { return table == run_table; });
  }
}

void load_knobs(const std::vector<ConfigFile>& files, support::OptionSet& knobs) {
  for (const ConfigFile& file : files) {
    knobs.load_toml(file.text, file.path, "file", [](const std::string& table) { return table != run_table; });
  }
}

std::string config_text(ToolOptions options, const support::OptionSet& knobs, const SchemeRegistry& registry,
                        const std::string& file) {
  support::OptionSet run;
  declare_run(run, options, registry);
  // The machine says what it is based on.
  return "# Written by regatta-sim " REGATTA_VERSION " --dump-config; for regatta-sim --config.\n" +
         support::to_toml(run, file) + "\n" + support::to_toml(knobs, file, {"machine.base"});
}

}  // namespace regatta::assembly
