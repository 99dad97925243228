// SPDX-License-Identifier: Apache-2.0
//
// A run: SMs built from a scheme's parts, the memory system, the CTA dispatcher, and a trace replayed on them.
// A SystemC program elaborates once: it creates all its Simulations before it runs the first.
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/assembly/scheme.h>
#include <regatta/assembly/waits.h>
#include <regatta/checker/fault_injector.h>
#include <regatta/checker/value_checker.h>
#include <regatta/recorders/window.h>
#include <regatta/sm/causes.h>
#include <regatta/support/energy.h>
#include <regatta/trace/file.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace regatta::assembly {

/// Optional recordings of a run; an empty file name disables one, at no cost.
struct Recording {
  std::string vcd_file;  ///< value change dump of the SMs' signals
  recorders::Window vcd_cycles;
  std::string pipeline_file;  ///< pipeline stages of every instruction, for the Konata viewer
  recorders::Window pipeline_cycles, pipeline_ctas;
  std::string timeline_file;  ///< schedulers, warps, CTAs and counters over time, for the Perfetto viewer
  recorders::Window timeline_cycles, timeline_ctas;
  std::uint64_t timeline_sample_cycles = 1000;  ///< between two values of its counters; 0: no counters of statistics
  std::string sample_file;                      ///< all counters every `sample_cycles`, CSV
  std::uint64_t sample_cycles = 0;
  std::string cta_file;                  ///< activity of the warps of each CTA, in warp-cycles, CSV
  std::uint64_t working_set_cycles = 0;  ///< windows in which touched registers are counted; 0: off
  /// Windows in which the share of the allocated registers that instructions name is taken; 0: off.
  std::uint64_t register_use_instructions = 0;
  bool cycles_by_instruction = false;  ///< charge each scheduler-cycle to an instruction
};

struct SimulationOptions {
  /// Of the module that holds the machine, for a program with several; it is no part of the names of statistics. Empty:
  /// the machine's modules are at the top.
  std::string name;
  unsigned sms = 1;  ///< SMs to simulate
  bool check_values = true;
  bool check_protocol = false;     ///< base-protocol checkers on the operand and L1 sockets, and all contract checks
  bool no_check_protocol = false;  ///< a debug build leaves the contract checks out too
  bool check_energy = false;       ///< no energy, or that of an unknown structure, is an error rather than a warning
  /// Cycles that SMs may run ahead of SystemC time if every part keeps time by cycles (protocol::TimeKeeper); 1: never.
  /// Only affects the host time of a run.
  std::uint64_t quantum = 256;
  /// Cycles that each of several SMs runs before the next one does, at most what the interconnect's latency permits; 0:
  /// as many as that. Only affects the host time of a run.
  std::uint64_t window = 0;
  /// Threads that run SMs; 0: base::threads(). With parts that do not keep time by cycles, or with recorders: 1, and
  /// windows of 1 cycle.
  unsigned threads = 1;
  /// Not 0: threads are held up at random, to test that this changes nothing.
  std::uint64_t hold_up = 0;
  /// Answers of the scheme's lookups (protocol/lookup.h) come a random number of cycles late, up to this one; 0: as the
  /// blocks answer. To test that a scheme stands blocks that answer late.
  unsigned lookup_delay = 0;
  /// Launches to simulate, by their numbers in the trace, ascending; empty: all. The others are skipped.
  std::vector<std::uint32_t> launches;
  /// Launches that are skipped before a simulated one pass through the tags of the L2, as far back as this many times
  /// the L2's capacity in distinct lines of each launch; 0: they leave no trace.
  unsigned warm = default_warm;
  static constexpr unsigned default_warm = 4;
  /// Each launch finds its kernel's code in the instruction caches.
  bool warm_code = false;
  /// Statistics of each launch (support::StatQuery), a sum of counters each.
  std::vector<std::string> launch_stats;
  Recording recording;
  checker::FaultConfig fault;  ///< a fault to plant, to demonstrate the value checker
};

/// A reason for the cycles of a run (`why` in stats.json).
struct WhyCause {
  std::string name;               ///< "bank_conflicts"
  std::string sentence;           ///< name, place, evidence and gain, without a full stop
  std::string kernel;             ///< of the instruction to blame; empty: none is known
  std::string source;             ///< its line, "stencil.cu:41"
  std::uint32_t instruction = 0;  ///< its static index
  double held = 0;                ///< share of the scheduler-cycles, each of which has one cause
  double gain = 0;                ///< share of the cycles that its removal would save at most
  double weight() const { return held < gain ? held : gain; }
};

/// How a run ended.
enum class Ending : std::uint8_t { completed, interrupted, value_mismatch, deadlock, not_conserved };

/// Distinct warp registers that an SM touched in a window of cycles (recorders::RegisterWorkingSet).
struct WorkingSet {
  std::uint64_t window = 0;  ///< cycles; 0: not counted
  double mean = 0;           ///< registers per window and SM
  std::uint64_t peak = 0;    ///< registers of the SM and window with most
};

/// Share of the allocated registers that the instructions of a window name (recorders::RegisterUse).
struct RegisterShare {
  std::uint64_t window = 0;  ///< warp instructions of an SM; 0: not taken
  double mean = 0;           ///< over the windows of all SMs
  double lowest = 0, highest = 0;
};

/// Scheduler-cycles by reason, indexed by protocol::Stall ([none]: it issued). Those of a launch add up to its cycles x
/// schedulers x SMs.
using CycleStack = std::array<std::uint64_t, protocol::stall_count>;

/// The result of one launch of a trace.
struct LaunchResult {
  std::string kernel;
  CycleStack stall_cycles{};
  /// The same by static instruction (recorders::InstructionCycles); the last element is of no instruction. Empty unless
  /// Recording::cycles_by_instruction.
  std::vector<CycleStack> by_instruction;
  std::uint32_t index = 0;           ///< in the trace
  std::uint32_t kernel_index = 0;    ///< in the trace
  std::vector<std::uint64_t> stats;  ///< by SimulationOptions::launch_stats
  support::EnergyReport energy;
  std::uint64_t cycles = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t ctas = 0;
};

/// What became of the launches of a trace of which some were skipped.
struct SkippedLaunches {
  std::vector<std::uint32_t> warmed;  ///< launches that passed through the tags of the L2, ascending
  std::uint64_t warmed_warp_instructions = 0;
  std::uint64_t warmed_lines = 0;  ///< accesses of them, a line each
};

struct SimulationResult {
  Ending ending = Ending::completed;
  std::string message;  ///< the failure; empty if completed
  std::vector<LaunchResult> launches;
  std::uint64_t cycles = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t operands_checked = 0;
  std::uint64_t mismatches = 0;
  /// Words of shared memory that were compared; none: the scheme does not model its contents.
  std::optional<std::uint64_t> shared_words_checked;
  std::size_t laws = 0;     ///< conservation laws checked at the end of every launch, besides those of every platform
  unsigned schedulers = 0;  ///< in all simulated SMs together
  std::string scheduler, residency;  ///< the policies in use: their names, or their classes if a scheme has its own
  std::vector<std::string> without_energy;  ///< blocks that declare no energy, without their SM
  CycleStack stall_cycles{};
  support::EnergyReport energy;
  std::optional<SkippedLaunches> skipped;  ///< only if launches were selected
  std::vector<std::string> launch_stats;   ///< what LaunchResult::stats holds
  WorkingSet register_working_set;
  RegisterShare register_use;
  std::string fault;  ///< the injected fault; empty: none
  /// Whether the fault gave some lane another value: a lost or stale value may be equal to the right one.
  bool fault_changed_value = false;
  std::string energy_table;  ///< its name
  double seconds = 0;        ///< host time
  /// With several SMs, of these: seconds of the first thread in SMs and in the memory, and the threads.
  double sm_seconds = 0, memory_seconds = 0;
  unsigned threads = 1;
  nlohmann::ordered_json stats;              ///< every module's statistics
  nlohmann::ordered_json stat_descriptions;  ///< unit and description of each
  Waits waits;                               ///< of the scheme
  std::string idle;                          ///< why the scheme had no effect; empty: it had one (Scheme::idle())
  nlohmann::ordered_json scheme_report;
  sm::CauseSamples cause_samples;  ///< of all SMs
  std::vector<WhyCause> why;       ///< the one that held in most cycles first
};

class Simulation {
 public:
  /// Elaborates the platform. `machine` is copied; `scheme` and `trace` must outlive the simulation.
  Simulation(const MachineConfig& machine, Scheme& scheme, const SimulationOptions& options,
             const trace::Reader& trace);
  ~Simulation();
  /// `progress` is called from time to time with the warp instructions done so far.
  void set_progress(std::function<void(std::uint64_t)> progress);
  /// Runs all launches of the trace, while the other Simulations of the program rest. Throws ConfigError if a kernel
  /// does not fit the machine.
  SimulationResult run();
  /// Unit and description of every statistic that a run would have (SimulationResult::stat_descriptions). Elaborates
  /// the platform, as a Simulation does.
  static nlohmann::ordered_json describe(const MachineConfig& machine, Scheme& scheme,
                                         const SimulationOptions& options);
  /// The module hierarchy of the platform that a run would have (hierarchy.h). Elaborates it, as a Simulation does.
  static std::string hierarchy(const MachineConfig& machine, Scheme& scheme, const SimulationOptions& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Only decodes the trace and updates the architectural state of the warps that `machine` would hold resident: the
/// speed limit with which a simulation is compared.
SimulationResult replay(const trace::Reader& trace, const MachineConfig& machine,
                        const std::function<void(std::uint64_t)>& progress);

/// Cycles per warp instruction by reason, {"issued": 0.25, "scoreboard": ...}: scheduler-cycles over `schedulers` (all
/// of the simulated SMs') and instructions, so that the terms add up to cycles / warp instructions. Empty without
/// instructions.
nlohmann::ordered_json cpi_stack(const CycleStack& cycles, std::uint64_t warp_instructions, unsigned schedulers);

/// {"total_nj", "dynamic_nj", "static_nj", "by_structure": {...}} of a launch or a run.
nlohmann::ordered_json energy_json(const support::EnergyReport& energy);

/// The stats.json document of a run. Keys are stable; new ones may be added.
nlohmann::ordered_json stats_document(const SimulationResult& result, const trace::Reader& trace,
                                      const std::string& machine, const std::string& scheme,
                                      const support::OptionSet& options);

}  // namespace regatta::assembly
