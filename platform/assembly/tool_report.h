// SPDX-License-Identifier: Apache-2.0
//
// What regatta-sim was asked for, and what it prints at the end of a run.
#pragma once

#include <regatta/assembly/simulation.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace regatta::assembly {

struct ToolOptions {
  std::string trace;
  std::string machine = "gtx980";
  std::string scheme = "baseline";
  std::string scheduler;
  std::string energy;
  std::vector<std::string> config_files;
  std::string dump_file;  ///< empty: standard output
  std::string stats_file;
  std::string log_level = "info";
  unsigned sms = 1;
  bool check = true;
  bool check_protocol = false;
  std::uint64_t lookup_delay = 0;
  std::uint64_t quantum = SimulationOptions{}.quantum;
  bool replay = false;
  bool cpi = false;
  bool cpi_lines = false;
  std::string cpi_ctas;
  std::string vcd, vcd_window;
  std::string pipeline, pipeline_window, pipeline_ctas;
  std::string launches;
  unsigned warm = SimulationOptions::default_warm;
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
};

void print_summary(const SimulationResult& result, const ToolOptions& options, const trace::Reader& trace);
/// Cycles per warp instruction by reason, a column per launch.
void print_cpi(const SimulationResult& result);
/// The breakdown by structure and by event, with the basis of each number.
void print_energy(const SimulationResult& result);
/// Unit and meaning of every statistic.
void print_stat_descriptions(const nlohmann::ordered_json& descriptions);
void print_stats(const nlohmann::ordered_json& stats, const nlohmann::ordered_json& descriptions, bool describe);

}  // namespace regatta::assembly
