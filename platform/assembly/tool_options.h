// SPDX-License-Identifier: Apache-2.0
//
// What regatta-sim was asked for: the options of its command line, and what they exclude.
#pragma once

#include <regatta/assembly/policies.h>
#include <regatta/assembly/simulation.h>
#include <regatta/support/command_line.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regatta::assembly {

struct ToolOptions {
  std::string trace;
  std::string variant;                ///< of the trace; empty: the scheme's
  std::string machine;                ///< empty: that of the scheme's paper, or usual_machine
  std::string setting, for_baseline;  ///< what the summary says of it (Setting)
  std::string scheme = "baseline";
  std::string scheduler;
  std::string energy;
  std::vector<std::string> config_files;
  std::string dump_file;  ///< empty: standard output
  std::string stats_file;
  std::string log_level = "info";
  unsigned sms = 1;
  bool check = true;
  bool check_protocol = false, no_check_protocol = false;
  std::string checked_block;  ///< what is not regatta's own, so that contracts are checked unasked; empty: nothing
  std::uint64_t lookup_delay = 0;
  std::uint64_t quantum = SimulationOptions{}.quantum;
  std::uint64_t window = 0;
  unsigned threads = 0;
  std::uint64_t hold_up = 0;
  bool replay = false;
  bool cpi = false;
  bool cpi_lines = false;
  std::string cpi_ctas;
  std::string vcd, vcd_window;
  std::string pipeline, pipeline_window, pipeline_ctas;
  std::string launches;
  unsigned warm = SimulationOptions::default_warm;
  bool warm_code = false;
  std::vector<std::string> launch_stats;
  std::string timeline, timeline_window, timeline_ctas;
  std::uint64_t timeline_sample = Recording{}.timeline_sample_cycles;
  std::uint64_t sample = 0;
  std::string sample_file;
  std::uint64_t working_set = 0;
  std::uint64_t register_use = 0;
  bool energy_table = false;
  bool all_stats = false;
  bool describe = false;
  bool hierarchy = false;
  std::string list;  ///< what to list; empty: nothing
  bool list_json = false;
  std::string list_match;  ///< a part of the names or helps to list; empty: all
};

/// Of the positional argument TRACE.
inline constexpr const char* trace_help = "annotated trace (.rgt) written by regatta-annotate";

/// The options of a run, which are written to `options` when the line is scanned. Knobs are declared elsewhere.
void declare(support::CommandLine& line, ToolOptions& options, const SchemeRegistry& registry,
             const PolicyRegistry& policies);
/// Rejects options with an empty text, which is mostly a script's variable that is not set.
void refuse_empty(const support::CommandLine& line, const ToolOptions& options);
/// The files that a run is asked to write, (option, path), without those of the scheme.
std::vector<std::pair<std::string, std::string>> written_files(const ToolOptions& options);
/// Rejects options that make a run write a file, when nothing is run.
void refuse_files(const ToolOptions& options, const std::string& why);
/// The recordings that are asked for. Rejects options that need others, or have no meaning with --replay.
Recording recording(const support::CommandLine& line, const ToolOptions& options, const Scheme& scheme);
/// Refuses a file that would be written over another one of the same run.
void check_files(const ToolOptions& options, const Scheme& scheme, const std::vector<std::string>& machine_files,
                 const EnergyConfig& energy);

}  // namespace regatta::assembly
