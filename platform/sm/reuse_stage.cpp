// SPDX-License-Identifier: Apache-2.0
#include "reuse_stage.h"

#include "collectors.h"

#include <algorithm>
#include <utility>

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

void ReuseStage::WaitingList::push(std::uint32_t index) {
  if (links_.size() <= index) links_.resize(std::size_t{index} + 64);
  links_[index] = Link{last_, none, ++pushed_};
  (last_ == none ? first_ : links_[last_].after) = index;
  last_ = index;
}

void ReuseStage::WaitingList::remove(std::uint32_t index) {
  const Link link = std::exchange(links_[index], Link{});
  (link.before == none ? first_ : links_[link.before].after) = link.after;
  (link.after == none ? last_ : links_[link.after].before) = link.before;
}

void ReuseStage::ask(DynamicInstruction& d) {
  const Settled settled = settle(d);
  if (settled == Settled::yes) return;
  waiting_.push(d.pool_index);
  if (settled == Settled::executes) decided(d.pool_index);
}

void ReuseStage::ask_again(unsigned asked) {
  while (!waiting_.empty()) {
    DynamicInstruction* const d = point_->again(asked++);
    if (d == nullptr) return;
    const std::uint32_t index = d->pool_index;
    if (!waiting_.has(index) || waiting_.is_decided(index)) continue;
    const Settled settled = settle(*d);
    if (settled == Settled::executes) decided(index);
    if (settled != Settled::yes) continue;
    waiting_.remove(index);
    core_.progress = true;
  }
}

void ReuseStage::decided(std::uint32_t index) {
  const auto later = [this](std::uint32_t a, std::uint32_t b) { return waiting_.order(a) < waiting_.order(b); };
  decided_.insert(std::upper_bound(decided_.begin(), decided_.end(), index, later), index);
  waiting_.set_decided(index);
}

ReuseStage::Settled ReuseStage::settle(DynamicInstruction& d) {
  switch (point_->decide(d)) {
    case ReusePoint::Decision::wait:
      return Settled::waits;
    case ReusePoint::Decision::bypass:
      d.bypassed = true;
      core_.counters.bypassed_registers += d.traits->write_count;
      core_.observers.notify(protocol::Event::bypassed, [&](protocol::Observer& o) { o.bypassed(core_.now, d); });
      core_.at(core_.now + std::max(1u, point_->bypass_latency()), Work::Kind::executed, d.pool_index);
      return Settled::yes;
    case ReusePoint::Decision::execute:
      break;
  }
  return collect(d) ? Settled::yes : Settled::executes;
}

bool ReuseStage::collect(DynamicInstruction& d) {
  if (!collectors_.available(d.scheduler, d.traits->unit)) return false;
  collectors_.allocate(d);
  return true;
}

/// Collector units for those that only wait for one. Whether there was one for any.
bool ReuseStage::collect_decided() {
  const auto kept = std::remove_if(decided_.begin(), decided_.end(), [this](std::uint32_t index) {
    if (!collect(core_.pool[index])) return false;
    waiting_.remove(index);
    return true;
  });
  const bool any = kept != decided_.end();
  decided_.erase(kept, decided_.end());
  return any;
}

/// All that wait, in order of entry. Whether any of them is gone.
bool ReuseStage::ask_all() {
  decided_.clear();
  bool any = false;
  for (std::uint32_t index = waiting_.first(); index != WaitingList::none;) {
    const std::uint32_t next = waiting_.after(index);
    DynamicInstruction& d = core_.pool[index];
    const bool executes = waiting_.is_decided(index);
    const Settled settled = !executes ? settle(d) : collect(d) ? Settled::yes : Settled::executes;
    if (settled == Settled::executes) {
      decided_.push_back(index);
      waiting_.set_decided(index);
    }
    if (settled == Settled::yes) {
      waiting_.remove(index);
      any = true;
    }
    index = next;
  }
  return any;
}

void ReuseStage::serve() {
  const bool settled = std::exchange(reconsider_, false) ? ask_all() : !decided_.empty() && collect_decided();
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
