// SPDX-License-Identifier: Apache-2.0
#include "reuse_stage.h"

#include "collectors.h"

#include <algorithm>

namespace regatta::sm {

using protocol::ReusePoint;

void ReuseStage::enter(DynamicInstruction& d) {
  if (point_ == nullptr) {
    collectors_.allocate(d);
    return;
  }
  if (latency_ == 0) return ask(d);
  delayed_.push(Delayed{&d, core_.now + latency_});
  core_.progress = true;
}

void ReuseStage::ask(DynamicInstruction& d) {
  Waiting w{&d, false};
  if (!settle(w)) waiting_.push_back(w);
}

void ReuseStage::ask_again(unsigned asked) {
  while (!waiting_.empty()) {
    const DynamicInstruction* d = point_->again(asked++);
    if (d == nullptr) return;
    const auto w = std::find_if(waiting_.begin(), waiting_.end(), [d](const Waiting& x) { return x.instruction == d; });
    if (w == waiting_.end() || w->execute || !settle(*w)) continue;
    waiting_.erase(w);
    core_.progress = true;
  }
}

bool ReuseStage::settle(Waiting& w) {
  DynamicInstruction& d = *w.instruction;
  if (!w.execute) {
    switch (point_->decide(d)) {
      case ReusePoint::Decision::wait:
        return false;
      case ReusePoint::Decision::bypass:
        d.bypassed = true;
        core_.counters.bypassed_registers += d.traits->write_count;
        core_.observers.notify(protocol::Event::bypassed, [&](protocol::Observer& o) { o.bypassed(core_.now, d); });
        core_.at(core_.now + std::max(1u, point_->bypass_latency()), Work::Kind::executed, d.pool_index);
        return true;
      case ReusePoint::Decision::execute:
        w.execute = true;
        break;
    }
  }
  if (!collectors_.available(d.scheduler, d.traits->unit)) return false;
  collectors_.allocate(d);
  return true;
}

void ReuseStage::serve() {
  bool settled = false;
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [&](Waiting& w) {
                                  if (!w.execute && !reconsider_) return false;
                                  const bool done = settle(w);
                                  settled = settled || done;
                                  return done;
                                }),
                 waiting_.end());
  reconsider_ = false;
  unsigned asked = 0;
  for (; !delayed_.empty() && delayed_.front().due <= core_.now; ++asked) {
    DynamicInstruction& d = *delayed_.front().instruction;
    delayed_.pop();
    ask(d);
  }
  if (!waiting_.empty()) ask_again(asked);
  if (settled || !delayed_.empty() || point_->restless()) core_.progress = true;
}

}  // namespace regatta::sm
