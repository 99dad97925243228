// SPDX-License-Identifier: Apache-2.0
#include "cta_stage.h"

#include "contract.h"
#include "front_end.h"
#include "issue.h"
#include "load_store_unit.h"

#include <algorithm>
#include <vector>

namespace regatta::sm {

using protocol::CtaPhase;
using protocol::Event;
using protocol::LifecycleListener;
using protocol::Observer;
using protocol::Residency;

void CtaStage::connect(FrontEnd& front_end, IssueStage& issue, LoadStoreUnit& lsu, CtaSource& source,
                       Residency& residency, std::vector<protocol::IssueGate*> gates) {
  front_end_ = &front_end;
  issue_ = &issue;
  lsu_ = &lsu;
  source_ = &source;
  residency_ = &residency;
  follows_stalls_ = residency.follows_stalls();
  follows_warps_ = residency.follows_warps();
  gates_ = std::move(gates);
}

void CtaStage::broken(const std::string& did, const std::string& expected) const {
  broken_contract(core_, "residency", support::block_name(*residency_), did, expected);
}

void CtaStage::kernel_started(const protocol::ResourcePlan& plan, const protocol::SmLimits& limits,
                              const protocol::OperandStorage& storage) {
  limits_ = limits;
  plan_ = plan;
  const unsigned resident = plan.resident_ctas;
  constexpr std::uint64_t most = std::uint64_t{1} << (8 * sizeof(WarpSlot::rep));
  if (resident == 0 || std::uint64_t{resident} * core_.kernel.warps_per_cta > most) {
    broken("plan() says that " + std::to_string(resident) + " CTAs of " + std::to_string(core_.kernel.warps_per_cta) +
               " warps can be resident",
           "at least 1 CTA and at most " + std::to_string(most) + " warps");
  }
  if (plan.active_ctas == 0 || plan.active_ctas > resident || plan.active_ctas > limits.ctas) {
    broken("plan() says that " + std::to_string(plan.active_ctas) + " of " + std::to_string(resident) +
               " resident CTAs can be active",
           "at least 1 and at most " + std::to_string(std::min(resident, limits.ctas)));
  }
  if (plan.registers > limits.registers) {
    broken("plan() says that the resident CTAs take " + std::to_string(plan.registers) + " warp registers",
           "no more than the storage holds, " + std::to_string(limits.registers));
  }
  if (plan.shared_bytes > limits.shared_bytes) {
    broken("plan() says that the resident CTAs take " + std::to_string(plan.shared_bytes) + " bytes of shared memory",
           "at most " + std::to_string(limits.shared_bytes) + " (sm.shared_bytes)");
  }
  draining_ = 0;
  warps_waiting_ = 0;
  launcher_free_ = barrier_free_ = core_.now;
  launch_wanted_ = false;
  ctas_.assign(resident, ResidentCta{});
  stalled_warps_.assign(resident, 0);
  core_.warps.clear();
  core_.warps.resize(std::size_t{resident} * core_.kernel.warps_per_cta);
  for (std::size_t i = 0; i < core_.warps.size(); ++i) {
    core_.warps[i].info.warp = WarpSlot(static_cast<std::uint16_t>(i));
    core_.warps[i].buffer.resize(core_.config.buffer_entries);
  }
  budgets_.kernel_started(resident, limits.sub_cores, storage.has_places_for_warps());
  dirty_ = true;
}

void CtaStage::account_registers() {
  register_cycles_ = register_cycles();
  registers_since_ = core_.now;
  registers_ = resident_warps() * core_.kernel.registers_per_warp;
  most_registers_ = std::max(most_registers_, registers_);
}

bool CtaStage::launch(bool warps_wait) {
  std::size_t slot = 0;
  while (slot < ctas_.size() && ctas_[slot].resident) ++slot;
  if (slot == ctas_.size()) {
    broken("launches a CTA with " + std::to_string(resident_) + " resident", "no more than it said could be resident");
  }
  std::shared_ptr<const trace::Cta> trace = source_->take();
  if (trace == nullptr) {
    if (source_->waiting() == 0) return false;
    dirty_ = true;
    core_.progress = true;
    return false;
  }
  ResidentCta& cta = ctas_[slot];
  cta.reset();
  cta.resident = true;
  cta.trace = std::move(trace);
  cta.launched = core_.now;
  cta.age = ++age_;
  cta.info = protocol::CtaInfo{CtaSlot(static_cast<std::uint16_t>(slot)), cta.trace->index, core_.kernel.warps_per_cta,
                               core_.kernel.launch->shared_bytes_per_cta};
  cta.unfinished = cta.running = core_.kernel.warps_per_cta;
  stalled_warps_[slot] = 0;
  budgets_.cta_launched(cta.info.cta);
  ++resident_;
  const bool staggered = !warps_wait && (core_.config.cta_launch != 0 || core_.config.warp_launch != 0);
  if (warps_wait) {
    cta.waiting = core_.kernel.warps_per_cta;
    warps_waiting_ += cta.waiting;
  }
  launcher_free_ = core_.now + core_.config.cta_launch;
  if (warps_wait) account_registers();
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_launched(cta.info); });
  core_.observers.notify(Event::cta_launched, [&](Observer& o) { o.cta_launched(core_.now, cta.info); });
  const unsigned threads = core_.kernel.launch->threads_per_cta();
  const unsigned lanes = core_.kernel.warp_size;
  for (unsigned i = 0; i < core_.kernel.warps_per_cta; ++i) {
    // The warps of a CTA have consecutive slots, so that a storage can lay them out by slot.
    Warp& w = core_.warps[slot * core_.kernel.warps_per_cta + i];
    const WarpSlot id = w.info.warp;
    w.reset();
    w.waiting = warps_wait;
    w.info = protocol::WarpInfo{id, cta.info.cta, cta.info.cta_index, i,
                                trace::all_lanes(std::min(lanes, threads - i * lanes))};
    if (!warps_wait) start(w);
    if (staggered) {
      w.launching = true;
      launcher_free_ = launcher_free_ + core_.config.warp_launch;
      core_.at(std::max(launcher_free_, core_.now + 1), Work::Kind::warp_launched, id.value());
    }
  }
  reserve(cta);
  activate(cta);
  if (warps_wait) return true;
  account_registers();
  if (staggered) return true;
  for (unsigned i = 0; i < core_.kernel.warps_per_cta; ++i) {
    end_if_empty(core_.warps[slot * core_.kernel.warps_per_cta + i]);
  }
  return true;
}

void CtaStage::start(Warp& w) {
  ResidentCta& cta = ctas_[w.info.cta.value()];
  if (w.waiting) {
    --cta.waiting;
    --warps_waiting_;
  }
  w.waiting = false;
  w.resident = true;
  w.last_issued = core_.now;
  const trace::WarpColumns& stream = cta.trace->warps[w.info.warp_in_cta];
  w.path = trace::PathCursor(*core_.kernel.kernel, stream);
  w.cursor = trace::WarpCursor(*core_.kernel.kernel, stream);
  w.stack = trace::StackCursor(*core_.kernel.kernel, stream);
  cta.warps.push_back(w.info.warp);
  budgets_.warp_started(w);
  core_.listeners.notify([&](LifecycleListener& l) { l.warp_started(w.info); });
  core_.observers.notify(Event::warp_started, [&](Observer& o) { o.warp_started(core_.now, w.info); });
}

void CtaStage::end_if_empty(Warp& w) {
  if (!w.resident || !w.path.at_end()) return;
  w.exited = true;
  warp_exited(w);
  end_warp(w);
}

void CtaStage::admit(const Residency::Action& action) {
  ResidentCta& cta = named(action);
  const unsigned warps = core_.kernel.warps_per_cta;
  Warp* const w = action.warp_in_cta < warps ? &core_.warps[action.cta.value() * warps + action.warp_in_cta] : nullptr;
  if (w == nullptr || !w->waiting) {
    broken("admits warp " + std::to_string(action.warp_in_cta) + " of CTA slot " + std::to_string(action.cta.value()),
           "a warp that waits");
  }
  start(*w);
  account_registers();
  schedule(cta, *w);
  look_at_stall(cta);
  end_if_empty(*w);
}

void CtaStage::warp_launched(Warp& w) {
  w.launching = false;
  const ResidentCta& cta = ctas_[w.info.cta.value()];
  if (cta.active) schedule(cta, w);
  core_.progress = true;
  end_if_empty(w);
}

namespace {

/// Operand 0 of a barrier is its number, operand 1 the number of threads that it waits for. Returns the operand if it
/// is a register, null if it is static or absent.
const trace::Operand* in_register(const trace::StaticInstruction& s, unsigned operand) {
  const std::size_t at = std::size_t{s.operand_destinations} + operand;
  return at < s.operands.size() && s.operands[at].kind == trace::Operand::Kind::reg ? &s.operands[at] : nullptr;
}

/// The value that the storage delivered for operand `o`; it is the same in all lanes (PTX ISA, bar).
unsigned delivered(const DynamicInstruction& d, const trace::Operand& o) {
  const InstructionTraits& t = *d.traits;
  for (unsigned i = 0; i < t.read_count; ++i) {
    if (t.reads[i].value() == o.value) return d.operands[i].lane[static_cast<unsigned>(__builtin_ctzll(d.active))];
  }
  return 0;
}

}  // namespace

void CtaStage::barrier_issued(Warp& w, const DynamicInstruction& d) {
  if (protocol::waits_at_barrier(d)) w.at_barrier = true;
  if (__builtin_expect(static_cast<int>(d.info->barrier_half != trace::BarrierHalf::none), 0) != 0) {
    return cluster_half(w, *d.info);
  }
  if (in_register(*d.info, 0) == nullptr && in_register(*d.info, 1) == nullptr) {
    arrive(w, d, d.info->barrier_id, d.info->barrier_threads);
  }
}

void CtaStage::barrier_dispatched(const DynamicInstruction& d) {
  const trace::Operand* const number = in_register(*d.info, 0);
  const trace::Operand* const threads = in_register(*d.info, 1);
  if (number == nullptr && threads == nullptr) return;
  arrive(core_.warp(d.warp), d, number != nullptr ? delivered(d, *number) : d.info->barrier_id,
         threads != nullptr ? delivered(d, *threads) : d.info->barrier_threads);
}

void CtaStage::arrive(Warp& w, const DynamicInstruction& d, unsigned number, unsigned threads) {
  ResidentCta& cta = ctas_[w.info.cta.value()];
  const unsigned id = number % barriers_per_cta;
  Barrier& barrier = cta.barriers[id];
  ++barrier.arrived_warps;
  // A program warp counts in full, whichever of its lanes arrive (PTX ISA, bar). A wavefront of 64 lanes is two of
  // them.
  constexpr unsigned program_warp = 32;
  barrier.arrived_threads += program_warp * (((d.active & 0xffffffffu) != 0) + ((d.active >> program_warp) != 0));
  if (protocol::waits_at_barrier(d)) barrier.waiting.push_back(w.info.warp);
  barrier.threads_expected = threads;
  if (core_.config.barrier_interval != 0) {
    barrier_free_ = std::max(barrier_free_, core_.now) + core_.config.barrier_interval;
    barrier.taken = barrier_free_;
  }
  check_barrier(cta, id);
}

void CtaStage::check_barrier(ResidentCta& cta, unsigned id) {
  Barrier& barrier = cta.barriers[id];
  if (barrier.arrived_warps == 0) return;
  const bool complete = barrier.threads_expected != 0 ? barrier.arrived_threads >= barrier.threads_expected
                                                      : barrier.arrived_warps >= cta.running;
  if (!complete) return;
  const Cycle open = std::max(core_.now, barrier.taken) + core_.config.barrier_latency;
  for (WarpSlot id_waiting : barrier.waiting) core_.at(open, Work::Kind::barrier_open, id_waiting.value());
  barrier.waiting.clear();
  barrier.arrived_warps = 0;
  barrier.arrived_threads = 0;
}

void CtaStage::barrier_open(Warp& w) {
  w.cluster_phase = 0;
  w.at_barrier = false;
  for (protocol::IssueGate* gate : gates_) gate->barrier_opened(w.info);
  issue_->update(w);
}

void CtaStage::warp_exited(Warp& w) {
  ResidentCta& cta = ctas_[w.info.cta.value()];
  --cta.running;
  for (unsigned id = 0; id < barriers_per_cta; ++id) check_barrier(cta, id);
  check_cluster_barrier(cta);
}

void CtaStage::retired(Warp& w) {
  if (w.exited && w.in_flight == 0) end_warp(w);
}

void CtaStage::end_warp(Warp& w) {
  ResidentCta& cta = ctas_[w.info.cta.value()];
  if (const char* const column = w.cursor.leftover_of_program(core_.stored_values)) {
    w.cursor.path().malformed(std::string("column ") + column + " has entries that no instruction uses");
  }
  if (waits_long(w.state)) --stalled_warps_[w.info.cta.value()];
  w.state = WarpState::absent;
  if (w.active) {
    issue_->remove(w);
    front_end_->removed(w);
  }
  if (counts_as_active(cta)) --active_warps_;
  w.active = false;
  w.resident = false;
  core_.listeners.notify([&](LifecycleListener& l) { l.warp_finished(w.info); });
  core_.observers.notify(Event::warp_finished, [&](Observer& o) { o.warp_finished(core_.now, w.info); });
  core_.progress = true;
  if (--cta.unfinished != 0) {
    dirty_ = dirty_ || follows_warps_;
    return look_at_stall(cta);
  }
  dirty_ = true;
  if (counts_as_active(cta)) --active_ctas_;
  if (cta.phase == CtaPhase::draining) --draining_;
  cta.active = false;
  cta.resident = false;
  cta.trace.reset();
  --resident_;
  account_registers();
  ++core_.counters.ctas_finished;
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_finished(cta.info); });
  core_.observers.notify(Event::cta_finished, [&](Observer& o) { o.cta_finished(core_.now, cta.info); });
  source_->finished();
}

void CtaStage::warp_state_changed(Warp& w, WarpState before) {
  if (waits_long(w.state) == waits_long(before)) return;
  stalled_warps_[w.info.cta.value()] += waits_long(w.state) ? 1 : -1;
  look_at_stall(ctas_[w.info.cta.value()]);
}

void CtaStage::look_at_stall(ResidentCta& cta) {
  const bool stalled = stalled_warps_[cta.info.cta.value()] + cta.waiting == cta.unfinished;
  if (stalled == cta.stalled) return;
  cta.stalled = stalled;
  dirty_ = dirty_ || follows_stalls_;
}

void CtaStage::consult() {
  if (draining_ != 0) {
    for (ResidentCta& cta : ctas_) {
      if (cta.resident) look_at_draining(cta);
    }
  }
  if (!dirty_ && !launch_is_due()) return;
  dirty_ = false;
  launch_wanted_ = false;
  asked_ = core_.now;
  // Every CTA may leave, be moved, enter and be launched once in a cycle, and each of its warps may be admitted. A
  // policy that asks for more undoes its own actions.
  for (std::size_t actions = 0;; ++actions) {
    if (actions > 4 * ctas_.size() + core_.warps.size()) {
      broken("next() has asked for " + std::to_string(actions) + " actions in this cycle",
             "none in the end: each CTA may be launched, leave, be moved and enter once, and each warp be admitted");
    }
    view_.clear();
    for (const ResidentCta& cta : ctas_) {
      if (!cta.resident) continue;
      protocol::CtaStatus status;
      status.cta = cta.info.cta;
      status.cta_index = cta.info.cta_index;
      status.phase = cta.phase;
      status.active = cta.active;
      status.stalled = cta.stalled;
      status.ready = stalled_warps_[cta.info.cta.value()] + cta.waiting < cta.unfinished;
      status.warps_left = cta.unfinished;
      status.warps_waiting = cta.waiting;
      status.launched = cta.launched;
      view_.push_back(status);
    }
    Residency::View view;
    view.ctas = &view_;
    view.ctas_waiting = source_->waiting();
    view.active_ctas = active_ctas_;
    view.active_warps = active_warps_;
    const Residency::Action action = residency_->next(view);
    switch (action.kind) {
      case Residency::Action::Kind::none:
        return;
      case Residency::Action::Kind::launch:
        if (view.ctas_waiting == 0) return;
        if (!launcher_free()) {
          launch_wanted_ = true;
          core_.at(launcher_free_, Work::Kind::tick, 0);
          return;
        }
        if (!launch(action.warps_wait)) return;
        break;
      case Residency::Action::Kind::switch_out:
        switch_out(named(action), action);
        break;
      case Residency::Action::Kind::moved:
        moved(named(action));
        break;
      case Residency::Action::Kind::switch_in:
        switch_in(named(action), action);
        break;
      case Residency::Action::Kind::admit:
        admit(action);
        break;
      default:
        broken("next() answers action " + std::to_string(static_cast<unsigned>(action.kind)),
               "none, launch, switch_out, moved, switch_in or admit");
    }
    core_.progress = true;
  }
}

}  // namespace regatta::sm
