// SPDX-License-Identifier: Apache-2.0
#include "cause_sampler.h"

#include <regatta/support/block_name.h>

#include "cta_stage.h"
#include "front_end.h"
#include "issue.h"
#include "load_store_unit.h"
#include "operands.h"
#include "writeback.h"

namespace regatta::sm {

using protocol::Stall;
using protocol::Unit;

void CauseSampler::take(Cycle now) {
  while (next_ <= now.value()) {
    sample(static_cast<unsigned>(taken_ % core_.config.schedulers));
    random_ = random_ * 1664525u + 1013904223u;
    next_ += interval_ / 2 + (random_ >> 8) % interval_;
    if (++taken_ % per_interval_ == 0) interval_ *= 2;
  }
}

template <class F>
const DynamicInstruction* CauseSampler::last_of(const Warp& w, F&& matches) const {
  const DynamicInstruction* last = nullptr;
  // An entry of the pool that is free holds an earlier instruction, and of an earlier launch no traits.
  core_.pool.for_each([&](const DynamicInstruction& d) {
    if (d.warp != w.info.warp || &d == w.next || d.issued < start_ || d.traits == nullptr) return;
    if (last != nullptr && d.issued <= last->issued) return;
    if (matches(d)) last = &d;
  });
  return last;
}

const Warp* CauseSampler::one_of(unsigned scheduler, WarpState state) const {
  const auto& s = issue_.schedulers_[scheduler];
  const WarpMask in = s.in(state);
  if (in == 0) return nullptr;
  const WarpMask behind = in & (~WarpMask{0} << (taken_ % 64));
  return &core_.warps[s.slots[static_cast<unsigned>(__builtin_ctzll(behind != 0 ? behind : in))].value()];
}

void CauseSampler::sample(unsigned scheduler) {
  CauseKey key;
  key.kernel = core_.kernel.launch == nullptr ? 0 : core_.kernel.launch->kernel;
  key.stall = issue_.last()[scheduler];
  unsigned warps = 0;
  for (const auto& s : issue_.schedulers_) warps += static_cast<unsigned>(__builtin_popcountll(s.used));
  most_ = std::max(most_, warps);
  const bool few = most_ != 0 && warps * 2 <= most_;
  const bool known = !few || ctas_.nothing_waits();
  key.tail = few && known && ctas_.nothing_waited(Cycle(next_));
  std::uint64_t lanes = 0;
  switch (key.stall) {
    case Stall::none:
      key.cause = Cause::issued;
      core_.pool.for_each([&](const DynamicInstruction& d) {
        if (d.issued != Cycle(next_) || d.scheduler != scheduler || d.traits == nullptr || d.issued < start_) return;
        key.victim = key.culprit = d.traits->index;
        lanes = static_cast<std::uint64_t>(__builtin_popcountll(d.active));
      });
      break;
    case Stall::scoreboard:
    case Stall::memory:
    case Stall::stall_count:
    case Stall::yield:
    case Stall::counter:
      key.cause = key.stall == Stall::memory ? Cause::memory : Cause::dependence;
      if (const Warp* w = one_of(scheduler, key.stall == Stall::memory ? WarpState::memory : WarpState::scoreboard)) {
        find_result(key, *w);
      }
      break;
    case Stall::issue_gate:
      find_gate(key, scheduler);
      break;
    case Stall::structural_scheduler:
      key.cause = Cause::scheduler;
      if (const Warp* w = one_of(scheduler, WarpState::ready))
        key.victim = key.culprit = front_end_.next_of_program(*w);
      break;
    case Stall::structural_sp:
    case Stall::structural_sfu:
    case Stall::structural_dp:
    case Stall::structural_tensor:
    case Stall::structural_lsu:
      find_unit(key, scheduler);
      break;
    case Stall::allocate:
    case Stall::result_queue:
      find_stage(key, scheduler);
      break;
    case Stall::barrier:
      key.cause = Cause::barrier;
      if (const Warp* w = one_of(scheduler, WarpState::barrier)) find_late_warp(key, *w);
      break;
    case Stall::instruction_fetch:
      key.cause = Cause::branch;
      if (const Warp* w = one_of(scheduler, WarpState::instruction_fetch)) {
        if (w->line_pending) key.cause = Cause::fetch_miss;
        key.victim = key.culprit = front_end_.next_of_program(*w);
        const DynamicInstruction* before = last_of(*w, [](const DynamicInstruction&) { return true; });
        if (key.cause == Cause::branch && before != nullptr) key.culprit = before->traits->index;
      }
      break;
    case Stall::idle:
      break;
  }
  if (key.stall != Stall::none && key.stall != Stall::barrier && all_wait_for_few(warps)) key.cause = Cause::barrier;
  CauseSum sum;
  sum.weight = interval_;
  sum.squares = interval_ * interval_;
  sum.lanes = lanes * interval_;
  sum.warps = warps * interval_;
  sum.most = most_ * interval_;
  if (known) {
    samples_[key].add(sum);
  } else {
    undecided_.push_back({Cycle(next_), key, sum});
  }
}

void CauseSampler::kernel_finished() {
  for (Undecided& u : undecided_) {
    u.key.tail = ctas_.nothing_waited(u.cycle);
    samples_[u.key].add(u.sum);
  }
  undecided_.clear();
}

bool CauseSampler::all_wait_for_few(unsigned warps) const {
  unsigned at_barrier = 0;
  for (const auto& s : issue_.schedulers_) {
    at_barrier += static_cast<unsigned>(__builtin_popcountll(s.in(WarpState::barrier)));
  }
  return at_barrier * 4 >= warps * 3 && at_barrier != 0;
}

void CauseSampler::blame_lsu(CauseKey& key, const DynamicInstruction& d) const {
  const DynamicInstruction* head = lsu_.head();
  key.cause = Cause::lsu;
  key.detail = static_cast<std::uint8_t>(Unit::lsu);
  key.culprit = (head == nullptr ? d : *head).traits->index;
}

void CauseSampler::find_result(CauseKey& key, const Warp& w) const {
  const FetchedInstruction* head = w.front();
  key.victim = front_end_.next_of_program(w);
  const bool is_long = key.stall == Stall::memory;
  const DynamicInstruction* producer = nullptr;
  if (head == nullptr || (head->traits->is_fence && !w.pending.intersects(head->traits->accessed, 0))) {
    producer = last_of(w, [](const DynamicInstruction& d) { return d.traits->is_memory; });
    if (head != nullptr) key.cause = Cause::fence;
    if (producer != nullptr) key.culprit = producer->traits->index;
    return;
  }
  const InstructionTraits& wants = *head->traits;
  const protocol::RegisterSet& pending = is_long ? w.pending_long : w.pending;
  producer = last_of(w, [&](const DynamicInstruction& d) {
    const InstructionTraits& t = *d.traits;
    if ((t.written_predicates & pending.predicates & wants.accessed_predicates) != 0) return true;
    for (unsigned i = 0; i < t.write_count; ++i) {
      if (pending.contains(t.writes[i]) && protocol::contains(wants.accessed, t.writes[i])) return true;
    }
    return false;
  });
  if (producer == nullptr) return;
  key.culprit = producer->traits->index;
  key.detail = static_cast<std::uint8_t>(producer->traits->unit);
  if (producer->traits->unit == Unit::none || producer->bypassed) return;
  if (producer->dispatched <= producer->issued) {
    if (operands_->waits_for_operands(*producer, Cycle(next_))) {
      key.cause = Cause::storage;
    } else if (Cycle(next_) > producer->issued + 2) {
      key.cause = Cause::unit;
      if (producer->traits->unit == Unit::lsu) blame_lsu(key, *producer);
    }
  } else if (producer->traits->is_memory && lsu_.queues_behind(*producer)) {
    blame_lsu(key, *producer);
  } else if (!producer->traits->is_memory && Cycle(next_) > producer->dispatched + producer->traits->latency + 2) {
    key.cause = Cause::storage;
  }
}

void CauseSampler::find_unit(CauseKey& key, unsigned scheduler) const {
  const auto unit = static_cast<Unit>(static_cast<unsigned>(key.stall) - static_cast<unsigned>(Stall::structural_sp) +
                                      static_cast<unsigned>(Unit::sp));
  key.cause = Cause::unit;
  key.detail = static_cast<std::uint8_t>(unit);
  if (const Warp* w = one_of(scheduler, WarpState::ready)) key.victim = front_end_.next_of_program(*w);
  const DynamicInstruction *starved = nullptr, *ready = nullptr;
  unsigned without_operands = 0, with_operands = 0;
  for (const DynamicInstruction* d : operands_->holders(scheduler, unit)) {
    if (d->traits->unit != unit) continue;
    if (operands_->waits_for_operands(*d, Cycle(next_))) {
      if (starved == nullptr || d->issued < starved->issued) starved = d;
      ++without_operands;
    } else {
      if (ready == nullptr || d->issued < ready->issued) ready = d;
      ++with_operands;
    }
  }
  if (without_operands > with_operands || (writeback_.full() && (starved != nullptr || ready != nullptr))) {
    key.cause = Cause::storage;
    key.culprit = (starved != nullptr ? starved : ready)->traits->index;
  } else if (ready != nullptr) {
    key.culprit = ready->traits->index;
    if (unit == Unit::lsu) blame_lsu(key, *ready);
  }
}

void CauseSampler::find_stage(CauseKey& key, unsigned scheduler) const {
  key.cause = key.stall == Stall::allocate ? Cause::storage : Cause::unit;
  key.detail = static_cast<std::uint8_t>(Unit::sp);
  if (const Warp* w = one_of(scheduler, WarpState::ready)) key.victim = front_end_.next_of_program(*w);
  const auto holders = operands_->holders(scheduler, Unit::sp);
  if (!holders.empty()) key.culprit = holders.front()->traits->index;
}

void CauseSampler::find_gate(CauseKey& key, unsigned scheduler) const {
  key.cause = Cause::gate;
  const Warp* w = one_of(scheduler, WarpState::ready);
  if (w == nullptr) return;
  key.victim = key.culprit = front_end_.next_of_program(*w);
  if (w->closed_by != 0) {
    key.detail = static_cast<std::uint8_t>(__builtin_ctz(w->closed_by));
  } else if (w->refused_by != Warp::nobody) {
    key.detail = w->refused_by;
  }
}

void CauseSampler::find_late_warp(CauseKey& key, const Warp& w) const {
  if (const DynamicInstruction* d = last_of(w, [](const DynamicInstruction& i) { return i.traits->is_barrier; })) {
    key.victim = key.culprit = d->traits->index;
  }
  for (const Warp& other : core_.warps) {
    if (!other.resident || other.waiting || other.info.cta != w.info.cta || other.at_barrier || other.exited) continue;
    key.culprit = front_end_.next_of_program(other);
    return;
  }
}

std::vector<std::string> CauseSampler::gate_names() const {
  std::vector<std::string> names;
  for (const protocol::IssueGate* gate : issue_.gates_) names.push_back(support::block_name(*gate));
  return names;
}

}  // namespace regatta::sm
