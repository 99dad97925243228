// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/launch_list.h>
#include <regatta/assembly/simulation.h>
#include <regatta/assembly/tool.h>
#include <regatta/base/input_file.h>
#include <regatta/base/output_file.h>
#include <regatta/base/path.h>
#include <regatta/base/tool.h>
#include <regatta/support/command_line.h>
#include <regatta/support/interrupt.h>
#include <regatta/support/logging.h>
#include <regatta/support/progress.h>
#include <regatta/trace/verify.h>

#include <spdlog/spdlog.h>
#include <cerrno>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "instruction_report.h"
#include "setting.h"
#include "tool_config.h"
#include "tool_lists.h"
#include "tool_report.h"
#include "trace_variant.h"

namespace regatta::assembly {

namespace {

constexpr int status_done = 0;
constexpr int status_internal = 1;
constexpr int status_check = 3;

/// During its lifetime, printed text goes to standard error if a result goes to standard output.
class SummaryOutput {
 public:
  SummaryOutput(const ToolOptions& o, const Scheme& scheme) : before_(std::cout.rdbuf()) {
    bool is_taken = false;
    for (const auto& [option, file] : written_files(o)) is_taken |= base::is_standard_output(file);
    for (const auto& [option, file] : scheme.written_files()) is_taken |= base::is_standard_output(file);
    if (is_taken) std::cout.rdbuf(std::cerr.rdbuf());
  }
  ~SummaryOutput() { std::cout.rdbuf(before_); }
  SummaryOutput(const SummaryOutput&) = delete;
  SummaryOutput& operator=(const SummaryOutput&) = delete;

 private:
  std::streambuf* before_;
};

/// Throws if the trace itself is malformed: whatever a block did then is the trace's fault. `whole`: with its dynamic
/// part, which takes as long as reading it. `met`: what the run ended with.
void blame_trace(const trace::Reader& trace, bool whole, const std::string& met) {
  try {
    whole ? static_cast<void>(trace::verify(trace, trace::VerifyDepth::program)) : trace::verify_kernels(trace);
  } catch (const trace::InputError& e) {
    throw trace::InputError(std::string(e.what()) + " (the run ended with: " + met.substr(0, met.find('\n')) + ")");
  }
}

/// Adds the trace's path to input errors: models and cursors know only kernel, CTA and warp. When a run fails, the
/// trace is looked through first, since a malformed one makes blocks look guilty.
SimulationResult on(const trace::Reader& trace, const std::string& scheme,
                    const std::function<SimulationResult()>& run) {
  try {
    SimulationResult result = run();
    const bool failed = result.ending == Ending::value_mismatch || result.ending == Ending::deadlock ||
                        result.ending == Ending::not_conserved;
    // A fault that was planted explains itself.
    if (failed && result.fault.empty()) blame_trace(trace, true, result.message);
    return result;
  } catch (const trace::InputError& e) {
    const std::string what = e.what();
    if (what.rfind(trace.path() + ":", 0) == 0) throw;
    throw trace::InputError(trace.path() + ": " + what);
  } catch (const support::UnfitTrace& e) {
    blame_trace(trace, false, e.what());
    throw with_remedy(e, trace, scheme);
  } catch (const base::InputError& e) {
    blame_trace(trace, false, e.what());
    throw;
  } catch (const sc_core::sc_report& e) {
    blame_trace(trace, true, std::string(e.get_msg_type()) + ": " + e.get_msg());
    throw;
  } catch (const std::logic_error& e) {
    blame_trace(trace, true, e.what());
    throw;
  }
}

/// Reports whether the fault was planted and noticed. The message of a mismatch follows, if there is one.
void tell_fault(const SimulationResult& result, bool checked) {
  if (result.fault.empty()) {
    spdlog::warn("no fault was planted: no transfer of the run fits the knobs fault.*");
    return;
  }
  spdlog::info("fault planted: {}", result.fault);
  if (result.ending != Ending::completed) return;
  spdlog::warn("the fault was not noticed: {}", !result.fault_changed_value ? "it changed no value"
                                                : checked                   ? "no execution unit received the value"
                                                                            : "operands are not compared (--no-check)");
}

/// Reports how the run ended, unless it completed. Returns the exit status.
int tell_ending(const SimulationResult& result) {
  switch (result.ending) {
    case Ending::completed:
      return status_done;
    case Ending::interrupted:
      spdlog::warn("{}", result.message);
      return 128 + support::interrupt_signal();
    case Ending::value_mismatch:
    case Ending::deadlock:
    case Ending::not_conserved:
      spdlog::error("{}", result.message);
      return status_check;
  }
  return status_internal;
}

int dump_config(const ToolOptions& o, const support::OptionSet& knobs, const SchemeRegistry& registry) {
  refuse_files(o, "--dump-config runs nothing");
  const std::string text = config_text(o, knobs, registry, o.dump_file);
  if (o.dump_file.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) throw support::ConfigError("the configuration cannot be written to standard output");
  } else {
    base::write_file(o.dump_file, text);
  }
  return status_done;
}

int describe_only(const ToolOptions& o, const MachineConfig& machine, Scheme& scheme) {
  refuse_files(o, "--describe-stats without a TRACE runs nothing");
  SimulationOptions options;
  options.sms = o.sms;
  Waits waits;
  scheme.add_waits(waits);
  print_stat_descriptions(Simulation::describe(machine, scheme, options), waits);
  std::cout.flush();
  if (!std::cout) throw support::ConfigError("the descriptions cannot be written to standard output");
  return status_done;
}

/// A scheme or a policy that regatta's tests do not cover is checked unless that is switched off.
void check_unknown_blocks(ToolOptions& o, const MachineConfig& machine, const SchemeRegistry& registry) {
  if (o.check_protocol && o.no_check_protocol) {
    throw support::ConfigError("--check-protocol and --no-check-protocol exclude each other: expected one of them");
  }
  if (o.check_protocol || o.no_check_protocol || o.replay || o.hierarchy) return;
  if (!registry.is_own(o.scheme)) {
    o.checked_block = "scheme " + o.scheme;
  } else if (!machine.policies.are_own(machine.sm.scheduler, machine.sm.residency)) {
    o.checked_block = "a policy of scheduling or residency";
  }
}

int print_hierarchy(const ToolOptions& o, const MachineConfig& machine, Scheme& scheme) {
  refuse_files(o, "--hierarchy runs nothing");
  SimulationOptions options;
  options.sms = o.sms;
  options.check_protocol = o.check_protocol || !o.checked_block.empty();
  std::cout << Simulation::hierarchy(machine, scheme, options) << std::flush;
  if (!std::cout) throw support::ConfigError("the hierarchy cannot be written to standard output");
  return status_done;
}

int run(int argc, char** argv, SchemeRegistry& registry, const PolicyRegistry& policies) {
  ToolOptions o;
  support::CommandLine line("regatta-sim", REGATTA_VERSION,
                            "Replays an annotated trace on an SM platform and reports cycles, traffic and checks.");
  line.finder("regatta list knobs PATTERN finds one");
  declare(line, o, registry, policies);
  line.prescan(argc, argv);
  const std::vector<ConfigFile> config_files = read_config_files(o.config_files);
  load_run_tables(config_files, o, registry);
  line.prescan(argc, argv);  // wins over the files

  Scheme& scheme = registry.get(o.scheme);
  MachineConfig machine;
  machine.policies = policies;
  support::OptionSet knobs;
  machine.declare(knobs);
  scheme.declare(knobs);
  checker::FaultConfig fault;
  fault.declare(knobs);
  for (const auto& other : registry.schemes()) {
    support::OptionSet theirs;
    other->declare(theirs);
    knobs.add_absent(theirs, "--scheme " + other->name());
  }
  if (o.machine.empty() && line.given("machine"))
    throw support::ConfigError("--machine: found no name, expected a machine");
  const Setting setting = setting_of(scheme, o.machine);
  o.machine = setting.machine;
  o.setting = setting.told(scheme);
  o.for_baseline = setting.for_baseline();
  const std::vector<std::string> machine_files = load_machine(knobs, machine, o.machine);
  setting.apply(knobs, o.scheme);
  const std::string base = machine.base;
  load_knobs(config_files, knobs);
  if (!line.parse(argc, argv, knobs)) {
    std::cout << line.answer();
    return status_done;
  }
  refuse_empty(line, o);
  if (o.list_json && o.list.empty()) throw support::ConfigError("--json needs --list WHAT");
  if (line.given("match") && o.list != "knobs" && o.list != "statistics") {
    throw support::ConfigError("--match needs --list knobs or --list statistics");
  }
  if (!o.list.empty()) {
    // Options that set knobs count, and with --scheme they may be of the scheme.
    line.apply(knobs);
    return print_list(
        o, registry, policies,
        {machine, scheme, knobs, line.given("scheme") || o.scheme != ToolOptions{}.scheme, line.given("machine")});
  }
  support::setup_logging(o.log_level);
  support::route_systemc_reports();
  // An error ends the run, whose caller prints it.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_CACHE_REPORT | sc_core::SC_THROW);
  line.apply(knobs);
  const auto short_for = [&](const char* option, const std::string& knob, const std::string& value) {
    if (!line.given(option)) return;
    if (knobs.find(knob)->origin == "command line") {
      throw support::ConfigError(std::string("--") + option + " and --" + knob + " set the same knob: expected one");
    }
    knobs.set(knob, value, "command line", std::string("--") + option);
  };
  short_for("scheduler", "sm.scheduler", o.scheduler);
  short_for("energy", "energy.table", o.energy);
  if (machine.base != base) {
    throw support::ConfigError("machine.base = '" + machine.base +
                               "' is read in a machine's own file only; use --machine " + machine.base);
  }
  check_files(o, scheme, machine_files, machine.energy);
  if (line.given("dump-config")) return dump_config(o, knobs, registry);
  if (!o.trace.empty() || o.hierarchy) check_unknown_blocks(o, machine, registry);
  if (o.hierarchy) return print_hierarchy(o, machine, scheme);
  if (o.trace.empty() && o.describe) return describe_only(o, machine, scheme);
  if (o.trace.empty()) {
    throw support::ConfigError(std::string("command line: TRACE is missing: ") + trace_help +
                               " (--help shows the usage)");
  }

  const std::unique_ptr<const trace::Reader> opened = open_variant(o.trace, o.scheme, o.variant);
  const trace::Reader& trace = *opened;
  if (trace.ctas().empty()) {
    throw support::ConfigError("'" + o.trace + "' holds no CTA, expected at least one to simulate");
  }
  std::vector<std::uint32_t> selected;
  if (!o.launches.empty()) selected = parse_launches(o.launches, trace.launches().size(), "--launches");
  if (line.given("warm") && selected.empty()) throw support::ConfigError("--warm needs --launches LIST");
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < trace.launches().size(); ++i) {
    if (selected.empty() || std::binary_search(selected.begin(), selected.end(), i)) {
      total += trace.launches()[i].warp_instructions;
    }
  }
  support::Progress progress(o.replay ? "replaying" : "simulating", total, "warp instructions");
  auto show = [&](std::uint64_t done) { progress.update(done); };

  const Recording recorded = recording(line, o, scheme);
  if (o.replay && fault.wanted()) throw support::ConfigError("--replay has no operand storage: nothing for --fault.at");
  // Opened before the run, so that a path that cannot be written is reported at once.
  std::optional<base::OutputFile> stats;
  if (!o.stats_file.empty()) stats.emplace(o.stats_file);
  const SimulationResult result = on(trace, o.scheme, [&] {
    if (o.replay) return replay(trace, machine, show);
    SimulationOptions options;
    options.sms = o.sms;
    options.check_values = o.check;
    options.check_protocol = o.check_protocol || !o.checked_block.empty();
    options.no_check_protocol = o.no_check_protocol;
    options.check_energy = o.check_protocol;
    options.lookup_delay = static_cast<unsigned>(o.lookup_delay);
    options.quantum = o.quantum;
    options.window = o.window;
    options.threads = o.threads;
    options.hold_up = o.hold_up;
    options.launches = selected;
    options.warm = o.warm;
    options.warm_code = o.warm_code;
    options.launch_stats = o.launch_stats;
    options.recording = recorded;
    options.fault = fault;
    Simulation simulation(machine, scheme, options, trace);
    simulation.set_progress(show);
    return simulation.run();
  });
  progress.finish();
  const SummaryOutput summary(o, scheme);
  print_summary(result, o, machine, trace);
  if (o.cpi && !o.replay) print_cpi(result);
  if (o.cpi_lines) print_cpi_lines(result, trace);
  if (o.energy_table && !o.replay) print_energy(result);
  if (o.all_stats || o.describe) {
    print_stats(result.stats, result.stat_descriptions, o.describe, result.waits);
  }
  std::cout.flush();
  const bool left = !std::cout && errno == EPIPE;
  if (fault.wanted()) tell_fault(result, o.check);
  const int status = tell_ending(result);
  if (stats) {
    nlohmann::ordered_json document = stats_document(result, trace, o.machine, o.scheme, knobs);
    document["replay"] = o.replay;
    // A file name need not be UTF-8; JSON has to be.
    stats->write(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    stats->commit();
  }
  if (std::cout || status != status_done) return status;
  if (left) return 128 + SIGPIPE;
  throw support::ConfigError("the summary cannot be written to standard output");
}

}  // namespace

int run_tool(int argc, char** argv, SchemeRegistry registry, PolicyRegistry policies) {
  const base::ToolSettings settings{
      "regatta-sim", "lower --sms or the sizes of caches, or trace fewer CTAs (regatta-annotate --ctas FIRST:COUNT)",
      "regatta-sim: "};
  // Installed first, so that an interrupted run reports its results so far.
  support::install_interrupt_handler();
  return base::run_tool(settings, [&] {
    support::setup_logging();
    try {
      return run(argc, argv, registry, policies);
    } catch (const sc_core::sc_report& e) {
      // Models report broken contracts this way.
      std::cerr << "regatta-sim: " << e.get_msg_type() << ": " << e.get_msg() << "\n";
      return status_check;
    }
  });
}

}  // namespace regatta::assembly
