// SPDX-License-Identifier: Apache-2.0
#include "issue.h"

#include "async_unit.h"
#include "contract.h"
#include "control_bits.h"
#include "cta_stage.h"
#include "dependences.h"
#include "front_end.h"
#include "gate_answers.h"
#include "injected_moves.h"
#include "load_store_unit.h"
#include "operands.h"
#include "pipelined_scoreboard.h"
#include "reuse_stage.h"

#include <string>

namespace regatta::sm {

using protocol::Event;
using protocol::Observer;
using protocol::Stall;
using protocol::Unit;

namespace {
constexpr std::size_t max_gates = 32;  // bits of Warp::closed_by
}

IssueStage::IssueStage(const sc_core::sc_module_name& name, Core& core, const PolicyFactory& policy)
    : sc_module(name), core_(core), schedulers_(core.config.schedulers), last_(core.config.schedulers, Stall::idle) {
  for (Scheduler& s : schedulers_) {
    s.policy = policy();
    if (s.policy == nullptr) throw support::ConfigError("the scheme's warp scheduler is null, expected a policy");
    s.restricts = s.policy->restricts();
    active_sets_.push_back(std::make_unique<ActiveSet>(*this, static_cast<unsigned>(active_sets_.size())));
    s.policy->connect(*active_sets_.back());
  }
  if (core.config.obeys_control_bits()) {
    dependences_ = std::make_unique<ControlBitsUnit>(core);
  } else if (core.config.has_sub_cores()) {
    dependences_ = std::make_unique<PipelinedScoreboard>(core);
  }
}

IssueStage::~IssueStage() = default;

void IssueStage::connect(FrontEnd& front_end, Operands& operands, LoadStoreUnit& lsu, CtaStage& ctas, ReuseStage& reuse,
                         std::vector<protocol::IssueGate*> gates, const std::vector<protocol::GateRoles>& roles) {
  front_end_ = &front_end;
  operands_ = &operands;
  lsu_ = &lsu;
  ctas_ = &ctas;
  reuse_ = &reuse;
  gates_ = std::move(gates);
  if (gates_.size() > max_gates) {
    SC_REPORT_ERROR("regatta/sm", ("an SM has at most " + std::to_string(max_gates) + " gates, a bit each, found " +
                                   std::to_string(gates_.size()))
                                      .c_str());
    return;
  }
  notified_.assign(gates_.size(), protocol::never);
  for (unsigned i = 0; i < gates_.size(); ++i) {
    const protocol::GateRoles& gate = roles[i];
    schemes_.push_back(gate.inserted == nullptr ? std::string() : gate.inserted->inserted_scheme());
    takes_inserted_ = takes_inserted_ || !schemes_.back().empty();
    if (gate.reporter != nullptr) {
      listeners_.push_back(std::make_unique<Listener>(*this, i));
      gate.reporter->connect(*listeners_.back());
    }
    if (gate.mover != nullptr) {
      if (moves_ == nullptr) moves_ = std::make_unique<InjectedMoves>(core_);
      gate.mover->inject_through(*moves_);
    }
    if (gate.keeper != nullptr) keepers_.push_back(gate.keeper);
  }
  if (core_.config.check_contracts) answers_ = std::make_unique<GateAnswers>(core_, gates_.size());
}

void IssueStage::add(Warp& w, std::uint64_t age) {
  // Slots are assigned to schedulers in turn; a full scheduler passes the warp on to the next. CtaStage::check_room()
  // ensures that one has room.
  const auto count = static_cast<unsigned>(schedulers_.size());
  unsigned s = w.info.warp.value() % count;
  while (~schedulers_[s].used == 0) s = (s + 1) % count;
  w.scheduler = w.info.scheduler = static_cast<std::uint8_t>(s);
  w.local = static_cast<std::uint8_t>(__builtin_ctzll(~schedulers_[s].used));
  schedulers_[s].used |= WarpMask{1} << w.local;
  schedulers_[s].slots[w.local] = w.info.warp;
  if (w.next != nullptr) w.next->scheduler = w.scheduler;
  schedulers_[s].policy->warp_added(w.local, protocol::ScheduledWarp{w.info, age, w.priority_class});
  // A warp that comes back keeps the state it was counted under while it was away.
  schedulers_[s].in_state[static_cast<unsigned>(w.state)] |= WarpMask{1} << w.local;
  if (w.closed) schedulers_[s].closed |= WarpMask{1} << w.local;
  if (w.paused) schedulers_[s].paused |= WarpMask{1} << w.local;
  w.kept_active = false;
  if (waits_long(w.state) || w.closed) schedulers_[s].policy->long_latency(w.local, true);
  update(w);
}

void IssueStage::remove(Warp& w) {
  Scheduler& s = schedulers_[w.scheduler];
  const WarpMask keep = ~(WarpMask{1} << w.local);
  s.used &= keep;
  s.closed &= keep;
  s.paused &= keep;
  for (WarpMask& mask : s.in_state) mask &= keep;
  for (WarpMask& mask : s.bound_for) mask &= keep;
  s.policy->warp_removed(w.local);
}

void IssueStage::classify(Warp& w, unsigned priority_class) {
  if (w.priority_class == priority_class) return;
  w.priority_class = static_cast<std::uint8_t>(priority_class);
  if (w.active) schedulers_[w.scheduler].policy->class_changed(w.local, priority_class);
}

void IssueStage::active_set_changed(const Scheduler& s, unsigned local, bool inside) {
  if (__builtin_expect(local >= protocol::max_warps_per_scheduler || ((s.used >> local) & 1) == 0, 0)) {
    broken_policy(s, "says that warp " + std::to_string(local) + (inside ? " enters" : " leaves") + " its active set",
                  "one of its warps, " + hex(s.used) + ", by its index in the scheduler");
  }
  const protocol::WarpInfo& info = core_.warp(s.slots[local]).info;
  core_.listeners.notify([&](protocol::LifecycleListener& l) { l.active_set_changed(info, inside); });
}

WarpState IssueStage::state_of(const Warp& w) const {
  if (w.at_barrier) return WarpState::barrier;
  const FetchedInstruction* head = w.front();
  if (head == nullptr) {
    if (!w.exited) return WarpState::instruction_fetch;
    return w.memory_in_flight != 0 ? WarpState::memory : WarpState::drained;
  }
  const InstructionTraits& t = *head->traits;
  if (__builtin_expect(static_cast<int>(dependences_ != nullptr), 0) != 0) {
    const WarpState state = dependences_->state(w, t);
    if (state != WarpState::ready) return state;
  } else if (w.pending.intersects(t.accessed, t.accessed_predicates)) {
    return w.pending_long.intersects(t.accessed, t.accessed_predicates) ? WarpState::memory : WarpState::scoreboard;
  }
  if (t.is_fence) {
    if (t.info->register_budget != 0) return ctas_->state_at_budget(w, *t.info);
    const bool waits =
        t.info->async != trace::AsyncKind::none ? lsu_->async().waits(w.info.warp, *t.info)
        : t.info->space == trace::MemorySpace::shared
            ? w.has_accesses_to_make()
            : w.memory_in_flight != lsu_->async().in_flight(w.info.warp) || lsu_->stores_in_flight(w.info.warp) != 0;
    if (waits) return WarpState::memory;
  }
  return WarpState::ready;
}

void IssueStage::update(Warp& w) {
  if (__builtin_expect(static_cast<int>(takes_inserted_), 0) != 0) next_changed(w);
  const WarpState state = state_of(w);
  if (state == WarpState::ready && w.active) {
    const Unit unit = w.front()->traits->unit;
    Scheduler& s = schedulers_[w.scheduler];
    s.bound_for[static_cast<unsigned>(w.bound_for)] &= ~(WarpMask{1} << w.local);
    s.bound_for[static_cast<unsigned>(unit)] |= WarpMask{1} << w.local;
    w.bound_for = unit;
  }
  if (state == w.state) return;
  const WarpState before = w.state;
  w.state = state;
  ctas_->warp_state_changed(w, before);
  core_.observers.notify_few(Event::warp_state, [&](Observer& o) { o.warp_state(core_.now, w.info, state); });
  if (!w.active) return;
  Scheduler& s = schedulers_[w.scheduler];
  const WarpMask bit = WarpMask{1} << w.local;
  s.in_state[static_cast<unsigned>(before)] &= ~bit;
  s.in_state[static_cast<unsigned>(state)] |= bit;
  if (waits_long(state) == waits_long(before) || w.closed) return;
  if (s.restricts && !wait_shows(w)) return;
  s.policy->long_latency(w.local, waits_long(state));
}

bool IssueStage::finds_place(const Warp& w) const {
  return w.bound_for == Unit::none || operands_->available(w.scheduler, w.bound_for);
}

bool IssueStage::attempt(Warp& w) {
  DynamicInstruction& d = w.next != nullptr ? *w.next : front_end_->decode(w);
  asked_ = &w;
  for (unsigned i = 0; i < gates_.size(); ++i) {
    if (!concerns(i, d)) continue;
    if (gates_[i]->may_issue(d)) {
      if (__builtin_expect(doubtful(w), 0)) check_agreement(w, d, i);
      continue;
    }
    refused(w, i);
    if (__builtin_expect(static_cast<int>(answers_ != nullptr), 0) != 0) note_refusal(w, d, i);
    const bool moved = moves_ != nullptr && inject(w, d, i);
    asked_ = nullptr;
    return moved;
  }
  asked_ = nullptr;
  if (__builtin_expect(static_cast<int>(d.injected), 0) != 0) {
    issue_inserted(w, d);
  } else {
    issue(w, d);
  }
  return true;
}

void IssueStage::issue_inserted(Warp& w, DynamicInstruction& d) {
  w.pop();
  w.last_issued = core_.now;
  w.refused_by = Warp::nobody;
  ++inserted;
  enter(w, d);
  if (d.traits->is_control) {
    core_.at(core_.now + core_.config.branch_latency, Work::Kind::fetch_unblocked, w.info.warp.value());
  }
  core_.at(core_.now + d.traits->latency, Work::Kind::executed, d.pool_index);
  update(w);
  front_end_->update(w);
}

bool IssueStage::doubtful(const Warp& w) const {
  return w.paused || core_.config.check_contracts || (moves_ != nullptr && moves_->wanted());
}

const std::uint64_t* IssueStage::injected() const { return moves_ == nullptr ? nullptr : &moves_->issued; }

bool IssueStage::inject(Warp& w, const DynamicInstruction& next, unsigned gate) {
  protocol::RegisterId reg;
  if (!moves_->take_request(reg)) return false;
  if (answers_ != nullptr) answers_->released(gate, w.info.warp);  // it agrees behind the move
  if (__builtin_expect(moves_->asked_for() != w.info.warp || reg.value() >= core_.kernel.most_registers_per_warp ||
                           w.pending.contains(reg),
                       0)) {
    broken_gate(
        gate,
        "asked about " + describe(core_, next) + " wants a move of R" + std::to_string(reg.value()) + " of " +
            describe(core_, moves_->asked_for()) +
            (moves_->asked_for() == w.info.warp && w.pending.contains(reg) ? ", which has a result on its way" : ""),
        "a register of that warp below R" + std::to_string(core_.kernel.most_registers_per_warp) +
            " with no result on its way");
  }
  if (!operands_->available(w.scheduler, Unit::sp)) return false;
  DynamicInstruction& d = moves_->make(w, reg, next);
  for (protocol::IssueGate* gate : gates_) {
    if (gate->may_issue(d)) continue;
    moves_->take_request(reg);  // no move is inserted ahead of a move
    core_.pool.give_back(d);
    return false;
  }
  ++moves_->issued;
  enter(w, d);
  reuse_->enter(d);
  update(w);
  return true;
}

void IssueStage::enter(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  d.issued = core_.now;
  d.scheduler = w.scheduler;
  ++w.in_flight;
  if (t.is_memory) ++w.memory_in_flight;
  if (__builtin_expect(static_cast<int>(t.info->async != trace::AsyncKind::none), 0) != 0) lsu_->async().issued(d);
  if (__builtin_expect(static_cast<int>(dependences_ != nullptr), 0) != 0) {
    dependences_->issued(w, d);
  } else {
    for (unsigned i = 0; i < t.write_count; ++i) w.pending.add(t.writes[i]);
    w.pending.predicates |= t.written_predicates;
    if (t.is_long_latency) {
      for (unsigned i = 0; i < t.write_count; ++i) w.pending_long.add(t.writes[i]);
      w.pending_long.predicates |= t.written_predicates;
    }
  }
  tell_gates(d, [&](protocol::IssueGate& gate) { gate.issued(d); });
  core_.observers.notify(Event::issued, [&](Observer& o) { o.issued(core_.now, d); });
}

void IssueStage::issue(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  w.pop();
  w.last_issued = core_.now;
  w.refused_by = Warp::nobody;
  ++core_.counters.warp_instructions;
  core_.counters.thread_instructions += static_cast<unsigned>(__builtin_popcountll(d.active));
  enter(w, d);
  if (w.held == 0 && w.path.at_end()) w.exited = true;
  if (t.is_control && !w.exited) {
    core_.at(core_.now + core_.config.branch_latency, Work::Kind::fetch_unblocked, w.info.warp.value());
  }
  if (protocol::reaches_barrier(d)) ctas_->barrier_issued(w, d);
  if (t.is_fence && t.info->register_budget != 0) ctas_->budget_issued(w, d);
  if (t.unit == Unit::none) {
    core_.at(core_.now + t.latency, Work::Kind::executed, d.pool_index);
  } else {
    reuse_->enter(d);
  }
  if (w.exited) ctas_->warp_exited(w);
  update(w);
  front_end_->update(w);
}

[[gnu::always_inline]] inline Stall IssueStage::turn_away(const Scheduler& s, WarpMask& candidates) const {
  const auto scheduler = static_cast<unsigned>(&s - schedulers_.data());
  const unsigned closed = operands_->closed(scheduler);
  Stall structural = Stall::none;
  if (candidates == 0 || closed == 0) return structural;
  for (unsigned u = 0; u < protocol::unit_count; ++u) {
    const WarpMask turned_away = (closed >> u) & 1 ? candidates & s.bound_for[u] : 0;
    if (turned_away == 0) continue;
    candidates &= ~turned_away;
    if (structural == Stall::none) {
      structural = (*operands_)->reason(scheduler, static_cast<Unit>(u));
    }
  }
  if (__builtin_expect((closed & OperandPath::some_pipelines) != 0, 0)) {
    turn_away_from_pipelines(s, candidates, structural);
  }
  return structural;
}

void IssueStage::turn_away_from_pipelines(const Scheduler& s, WarpMask& candidates, Stall& structural) const {
  const auto scheduler = static_cast<unsigned>(&s - schedulers_.data());
  for (WarpMask m = candidates & s.bound_for[static_cast<unsigned>(Unit::sp)]; m != 0; m &= m - 1) {
    const Warp& w = core_.warps[s.slots[static_cast<unsigned>(__builtin_ctzll(m))].value()];
    if ((*operands_)->finds_pipeline(scheduler, *w.front()->traits)) continue;
    candidates &= ~(m & -m);
    if (structural == Stall::none) structural = Stall::structural_sp;
  }
}

Stall IssueStage::cycle(Scheduler& s) {
  const WarpMask ready = s.in(WarpState::ready);
  WarpMask candidates = ready & ~(s.closed | s.paused);
  bool gate = candidates != ready;
  bool kept_back = false;
  if (s.restricts) {
    const protocol::WarpScheduler::Eligible eligible = s.policy->eligible(candidates);
    if (eligible.settling) core_.progress = true;
    if (__builtin_expect((eligible.warps & ~candidates) != 0, 0)) {
      broken_policy(s, "eligible() answers " + hex(eligible.warps) + " when asked about the warps " + hex(candidates),
                    "some of these");
    }
    if (core_.config.check_contracts && !eligible.settling) check_settled(s, candidates, eligible.warps);
    kept_back = eligible.warps != candidates;
    candidates = eligible.warps;
  }
  // A warp for whose instruction the operand path has no place cannot issue, so the policy is not asked about each such
  // warp.
  const Stall structural = turn_away(s, candidates);
  while (candidates != 0) {
    const unsigned local = s.policy->pick(candidates);
    if (__builtin_expect(local >= protocol::max_warps_per_scheduler || ((candidates >> local) & 1) == 0, 0)) {
      broken_policy(
          s, "pick() answers warp " + std::to_string(local) + " when asked about the ready warps " + hex(candidates),
          "one of these, by its index in the scheduler");
    }
    Warp& w = core_.warp(s.slots[local]);
    if (attempt(w)) {
      s.policy->issued(local);
      for (unsigned n = 1; n < core_.config.issue_width && w.state == WarpState::ready && !w.closed; ++n) {
        if (!finds_place(w) || !attempt(w)) break;
      }
      core_.progress = true;
      return Stall::none;
    }
    gate = true;
    candidates &= ~(WarpMask{1} << local);
  }
  // Reports the reason closest to issue: first those of ready warps, then short waits, then long ones.
  if (structural != Stall::none) return structural;
  if (gate) return Stall::issue_gate;
  if (kept_back) return Stall::structural_scheduler;
  return reason_to_wait(s);
}

Stall IssueStage::reason_to_wait(const Scheduler& s) const {
  if (s.in(WarpState::scoreboard) != 0) return dependences_ == nullptr ? Stall::scoreboard : dependence_reason(s);
  if (s.in(WarpState::instruction_fetch) != 0) return Stall::instruction_fetch;
  if (s.in(WarpState::memory) != 0) return Stall::memory;
  if (s.in(WarpState::barrier) != 0) return Stall::barrier;
  return Stall::idle;
}

Stall IssueStage::not_its_turn(const Scheduler& s) {
  WarpMask candidates = s.in(WarpState::ready) & ~(s.closed | s.paused);
  if (candidates == 0) return Stall::issue_gate;
  const Stall structural = turn_away(s, candidates);
  if (candidates == 0) return structural;
  core_.progress = true;
  return Stall::structural_scheduler;
}

void IssueStage::cycle() {
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    Scheduler& s = schedulers_[i];
    const WarpMask ready = s.in(WarpState::ready);
    Stall met = Stall::issue_gate;  // the reason if gates hold back all ready warps and no policy is asked
    if (ready == 0) {
      met = reason_to_wait(s);
    } else if (!turn_of(i)) {
      met = not_its_turn(s);
    } else if ((ready & ~(s.closed | s.paused)) != 0 || s.restricts) {
      met = cycle(s);
    }
    last_[i] = met;
    ++core_.counters.stalls[static_cast<unsigned>(met)];
  }
}

void IssueStage::rest() {
  std::fill(last_.begin(), last_.end(), Stall::idle);
  repeat(1);
}

void IssueStage::repeat(std::uint64_t cycles) {
  for (const Stall s : last_) core_.counters.stalls[static_cast<unsigned>(s)] += cycles;
}

void IssueStage::allocated(DynamicInstruction& d, Cycle dispatch) {
  dependences_->allocated(core_.warp(d.warp), d, dispatch);
}

void IssueStage::stalled(unsigned scheduler) {
  for (Warp* w : dependences_->stalled(scheduler)) {
    if (w->resident && w->state != WarpState::barrier) update(*w);
  }
}

void IssueStage::sources_read(DynamicInstruction& d) {
  Warp& w = core_.warp(d.warp);
  dependences_->sources_read(w, d);
  if (w.state == WarpState::scoreboard || w.state == WarpState::memory) update(w);
}

void IssueStage::dependence_due(std::uint32_t value) {
  Warp& w = dependences_->due(value);
  if (w.resident && w.state != WarpState::barrier) update(w);
}

protocol::LifecycleListener* IssueStage::dependences() { return dependences_.get(); }

Stall IssueStage::dependence_reason(const Scheduler& s) const {
  Stall nearest = Stall::counter;
  for (WarpMask m = s.in(WarpState::scoreboard); m != 0; m &= m - 1) {
    const Stall reason = dependences_->reason(core_.warps[s.slots[static_cast<unsigned>(__builtin_ctzll(m))].value()]);
    if (reason == Stall::scoreboard || reason == Stall::stall_count) return reason;
    if (reason == Stall::yield) nearest = reason;
  }
  return nearest;
}

void IssueStage::release(DynamicInstruction& d) {
  Warp& w = core_.warp(d.warp);
  const InstructionTraits& t = *d.traits;
  if (__builtin_expect(static_cast<int>(dependences_ != nullptr), 0) != 0) {
    dependences_->retired(w, d);
  } else {
    for (unsigned i = 0; i < t.write_count; ++i) w.pending.remove(t.writes[i]);
    w.pending.predicates &= static_cast<std::uint8_t>(~t.written_predicates);
    if (t.is_long_latency) {
      for (unsigned i = 0; i < t.write_count; ++i) w.pending_long.remove(t.writes[i]);
      w.pending_long.predicates &= static_cast<std::uint8_t>(~t.written_predicates);
    }
  }
  --w.in_flight;
  if (t.is_memory) {
    --w.memory_in_flight;
    if (!d.bypassed) --w.accesses_made;
  }
  if (__builtin_expect(static_cast<int>(t.info->async != trace::AsyncKind::none), 0) != 0) lsu_->async().released(d);
  tell_gates(d, [&](protocol::IssueGate& gate) { gate.written_back(d); });
  // A ready warp stays ready; only a waiting warp can become ready here.
  if (w.state != WarpState::ready && w.state != WarpState::barrier) update(w);
}

}  // namespace regatta::sm
