// SPDX-License-Identifier: Apache-2.0
//
// The part of the register allocation stage that gives results their registers (WIR section V-E): from the free pool,
// in place, or after a wait.
#include <regatta/wir/allocation_stage.h>

#include <utility>

namespace regatta::models::wir {

using protocol::DynamicInstruction;
using protocol::LookupReply;
using Phase = AllocationPhase;

/// Destinations of `open` that may overwrite their register instead of taking another one: only rename entries of this
/// instruction's destinations refer to it, and one of these destinations keeps it.
unsigned AllocationStage::overwritable(const DynamicInstruction& d, unsigned open) const {
  const RenameEntry* const entries = entries_->of(d.warp);
  unsigned places = 0;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    const RenameEntry& e = entries[d.traits->writes[i].value()];
    if ((open & bit(i)) == 0 || !e.valid()) continue;
    unsigned own = 0;
    bool free = true;
    for (unsigned j = 0; j < d.traits->write_count; ++j) {
      if (entries[d.traits->writes[j].value()].reg != e.reg) continue;
      ++own;
      free = free && (open & bit(j)) != 0 && (places & bit(j)) == 0;
    }
    if (free && pool_->references(e.reg) == own) places |= bit(i);
  }
  return places;
}

/// Releases the references that it holds for a reuse buffer entry (without pending-retry).
void AllocationStage::forgo_entry(InFlight& f) {
  if (!f.keeps) return;
  f.keeps = f.reusable = false;
  end_holds(*references_, f);
}

/// Too few registers are free, so the instruction waits. While it waits, it holds no references that others may need to
/// proceed, and the buffers release theirs (low-register mode).
void AllocationStage::starve(DynamicInstruction& d, InFlight& f) {
  starving_.push(&d);
  forgo_entry(f);
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    references_->release(std::exchange(f.candidates[i], no_register));
    if (hashed(f)) vsb_access_->evict(f.hashes[i]);
  }
  f.equal = 0;
}

/// In order of request: a register that becomes free goes to the first instruction. Those behind it hold nothing that
/// it may need.
std::size_t AllocationStage::resume_kept(RecalledList& recalled) {
  const std::uint64_t now = clock_.now();
  std::size_t count = 0;
  for (; !answered_.empty() && count < recalled.size(); answered_.pop_front()) {
    recalled[count++] = {answered_.front(), 0};
  }
  for (; !starving_.empty() && count < recalled.size(); starving_.pop()) {
    DynamicInstruction& d = *starving_.front();
    InFlight& f = in_flight_.of(d);
    const Grant grant = find_registers(d, f);
    if (grant == Grant::none) break;
    if (grant == Grant::granted) recalled[count++] = {&d, reach_pool(f, now)};
  }
  if (count < recalled.size()) counters_.starved += starving_.size();
  return count;
}

/// Destinations that need a register: their result is in none yet, and they have none of their own that it may partly
/// overwrite.
unsigned AllocationStage::open_destinations(const DynamicInstruction& d, const InFlight& f) const {
  const unsigned count = d.traits->write_count;
  unsigned open = (bit(count) - 1) & ~f.equal;
  if (!f.divergent) return open;
  const RenameEntry* const entries = entries_->of(d.warp);
  for (unsigned i = 0; i < count; ++i) {
    const RenameEntry& e = entries[d.traits->writes[i].value()];
    if (e.valid() && e.pinned) open &= ~bit(i);
  }
  return open;
}

/// Gives all destinations their registers, or none of them; starving instructions go first.
AllocationStage::Grant AllocationStage::allocate(DynamicInstruction& d, InFlight& f) {
  if (__builtin_expect(static_cast<int>(!starving_.empty()), 0) != 0 && open_destinations(d, f) != 0) {
    return Grant::none;
  }
  return find_registers(d, f);
}

/// If too few registers are free, tries again with all destinations that can be overwritten in place.
AllocationStage::Grant AllocationStage::find_registers(DynamicInstruction& d, InFlight& f) {
  const unsigned open = open_destinations(d, f);
  unsigned places = 0;
  GrantedRegisters granted;
  AllocationRequest request;
  request.registers = static_cast<unsigned>(__builtin_popcount(open));
  LookupReply reply = LookupReply::answered;
  if (request.registers != 0) reply = allocator.requests->look_up(request, tag(d, 0), granted);
  if (__builtin_expect(static_cast<int>(reply == LookupReply::busy), 0) != 0) {
    forgo_entry(f);
    places = overwritable(d, open);
    request.registers = static_cast<unsigned>(__builtin_popcount(open & ~places));
    request.reduced = true;
    reply = allocator.requests->look_up(request, tag(d, 0), granted);
    if (reply == LookupReply::busy) return Grant::none;
    counters_.in_place += static_cast<unsigned>(__builtin_popcount(places));
  }
  if (reply == LookupReply::answered) {
    give(d, f, open & ~places, granted);
    return Grant::granted;
  }
  f.open = static_cast<std::uint8_t>(open & ~places);
  f.awaited = static_cast<std::uint8_t>(bit(0));
  keep_until_answered(d);
  return Grant::later;
}

/// `from_pool`: the destinations that take a new register.
void AllocationStage::give(const DynamicInstruction& d, InFlight& f, unsigned from_pool,
                           const GrantedRegisters& granted) {
  const RenameEntry* const entries = entries_->of(d.warp);
  f.taken = 0;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if ((f.equal & bit(i)) != 0) {
      f.targets[i] = std::exchange(f.candidates[i], no_register);
    } else if ((from_pool & bit(i)) == 0) {
      // Pinned and partly overwritten, or not shared with anyone.
      f.in_place |= static_cast<std::uint8_t>(bit(i));
      f.targets[i] = entries[d.traits->writes[i].value()].reg;
    } else {
      f.port_waits[f.taken] = granted.waits[f.taken];
      f.targets[i] = granted.regs[f.taken++];
    }
  }
  f.phase = Phase::entering;
}

/// The free pool gives out a limited number of registers per cycle, in order of request. Each new register is entered
/// in the signature buffer.
unsigned AllocationStage::reach_pool(const InFlight& f, std::uint64_t now) {
  std::uint64_t slot = now;
  for (unsigned i = 0; i < f.taken; ++i) {
    slot = now + f.port_waits[i];
    if (hashed(f)) slot = vsb_access_->book_write(slot);
  }
  counters_.allocator_waits += slot - now;
  return static_cast<unsigned>(slot - now);
}

}  // namespace regatta::models::wir
