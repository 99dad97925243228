// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/clashes.h>
#include <regatta/base/threads.h>
#include <regatta/support/logging.h>

#include <utility>

#include "setting.h"
#include "tool_options.h"

namespace regatta::assembly {

void declare(support::CommandLine& line, ToolOptions& o, const SchemeRegistry& registry,
             const PolicyRegistry& policies) {
  std::string schemes;
  for (const auto& s : registry.schemes()) schemes += (schemes.empty() ? "" : "; ") + s->name() + ": " + s->help();
  std::string machines;
  for (const std::string& m : machine_names()) machines += (machines.empty() ? "" : ", ") + m;
  std::string tables;
  for (const std::string& t : energy_table_names()) tables += (tables.empty() ? "" : ", ") + t;
  line.positional("TRACE", o.trace, trace_help, false);
  line.option("machine", o.machine, "NAME",
              "machine preset (" + machines +
                  "), or the path of a .toml file; default: that of the scheme's paper, with the scheduler and the "
                  "options of the paper, or " +
                  usual_machine);
  line.option(
      "scheme", o.scheme, "NAME",
      schemes +
          ". A+B: both, if they take different parts of an SM (finereg+greener). --help also lists the scheme's knobs");
  line.option("variant", o.variant, "NAME",
              "code of a trace with several (regatta-annotate --for); by default the scheme's, otherwise the first");
  line.option("scheduler", o.scheduler, "NAME",
              "warp scheduler (" + described(policies.schedulers()) + "); short for --sm.scheduler");
  line.option("energy", o.energy, "NAME",
              "energy table (" + tables + ") or the path of a .toml file; short for --energy.table");
  line.option("sms", o.sms, "N", "SMs to simulate; L2 capacity and DRAM bandwidth are scaled to them", 1, 1024);
  line.list("config", o.config_files, "FILE",
            "TOML file with knobs ([module] knob = value) and the run ([run] machine, scheme, sms); later files win");
  line.optional_value("dump-config", o.dump_file, "FILE",
                      "write the configuration as a file for --config (without FILE: to standard output) and exit");
  line.option("stats", o.stats_file, "FILE", "write all results as JSON");
  line.flag("no-check", o.check, "do not compare operands with the program's values (to measure the cost of checking)",
            false);
  line.flag("check-protocol", o.check_protocol, "check the TLM-2.0 base protocol and all contracts of the blocks");
  line.flag(
      "no-check-protocol", o.no_check_protocol,
      "leave that check out for a scheme or policy that is not one of regatta's own; they are checked by default");
  line.option("lookup-delay", o.lookup_delay, "CYCLES",
              "delay the answers of the scheme's lookups at random by up to so many cycles; 0: as the blocks answer", 0,
              1000);
  line.option("quantum", o.quantum, "CYCLES",
              "cycles that SMs may run ahead of SystemC time if every part permits it; 1: never (same results, slower)",
              1, 1'000'000);
  line.option("window", o.window, "CYCLES",
              "cycles that an SM runs alone before the next one does, with several SMs; 0: as many as "
              "interconnect.latency permits (same results at any value)",
              0, 1'000'000);
  line.option(
      "threads", o.threads, "N",
      "threads that run SMs, with several SMs; 0: REGATTA_THREADS of the environment, or else one per processor (same "
      "results with any number)",
      0, base::max_threads);
  line.option("hold-up", o.hold_up, "SEED",
              "hold up the threads of --threads at random, to test that this changes no result; 0: do not", 0,
              1'000'000);
  line.option("launches", o.launches, "LIST",
              "simulate only these launches of the trace, by number: 0,5,7:9; the others are skipped (regatta-sample "
              "chooses them and estimates the whole)");
  line.option(
      "warm", o.warm, "N",
      "with --launches: launches skipped before a simulated one pass through the tags of the L2, as far back as "
      "N times its capacity; 0: none",
      0, 1'000'000);
  line.flag(
      "warm-code", o.warm_code,
      "each launch finds its kernel's code in the instruction caches, as a launch does that is measured again and "
      "again");
  line.list("launch-stats", o.launch_stats, "NAME",
            "count this statistic in every launch too, in the file of --stats: memory.l2_*.reads, a sum over what "
            "matches");
  line.flag("replay", o.replay, "only decode the trace and update registers: the speed limit of a simulation");
  line.flag("cpi", o.cpi, "print cycles per warp instruction by reason, for each of the first launches and in total");
  line.flag("cpi-lines", o.cpi_lines,
            "charge each scheduler-cycle to an instruction: print the source lines with most, write all to --stats");
  line.flag("energy-table", o.energy_table, "print the energy by structure and event, with the basis of each number");
  line.option("cpi-ctas", o.cpi_ctas, "FILE", "CSV file: activity of the warps of each CTA, in warp-cycles");
  line.option("vcd", o.vcd, "FILE", "write a value change dump of the SMs' signals");
  line.option("vcd-window", o.vcd_window, "FIRST:LAST",
              "cycles to dump, including FIRST and LAST; FIRST:, :LAST or one number");
  line.option("pipeline", o.pipeline, "FILE", "write the pipeline stages of each instruction, for the viewer Konata");
  line.option("pipeline-window", o.pipeline_window, "FIRST:LAST",
              "record instructions fetched in these cycles; format of --vcd-window");
  line.option("pipeline-ctas", o.pipeline_ctas, "FIRST:LAST",
              "record these CTAs, by their number in the grid; format of --vcd-window");
  line.option("timeline", o.timeline, "FILE",
              "write schedulers, warps, CTAs and counters over time, for the viewer Perfetto (1 ns there is 1 cycle)");
  line.option("timeline-window", o.timeline_window, "FIRST:LAST", "show these cycles; format of --vcd-window");
  line.option("timeline-ctas", o.timeline_ctas, "FIRST:LAST",
              "show these CTAs and their warps, by their number in the grid; format of --vcd-window");
  line.option("timeline-sample", o.timeline_sample, "N",
              "cycles between two values of the timeline's counters; 0: no counters", 0, 1'000'000'000'000);
  line.option("sample", o.sample, "N", "cycles between two rows of --sample-file; 0: no samples", 0, 1'000'000'000'000);
  line.option("sample-file", o.sample_file, "FILE", "CSV file: increments of all counters, every N cycles");
  line.option("working-set", o.working_set, "N",
              "count the distinct registers that an SM touches in each window of N cycles; 0: off", 0,
              1'000'000'000'000);
  line.option(
      "register-use", o.register_use, "N",
      "share of the allocated registers that an SM's instructions name in windows of N warp instructions; 0: off", 0,
      1'000'000'000'000);
  line.flag("all-stats", o.all_stats, "print every statistic, not only the summary");
  line.flag("describe-stats", o.describe, "explain every statistic, after the run or without a TRACE");
  line.flag("hierarchy", o.hierarchy,
            "print the modules of the machine with their sockets and ports and what each is bound to; runs nothing");
  line.option(
      "list", o.list, "WHAT",
      "print a table of the schemes, machines, schedulers, energy tables (energy), knobs or statistics and exit; "
      "knobs: without --scheme those of all schemes; statistics: of the scheme (sm*.l1: of each SM)",
      {"schemes", "machines", "schedulers", "energy", "knobs", "statistics"});
  line.option("match", o.list_match, "TEXT",
              "with --list knobs or statistics: those with TEXT in the name or in the help (capitals are equal)");
  line.flag("json", o.list_json, "with --list: as JSON");
  line.option("log-level", o.log_level, "LEVEL", "messages on stderr", support::log_levels());
}

void refuse_empty(const support::CommandLine& line, const ToolOptions& o) {
  struct Text {
    const char* option;
    const std::string& text;
    const char* expected;
  };
  constexpr const char* file = "the name of a file";
  constexpr const char* window = "FIRST:LAST, FIRST:, :LAST or one number";
  for (const Text& t :
       {Text{"variant", o.variant, "the name of a variant of the trace"},
        Text{"launches", o.launches, "numbers of launches: 0,5,7:9"}, Text{"stats", o.stats_file, file},
        Text{"cpi-ctas", o.cpi_ctas, file}, Text{"sample-file", o.sample_file, file}, Text{"vcd", o.vcd, file},
        Text{"vcd-window", o.vcd_window, window}, Text{"pipeline", o.pipeline, file},
        Text{"pipeline-window", o.pipeline_window, window}, Text{"pipeline-ctas", o.pipeline_ctas, window},
        Text{"timeline", o.timeline, file}, Text{"timeline-window", o.timeline_window, window},
        Text{"timeline-ctas", o.timeline_ctas, window}}) {
    if (line.given(t.option) && t.text.empty()) {
      throw support::ConfigError(std::string("--") + t.option + ": found an empty text, expected " + t.expected);
    }
  }
}

std::vector<std::pair<std::string, std::string>> written_files(const ToolOptions& o) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [option, path] :
       {std::pair{"--stats", &o.stats_file}, std::pair{"--vcd", &o.vcd}, std::pair{"--pipeline", &o.pipeline},
        std::pair{"--timeline", &o.timeline}, std::pair{"--sample-file", &o.sample_file},
        std::pair{"--cpi-ctas", &o.cpi_ctas}}) {
    if (!path->empty()) files.emplace_back(option, *path);
  }
  return files;
}

void refuse_files(const ToolOptions& o, const std::string& why) {
  const auto files = written_files(o);
  if (!files.empty()) throw support::ConfigError(why + ": nothing can be written to '" + files.front().second + "'");
}

Recording recording(const support::CommandLine& line, const ToolOptions& o, const Scheme& scheme) {
  const auto needs = [](const std::string& option, bool given, const std::string& other, bool other_given) {
    if (given && !other_given) throw support::ConfigError(option + " needs " + other);
  };
  needs("--vcd-window", !o.vcd_window.empty(), "--vcd FILE", !o.vcd.empty());
  needs("--pipeline-window", !o.pipeline_window.empty(), "--pipeline FILE", !o.pipeline.empty());
  needs("--pipeline-ctas", !o.pipeline_ctas.empty(), "--pipeline FILE", !o.pipeline.empty());
  needs("--timeline-window", !o.timeline_window.empty(), "--timeline FILE", !o.timeline.empty());
  needs("--timeline-ctas", !o.timeline_ctas.empty(), "--timeline FILE", !o.timeline.empty());
  needs("--timeline-sample", line.given("timeline-sample"), "--timeline FILE", !o.timeline.empty());
  needs("--sample", o.sample != 0, "--sample-file FILE", !o.sample_file.empty());
  needs("--sample-file", !o.sample_file.empty(), "--sample N", o.sample != 0);
  if (o.replay) {
    for (const auto& [option, file] : written_files(o)) {
      if (option != "--stats")
        throw support::ConfigError("--replay has no time: nothing can be written to '" + file + "'");
    }
    for (const auto& [option, file] : scheme.written_files()) {
      if (!file.empty()) throw support::ConfigError("--replay has no time: nothing can be written to '" + file + "'");
    }
  }
  const std::pair<const char*, bool> timed[] = {{"--cpi", o.cpi},
                                                {"--cpi-lines", o.cpi_lines},
                                                {"--energy-table", o.energy_table},
                                                {"--check-protocol", o.check_protocol},
                                                {"--no-check-protocol", o.no_check_protocol},
                                                {"--lookup-delay", o.lookup_delay != 0}};
  for (const auto& [option, given] : timed) {
    if (o.replay && given) throw support::ConfigError(std::string("--replay has no time: nothing for ") + option);
  }
  if (o.replay && o.scheme != ToolOptions{}.scheme) {
    throw support::ConfigError("--replay has no operand storage: found the scheme '" + o.scheme +
                               "', expected none (it decodes the trace and updates registers only)");
  }
  if (o.replay && !o.launches.empty())
    throw support::ConfigError("--replay decodes the whole trace: nothing for --launches");
  if (o.replay && !o.launch_stats.empty())
    throw support::ConfigError("--replay counts no statistics: nothing for --launch-stats");
  if (o.replay && o.working_set != 0) {
    throw support::ConfigError("--replay has no time: --working-set has no windows to count in");
  }
  if (o.replay && o.register_use != 0) {
    throw support::ConfigError("--replay has no schedulers: --register-use has no windows to count in");
  }
  Recording r;
  r.vcd_file = o.vcd;
  r.pipeline_file = o.pipeline;
  r.timeline_file = o.timeline;
  r.timeline_sample_cycles = o.timeline_sample;
  r.sample_file = o.sample_file;
  r.sample_cycles = o.sample;
  r.cta_file = o.cpi_ctas;
  r.cycles_by_instruction = o.cpi_lines;
  r.working_set_cycles = o.working_set;
  r.register_use_instructions = o.register_use;
  if (!o.vcd_window.empty()) r.vcd_cycles = recorders::parse_window(o.vcd_window, "--vcd-window");
  if (!o.pipeline_window.empty()) r.pipeline_cycles = recorders::parse_window(o.pipeline_window, "--pipeline-window");
  if (!o.pipeline_ctas.empty()) r.pipeline_ctas = recorders::parse_window(o.pipeline_ctas, "--pipeline-ctas");
  if (!o.timeline_window.empty()) r.timeline_cycles = recorders::parse_window(o.timeline_window, "--timeline-window");
  if (!o.timeline_ctas.empty()) r.timeline_ctas = recorders::parse_window(o.timeline_ctas, "--timeline-ctas");
  return r;
}

void check_files(const ToolOptions& o, const Scheme& scheme, const std::vector<std::string>& machine_files,
                 const EnergyConfig& energy) {
  std::vector<base::FileUse> files;
  for (const auto& [option, path] : written_files(o)) files.push_back({option, path, true});
  files.push_back({"--dump-config", o.dump_file, true});
  for (const auto& [option, path] : scheme.written_files()) files.push_back({option, path, true});
  files.push_back({"the trace", o.trace, false});
  for (const std::string& path : o.config_files) files.push_back({"--config", path, false});
  for (const std::string& path : machine_files) files.push_back({"--machine", path, false});
  std::vector<std::string> energy_files;
  energy.load(&energy_files);
  for (const std::string& path : energy_files) files.push_back({"the energy table", path, false});
  base::refuse_clashes(std::move(files));
}

}  // namespace regatta::assembly
