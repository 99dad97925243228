// SPDX-License-Identifier: Apache-2.0
#include "reuse_stage.h"

#include <algorithm>
#include <utility>

namespace regatta::sm {

void ReuseStage::enter(DynamicInstruction& d) {
  if (point_ == nullptr) {
    operands_.enter(d);
    return;
  }
  if (latency_ == 0) return ask(d);
  delayed_.push(Delayed{&d, core_.now + latency_});
  core_.progress = true;
}

ReuseStage::Decision ReuseStage::decision_on(DynamicInstruction& d) {
  if (__builtin_expect(static_cast<int>(before_ != nullptr), 0) != 0) return checked_decision_on(d);
  const Decision decision = point_->decide(d);
  if (__builtin_expect(static_cast<int>(decision > Decision::keep), 0) != 0) unknown_decision(d, decision);
  return decision;
}

void ReuseStage::ask(DynamicInstruction& d) {
  const Decision decision = decision_on(d);
  if (decision == Decision::keep) {
    ++kept_;
    d.kept_by = protocol::KeptBy::reuse_point;
  } else if (decision == Decision::wait) {
    waiting_.push_back(&d);
  } else {
    settle(d, decision);
  }
}

/// Execute or bypass.
void ReuseStage::settle(DynamicInstruction& d, Decision decision) {
  if (decision == Decision::execute) {
    if (!collect(d)) {
      executing_.push_back(&d);
      tell_backlog(d.scheduler);
    }
    return;
  }
  if (__builtin_expect(d.info->writes_memory || d.info->destination_predicate_count != 0, 0)) {
    broken("bypasses " + describe(core_, d) + ", which writes memory or a predicate",
           "to bypass what writes general registers only");
  }
  d.bypassed = true;
  core_.counters.bypassed_registers += d.traits->write_count;
  core_.observers.notify(protocol::Event::bypassed, [&](protocol::Observer& o) { o.bypassed(core_.now, d); });
  core_.at(core_.now + std::max(1u, point_->bypass_latency()), Work::Kind::executed, d.pool_index);
}

bool ReuseStage::collect(DynamicInstruction& d) {
  if (!operands_.takes(d.scheduler, d.traits->unit)) return false;
  operands_.enter(d);
  return true;
}

void ReuseStage::tell_backlog(unsigned scheduler) const {
  if (!operands_.counts_backlog()) return;
  operands_->backlog(scheduler,
                     static_cast<unsigned>(std::count_if(executing_.begin(), executing_.end(),
                                                         [&](const auto* d) { return d->scheduler == scheduler; })));
}

/// Lets instructions enter the operand path that wait only for a place there. Returns whether any instruction got one.
bool ReuseStage::collect_executing() {
  const auto left = std::remove_if(executing_.begin(), executing_.end(), [this](auto* d) { return collect(*d); });
  const bool any = left != executing_.end();
  executing_.erase(left, executing_.end());
  if (any && operands_.counts_backlog()) {
    for (unsigned s = 0; s < core_.config.schedulers; ++s) tell_backlog(s);
  }
  return any;
}

/// Asks again about the waiting instructions. Returns whether any of them stopped waiting.
bool ReuseStage::ask_waiting() {
  std::vector<DynamicInstruction*> asked;
  asked.swap(waiting_);
  for (DynamicInstruction* const d : asked) ask(*d);
  return waiting_.size() != asked.size();
}

void ReuseStage::ask_keeper(unsigned asked) {
  protocol::ReusePoint::DecidedList decided;
  std::size_t count = 0;
  do {
    count = point_->resume_kept(asked, decided);
    if (__builtin_expect(count > decided.size(), 0)) {
      broken("resume_kept() hands back " + std::to_string(count) + " instructions",
             "at most " + std::to_string(decided.size()));
    }
    for (std::size_t i = 0; i < count; ++i) {
      DynamicInstruction& d =
          take_back(core_, decided[i].instruction, protocol::KeptBy::reuse_point, "reuse_point", *point_);
      if (decided[i].decision != Decision::execute && decided[i].decision != Decision::bypass) {
        broken("resume_kept() hands back " + describe(core_, d) + " neither to execute nor to bypass",
               "execute or bypass");
      }
      settle(d, decided[i].decision);
    }
    kept_ -= count;
    asked += static_cast<unsigned>(count);
    if (count != 0) core_.progress = true;
  } while (count == decided.size());
}

void ReuseStage::serve() {
  bool settled = !executing_.empty() && collect_executing();
  if (std::exchange(reconsider_, false) && ask_waiting()) settled = true;
  unsigned asked = 0;
  for (; !delayed_.empty() && delayed_.front().due <= core_.now; ++asked) {
    DynamicInstruction& d = *delayed_.front().instruction;
    delayed_.pop();
    ask(d);
  }
  if (kept_ != 0) ask_keeper(asked);
  if (settled || !delayed_.empty() || point_->needs_cycle()) core_.progress = true;
}

}  // namespace regatta::sm
