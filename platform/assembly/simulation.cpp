// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/simulation.h>

#include <regatta/assembly/conservation.h>
#include <regatta/memory/memory_system.h>
#include <regatta/memory/request_arbiter.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/sm/sm.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/energy.h>
#include <regatta/support/interrupt.h>
#include <regatta/support/stat_report.h>

#include "dispatcher.h"
#include "looking.h"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <chrono>
#include <optional>

namespace regatta::assembly {

namespace {

/// One SM with its storage, its scheme's parts and its L1, under one name.
class SmNode : public sc_core::sc_module {
 public:
  SmNode(const sc_core::sc_module_name& name, const MachineConfig& machine, Scheme& scheme, sc_core::sc_time period,
         unsigned index, bool check_protocol, Looking& looking)
      : sc_module(name) {
    parts = scheme.build(BuildContext{machine, period, index, check_protocol});
    if (parts.storage == nullptr || parts.residency == nullptr || !parts.scheduler) {
      throw support::ConfigError("scheme '" + scheme.name() + "' built an SM without storage, residency or scheduler");
    }
    sm = std::make_unique<sm::Sm>("pipeline", machine.sm, period, index, parts.scheduler);
    l1 = std::make_unique<memory::L1Cache>("l1", machine.l1, period);
    sm->storage.bind(*parts.storage);
    sm->residency.bind(*parts.residency);
    for (auto& gate : parts.gates) sm->gates.bind(*gate);
    if (parts.reuse_point) sm->reuse_point.bind(*parts.reuse_point);
    if (parts.writeback_point) sm->writeback_point.bind(*parts.writeback_point);
    if (parts.decode_point != nullptr) sm->decode_point.bind(*parts.decode_point);
    for (auto& observer : parts.observers) sm->add_observer(*observer);
    // From initiator to target, through a tap and a checker where they are wanted.
    const bool tapped = looking.wants_taps();
    auto insert = [](bool wanted, auto& hop, const char* hop_name, auto& initiator, auto&& onwards) {
      if (!wanted) return onwards(initiator);
      using Hop = typename std::decay_t<decltype(hop)>::element_type;
      hop = std::make_unique<Hop>(hop_name);
      initiator.bind(hop->in);
      onwards(hop->out);
    };
    auto connect = [&](auto& tap, const char* tap_name, auto& checker, const char* checker_name, auto& initiator,
                       auto& target) {
      insert(tapped, tap, tap_name, initiator, [&](auto& from) {
        insert(check_protocol, checker, checker_name, from, [&](auto& last) { last.bind(target); });
      });
    };
    connect(read_tap, "read_tap", read_checker, "read_protocol", sm->operand_read_socket(),
            parts.storage->read_socket());
    connect(write_tap, "write_tap", write_checker, "write_protocol", sm->operand_write_socket(),
            parts.storage->write_socket());
    if (parts.l1_clients.empty()) {
      connect(memory_tap, "memory_tap", memory_checker, "memory_protocol", sm->memory_socket(), l1->upstream);
    } else {
      const auto ports = static_cast<unsigned>(parts.l1_clients.size()) + 1;
      arbiter = std::make_unique<memory::RequestArbiter>("l1_arbiter", ports, period);
      connect(memory_tap, "memory_tap", memory_checker, "memory_protocol", sm->memory_socket(), arbiter->upstream(0));
      const BuildContext context{machine, period, index, check_protocol};
      for (unsigned p = 1; p < ports; ++p) {
        connect_memory(context, parts, "l1_client" + std::to_string(p) + "_protocol", *parts.l1_clients[p - 1],
                       arbiter->upstream(p));
      }
      connect_memory(context, parts, "l1_protocol", arbiter->downstream, l1->upstream);
    }
    looking.add_sm(index, *sm, parts.storage_banks, read_tap.get(), write_tap.get(), memory_tap.get());
  }

  /// Where the storage that the pipeline is bound to stands in the module hierarchy; empty when it is no module.
  std::string storage_path() const {
    const auto* module = dynamic_cast<const sc_core::sc_object*>(parts.storage.get());
    return module == nullptr ? std::string() : module->name();
  }

  /// Nothing in the SM needs SystemC's own time to be exact within a cycle.
  bool keeps_cycle_time() const {
    auto keeps = [](const auto& part) { return part == nullptr || part->keeps_cycle_time(); };
    bool all = keeps(parts.storage) && keeps(parts.reuse_point) && keeps(parts.writeback_point) &&
               keeps(parts.residency) && read_checker == nullptr;
    all = all && keeps(parts.decode_point);
    for (const auto& gate : parts.gates) all = all && keeps(gate);
    for (const auto& observer : parts.observers) all = all && keeps(observer);
    return all;
  }

  /// At the end of a launch: nothing may be open on a checked socket.
  void finish_protocol_checks() {
    if (read_checker == nullptr) return;
    read_checker->finish();
    write_checker->finish();
    memory_checker->finish();
    for (auto& checker : parts.memory_checkers) checker->finish();
  }

  std::unique_ptr<recorders::SocketTap<1024>> read_tap, write_tap;
  std::unique_ptr<recorders::SocketTap<256>> memory_tap;
  SmParts parts;
  std::unique_ptr<sm::Sm> sm;
  std::unique_ptr<memory::RequestArbiter> arbiter;  ///< before the L1, when others than the load-store unit use it
  std::unique_ptr<memory::L1Cache> l1;
  std::unique_ptr<protocol::BaseProtocolChecker<1024>> read_checker, write_checker;
  std::unique_ptr<protocol::BaseProtocolChecker<256>> memory_checker;
};

}  // namespace

struct Simulation::Impl {
  Impl(const MachineConfig& m, Scheme& s, const SimulationOptions& o, const trace::Reader& t)
      : machine(m), scheme(s), options(o), trace(t) {}

  void elaborate();
  bool run_launch(std::uint32_t index, ConservationLaws& laws, SimulationResult& result);
  std::string lost(const LaunchResult& r, const trace::Launch& launch, const ConservationLaws& laws) const;
  std::uint64_t now() const { return support::CycleScheduler::of(period).now(); }
  void pause() const {
    support::CycleScheduler::of(period).yield();
    sc_core::sc_pause();
  }
  CycleStack cycle_stack() const;
  std::vector<support::EnergyGroup> energy_groups() const;
  std::uint64_t total(std::uint64_t (sm::Sm::*counter)() const) const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes) sum += (node->sm.get()->*counter)();
    return sum;
  }

  MachineConfig machine;
  support::EnergyTable energy_table;
  Scheme& scheme;
  SimulationOptions options;
  const trace::Reader& trace;
  sc_core::sc_time period;
  std::optional<Looking> looking;  ///< outlives the SMs, which tell it
  std::vector<std::unique_ptr<SmNode>> nodes;
  std::vector<std::unique_ptr<checker::ValueChecker>> checkers;
  std::unique_ptr<memory::MemorySystem> memory;
  std::unique_ptr<CtaDispatcher> dispatcher;
  std::function<void(std::uint64_t)> progress;
  std::string mismatch;
  std::string stuck;  ///< why the run was given up, when it was
  bool interrupted = false;
};

Simulation::Simulation(const MachineConfig& machine, Scheme& scheme, const SimulationOptions& options,
                       const trace::Reader& trace)
    : impl_(std::make_unique<Impl>(machine, scheme, options, trace)) {
  impl_->elaborate();
}

Simulation::~Simulation() = default;

void Simulation::set_progress(std::function<void(std::uint64_t)> progress) { impl_->progress = std::move(progress); }

void Simulation::Impl::elaborate() {
  machine.memory.machine_sms = machine.sms;
  machine.memory.simulated_sms = options.sms;
  machine.memory.clock_mhz = machine.clock_mhz;
  machine.sm.line_bytes = machine.l1.line_bytes;
  machine.register_file.sub_cores = machine.sm.sub_cores;
  machine.sm.lane_gating = machine.energy.lane_gating;
  machine.validate();
  scheme.validate(machine);
  energy_table = machine.energy.load();
  for (const std::string& remark : energy_table.remarks()) spdlog::warn("{}", remark);
  if (options.sms > machine.sms) {
    throw support::ConfigError("--sms: found " + std::to_string(options.sms) + ", the machine has " +
                               std::to_string(machine.sms) + " SMs (machine.sms)");
  }
  // Time is counted in whole cycles everywhere; rounding the period to a picosecond changes no cycle count.
  period = sc_core::sc_time(1e6 / machine.clock_mhz, sc_core::SC_PS);
  looking.emplace(options.recording, machine, period);
  dispatcher = std::make_unique<CtaDispatcher>("cta_dispatcher", trace, period, options.sms);
  memory = std::make_unique<memory::MemorySystem>("memory", machine.memory, period);
  for (unsigned i = 0; i < options.sms; ++i) {
    nodes.push_back(std::make_unique<SmNode>(("sm" + std::to_string(i)).c_str(), machine, scheme, period, i,
                                             options.check_protocol, *looking));
    SmNode& node = *nodes.back();
    node.sm->cta_source.bind(dispatcher->port(i));
    node.l1->downstream.bind(memory->upstream()[i]);
    node.sm->set_heartbeat([this] {
      if (support::interrupted() && !interrupted) {
        interrupted = true;
        pause();
      }
      if (progress) progress(total(&sm::Sm::warp_instructions));
    });
    node.sm->set_watchdog([this](const std::string& what) {
      stuck = what;
      pause();
    });
    if (options.check_values) {
      checkers.push_back(std::make_unique<checker::ValueChecker>([this](const checker::Mismatch& m) {
        mismatch = m.message();
        pause();
      }));
      node.sm->add_observer(*checkers.back());
    }
  }
  const bool ahead = std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->keeps_cycle_time(); });
  support::CycleScheduler::of(period).set_quantum(ahead ? options.quantum : 1);
}

CycleStack Simulation::Impl::cycle_stack() const {
  CycleStack stack{};
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    for (const auto& node : nodes) stack[s] += node->sm->stall_cycles(static_cast<protocol::Stall>(s));
  }
  return stack;
}

/// The modules' declarations, and what belongs to the whole card: the share of it that the simulated SMs are is
/// charged.
std::vector<support::EnergyGroup> Simulation::Impl::energy_groups() const {
  std::vector<support::EnergyGroup> groups = support::collect_energy();
  support::EnergyGroup& card = groups.emplace_back();
  const double share = double(options.sms) / machine.sms;
  auto always = [](double factor) { return support::LeakageState{nullptr, 1, factor}; };
  card.leakage("l2", "l2.leakage", {}, always(machine.memory.l2.partitions * share));
  card.leakage("dram", "dram.background", {}, always(share));
  card.leakage("card", "chip.constant", {}, always(share));
  return groups;
}

/// What a completed launch did not conserve; empty when nothing is missing.
std::string Simulation::Impl::lost(const LaunchResult& r, const trace::Launch& launch,
                                   const ConservationLaws& laws) const {
  if (r.warp_instructions != launch.warp_instructions) {
    return "warp instructions issued = " + std::to_string(r.warp_instructions) +
           " must equal those traced = " + std::to_string(launch.warp_instructions);
  }
  std::uint64_t slots = 0;
  for (const std::uint64_t s : r.stall_cycles) slots += s;
  const std::uint64_t expected = r.cycles * machine.sm.schedulers * nodes.size();
  if (slots != expected) {
    return "every scheduler-cycle has one reason: the reasons add up to " + std::to_string(slots) +
           " and must add up to cycles x schedulers x SMs = " + std::to_string(expected);
  }
  return laws.broken();
}

bool Simulation::Impl::run_launch(std::uint32_t index, ConservationLaws& laws, SimulationResult& result) {
  const trace::Launch& launch = trace.launches()[index];
  const trace::Kernel& kernel = trace.kernels()[launch.kernel];
  const std::uint64_t start = now();
  const std::uint64_t instructions = total(&sm::Sm::warp_instructions);
  const std::uint64_t thread_instructions = total(&sm::Sm::thread_instructions);
  const CycleStack stack = cycle_stack();
  looking->launch(index);
  dispatcher->begin(launch.cta_count);
  for (auto& node : nodes) {
    node->l1->invalidate_data();
    node->sm->start(kernel, launch, index);
  }
  laws.begin();
  support::EnergyMeter meter(energy_table);
  meter.begin(energy_groups());
  sc_core::sc_start();  // until nothing is left to happen, or a pause
  looking->rethrow_error();
  for (auto& node : nodes) {
    node->sm->rethrow_error();
    node->sm->account_until(protocol::Cycle(now()));
  }
  LaunchResult r;
  r.kernel = kernel.name;
  r.cycles = now() - start;
  r.warp_instructions = total(&sm::Sm::warp_instructions) - instructions;
  r.thread_instructions = total(&sm::Sm::thread_instructions) - thread_instructions;
  r.ctas = launch.cta_count - dispatcher->unfinished();
  r.stall_cycles = cycle_stack();
  for (unsigned s = 0; s < protocol::stall_count; ++s) r.stall_cycles[s] -= stack[s];
  r.energy = meter.end(energy_groups(), r.cycles, machine.clock_mhz);
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
  if (stuck.empty()) {
    for (auto& node : nodes) node->finish_protocol_checks();
  }
  if (!idle || !stuck.empty()) {
    std::string message = "deadlock: launch " + std::to_string(index) + " (" + kernel.name + ") stopped at cycle " +
                          std::to_string(now()) + " with " + std::to_string(dispatcher->unfinished()) +
                          " CTAs unfinished" + (stuck.empty() ? "" : ": " + stuck) + "\n";
    for (auto& node : nodes) {
      message += node->sm->describe_stuck();
      if (node->parts.describe_stuck) message += node->parts.describe_stuck();
    }
    return broken_off(Ending::deadlock, message);
  }
  for (auto& node : nodes) node->sm->finish();
  if (const std::string what = lost(r, launch, laws); !what.empty()) {
    result.ending = Ending::not_conserved;
    result.message = "not conserved in launch " + std::to_string(index) + " (" + kernel.name + "): " + what;
    return false;
  }
  return true;
}

SimulationResult Simulation::run() {
  Impl& m = *impl_;
  SimulationResult result;
  const auto begin = std::chrono::steady_clock::now();
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // ports are bound from here on
  std::vector<support::StatGroup> groups = support::collect_stats();
  std::vector<support::StatGroup> whole;
  for (const std::string& name : m.scheme.stat_groups()) {
    whole.emplace_back(name);
    m.scheme.register_stats(whole.back(), groups);
    if (whole.back().stats().empty()) whole.pop_back();
  }
  groups.insert(groups.begin(), std::make_move_iterator(whole.begin()), std::make_move_iterator(whole.end()));
  std::vector<std::string> storages;
  for (const auto& node : m.nodes) storages.push_back(node->storage_path());
  ConservationLaws laws(groups, storages);
  for (const auto& node : m.nodes) m.scheme.add_laws(laws, node->name());
  m.looking->begin(groups, [&m](std::uint64_t cycle) {
    for (auto& node : m.nodes) node->sm->account_until(protocol::Cycle(cycle));
  });
  for (std::uint32_t i = 0; i < m.trace.launches().size(); ++i) {
    try {
      if (!m.run_launch(i, laws, result)) break;
    } catch (const sc_core::sc_report&) {
      try {
        m.looking->finish(m.now());  // a broken contract or a deadlock is what one wants to look at
      } catch (const support::ConfigError& e) {
        spdlog::error("{}", e.what());
      }
      throw;
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.cycles = m.now();
  m.looking->finish(m.now());
  result.register_working_set = m.looking->working_set();
  result.warp_instructions = m.total(&sm::Sm::warp_instructions);
  result.thread_instructions = m.total(&sm::Sm::thread_instructions);
  result.laws = laws.size();
  result.energy_table = m.energy_table.name();
  result.schedulers = m.machine.sm.schedulers * m.options.sms;
  result.stall_cycles = m.cycle_stack();
  for (const auto& checker : m.checkers) {
    result.operands_checked += checker->operands_checked();
    result.mismatches += checker->mismatches();
  }
  result.stats = support::stats_json(groups);
  result.stat_descriptions = support::stats_description_json(groups);
  m.scheme.report(result.scheme_report);
  return result;
}

}  // namespace regatta::assembly
