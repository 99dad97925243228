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
  Waiting w{&d, false};
  if (!settle(w)) waiting_.push_back(w);
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

void ReuseStage::cycle() {
  if (waiting_.empty()) return;
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
  if (settled) core_.progress = true;
}

}  // namespace regatta::sm
