// SPDX-License-Identifier: Apache-2.0
#define SC_INCLUDE_DYNAMIC_PROCESSES  // sc_spawn is off by default in SystemC 2.3
#include <systemc>

#include <regatta/sm/sm.h>
#include <regatta/support/cycle_event.h>
#include <regatta/trace/control.h>

#include "contract.h"
#include "sm_impl.h"
#include "stuck_report.h"

#include <algorithm>
#include <array>
#include <utility>

namespace regatta::sm {

using protocol::Event;
using protocol::Observer;
using protocol::Stall;

namespace {

/// Counts the notifications of one event between which no time passes.
class Storm {
 public:
  static constexpr unsigned most = 1000000;
  /// Counts another notification; returns whether there were too many.
  bool breaks_out() {
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    count_ = now == since_ ? count_ + 1 : 0;
    since_ = now;
    return count_ > most;
  }

 private:
  std::uint64_t since_ = 0;
  unsigned count_ = 0;
};

void check_interests(const Core& core, const Observer& observer) {
  std::array<bool, protocol::event_count> seen{};
  for (const Event e : observer.interests()) {
    const auto event = static_cast<std::size_t>(e);
    if (event < seen.size() && !std::exchange(seen[event], true)) continue;
    broken_contract(core, "observer", support::block_name(observer),
                    "interests() names event " + std::to_string(event) + (event < seen.size() ? " twice" : ""),
                    "each event once, from 0 to " + std::to_string(protocol::event_count - 1));
  }
}

}  // namespace

Sm::Sm(const sc_core::sc_module_name& name, const SmConfig& config, support::ClockDomain& clock, unsigned index,
       const PolicyFactory& scheduler)
    : sc_module(name),
      storage("storage"),
      gates("gates"),
      reuse_point("reuse_point"),
      writeback_point("writeback_point"),
      decode_point("decode_point"),
      fetch_listeners("fetch_listeners"),
      shared_contents("shared_contents"),
      operand_cache("operand_cache"),
      residency("residency"),
      cta_source("cta_source"),
      impl_(std::make_unique<Impl>(config, clock, index, scheduler)) {
  impl_->core.path = this->name();
  impl_->core.attach([](void* sm) { static_cast<Sm*>(sm)->tick(); }, this);
}

Sm::~Sm() = default;

protocol::OperandInitiatorSocket& Sm::operand_read_socket() { return impl_->operands->socket(); }
protocol::OperandInitiatorSocket& Sm::operand_write_socket() { return impl_->writeback.write_socket; }
protocol::MemoryInitiatorSocket& Sm::memory_socket() { return impl_->lsu.memory_socket; }
protocol::OptionalSharedInitiatorSocket& Sm::shared_socket() { return impl_->lsu.shared_socket; }
void Sm::add_listener(protocol::LifecycleListener& listener) { impl_->further_listeners.push_back(&listener); }
void Sm::add_observer(Observer& observer) {
  check_interests(impl_->core, observer);
  impl_->core.observers.add(observer);
}
void Sm::set_heartbeat(std::function<void()> heartbeat) { impl_->heartbeat = std::move(heartbeat); }
void Sm::set_watchdog(std::function<void(const std::string&)> watchdog) { impl_->watchdog = std::move(watchdog); }

void Sm::end_of_elaboration() {
  Impl& m = *impl_;
  std::vector<protocol::IssueGate*> gate_list;
  for (int i = 0; i < gates.size(); ++i) gate_list.push_back(gates[i]);
  protocol::ReusePoint* reuse = reuse_point.size() != 0 ? reuse_point[0] : nullptr;
  protocol::WritebackPoint* writeback = writeback_point.size() != 0 ? writeback_point[0] : nullptr;
  protocol::DecodePoint* decode = decode_point.size() != 0 ? decode_point[0] : nullptr;
  std::vector<protocol::FetchListener*> fetch_list;
  for (int i = 0; i < fetch_listeners.size(); ++i) fetch_list.push_back(fetch_listeners[i]);
  protocol::LifecycleList& told = m.core.listeners;
  told.add(*residency[0]);
  told.add(*storage[0]);
  if (shared_contents.size() != 0) told.add(*shared_contents[0]);
  if (operand_cache.size() != 0) told.add(*operand_cache[0]);
  for (protocol::IssueGate* gate : gate_list) told.add(*gate);
  if (reuse != nullptr) told.add(*reuse);
  if (writeback != nullptr) told.add(*writeback);
  if (decode != nullptr) told.add(*decode);
  for (protocol::FetchListener* listener : fetch_list) told.add(*listener);
  if (protocol::LifecycleListener* dependences = m.issue.dependences()) told.add(*dependences);
  for (protocol::LifecycleListener* listener : m.further_listeners) told.add(*listener);
  told.notify([&m](protocol::LifecycleListener& l) { l.attach(m.control); });
  std::vector<protocol::GateRoles> roles;
  std::vector<protocol::InsertedStream*> streams;
  for (protocol::IssueGate* gate : gate_list) {
    roles.push_back(gate->roles());
    if (roles.back().inserted != nullptr) streams.push_back(roles.back().inserted);
  }
  m.front_end.connect(decode, fetch_list, streams);
  m.issue.connect(m.front_end, m.operands, m.lsu, m.ctas, m.reuse, gate_list, roles);
  const std::string operands = support::block_name(*storage[0]);
  m.reuse.connect(reuse);
  m.operands->connect(operands);
  m.operands->connect_issue(m.issue);
  m.operands->connect_storage(*storage[0], operand_cache.size() != 0 ? operand_cache[0] : nullptr);
  check_plan();
  m.writeback.connect(writeback, operands);
  m.lsu.connect("the memory behind " + std::string(m.lsu.name()));
  if (shared_contents.size() != 0) m.lsu.connect_contents(support::block_name(*shared_contents[0]));
  m.ctas.connect(m.front_end, m.issue, m.lsu, *cta_source[0], *residency[0], gate_list);

  // An answer of the block may have changed: ask again in the next cycle.
  auto on = [this](const auto& block, const char* point, const char* process, const std::function<void()>& action) {
    const sc_core::sc_event& event = block.changed();
    if (const support::CycleEvent* in_cycle = support::CycleEvent::of(event)) {
      in_cycle->subscribe([this, action] {
        action();
        impl_->core.wake(impl_->core.current() + 1);
      });
    }
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    Core& core = impl_->core;
    sc_core::sc_spawn(
        [&core, &block, point, action, storm = Storm{}]() mutable {
          if (storm.breaks_out()) {
            broken_contract(core, point, support::block_name(block),
                            "notifies changed() " + std::to_string(Storm::most) + " times without time passing",
                            "a notification when an answer may have turned");
          }
          if (const sc_core::sc_time at = sc_core::sc_time_stamp() - core.origin();
              __builtin_expect(static_cast<int>(!core.whole(core.cycles(at), at)), 0) != 0) {
            broken_contract(core, point, support::block_name(block), "notifies changed() at " + at.to_string(),
                            "a time that is a whole number of cycles of " + core.period().to_string());
          }
          action();
          core.wake(core.current() + 1);
        },
        sc_core::sc_gen_unique_name(process), &options);
  };
  for (unsigned i = 0; i < gate_list.size(); ++i) {
    on(*gate_list[i], "issue_gate", "gate_changed", [&m, i] { m.issue.gate_changed(i); });
  }
  if (reuse != nullptr) on(*reuse, "reuse_point", "reuse_changed", [&m] { m.reuse.reconsider(); });
  if (writeback != nullptr) on(*writeback, "writeback_point", "writeback_changed", [] {});
  if (decode != nullptr) on(*decode, "decode_point", "decode_changed", [&m] { m.front_end.more_room(); });
  on(*residency[0], "residency", "residency_changed", [&m] { m.ctas.reconsider(); });
}

void Sm::check_plan() const {
  const Impl& m = *impl_;
  if (m.operands->forwards()) return;
  const auto refuse = [this](bool there, const std::string& knob, const std::string& expected) {
    if (!there) return;
    throw support::ConfigError("configuration: " + knob + " needs reads that take a known time, and operand storage " +
                               support::block_name(*storage[0]) + " cannot plan them: expected " + expected);
  };
  refuse(m.core.config.obeys_control_bits(), "sm.dependences = control_bits", "scoreboard");
  refuse(operand_cache.size() != 0, "register_file.cache = true", "false");
}

void Sm::warm_code(const trace::Kernel& kernel, std::uint32_t kernel_index, const std::vector<bool>& executed,
                   const std::function<void(std::uint64_t, std::uint8_t)>& missed) {
  impl_->front_end.warm_code(kernel, kernel_index, executed, missed);
}

void Sm::start(const trace::Kernel& kernel, const trace::Launch& launch, std::uint32_t launch_index) {
  Impl& m = *impl_;
  Core& core = m.core;
  core.now = core.current();
  core.kernel = protocol::KernelContext{};
  core.kernel.kernel = &kernel;
  core.kernel.launch = &launch;
  core.kernel.launch_index = launch_index;
  core.kernel.warp_size = kernel.warp_size;
  core.kernel.warps_per_cta = launch.warps_per_cta(kernel.warp_size);
  core.kernel.registers_per_warp = core.config.allocated_registers(trace::registers_at_launch(kernel));
  core.kernel.most_registers_per_warp = core.config.allocated_registers(trace::most_registers(kernel));
  core.traits = make_traits(kernel, core.config);
  core.kernel.traits = &core.traits;
  core.fixed_latency.clear();
  if (core.config.has_sub_cores()) {
    for (const trace::StaticInstruction& i : kernel.instructions) {
      core.fixed_latency.push_back(trace::has_fixed_latency(i));
    }
  }
  core.all_lanes = trace::all_lanes(kernel.warp_size);
  if (kernel.launch_registers != 0) check_budgets(kernel);
  const protocol::SmLimits limits = core.config.limits(kernel.warp_size, storage[0]->capacity_registers());
  const protocol::ResourcePlan plan = residency[0]->plan(core.kernel, limits);
  core.kernel.resident_ctas = static_cast<unsigned>(std::min<std::uint64_t>(plan.resident_ctas, launch.cta_count));
  core.kernel.active_ctas = std::min(plan.active_ctas, core.kernel.resident_ctas);
  m.ctas.kernel_started(plan, limits, *storage[0]);
  m.lsu.kernel_started();
  m.front_end.kernel_started();
  m.issue.kernel_started();
  m.execution.kernel_started();
  m.operands->kernel_started();
  m.sampler.kernel_started(core.now);
  core.listeners.notify([&](protocol::LifecycleListener& l) { l.kernel_started(core.kernel); });
  core.observers.notify(Event::kernel_started, [&](Observer& o) { o.kernel_started(core.now, core.kernel); });
  m.running = true;
  m.watchdog_since = core.now;
  core.longest_wait = 0;
  core.wake(core.now + 1);
}

void Sm::check_budgets(const trace::Kernel& kernel) const {
  impl_->core.listeners.notify([&](const protocol::LifecycleListener& l) {
    const std::string obstacle = l.budget_obstacle();
    if (obstacle.empty()) return;
    throw support::ConfigError("kernel " + kernel.name + " changes the registers of its warps (setmaxnreg), and " +
                               support::block_name(l) + " " + obstacle);
  });
}

void Sm::finish() {
  Core& core = impl_->core;
  impl_->running = false;
  impl_->sampler.kernel_finished();
  impl_->issue.check_announced();
  core.listeners.notify([&](protocol::LifecycleListener& l) { l.kernel_finished(core.kernel); });
  core.observers.notify(Event::kernel_finished, [&](Observer& o) { o.kernel_finished(core.now, core.kernel); });
}

void Sm::break_off() {
  Core& core = impl_->core;
  impl_->running = false;
  impl_->sampler.kernel_finished();
  core.observers.notify(Event::kernel_finished, [&](Observer& o) { o.kernel_broken_off(core.now, core.kernel); });
}

bool Sm::idle() const { return impl_->ctas.resident() == 0 && impl_->lsu.idle(); }

bool Sm::uses_memory() const { return !impl_->lsu.idle(); }

void Sm::Impl::released(DynamicInstruction& d) {
  Warp& w = core.warp(d.warp);
  if (!FrontEnd::is_inserted(d)) reuse.written_back(d);
  issue.release(d);
  retired += d.injected ? 0 : 1;
  core.observers.notify(Event::retired, [&](Observer& o) { o.retired(core.now, d); });
  ctas.retired(w);
  core.pool.give_back(d);
}

void Sm::Impl::prefetch(const Work& work) {
  if (work.kind == Work::Kind::operands_ready) operands.prefetch(work.value);
  const bool result = work.kind == Work::Kind::executed || work.kind == Work::Kind::staged;
  if (!result && work.kind != Work::Kind::released) return;
  const auto* d = reinterpret_cast<const char*>(&core.pool[work.value]);
  __builtin_prefetch(d);
  __builtin_prefetch(d + 64);
  if (!result) return;
  const auto* value = reinterpret_cast<const char*>(core.pool[work.value].results.data());
  __builtin_prefetch(value);
  __builtin_prefetch(value + 64);
}

void Sm::Impl::dispatch(const Work& work) {
  switch (work.kind) {
    case Work::Kind::fetched: {
      Warp& w = core.warps[work.value];
      front_end.fetched(w);
      if (w.state == WarpState::instruction_fetch) issue.update(w);
      break;
    }
    case Work::Kind::fetch_unblocked:
      front_end.unblocked(core.warps[work.value]);
      break;
    case Work::Kind::operands_ready:
      operands.operands_ready(work.value);
      break;
    case Work::Kind::executed:
      writeback.executed(core.pool[work.value]);
      break;
    case Work::Kind::staged:
      writeback.staged(core.pool[work.value]);
      break;
    case Work::Kind::dependence:
      issue.dependence_due(work.value);
      break;
    case Work::Kind::released:
      released(core.pool[work.value]);
      break;
    case Work::Kind::barrier_open:
      ctas.barrier_open(core.warps[work.value]);
      break;
    case Work::Kind::fence_reached: {
      Warp& w = core.warps[work.value];
      if (w.resident) issue.update(w);
      break;
    }
    case Work::Kind::line_arrived:
      front_end.line_arrived(work.value);
      break;
    case Work::Kind::gate_opened:
      issue.gate_opened(core.warps[work.value]);
      break;
    case Work::Kind::gate_resumed:
      issue.resume(core.warps[work.value]);
      break;
    case Work::Kind::context_moved:
      ctas.context_moved(work.value);
      break;
    case Work::Kind::warp_launched:
      ctas.warp_launched(core.warps[work.value]);
      break;
    case Work::Kind::tick:
      break;
  }
}

/// Accounts for cycles without activity after the last simulated one: the schedulers repeat its stall reasons.
void Sm::Impl::account(std::uint64_t cycles) {
  issue.repeat(cycles);
  core.observers.notify_few(Event::cycles, [&](Observer& o) { o.cycles(core.now + 1, cycles, issue.last()); });
  if (sampler.due(core.now + cycles)) sampler.take(core.now + cycles);
  if (ctas.resident() == 0) return;
  resident_cta_cycles += cycles * ctas.resident();
  resident_warp_cycles += cycles * ctas.resident_warps();
  active_cycles += cycles;
}

void Sm::account_until(Cycle end) {
  Impl& m = *impl_;
  m.execution.settle();
  if (!m.running || end <= m.core.now) return;
  m.account(end - m.core.now);
  m.core.now = end;
}

void Sm::tick() {
  try {
    cycle();
  } catch (const base::InputError&) {
    give_up();  // the trace, or an observer's file
  }
}

void Sm::last_stage() {
  try {
    end_cycle();
  } catch (const base::InputError&) {
    give_up();
  }
}

void Sm::give_up() {
  impl_->error = std::current_exception();
  impl_->core.pause();
}

void Sm::rethrow_error() const {
  if (impl_->error) std::rethrow_exception(impl_->error);
}

void Sm::cycle() {
  Impl& m = *impl_;
  Core& core = m.core;
  const Cycle now = core.current();
  if (now == core.now) return;
  if (const std::uint64_t slept = now - core.now - 1; slept != 0) {
    m.account(slept);
    // The SM slept because it waits for an event. The platform detects an SM that never wakes.
    m.watchdog_since = m.watchdog_since + slept;
  }
  core.now = now;
  core.progress = false;
  const unsigned resident_before = m.ctas.resident();
  const std::uint64_t warps_before = m.ctas.resident_warps();

  // The host's first-level cache no longer holds the instructions due next: prefetch them while this cycle is
  // simulated.
  core.calendar.look_ahead(now.value() + 1, [&m](const Work& work) { m.prefetch(work); });
  for (std::uint32_t index : core.released_next) m.released(core.pool[index]);
  core.released_next.clear();
  core.calendar.drain(now.value(), [&m](const Work& work) { m.dispatch(work); });
  m.writeback.cycle();
  m.execution.cycle();
  m.operands.cycle();
  m.lsu.cycle();
  m.reuse.cycle();
  if (resident_before != 0) {
    m.issue.cycle();
    m.resident_cta_cycles += resident_before;
    m.resident_warp_cycles += warps_before;
    ++m.active_cycles;
  } else {
    m.issue.rest();
  }
  core.observers.notify_few(Event::cycles, [&](Observer& o) { o.cycles(now, 1, m.issue.last()); });
  if (m.sampler.due(now)) m.sampler.take(now);
  m.front_end.cycle();
  if (m.ctas.may_ask()) {
    core.in_order([](void* sm) { static_cast<Sm*>(sm)->last_stage(); }, this);
  } else {
    end_cycle();
  }
}

/// The CTA stage, which takes CTAs that other SMs want too, and what follows from the cycle.
void Sm::end_cycle() {
  Impl& m = *impl_;
  Core& core = m.core;
  const Cycle now = core.now;
  m.ctas.cycle();
  if (++m.ticks % 8192 == 0 && m.heartbeat) m.heartbeat();
  const Cycle next = core.progress ? now + 1 : Cycle(core.calendar.next());
  if (next != protocol::never) core.wake(next);
  if (const std::uint64_t steps = m.steps(); steps != m.watchdog_steps) {
    m.watchdog_steps = steps;
    m.watchdog_since = now;
  } else if (m.ctas.resident() != 0 && now - m.watchdog_since > core.config.watchdog_cycles) {
    m.watchdog_since = now;
    // It looks at the memory too, which other SMs use.
    core.in_order([](void* sm) { static_cast<Sm*>(sm)->no_step(); }, this);
  }
}

void Sm::no_step() {
  Impl& m = *impl_;
  if (m.waits()) return;
  const std::string what = no_progress(m.core.config.watchdog_cycles);
  if (m.watchdog) {
    m.watchdog(what);
  } else {
    SC_REPORT_ERROR("regatta/deadlock", (what + "\n" + describe_stuck()).c_str());
  }
}

std::string Sm::describe_stuck() const { return StuckReport(*impl_).text(); }

std::string Sm::no_progress(std::uint64_t cycles) {
  return "no instruction issued or completed and no memory access answered for " + std::to_string(cycles) +
         " cycles (sm.watchdog)";
}

const protocol::ResourcePlan& Sm::plan() const { return impl_->ctas.plan(); }
const protocol::WarpScheduler& Sm::scheduler_policy() const { return impl_->issue.policy(); }
std::uint64_t Sm::steps() const { return impl_->steps(); }
const CauseSamples& Sm::cause_samples() const { return impl_->sampler.samples(); }
const std::vector<std::vector<AccessCounts>>& Sm::accesses() const { return impl_->lsu.accesses(); }
std::vector<std::string> Sm::gate_names() const { return impl_->sampler.gate_names(); }
std::uint64_t Sm::warp_instructions() const { return impl_->core.counters.warp_instructions; }
std::uint64_t Sm::thread_instructions() const { return impl_->core.counters.thread_instructions; }
std::uint64_t Sm::ctas_finished() const { return impl_->core.counters.ctas_finished; }
std::uint64_t Sm::stall_cycles(Stall reason) const {
  return impl_->core.counters.stalls[static_cast<unsigned>(reason)];
}

void Sm::register_stats(support::StatGroup& g) {
  Impl& m = *impl_;
  g.counter("warp_instructions", m.core.counters.warp_instructions, "warp instructions", "issued");
  g.counter("thread_instructions", m.core.counters.thread_instructions, "thread instructions",
            "issued, counted per active lane");
  g.counter("ctas", m.core.counters.ctas_finished, "CTAs", "run to their end");
  g.counter("bypassed_registers", m.core.counters.bypassed_registers, "warp registers",
            "results that a reuse point supplied");
  g.counter("active_cycles", m.active_cycles, "cycles", "with at least one resident CTA");
  g.counter("resident_cta_cycles", m.resident_cta_cycles, "CTA cycles", "resident CTAs, summed over the cycles");
  g.counter("resident_warp_cycles", m.resident_warp_cycles, "warp cycles",
            "warps of resident CTAs, summed over the cycles; without those that wait to be admitted");
  g.derived(
      "resident_ctas_mean",
      [&m] { return m.active_cycles == 0 ? 0.0 : double(m.resident_cta_cycles) / double(m.active_cycles); }, "CTAs",
      "resident, mean over the active cycles");
  g.derived(
      "resident_registers_mean",
      [&m] { return m.active_cycles == 0 ? 0.0 : double(m.ctas.register_cycles()) / double(m.active_cycles); },
      "warp registers", "of resident warps, mean over the active cycles");
  g.derived(
      "resident_registers_max", [&m] { return double(m.ctas.most_registers()); }, "warp registers",
      "of resident warps, at most");
  if (residency[0]->switches()) m.ctas.register_stats(g);
  g.counter("fetches", m.front_end.fetches, "fetches", "instruction fetches");
  g.counter("line_waits", m.front_end.line_waits, "fetches",
            "fetches delayed by a missing instruction or constant line");
  g.counter("fetched_instructions", m.front_end.instructions, "warp instructions", "fetched and decoded");
  if (decode_point.size() != 0) {
    g.counter("inserted_instructions", m.front_end.inserted_instructions, "warp instructions",
              "of one scheme, which left at decode; fetched, unless they were held");
    g.counter("held_insertions", m.front_end.held_insertions, "warp instructions",
              "of these, those that the decode point held already: not fetched");
  }
  if (m.issue.takes_inserted()) {
    g.counter("issued_insertions", m.issue.inserted, "warp instructions",
              "inserted instructions of a scheme that issued, not counted as warp instructions");
  }
  if (m.issue.injected() != nullptr) {
    g.counter("injected_moves", *m.issue.injected(), "warp instructions",
              "register moves requested by gates, not counted as warp instructions; each is an issue of its scheduler");
  }
  const unsigned reasons = m.core.config.obeys_control_bits() ? protocol::stall_count
                           : m.core.config.has_sub_cores()    ? static_cast<unsigned>(Stall::result_queue) + 1
                                                              : protocol::common_stall_count;
  for (unsigned s = 0; s < reasons; ++s) {
    const std::string reason = s == 0 ? "issue" : std::string("stall_") + protocol::to_string(static_cast<Stall>(s));
    g.counter(reason + "_cycles", m.core.counters.stalls[s], "scheduler cycles",
              s == 0
                  ? "in which a scheduler issued"
                  : std::string("in which a scheduler issued nothing: ") + protocol::to_string(static_cast<Stall>(s)));
  }
}

}  // namespace regatta::sm
