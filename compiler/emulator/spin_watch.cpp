// SPDX-License-Identifier: Apache-2.0
#include "spin_watch.h"

#include <algorithm>

namespace regatta::emulator {

namespace {

constexpr std::uint64_t first_window = 64;  // rounds: most CTAs are done by then
constexpr std::uint64_t window_part = 8;    // of the rounds so far, how many a window has

/// Whether all inputs of an operation count as deciding: it has effects outside the warp's registers, or it may fail.
bool decides(Kind kind) {
  switch (kind) {
    case Kind::nop:
    case Kind::lane:
    case Kind::select:
    case Kind::compare:
    case Kind::set:
    case Kind::logic:
    case Kind::pack:
    case Kind::unpack:
    case Kind::activemask:
      return false;
    default:
      return true;
  }
}

}  // namespace

void SpinWindow::begin_round() {
  ++round_;
  if (watching_) {
    watching_ = round_ < window_end_;
    return;
  }
  if (round_ < first_window || (round_ & (round_ - 1)) != 0) return;
  watching_ = true;
  window_end_ = round_ + round_ / window_part;
  ++number_;
  ++epoch_;  // nobody has looked on up to now
}

void SpinWatch::begin_cta(std::size_t warps) {
  watching_ = false;
  window_number_ = 0;
  seen_.resize(warps);
  for (Seen& s : seen_) s.snapshot_epoch = s.stuck_epoch = 0;
}

void SpinWatch::begin_round() {
  watching_ = window_.watching();
  if (!watching_ || window_number_ == window_.number()) return;
  window_number_ = window_.number();
  for (Seen& s : seen_) s.executed.assign(program_.ops.size(), false);
}

void SpinWatch::reads(unsigned warp, const Op& op, std::uint32_t position, unsigned lane, std::uint64_t address) {
  Poll& p = seen_[warp].poll;
  const bool strong =
      op.kind == Kind::atomic || op.kind == Kind::mbarrier_wait || op.instruction->mod.order != ir::MemoryOrder::weak;
  if (p.found && p.strong && !strong) return;
  p = {true, strong, position, lane, address};
}

void SpinWatch::take(Seen& s, const Warp& w) {
  w.save(s.snapshot);
  s.snapshot_epoch = window_.epoch();
  s.turns = 0;
  s.passes_barrier = false;
  std::fill(s.executed.begin(), s.executed.end(), false);
  s.poll = {};
}

void SpinWatch::end_turn(const Warp& w) {
  Seen& s = seen_[w.number()];
  if (s.snapshot_epoch != window_.epoch()) {
    s.limit = 1;
    take(s, w);
    return;
  }
  if (s.stuck_epoch == window_.epoch()) return;
  if (w.at_same_place(s.snapshot)) {
    RegisterSet deciding;
    if (find_deciding(s, deciding) && w.holds_same(s.snapshot, deciding)) {
      s.stuck_epoch = window_.epoch();
      return;
    }
  }
  if (++s.turns < s.limit) return;
  s.limit *= 2;
  take(s, w);
}

/// Finds the registers that decide what the instructions since the snapshot do. Returns false if one of them is read
/// from a clock.
bool SpinWatch::find_deciding(const Seen& s, RegisterSet& deciding) const {
  const auto reads = [&](const Op& op) {
    for (unsigned n = 0; n < op.read_count; ++n) deciding.registers.set(op.reads[n]);
    for (unsigned n = 0; n < op.predicate_count; ++n)
      if (op.predicates[n].number >= 0) deciding.predicates |= 1u << op.predicates[n].number;
    if (op.op == ir::Opcode::addc || op.op == ir::Opcode::subc) deciding.carry = true;
  };
  const auto writes = [&](const Op& op) {
    for (unsigned n = 0; n < op.write_count; ++n)
      if (deciding.registers.test(op.writes[n])) return true;
    for (unsigned n = 0; n < op.predicate_write_count; ++n)
      if (((deciding.predicates >> op.predicate_writes[n]) & 1u) != 0) return true;
    return op.lane.carry_out && deciding.carry;
  };
  for (std::size_t at = 0; at < program_.ops.size(); ++at) {
    if (!s.executed[at]) continue;
    const Op& op = program_.ops[at];
    if (op.guarded) deciding.predicates |= 1u << op.guard;
    if (!decides(op.kind)) continue;
    if (op.dynamic_special) return false;
    reads(op);
  }
  for (bool grown = true; grown;) {
    const RegisterSet before = deciding;
    for (std::size_t at = program_.ops.size(); at-- > 0;) {
      const Op& op = program_.ops[at];
      if (!s.executed[at] || !writes(op)) continue;
      if (op.dynamic_special) return false;
      reads(op);
    }
    grown = !(deciding == before);
  }
  return true;
}

SpinWatch::Outlook SpinWatch::outlook(const std::vector<std::unique_ptr<Warp>>& warps) const {
  bool any = false, waits = false, passes_barrier = false;
  for (const auto& w : warps) {
    if (w->state == WarpState::done) continue;
    const bool stuck = is_stuck(w->number());
    any = any || stuck;
    passes_barrier = passes_barrier || (stuck && seen_[w->number()].passes_barrier);
    if (stuck) continue;
    if (w->state == WarpState::ready) return Outlook::open;
    waits = true;
  }
  // A warp at a barrier continues only if another warp arrives at one.
  if (waits && passes_barrier) return Outlook::open;
  return any ? Outlook::endless : Outlook::waits;
}

}  // namespace regatta::emulator
