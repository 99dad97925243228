// SPDX-License-Identifier: Apache-2.0
//
// What the race detector hears of asynchronous copies: a copy is a thread of its own that begins when it is issued and
// that others come after once they have waited for it.
#include "async_state.h"
#include "cta.h"
#include "race_detector.h"

namespace regatta::emulator {

using CopyRange = RaceDetector::CopyRange;
using trace::LaneMask;

namespace {

CopyRange source_of(const PendingCopy::Lane& l) { return {false, l.source, l.read, false}; }
CopyRange destination_of(const PendingCopy& c, const PendingCopy::Lane& l) {
  return {true, l.to, std::uint64_t{c.op->element_bytes} * c.op->vector, true};
}
CopyRange shared_side(const BulkCopy& c, const BulkRun& r) { return {true, r.shared, r.bytes, c.to_shared}; }
CopyRange global_side(const BulkCopy& c, const BulkRun& r) { return {false, r.address, r.bytes, !c.to_shared}; }

}  // namespace

void CtaRunner::order_fence(const Warp& w, const Op& op) {
  if (op.instruction->mod.cache.rfind(".proxy.async", 0) == 0) return races_->order().proxy_fence(w.number());
  races_->order().fence(w.number(), op.instruction->mod.scope);
}

void CtaRunner::note_async_issue(Warp& w, const Op& op, const PendingCopy& copy) {
  for (LaneMask rest = copy.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const PendingCopy::Lane& l = copy.lane[lane];
    races_->begin_copy(op, position(op), w.number(), lane, source_of(l), false);
    races_->begin_copy(op, position(op), w.number(), lane, destination_of(copy, l), false);
  }
}

void CtaRunner::note_async_end(const PendingCopy& copy, unsigned warp, LaneMask lanes, const AsyncWaiter& waiter) {
  const unsigned party = waiter.by_mbarrier ? races_->order().copies() : waiter.warp;
  const std::uint32_t time = races_->order().tick(party);
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const PendingCopy::Lane& l = copy.lane[lane];
    races_->end_copy(position(*copy.op), warp, lane, source_of(l), party, time);
    races_->end_copy(position(*copy.op), warp, lane, destination_of(copy, l), party, time);
  }
}

void CtaRunner::note_bulk_issue(Warp& w, const Op& op, const BulkCopy& c) {
  for (const BulkRun& r : c.runs) {
    races_->begin_copy(op, position(op), w.number(), c.lane, shared_side(c, r), true);
    if (r.global != nullptr) races_->begin_copy(op, position(op), w.number(), c.lane, global_side(c, r), true);
  }
}

void CtaRunner::note_bulk_read(const BulkCopy& c) {
  const std::uint32_t time = races_->order().tick(c.warp);
  for (const BulkRun& r : c.runs) races_->end_copy(position(*c.op), c.warp, c.lane, shared_side(c, r), c.warp, time);
}

void CtaRunner::note_bulk_end(const BulkCopy& c) {
  const unsigned party = c.to_shared ? races_->order().copies() : c.warp;
  const std::uint32_t time = races_->order().tick(party);
  for (const BulkRun& r : c.runs) {
    if (c.to_shared) races_->end_copy(position(*c.op), c.warp, c.lane, shared_side(c, r), party, time);
    if (r.global != nullptr) races_->end_copy(position(*c.op), c.warp, c.lane, global_side(c, r), party, time);
  }
  if (c.to_shared) races_->release_mbarrier(party, c.mbarrier);
}

void CtaRunner::note_bulk_unread(const BulkCopy& c) { races_->unread_copy(*c.op, position(*c.op), c.warp, c.lane); }

}  // namespace regatta::emulator
