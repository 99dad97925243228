// SPDX-License-Identifier: Apache-2.0
//
// Contract checks of gates and scheduling policies, and what they hold: the part of issue that is not critical for
// speed.
#include "contract.h"
#include "dependences.h"
#include "gate_answers.h"
#include "injected_moves.h"
#include "issue.h"

namespace regatta::sm {

using protocol::Stall;

void IssueStage::broken_gate(unsigned gate, const std::string& did, const std::string& expected) const {
  broken_contract(core_, "issue_gate", support::block_name(*gates_[gate]), did, expected);
}

void IssueStage::broken_policy(const Scheduler& s, const std::string& did, const std::string& expected) const {
  broken_contract(core_, "warp_scheduler",
                  core_.path + " scheduler " + std::to_string(&s - schedulers_.data()) + " (" +
                      support::block_name(*s.policy) + ")",
                  did, expected);
}

Warp& IssueStage::named(unsigned gate, WarpSlot warp) {
  if (__builtin_expect(warp.value() >= core_.warps.size(), 0)) {
    broken_gate(gate, "tells the listener of warp " + std::to_string(warp.value()),
                "a warp slot below " + std::to_string(core_.warps.size()));
  }
  return core_.warp(warp);
}

void IssueStage::check_agreement(const Warp& w, const DynamicInstruction& d, unsigned gate) {
  const std::string agrees = "agrees to " + describe(core_, d);
  if (w.paused) broken_gate(gate, agrees + " and pauses its warp", "a gate to refuse what it pauses");
  protocol::RegisterId reg;
  if (moves_ != nullptr && moves_->take_request(reg)) {
    broken_gate(gate, agrees + " and asks for a move of R" + std::to_string(reg.value()) + " ahead of it",
                "a gate to refuse what it puts a move before");
  }
  if (answers_ == nullptr) return;
  // A gate's agreement has no effect until issued(), so the gate can be asked again.
  if (!gates_[gate]->may_issue(d)) {
    broken_gate(gate, agrees + " and refuses it when asked again", "the same answer until issued()");
  }
  if (asked_in_ != core_.now) check_announced();
  asked_in_ = core_.now;
  answers_->agreed(gate, d);
}

void IssueStage::check_announced() {
  if (answers_ == nullptr) return;
  const GateAnswers::Unannounced* const wrong = answers_->unannounced();
  if (wrong == nullptr) return;
  broken_gate(wrong->gate,
              "agreed in cycle " + std::to_string(wrong->agreed.value()) + " to " + wrong->instruction +
                  ", which it refused in cycle " + std::to_string(wrong->refused.value()) +
                  ", and notified nothing in between",
              "changed(), or a cycle given to the listener, at the latest when it may agree");
}

void IssueStage::note_refusal(const Warp& w, const DynamicInstruction& d, unsigned gate) {
  if (w.paused) {
    answers_->released(gate, w.info.warp);
  } else {
    answers_->refused(gate, d);
  }
}

void IssueStage::kernel_started() {
  if (answers_ != nullptr) answers_->kernel_started();
}

void IssueStage::announced(unsigned gate, Cycle at) {
  notified_[gate] = at;
  if (answers_ != nullptr) answers_->announced(gate, at);
}

void IssueStage::gate_changed(unsigned gate) { announced(gate, core_.current()); }

std::vector<std::string> IssueStage::silent_gates() const {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < gates_.size(); ++i) {
    const Warp* last = nullptr;
    for (const Warp& w : core_.warps) {
      const bool refused =
          w.resident && w.active && w.state == WarpState::ready && !w.closed && !w.paused && w.refused_by == i;
      if (refused && (last == nullptr || last->refused_since < w.refused_since)) last = &w;
    }
    if (last == nullptr || (notified_[i] != protocol::never && last->refused_since <= notified_[i])) continue;
    lines.push_back("issue gate " + support::block_name(*gates_[i]) + " has notified nothing since it refused " +
                    describe(core_, last->info.warp) + " in cycle " + std::to_string(last->refused_since.value()) +
                    (notified_[i] == protocol::never
                         ? " (it never has)"
                         : " (last in cycle " + std::to_string(notified_[i].value()) + ")") +
                    "; expected changed(), or a cycle given to the listener, at the latest when it may agree");
  }
  return lines;
}

void IssueStage::check_settled(const Scheduler& s, WarpMask asked, WarpMask answer) const {
  const protocol::WarpScheduler::Eligible again = s.policy->eligible(asked);
  if (again.warps == answer && !again.settling) return;
  broken_policy(s,
                "eligible() answers " + hex(again.warps) + " when asked again about the warps " + hex(asked) +
                    ", and answered " + hex(answer) + " before, not settling",
                "the same answer");
}

std::string IssueStage::describe_wait(const Warp& w) const {
  const FetchedInstruction* const next = w.front();
  return dependences_ == nullptr || next == nullptr ? "" : dependences_->describe_wait(w, *next->traits);
}

Hold IssueStage::holds(const Warp& w) const {
  const auto gate = [this](unsigned i) { return "issue gate " + support::block_name(*gates_[i]); };
  if (w.closed) {
    std::string closers;
    for (unsigned i = 0; i < gates_.size(); ++i) {
      if ((w.closed_by >> i) & 1) closers += (closers.empty() ? "" : " and ") + gate(i);
    }
    return Hold{closers.empty() ? "gates that have just opened" : closers + " keeps them closed", "", w.closed_since};
  }
  if (w.refused_by != Warp::nobody) {
    return Hold{gate(w.refused_by) + (w.paused ? " pauses them again and again" : " refuses them"), "",
                w.refused_since};
  }
  const Scheduler& s = schedulers_[w.scheduler];
  const std::string scheduler =
      "scheduler " + std::to_string(w.scheduler) + " (" + support::block_name(*s.policy) + ")";
  if (last_[w.scheduler] == Stall::structural_scheduler) return Hold{scheduler + " keeps them back", "", w.last_issued};
  return Hold{scheduler + " has not picked them", "", w.last_issued};
}

}  // namespace regatta::sm
