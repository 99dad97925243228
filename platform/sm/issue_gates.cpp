// SPDX-License-Identifier: Apache-2.0
//
// What gates report between the instructions that they are asked about: warps that they close, open or pause.
#include "contract.h"
#include "gate_answers.h"
#include "issue.h"

#include <algorithm>
#include <string>

namespace regatta::sm {

[[gnu::always_inline]] inline void IssueStage::set_closed(Warp& w, bool is_closed) {
  w.closed = is_closed;
  if (is_closed) w.closed_since = core_.current();
  if (!w.active) return;
  Scheduler& s = schedulers_[w.scheduler];
  const WarpMask bit = WarpMask{1} << w.local;
  s.closed = is_closed ? s.closed | bit : s.closed & ~bit;
  // For a policy with a set of active warps, a closed warp is like one that waits for a long latency.
  if (waits_long(w.state) && !w.kept_active) return;
  w.kept_active = false;
  s.policy->long_latency(w.local, is_closed);
  // Its place in the set is another warp's in the next cycle, which nothing else may keep the SM awake for.
  if (is_closed && s.restricts) core_.schedule_tick(core_.current() + 1);
}

void IssueStage::closed(Warp& w, unsigned gate, bool is_closed) {
  const std::uint32_t bit = 1u << gate;
  core_.observers.notify_few(protocol::Event::gate_closed, [&](protocol::Observer& o) {
    o.gate_closed(core_.current() + (is_closed ? 0 : 1), w.info, gate, is_closed);
  });
  if (is_closed) {
    w.closed_by |= bit;
    if (!w.closed && is_kept(w)) set_closed(w, true);
    return;
  }
  w.closed_by &= ~bit;
  notified_[gate] = core_.current();
  if (answers_ != nullptr) answers_->released(gate, w.info.warp);
  if (!w.closed || is_kept(w)) return;
  // Takes effect in the next cycle, whether the gate opened before or after this SM's turn in the current one.
  const Cycle next = core_.current() + 1;
  core_.at(next, Work::Kind::gate_opened, w.info.warp.value());
  core_.wake(next);
}

void IssueStage::gate_opened(Warp& w) {
  if (w.closed && !is_kept(w)) set_closed(w, false);
}

bool IssueStage::wait_shows(Warp& w) const {
  const FetchedInstruction* const next = w.front();
  const bool was_kept = w.kept_active;
  w.kept_active = w.state == WarpState::memory && next != nullptr &&
                  std::any_of(keepers_.begin(), keepers_.end(), [&](const protocol::ActiveSetKeeper* gate) {
                    return gate->keeps_active(w.info, *next->traits);
                  });
  return !was_kept && !w.kept_active;
}

void IssueStage::pause(Warp& w, unsigned gate, Cycle until) {
  if (__builtin_expect(asked_ != &w, 0)) {
    broken_gate(gate, "pauses " + describe(core_, w.info.warp) + " outside of may_issue() for that warp",
                "the warp that it is being asked about");
  }
  if (__builtin_expect(until <= core_.now, 0)) {
    broken_gate(gate, "pauses " + describe(core_, w.info.warp) + " until cycle " + std::to_string(until.value()),
                "a later cycle");
  }
  core_.note_wait(until);
  notified_[gate] = until;
  w.paused = true;
  schedulers_[w.scheduler].paused |= WarpMask{1} << w.local;
  core_.at(until, Work::Kind::gate_resumed, w.info.warp.value());
}

void IssueStage::reconsider(unsigned gate, Cycle at) {
  if (__builtin_expect(at <= core_.current(), 0)) {
    broken_gate(gate, "asks to be asked again in cycle " + std::to_string(at.value()), "a later cycle");
  }
  core_.note_wait(at);
  announced(gate, at);
  core_.schedule_tick(at);
}

void IssueStage::resume(Warp& w) {
  w.paused = false;
  if (w.active) schedulers_[w.scheduler].paused &= ~(WarpMask{1} << w.local);
}

void IssueStage::next_changed(Warp& w) {
  if (w.closed != keeps_next(w)) set_closed(w, !w.closed);
}

bool IssueStage::keeps_next(const Warp& w) const {
  const FetchedInstruction* const next = w.front();
  if (next == nullptr) return w.closed_by != 0;
  const std::string& scheme = next->traits->info->scheme;
  if (scheme.empty()) return w.closed_by != 0;
  for (unsigned i = 0; i < gates_.size(); ++i) {
    if (((w.closed_by >> i) & 1) != 0 && schemes_[i] == scheme) return true;
  }
  return false;
}

}  // namespace regatta::sm
