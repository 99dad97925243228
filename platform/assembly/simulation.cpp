// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/hierarchy.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/simulation.h>

#include <regatta/assembly/conservation.h>
#include <regatta/base/threads.h>
#include <regatta/memory/memory_system.h>
#include <regatta/support/block_name.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/clock_windows.h>
#include <regatta/support/energy.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/interrupt.h>
#include <regatta/support/stat_query.h>
#include <regatta/support/stat_report.h>

#include "cache_warmer.h"
#include "dispatcher.h"
#include "launch_plan.h"
#include "patience.h"
#include "recorder_set.h"
#include "sm_node.h"
#include "why.h"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

namespace regatta::assembly {

struct Simulation::Impl {
  /// Has the machine's modules in it.
  struct Holder : sc_core::sc_module {
    Holder(const sc_core::sc_module_name& name, const std::function<void()>& fill) : sc_module(name) { fill(); }
  };
  /// `t`: nullptr for a platform that will run nothing.
  Impl(const MachineConfig& m, Scheme& s, const SimulationOptions& o, const trace::Reader* t)
      : machine(m), scheme(s), options(o), trace(t) {}

  void elaborate();
  void make_modules();
  /// The machine's outermost modules.
  const std::vector<sc_core::sc_object*>& objects() const {
    return holder != nullptr ? holder->get_child_objects() : sc_core::sc_get_top_level_objects();
  }
  /// A module's name as that of a statistic has it.
  std::string within(const std::string& name) const {
    return holder == nullptr || name.empty() ? name : name.substr(std::string(holder->name()).size() + 1);
  }
  /// Starts SystemC; ports are bound from here on. Returns the statistics of all modules, the scheme's own first.
  std::vector<support::StatGroup> start();
  void run_all(const std::vector<support::StatGroup>& groups, ConservationLaws& laws, SimulationResult& result);
  bool run_launch(const LaunchPlan::Step& step, ConservationLaws& laws, SimulationResult& result);
  std::string lost(const LaunchResult& r, const trace::Launch& launch, const ConservationLaws& laws) const;
  void run_until_idle();
  std::uint64_t now() const { return clock->now(); }
  support::ClockDomain& clock_of(unsigned sm) { return sm_clocks.empty() ? *clock : *sm_clocks[sm]; }
  void show_progress();
  /// What ends the run, and when.
  struct Event {
    std::uint64_t cycle = 0;
    std::string what;  ///< empty: nothing has
  };
  CycleStack cycle_stack() const;
  std::vector<support::EnergyGroup> energy_groups() const;
  static std::string held_work(const std::vector<sc_core::sc_object*>& objects);
  WhyFacts why_facts() const;
  std::vector<std::string> without_energy() const;
  void check_structures() const;
  std::uint64_t total(std::uint64_t (sm::Sm::*counter)() const) const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes) sum += (node->sm.get()->*counter)();
    return sum;
  }

  MachineConfig machine;
  support::EnergyTable energy_table;
  Scheme& scheme;
  SimulationOptions options;
  const trace::Reader* trace;
  std::unique_ptr<Holder> holder;
  std::optional<support::ClockDomain> clock;  ///< of the SMs and the memory; outlives its parts
  std::unique_ptr<Holder> sm_clocks_holder;
  std::vector<support::ClockDomain*> sm_clocks;                 ///< of several SMs: branches of it
  std::vector<std::unique_ptr<support::ClockDomain>> branches;  ///< the same
  std::optional<RecorderSet> recorders;                         ///< outlives the SMs, which tell it
  std::vector<std::unique_ptr<SmNode>> nodes;
  std::vector<std::unique_ptr<checker::ValueChecker>> checkers;
  std::unique_ptr<memory::MemorySystem> memory;
  std::unique_ptr<CtaDispatcher> dispatcher;
  std::unique_ptr<support::ClockWindows> windows;  ///< of several SMs
  std::optional<Patience> patience;
  std::vector<support::StatSum> launch_sums;  ///< by SimulationOptions::launch_stats
  std::function<void(std::uint64_t)> progress;
  std::vector<Event> mismatches;  ///< by SM
  std::string mismatch;           ///< the earliest of them
  std::string stuck;              ///< why the run was given up, when it was
  bool interrupted = false;
};

Simulation::Simulation(const MachineConfig& machine, Scheme& scheme, const SimulationOptions& options,
                       const trace::Reader& trace)
    : impl_(std::make_unique<Impl>(machine, scheme, options, &trace)) {
  impl_->elaborate();
}

Simulation::~Simulation() = default;

void Simulation::set_progress(std::function<void(std::uint64_t)> progress) { impl_->progress = std::move(progress); }

namespace {

/// What a scheme finds in values, it would find in version tags, which are not the program's.
void refuse_tags(const Scheme& scheme, const trace::Reader& trace) {
  const std::string what = scheme.reads_values();
  if (what.empty()) return;
  for (const trace::Kernel& kernel : trace.kernels()) {
    if (!kernel.version_tags) continue;
    throw support::ConfigError("scheme " + scheme.name() + ": " + what + ", and '" + trace.path() +
                               "' has none: the results of kernel " + kernel.name +
                               " are version tags, because the trace was made without the program's values; expected a "
                               "trace of regatta-annotate, or a scheme that only moves values");
  }
}

}  // namespace

void Simulation::Impl::elaborate() {
  machine.memory.machine_sms = machine.sms;
  machine.memory.simulated_sms = options.sms;
  machine.memory.clock_mhz = machine.clock_mhz;
  machine.sm.line_bytes = machine.l1.line_bytes;
  machine.sm.l1_tags = machine.l1.tags;
  machine.sm.store_masks = machine.memory.interconnect.mask_flits != 0;
  machine.register_file.sub_cores = machine.sm.sub_cores;
  machine.sm.lane_gating = machine.energy.lane_gating;
#ifdef NDEBUG
  constexpr bool debug_build = false;
#else
  constexpr bool debug_build = true;
#endif
  machine.sm.check_contracts =
      machine.sm.check_contracts || options.check_protocol || (debug_build && !options.no_check_protocol);
  machine.validate();
  scheme.validate(machine);
  if (trace != nullptr) refuse_tags(scheme, *trace);
  options.fault.validate(options.sms);
  energy_table = machine.energy.load();
  for (const std::string& remark : energy_table.remarks()) spdlog::warn("{}", remark);
  if (options.sms > machine.sms) {
    throw support::ConfigError("--sms: found " + std::to_string(options.sms) + ", the machine has " +
                               std::to_string(machine.sms) + " SMs (machine.sms)");
  }
  if (options.name.empty()) return make_modules();
  holder = std::make_unique<Holder>(options.name.c_str(), [this] { make_modules(); });
}

void Simulation::Impl::make_modules() {
  clock.emplace("clock", machine.clock_period());
  recorders.emplace(options.recording, machine, *clock);
  if (options.sms > 1) {
    sm_clocks_holder = std::make_unique<Holder>("sm_clocks", [this] {
      for (unsigned i = 0; i < options.sms; ++i) {
        branches.push_back(std::make_unique<support::ClockDomain>(("sm" + std::to_string(i)).c_str(), *clock));
        sm_clocks.push_back(branches.back().get());
      }
    });
  }
  dispatcher = std::make_unique<CtaDispatcher>("cta_dispatcher", trace, options.sms);
  memory = std::make_unique<memory::MemorySystem>("memory", machine.memory, *clock, sm_clocks);
  mismatches.resize(options.sms);
  for (unsigned i = 0; i < options.sms; ++i) {
    nodes.push_back(std::make_unique<SmNode>(("sm" + std::to_string(i)).c_str(), machine, scheme, clock_of(i), i,
                                             options, *recorders));
    SmNode& node = *nodes.back();
    node.sm->cta_source.bind(dispatcher->port(i, clock_of(i)));
    node.l1->downstream.bind(memory->upstream()[i]);
    if (options.sms == 1) node.sm->set_heartbeat([this] { show_progress(); });
    node.sm->set_watchdog([this, i](const std::string& what) {
      if (patience->memory_serves(i)) return;
      stuck = what;
      clock_of(i).pause();
    });
    if (options.check_values) {
      checkers.push_back(std::make_unique<checker::ValueChecker>([this, &node, i](const checker::Mismatch& m) {
        // The first, although the SM runs on to the end of its cycle.
        if (!mismatches[i].what.empty()) return;
        mismatches[i].cycle = clock_of(i).now();
        mismatches[i].what =
            m.message() + node.blame(m.warp.warp, protocol::RegisterId(static_cast<std::uint8_t>(m.reg)));
        clock_of(i).pause();
      }));
      checkers.back()->set_result_origin([&node](const protocol::DynamicInstruction& d, unsigned destination) {
        const protocol::ReusePoint& point = *node.parts.reuse_point;
        const std::string origin = point.result_origin(d, destination);
        return origin.empty() ? "reuse point " + support::block_name(point) : origin;
      });
      node.sm->add_observer(*checkers.back());
    }
  }
  const bool ahead = options.lookup_delay == 0 &&
                     std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->keeps_cycle_time(); });
  clock->set_quantum(ahead ? options.quantum : 1);
  if (options.sms == 1) return;
  // Files of several SMs are written in the order of cycles, and SystemC's processes run between cycles.
  const bool in_cycles = !ahead || recorders->wants_order();
  if (in_cycles && options.threads > 1) {
    spdlog::info("{}: the SMs run on one thread, cycle by cycle",
                 ahead ? "files of several SMs are written in the order of cycles"
                       : "a block or a checker uses SystemC's own time");
  }
  const unsigned threads = in_cycles ? 1 : options.threads != 0 ? options.threads : base::threads();
  windows =
      std::make_unique<support::ClockWindows>(*clock, memory->interconnect(), in_cycles ? 1 : options.window, threads);
  windows->set_heartbeat([this] { show_progress(); });
  windows->hold_up(options.hold_up);
}

/// Every so often while the run goes on.
void Simulation::Impl::show_progress() {
  if (support::interrupted() && !interrupted) {
    interrupted = true;
    clock->pause();
  }
  if (progress) progress(total(&sm::Sm::warp_instructions));
}

/// Runs until no event is left, or a pause. An SM detects its own deadlock. Blocks that keep retrying while the SMs
/// sleep are detected here: by cycles and deltas in which something ran and no SM made a step. Time in which nothing
/// runs does not count, however long it is, and neither does waiting for what is due.
void Simulation::Impl::run_until_idle() {
  const auto tried = [&] { return std::max<std::uint64_t>(clock->cycles_run(), sc_core::sc_delta_count()); };
  constexpr std::uint64_t longest = std::uint64_t{1} << 40;  // cycles; SystemC counts time in 64 bits
  const sc_core::sc_time slice =
      sc_core::sc_time::from_value(std::min(machine.sm.watchdog_cycles, longest) * clock->period().value());
  std::uint64_t steps = total(&sm::Sm::steps);
  for (std::uint64_t since = tried();;) {
    // Runs at least until the next event, however late it is.
    sc_core::sc_start(slice + sc_core::sc_time_to_pending_activity(), sc_core::SC_EXIT_ON_STARVATION);
    recorders->rethrow_error();
    for (auto& node : nodes) node->sm->rethrow_error();
    std::uint64_t first = support::no_cycle;
    for (Event& m : mismatches) {
      if (m.what.empty() || m.cycle >= first) continue;
      first = m.cycle;
      mismatch = m.what;
    }
    const bool paused = !mismatch.empty() || interrupted || !stuck.empty();
    if (paused || !sc_core::sc_pending_activity()) return;
    if (const std::uint64_t now = total(&sm::Sm::steps); now != steps) {
      steps = now;
      since = tried();
    } else if (tried() - since >= machine.sm.watchdog_cycles) {
      since = tried();
      if (patience->step_is_due()) continue;
      stuck = sm::Sm::no_progress(machine.sm.watchdog_cycles);
      return;
    }
  }
}

CycleStack Simulation::Impl::cycle_stack() const {
  CycleStack stack{};
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    for (const auto& node : nodes) stack[s] += node->sm->stall_cycles(static_cast<protocol::Stall>(s));
  }
  return stack;
}

/// The modules' declarations, and the structures of the whole card, of which the simulated SMs' share is charged.
std::vector<support::EnergyGroup> Simulation::Impl::energy_groups() const {
  std::vector<support::EnergyGroup> groups = support::collect_energy(holder.get());
  support::EnergyGroup& card = groups.emplace_back();
  const double share = double(machine.memory.served_sms()) / machine.sms;
  auto always = [](double factor) { return support::LeakageState{nullptr, 1, factor}; };
  card.leakage("l2", "l2.leakage", {}, always(machine.memory.l2.partitions * share));
  card.leakage("dram", "dram.background", {}, always(share));
  card.leakage("card", "chip.constant", {}, always(share));
  return groups;
}

/// What the modules below `objects` hold, a line each.
std::string Simulation::Impl::held_work(const std::vector<sc_core::sc_object*>& objects) {
  std::string lines;
  for (const sc_core::sc_object* object : objects) {
    if (const auto* holder = dynamic_cast<const support::HoldsWork*>(object)) {
      if (const std::string work = holder->held_work(); !work.empty()) {
        lines += "  " + std::string(object->name()) + ": " + work + "\n";
      }
    }
    lines += held_work(object->get_child_objects());
  }
  return lines;
}

/// Blocks that declare no energy and therefore cost nothing. They are reported, since the results would not show it.
std::vector<std::string> Simulation::Impl::without_energy() const {
  std::vector<std::string> kinds;
  for (const auto& node : nodes) {
    for (const std::string& name : node->without_energy()) {
      const std::string kind = support::module_kind(name);
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
      kinds.push_back(kind);
      const std::string what = name +
                               " declares no energy, so that it costs nothing; expected register_energy() with its "
                               "events or leakage, or costs_nothing() with the reason";
      if (options.check_energy) SC_REPORT_ERROR("regatta/energy", what.c_str());
      spdlog::warn("{}", what);
    }
  }
  return kinds;
}

/// What the SMs saw of the causes of their cycles, summed.
WhyFacts Simulation::Impl::why_facts() const {
  WhyFacts facts;
  facts.sms = options.sms;
  facts.gates = nodes.front()->sm->gate_names();
  for (std::string& gate : facts.gates) gate = within(gate);
  for (const auto& node : nodes) {
    for (const auto& [key, sum] : node->sm->cause_samples()) facts.samples[key].add(sum);
    const auto& accesses = node->sm->accesses();
    if (facts.accesses.size() < accesses.size()) facts.accesses.resize(accesses.size());
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      if (facts.accesses[k].size() < accesses[k].size()) facts.accesses[k].resize(accesses[k].size());
      for (std::size_t i = 0; i < accesses[k].size(); ++i) facts.accesses[k][i].add(accesses[k][i]);
    }
  }
  return facts;
}

/// A misspelt structure would be a line of its own, and missing from the line that was meant.
void Simulation::Impl::check_structures() const {
  for (const std::string& what : unknown_structures(energy_groups(), scheme.energy_structures())) {
    if (options.check_energy) SC_REPORT_ERROR("regatta/energy", what.c_str());
    spdlog::warn("{}", what);
  }
}

/// What a completed launch did not conserve; empty when nothing is missing.
std::string Simulation::Impl::lost(const LaunchResult& r, const trace::Launch& launch,
                                   const ConservationLaws& laws) const {
  if (r.warp_instructions != launch.warp_instructions) {
    return "warp instructions issued = " + std::to_string(r.warp_instructions) +
           " must equal those traced = " + std::to_string(launch.warp_instructions);
  }
  if (r.thread_instructions != launch.thread_instructions) {
    return "thread instructions issued = " + std::to_string(r.thread_instructions) +
           " must equal those traced = " + std::to_string(launch.thread_instructions);
  }
  std::uint64_t slots = 0;
  for (const std::uint64_t s : r.stall_cycles) slots += s;
  const std::uint64_t expected = r.cycles * machine.sm.schedulers * nodes.size();
  if (slots != expected) {
    return "every scheduler-cycle has one reason: the reasons add up to " + std::to_string(slots) +
           " and must add up to cycles x schedulers x SMs = " + std::to_string(expected);
  }
  if (!r.by_instruction.empty()) {
    CycleStack sum{};
    for (const CycleStack& stack : r.by_instruction) {
      for (unsigned s = 0; s < protocol::stall_count; ++s) sum[s] += stack[s];
    }
    if (sum != r.stall_cycles) return "the cycles by instruction must add up to the scheduler-cycles, reason by reason";
  }
  return laws.broken();
}

bool Simulation::Impl::run_launch(const LaunchPlan::Step& step, ConservationLaws& laws, SimulationResult& result) {
  const std::uint32_t index = step.launch;
  const trace::Launch& launch = trace->launches()[index];
  const trace::Kernel& kernel = trace->kernels()[launch.kernel];
  const std::uint64_t start = now();
  const std::uint64_t instructions = total(&sm::Sm::warp_instructions);
  const std::uint64_t thread_instructions = total(&sm::Sm::thread_instructions);
  const CycleStack stack = cycle_stack();
  recorders->launch(index, kernel, launch);
  dispatcher->begin(step.first_cta, launch.cta_count, step.stream_end);
  for (auto& node : nodes) {
    node->l1->invalidate_data();
    node->sm->start(kernel, launch, index);
    node->l1->use_bytes(node->sm->plan().l1_bytes);
  }
  laws.begin();
  support::EnergyMeter meter(energy_table);
  meter.begin(energy_groups());
  std::vector<std::uint64_t> counted;
  for (const support::StatSum& sum : launch_sums) counted.push_back(sum.total());
  run_until_idle();
  for (auto& node : nodes) node->sm->account_until(protocol::Cycle(now()));
  LaunchResult r;
  r.kernel = kernel.name;
  r.cycles = now() - start;
  r.warp_instructions = total(&sm::Sm::warp_instructions) - instructions;
  r.thread_instructions = total(&sm::Sm::thread_instructions) - thread_instructions;
  r.ctas = launch.cta_count - dispatcher->unfinished();
  r.stall_cycles = cycle_stack();
  for (unsigned s = 0; s < protocol::stall_count; ++s) r.stall_cycles[s] -= stack[s];
  r.by_instruction = recorders->cycles_by_instruction();
  r.index = index;
  r.kernel_index = launch.kernel;
  for (std::size_t i = 0; i < launch_sums.size(); ++i) r.stats.push_back(launch_sums[i].total() - counted[i]);
  // A broken rule of the energy is told last: a value, a deadlock, a transfer or a law say more about a wrong block.
  std::optional<sc_core::sc_report> wrong_energy;
  try {
    r.energy = meter.end(energy_groups(), r.cycles, machine.clock_mhz);
  } catch (const sc_core::sc_report& e) {
    wrong_energy = e;
  }
  result.energy.add(r.energy);
  result.launches.push_back(r);
  const auto broken_off = [&](Ending ending, const std::string& message) {
    for (auto& node : nodes) node->sm->break_off();
    result.ending = ending;
    result.message = message;
    return false;
  };
  if (!mismatch.empty()) return broken_off(Ending::value_mismatch, mismatch);
  if (interrupted) {
    return broken_off(Ending::interrupted,
                      "interrupted in launch " + std::to_string(index) + ": the statistics are partial");
  }
  bool idle = dispatcher->unfinished() == 0;
  for (auto& node : nodes) idle = idle && node->sm->idle();
  if (!idle || !stuck.empty()) {
    std::string message = "deadlock: launch " + std::to_string(index) + " (" + kernel.name + ") stopped at cycle " +
                          std::to_string(now()) + " with " + std::to_string(dispatcher->unfinished()) +
                          " CTAs unfinished" + (stuck.empty() ? "" : ": " + stuck) + "\n";
    for (auto& node : nodes) message += node->describe_stuck();
    message += held_work(objects());
    return broken_off(Ending::deadlock, message);
  }
  // After the deadlock, whose report also names what was open.
  for (auto& node : nodes) node->finish_protocol_checks();
  for (auto& node : nodes) node->sm->finish();
  if (const std::string what = lost(r, launch, laws); !what.empty()) {
    result.ending = Ending::not_conserved;
    result.message = "not conserved in launch " + std::to_string(index) + " (" + kernel.name + "): " + what;
    return false;
  }
  if (wrong_energy) throw *wrong_energy;
  return true;
}

std::vector<support::StatGroup> Simulation::Impl::start() {
  if (!sc_core::sc_start_of_simulation_invoked()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  // Another machine of the program may have run. Time of this one begins now.
  if (sc_core::sc_time_stamp() != sc_core::SC_ZERO_TIME) clock->restart();
  patience.emplace(nodes, objects());
  std::vector<support::StatGroup> groups = support::collect_stats(holder.get());
  std::vector<support::StatGroup> whole;
  for (const std::string& name : scheme.stat_groups()) {
    whole.emplace_back(name);
    scheme.register_stats(whole.back(), groups);
    if (whole.back().stats().empty()) whole.pop_back();
  }
  groups.insert(groups.begin(), std::make_move_iterator(whole.begin()), std::make_move_iterator(whole.end()));
  return groups;
}

nlohmann::ordered_json Simulation::describe(const MachineConfig& machine, Scheme& scheme,
                                            const SimulationOptions& options) {
  Impl platform(machine, scheme, options, nullptr);
  platform.elaborate();
  return support::stats_description_json(platform.start());
}

std::string Simulation::hierarchy(const MachineConfig& machine, Scheme& scheme, const SimulationOptions& options) {
  Impl platform(machine, scheme, options, nullptr);
  platform.elaborate();
  return hierarchy_text();
}

void Simulation::Impl::run_all(const std::vector<support::StatGroup>& groups, ConservationLaws& laws,
                               SimulationResult& result) {
  for (const std::string& query : options.launch_stats) {
    try {
      launch_sums.push_back(support::StatSum(groups, {query}));
    } catch (const std::logic_error& e) {
      throw support::ConfigError(std::string("--launch-stats: ") + e.what());
    }
    if (launch_sums.back().empty()) {
      throw support::ConfigError("--launch-stats: found '" + query + "', which names no statistic of this run; " +
                                 "--describe-stats lists them");
    }
  }
  result.launch_stats = options.launch_stats;
  LaunchPlan plan(*trace, options.launches);
  const auto warm_code = [this](const trace::Launch& launch, const std::vector<bool>& executed) {
    for (auto& node : nodes) {
      node->sm->warm_code(trace->kernels()[launch.kernel], launch.kernel, executed,
                          [this](std::uint64_t line, std::uint8_t sectors) {
                            memory->warm(line, sectors, protocol::AccessClass::instruction);
                          });
    }
  };
  CacheWarmer warmer(*trace, *memory, machine.l1.line_bytes, options.warm, warm_code);
  if (!options.launches.empty()) result.skipped.emplace();
  for (const LaunchPlan::Step& step : plan.steps()) {
    try {
      if (step.skipped_before != 0 && !warmer.warm(step.launch - step.skipped_before, step.launch, *result.skipped)) {
        result.ending = Ending::interrupted;
        result.message = "interrupted before launch " + std::to_string(step.launch) + ": the statistics are partial";
        return;
      }
      if (options.warm_code) {
        const trace::Launch& launch = trace->launches()[step.launch];
        warm_code(launch, std::vector<bool>(trace->kernels()[launch.kernel].instructions.size(), true));
      }
      if (!run_launch(step, laws, result)) return;
    } catch (const sc_core::sc_report&) {
      try {
        recorders->finish(now());  // recordings of a broken contract or a deadlock are worth most
      } catch (const base::InputError& e) {
        spdlog::error("{}", e.what());
      }
      throw;
    }
  }
}

SimulationResult Simulation::run() {
  Impl& m = *impl_;
  SimulationResult result;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<support::StatGroup> groups = m.start();
  result.without_energy = m.without_energy();
  m.check_structures();
  result.scheduler = m.nodes.front()->scheduler_name();
  result.residency = m.nodes.front()->residency_name();
  std::vector<std::string> storages;
  for (const auto& node : m.nodes) storages.push_back(m.within(node->storage_path()));
  ConservationLaws laws(groups);
  laws.add_platform(storages);
  for (const auto& node : m.nodes) m.scheme.add_laws(laws, m.within(node->name()));
  m.recorders->begin(groups, [&m](std::uint64_t cycle) {
    for (auto& node : m.nodes) node->sm->account_until(protocol::Cycle(cycle));
  });
  m.run_all(groups, laws, result);
  if (m.windows != nullptr) {
    result.sm_seconds = m.windows->branch_seconds();
    result.memory_seconds = m.windows->trunk_seconds();
    result.threads = m.windows->threads();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.cycles = m.now();
  m.recorders->finish(m.now());
  result.register_working_set = m.recorders->working_set();
  result.register_use = m.recorders->register_use();
  result.warp_instructions = m.total(&sm::Sm::warp_instructions);
  result.thread_instructions = m.total(&sm::Sm::thread_instructions);
  result.laws = laws.size();
  result.energy_table = m.energy_table.name();
  result.schedulers = m.machine.sm.schedulers * m.options.sms;
  result.stall_cycles = m.cycle_stack();
  std::uint64_t shared_words = 0;
  for (const auto& checker : m.checkers) {
    result.operands_checked += checker->operands_checked();
    result.mismatches += checker->mismatches();
    shared_words += checker->shared_words_checked();
  }
  const bool models_contents = std::any_of(m.nodes.begin(), m.nodes.end(),
                                           [](const auto& node) { return node->parts.shared_contents != nullptr; });
  if (models_contents) result.shared_words_checked = shared_words;
  for (const auto& node : m.nodes) {
    if (node->fault != nullptr) {
      result.fault = node->fault->planted();
      result.fault_changed_value = node->fault->changed_value();
    }
  }
  result.stats = support::stats_json(groups);
  result.stat_descriptions = support::stats_description_json(groups);
  Waits waits;
  m.scheme.add_waits(waits);
  result.waits = waits.of(groups);
  m.scheme.report(result.scheme_report);
  WhyFacts facts = m.why_facts();
  support::OptionSet knobs;
  m.scheme.declare(knobs);
  facts.knobs = result.waits.knobs_of_longest(groups, knobs);
  result.why = why(result, facts, m.machine, *m.trace);
  result.cause_samples = std::move(facts.samples);
  if (result.ending == Ending::completed) {
    std::vector<std::uint32_t> simulated;
    for (const LaunchResult& l : result.launches) simulated.push_back(l.index);
    result.idle = m.scheme.idle(RunFacts(groups, m.machine, m.options.sms, *m.trace, simulated));
  }
  return result;
}

}  // namespace regatta::assembly
