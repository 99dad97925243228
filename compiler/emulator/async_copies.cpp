// SPDX-License-Identifier: Apache-2.0
//
// cp.async and the waits for groups of copies; what all asynchronous operations need to find their places.
#include "access_log.h"
#include "async_state.h"
#include "cta.h"
#include "diagnostics.h"
#include "race_detector.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using trace::LaneMask;
using trace::MemorySpace;

std::uint64_t CtaRunner::async_source(const Warp& w, const Op& op, unsigned number, unsigned lane) const {
  const AsyncOperands& o = program_.async_operands[op.target];
  return get(w, o.source[number], lane, o.wide[number]);
}

Place CtaRunner::async_place(Warp& w, const Op& op, unsigned lane, const AsyncAccess& a) {
  const bool is_global = a.space == MemorySpace::global;
  const auto place_text = [&] {
    return std::string(a.what) + " of " + std::to_string(a.bytes) + (a.bytes == 1 ? " byte at " : " bytes at ") +
           (is_global ? "global address " + hex_text(a.address) : "shared offset " + std::to_string(a.address));
  };
  if (a.address % a.alignment != 0) {
    fail(w, op, lane, "misaligned " + place_text() + ", expected a multiple of " + std::to_string(a.alignment),
         FaultKind::misaligned);
  }
  Place place;
  if (is_global) {
    Allocation* hit = memory_.find(a.address, last_hit_);
    if (hit == nullptr)
      fail(w, op, lane, "out-of-bounds " + place_text() + ", " + memory_.describe(a.address), FaultKind::address);
    if (a.bytes > hit->end() - a.address)
      fail(w, op, lane, "out-of-bounds " + place_text() + ", whose end lies " + memory_.describe(hit->end()),
           FaultKind::address);
    const std::uint64_t at = a.address - hit->base;
    if (a.use != Use::read) Allocation::set(hit->changed);
    if (log_ != nullptr) a.use == Use::read ? log_->read(*hit, at, a.bytes) : log_->write(*hit, at, a.bytes);
    place = {hit->data.data() + at, hit->written.empty() ? nullptr : hit->written.data() + at, true};
  } else {
    if (a.address > shared_.size() || a.bytes > shared_.size() - a.address)
      fail(w, op, lane, "out-of-bounds " + place_text() + ", the CTA has " + std::to_string(shared_.size()) + " bytes",
           FaultKind::address);
    place = {shared_.data() + a.address, tracks_ ? shared_written_.data() + a.address : nullptr, false};
  }
  const auto is_new = [](std::uint8_t byte) { return byte == 0; };
  if (a.use == Use::read && a.bytes != 0 && place.written != nullptr &&
      std::all_of(place.written, place.written + a.bytes, is_new)) {
    const std::string what = "read of " + place_text() + ", which was never written";
    if (races_ == nullptr) fail(w, op, lane, what);
    const auto thread = unflatten(w.first_thread() + lane, request_.block);
    races_->postpone(message_at(f_, *op.instruction, cta_, &thread, what));
  }
  return place;
}

void CtaRunner::asynchronous(Warp& w, const Op& op) {
  if (async_ == nullptr) {
    async_ = std::make_unique<AsyncState>();
    async_->begin(warps_.size());
  }
  AsyncState::Warp& mine = async_->warps[w.number()];
  texel_count_ = 0;
  switch (op.op) {
    case ir::Opcode::cp_async:
      return copy_async(w, op);
    case ir::Opcode::cp_async_commit:
    case ir::Opcode::bulk_commit: {
      auto& group = op.op == ir::Opcode::bulk_commit ? mine.bulk_group : mine.group;
      for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
        ++group[static_cast<unsigned>(__builtin_ctzll(rest))];
      }
      return;
    }
    case ir::Opcode::cp_async_wait: {
      const auto allowed = static_cast<std::uint32_t>(op.instruction->sources[0].value);
      const bool all = op.instruction->mod.async.all;
      // Groups below the open one less those allowed, and the open one for wait_all.
      std::array<std::uint32_t, trace::max_lanes> limit{};
      for (unsigned i = 0; i < program_.lanes; ++i) {
        limit[i] = mine.group[i] - std::min(mine.group[i], allowed) + (all ? 1 : 0);
      }
      finish_copies(w.number(), w.regs.active, limit, ~std::uint64_t{0}, {w.number(), false});
      return;
    }
    case ir::Opcode::bulk_wait:
      return wait_bulk(w, op);
    case ir::Opcode::bulk_copy:
    case ir::Opcode::bulk_tensor:
      return copy_bulk(w, op);
    default:
      return mbarrier(w, op);
  }
}

void CtaRunner::copy_async(Warp& w, const Op& op) {
  const ir::AsyncModifiers& mod = op.instruction->mod.async;
  const unsigned bytes = unsigned{op.element_bytes} * op.vector;
  LaneMask ignored = 0;
  if (mod.has_ignore) ignored = read_predicate(w, op, op.predicates[0], w.regs.active);
  AsyncState::Warp& mine = async_->warps[w.number()];
  PendingCopy copy;
  copy.op = &op;
  copy.lanes = w.regs.active;
  copy.number = async_->next++;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    PendingCopy::Lane& l = copy.lane[lane];
    const std::uint64_t read = mod.has_size ? async_source(w, op, 2, lane) : bytes;
    if (read > bytes) {
      fail(w, op, lane,
           "asynchronous copy reads " + std::to_string(read) + " bytes, expected at most the " + std::to_string(bytes) +
               " that it copies");
    }
    l.read = (ignored >> lane & 1u) != 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(read);
    l.group = mine.group[lane];
    l.to = static_cast<std::uint32_t>(async_source(w, op, 0, lane));
    async_place(w, op, lane, {MemorySpace::shared, l.to, bytes, bytes, Use::write, "destination"});
    l.source = async_source(w, op, 1, lane);
    note_list(0, lane, l.source);
    note_list(1, lane, l.to);
    note_list(2, lane, l.read);
    if (l.read == 0) continue;
    const Place from = async_place(w, op, lane, {MemorySpace::global, l.source, l.read, bytes, Use::read, "source"});
    l.from = from.data;
    l.from_written = from.written;
  }
  if (races_ != nullptr) note_async_issue(w, op, copy);
  mine.copies.push_back(copy);
}

void CtaRunner::finish_copies(unsigned warp, LaneMask lanes, const std::array<std::uint32_t, trace::max_lanes>& limit,
                              std::uint64_t before, const AsyncWaiter& waiter) {
  std::vector<PendingCopy>& copies = async_->warps[warp].copies;
  bool any = false;
  for (PendingCopy& c : copies) {
    if (c.number >= before) break;
    LaneMask done = 0;
    for (LaneMask rest = c.lanes & lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
      if (c.lane[lane].group < limit[lane]) done |= rest & (0 - rest);
    }
    if (done == 0) continue;
    any = true;
    if (races_ != nullptr) note_async_end(c, warp, done, waiter);
    const unsigned bytes = unsigned{c.op->element_bytes} * c.op->vector;
    for (LaneMask rest = done; rest != 0; rest &= rest - 1) {
      const PendingCopy::Lane& l = c.lane[static_cast<unsigned>(__builtin_ctzll(rest))];
      if (l.read != 0) std::memcpy(shared_.data() + l.to, l.from, l.read);
      std::memset(shared_.data() + l.to + l.read, 0, bytes - l.read);
      std::memset(shared_written_.data() + l.to, 1, bytes);
      if (l.from_written != nullptr) std::memcpy(shared_written_.data() + l.to, l.from_written, l.read);
    }
    c.lanes &= ~done;
  }
  if (!any) return;
  spins_.changed();
  copies.erase(std::remove_if(copies.begin(), copies.end(), [](const PendingCopy& c) { return c.lanes == 0; }),
               copies.end());
}

bool CtaRunner::has_copies(unsigned warp, unsigned lane) const {
  const std::vector<PendingCopy>& copies = async_->warps[warp].copies;
  return std::any_of(copies.begin(), copies.end(), [&](const PendingCopy& c) { return (c.lanes >> lane & 1u) != 0; });
}

}  // namespace regatta::emulator
