// SPDX-License-Identifier: Apache-2.0
//
// mbarriers: operations of lanes, one after another in ascending order, and waits for phases. A warp that waits lets
// the others run. Copies that a phase waits for are made when somebody waits for it.
#include "mbarrier.h"

#include "async_state.h"
#include "cta.h"
#include "diagnostics.h"
#include "race_detector.h"

#include <regatta/ir/address_windows.h>

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using ir::MbarrierOp;
using trace::LaneMask;

namespace {

constexpr unsigned mbarrier_bytes = 8;

bool is_relaxed(const Op& op) { return op.instruction->mod.order == ir::MemoryOrder::relaxed; }

}  // namespace

Mbarrier CtaRunner::mbarrier_at(std::uint32_t offset) const {
  std::uint64_t word = 0;
  std::memcpy(&word, shared_.data() + offset, sizeof word);
  return Mbarrier(word);
}

void CtaRunner::put_mbarrier(std::uint32_t offset, const Mbarrier& m) {
  const std::uint64_t word = m.word();
  if (std::memcmp(shared_.data() + offset, &word, sizeof word) != 0) spins_.changed();
  std::memcpy(shared_.data() + offset, &word, sizeof word);
  std::memset(shared_written_.data() + offset, 1, sizeof word);
}

std::string CtaRunner::mbarrier_text(std::uint32_t offset) const {
  std::string text = "the mbarrier at shared offset " + std::to_string(offset);
  for (const ir::SharedVariable& v : f_.shared_variables) {
    if (offset < v.offset || (v.bytes != 0 && offset - v.offset >= v.bytes)) continue;
    text += ", " + std::to_string(offset - v.offset) + " bytes into '" + v.name + "',";
  }
  return text + " in " + mbarrier_at(offset).text();
}

std::uint32_t CtaRunner::mbarrier_place(Warp& w, const Op& op, unsigned source, unsigned lane, bool may_be_new) {
  std::uint64_t address = async_source(w, op, source, lane);
  if (op.space == trace::MemorySpace::generic) {
    if (!program_.async_operands[op.target].wide[source]) address = base::widened(address);
    if (address >> ir::window_shift != ir::shared_window >> ir::window_shift)
      fail(w, op, lane, "mbarrier at generic address " + hex_text(address) + ", which is not in shared memory",
           FaultKind::address);
    address &= ir::window_offset_mask;
  }
  async_place(w, op, lane,
              {trace::MemorySpace::shared, address, mbarrier_bytes, mbarrier_bytes, Use::atomic, "mbarrier"});
  const auto offset = static_cast<std::uint32_t>(address);
  if (!may_be_new && !mbarrier_at(offset).is_valid())
    fail(w, op, lane, "no mbarrier at shared offset " + std::to_string(offset) + ": it has not been initialised");
  return offset;
}

std::uint64_t CtaRunner::mbarrier_lane(Warp& w, const Op& op, unsigned lane) {
  const ir::AsyncModifiers& mod = op.instruction->mod.async;
  const std::uint32_t at = mbarrier_place(w, op, 0, lane, mod.barrier == MbarrierOp::init);
  const auto count = [&] { return static_cast<std::uint32_t>(async_source(w, op, 1, lane)); };
  Mbarrier m = mbarrier_at(at);
  const std::uint64_t before = m.word();
  std::string wrong;
  switch (mod.barrier) {
    case MbarrierOp::init:
      if (count() == 0 || count() > Mbarrier::most_arrivals) {
        wrong = "mbarrier for " + std::to_string(count()) + " arrivals, expected 1 to " +
                std::to_string(Mbarrier::most_arrivals);
      } else {
        m = Mbarrier::initial(count());
      }
      break;
    case MbarrierOp::inval:
      m = Mbarrier(0);
      break;
    case MbarrierOp::arrive:
    case MbarrierOp::arrive_drop:
      wrong = m.arrive(count(), mod.barrier == MbarrierOp::arrive_drop, !mod.no_complete);
      break;
    case MbarrierOp::expect_tx:
      wrong = m.expect(count());
      break;
    case MbarrierOp::complete_tx:
      wrong = m.complete(count());
      break;
    case MbarrierOp::arrive_expect_tx:
    case MbarrierOp::arrive_drop_expect_tx:
      wrong = m.expect(count());
      if (wrong.empty()) wrong = m.arrive(1, mod.barrier == MbarrierOp::arrive_drop_expect_tx, true);
      break;
    default:
      break;
  }
  if (!wrong.empty()) fail(w, op, lane, wrong + " at shared offset " + std::to_string(at));
  put_mbarrier(at, m);
  note_update(op, lane, at, mod.barrier == MbarrierOp::inval ? 0 : count());
  return before;
}

/// For the trace: what the operation did.
void CtaRunner::note_update(const Op& op, unsigned lane, std::uint32_t at, std::uint32_t count) {
  std::uint64_t arrivals = 0, dropped = 0, bytes = 0;
  note_list(0, lane, at);
  switch (op.instruction->mod.async.barrier) {
    case MbarrierOp::inval:
      return;
    case MbarrierOp::init:
      return note_list(1, lane, count);
    case MbarrierOp::arrive:
      arrivals = count;
      break;
    case MbarrierOp::arrive_drop:
      arrivals = dropped = count;
      break;
    case MbarrierOp::expect_tx:
      bytes = count;
      break;
    case MbarrierOp::complete_tx:
      bytes = 0 - std::uint64_t{count};
      break;
    case MbarrierOp::arrive_drop_expect_tx:
      dropped = 1;
      [[fallthrough]];
    default:
      arrivals = 1;
      bytes = count;
      break;
  }
  note_list(1, lane, arrivals);
  note_list(2, lane, dropped);
  note_list(3, lane, bytes);
}

void CtaRunner::mbarrier(Warp& w, const Op& op) {
  const bool later = op.op == ir::Opcode::cp_async_arrive;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    if (later) {
      arrive_later(w, op, lane);
      // What the thread has waited for already.
      if (races_ != nullptr) races_->release_mbarrier(w.number(), mbarrier_place(w, op, 0, lane, false));
      continue;
    }
    const std::uint64_t state = mbarrier_lane(w, op, lane);
    if (op.has_result) put(w, op.destinations[0], op.destination_words[0], lane, state);
    if (races_ != nullptr && op.instruction->mod.async.barrier != MbarrierOp::inval && !is_relaxed(op))
      races_->release_mbarrier(w.number(), mbarrier_place(w, op, 0, lane, true));
  }
}

void CtaRunner::arrive_later(Warp& w, const Op& op, unsigned lane) {
  const std::uint32_t at = mbarrier_place(w, op, 0, lane, false);
  Mbarrier m = mbarrier_at(at);
  // The arrival that follows is one that the phase waits for anyway, or (without .noinc) one that it gets now.
  if (!op.instruction->mod.async.no_increment) {
    const std::string wrong = m.add_pending();
    if (!wrong.empty()) fail(w, op, lane, wrong + " at shared offset " + std::to_string(at));
    put_mbarrier(at, m);
  }
  note_list(0, lane, at);
  note_list(1, lane, op.instruction->mod.async.no_increment ? 0 : 1);
  async_->arrivals.push_back({&op, w.number(), lane, at, async_->next++});
}

bool CtaRunner::advance_mbarrier(std::uint32_t offset) {
  if (async_ == nullptr) return false;
  const auto arrival = std::find_if(async_->arrivals.begin(), async_->arrivals.end(),
                                    [&](const PendingArrival& a) { return a.mbarrier == offset; });
  const auto copy = std::find_if(async_->bulk.begin(), async_->bulk.end(),
                                 [&](const BulkCopy& c) { return c.to_shared && c.mbarrier == offset; });
  const bool has_arrival = arrival != async_->arrivals.end(), has_copy = copy != async_->bulk.end();
  if (!has_arrival && !has_copy) return false;
  Mbarrier m = mbarrier_at(offset);
  std::string wrong;
  const Op* op = nullptr;
  unsigned warp = 0, lane = 0;
  if (has_arrival && (!has_copy || arrival->number < copy->number)) {
    const PendingArrival a = *arrival;
    async_->arrivals.erase(arrival);
    std::array<std::uint32_t, trace::max_lanes> all{};
    all.fill(~0u);
    finish_copies(a.warp, LaneMask{1} << a.lane, all, a.number, {a.warp, true});
    wrong = m.arrive(1, false, true);
    op = a.op;
    warp = a.warp;
    lane = a.lane;
    if (races_ != nullptr) races_->release_mbarrier(races_->order().copies(), offset);
  } else {
    BulkCopy c = std::move(*copy);
    async_->bulk.erase(copy);
    write_bulk(c, true);
    m = mbarrier_at(offset);  // which the copy may have overwritten
    wrong = m.is_valid() ? m.complete(c.bytes) : "no mbarrier any more when a bulk copy is complete";
    op = c.op;
    warp = c.warp;
    lane = c.lane;
  }
  if (!wrong.empty()) fail(*warps_[warp], *op, lane, wrong + " at shared offset " + std::to_string(offset));
  put_mbarrier(offset, m);
  return true;
}

LaneMask CtaRunner::complete_phases(Warp& w, const Op& op, LaneMask active) {
  LaneMask complete = 0;
  const bool by_parity = op.instruction->mod.async.parity;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint32_t at = mbarrier_place(w, op, 0, lane, false);
    const std::uint64_t state = async_source(w, op, 1, lane);
    if (by_parity ? state > 1 : !Mbarrier(state).is_valid()) {
      fail(w, op, lane,
           by_parity ? "phase parity " + std::to_string(state) + ", expected 0 or 1"
                     : "0x" + hex_text(state).substr(2) + " is no state of a mbarrier");
    }
    const bool parity = by_parity ? state != 0 : Mbarrier(state).parity();
    while (mbarrier_at(at).parity() == parity && advance_mbarrier(at)) {
    }
    if (mbarrier_at(at).parity() != parity) complete |= rest & (0 - rest);
  }
  return complete;
}

void CtaRunner::begin_wait(Warp& w, const Op& op, LaneMask active) {
  if (tracks_) check_reads(w, op, active);
  if (active != w.regs.active) {
    w.regs.active = active;
    helpers_.expand(active, w.regs.mask);
  }
  w.barrier_op = position(op);
  w.barrier_lanes = active;
  const LaneMask complete = complete_phases(w, op, active);
  // Other lanes of the warp may be the ones to arrive, if they can run.
  const bool may_wait = !independent_ || w.stack().size() == 1;
  if (complete == active || !may_wait) {
    finish_wait(w, complete);
  } else {
    w.state = WarpState::at_mbarrier;
  }
}

void CtaRunner::finish_wait(Warp& w, LaneMask complete) {
  const Op& op = program_.ops[w.barrier_op];
  const LaneMask active = w.barrier_lanes;
  w.state = WarpState::ready;
  w.regs.active = active;
  helpers_.expand(active, w.regs.mask);
  if (complete != active) {
    w.polls_in_vain = w.polls_in_vain || independent_;
    const auto lane = static_cast<unsigned>(__builtin_ctzll(active & ~complete));
    if (spins_.watching()) spins_.reads(w.number(), op, w.barrier_op, lane, mbarrier_place(w, op, 0, lane, false));
  }
  if (races_ != nullptr && !is_relaxed(op) && complete != 0) {
    races_->order().meet(w.number(), complete, w.live());
    for (LaneMask rest = complete; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
      races_->acquire_mbarrier(w.number(), mbarrier_place(w, op, 0, lane, false));
    }
  }
  texel_count_ = 0;
  for (LaneMask rest = w.encoder ? active : 0; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::uint64_t state = async_source(w, op, 1, lane);
    const bool parity = op.instruction->mod.async.parity ? state != 0 : Mbarrier(state).parity();
    note_list(0, lane, mbarrier_place(w, op, 0, lane, false));
    note_list(1, lane, (complete >> lane & 1u) == 0 ? 2 : parity ? 1 : 0);
  }
  write_predicate(w, op, op.predicate_writes[0], {complete, ~LaneMask{0}}, active);
  if (w.encoder) record(w, op, active);
}

bool CtaRunner::end_waits() {
  bool any = false;
  for (auto& w : warps_) {
    if (w->state != WarpState::at_mbarrier) continue;
    finish_wait(*w, complete_phases(*w, program_.ops[w->barrier_op], w->barrier_lanes));
    any = true;
  }
  return any;
}

}  // namespace regatta::emulator
