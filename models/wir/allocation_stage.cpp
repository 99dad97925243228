// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/affine.h>
#include <regatta/models/wir/allocation_stage.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace regatta::models::wir {

using protocol::DynamicInstruction;
using Phase = AllocationPhase;

namespace {
constexpr unsigned bit(unsigned i) { return 1u << i; }
}  // namespace

AllocationStage::AllocationStage(PhysicalRegisterFile& file)
    : file_(file),
      state_(file.state()),
      hash_(trace::max_lanes, state_.config.hash_bits),
      hash_units_(state_.config.schedulers),
      verify_ports_(state_.config.verify_ports),
      signature_reads_(state_.config.signature_ports),
      signature_writes_(state_.config.signature_ports),
      allocator_(state_.config.allocator_ports),
      rename_ports_(state_.config.schedulers, Ports(1)) {}

void AllocationStage::kernel_started(const protocol::KernelContext& context) {
  hash_ = H3Hash(context.warp_size, state_.config.hash_bits);
}

// Flattened, like the entries of the other stages: it runs twice per instruction, through a dozen steps that are
// cheaper than their calls.
[[gnu::flatten]] unsigned AllocationStage::arrive(DynamicInstruction& d) {
  const std::uint64_t now = state_.begin();
  InFlight& f = state_.of(d);
  // Comparisons instead of a switch: the host predicts them from the caller, but not a jump through a table.
  if (f.phase == Phase::arriving) {
    if (!d.bypassed && d.active != 0) return enter(d, f, now);
  } else if (f.phase < Phase::moving) {
    if (const unsigned wait = advance(d, f, now); wait != 0) return wait;
  } else if (f.phase == Phase::done) {
    return 0;
  }
  f.phase = Phase::done;
  return retire_slot(d, f, now);
}

/// Advances from the signature buffer to the register, in one call per wait. Returns 0 when the instruction has its
/// registers, else the cycles to wait, or keep.
unsigned AllocationStage::advance(DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  if (f.phase <= Phase::looking) {
    if (f.phase == Phase::indexing) {
      f.phase = Phase::looking;
      if (const unsigned wait = reach_table(d, f, now); wait != 0) return wait;
    }
    look(d, f, now);
  }
  if (f.phase == Phase::verifying) {
    if (const unsigned wait = verify(d, f, now); wait != 0) return wait;
    f.phase = Phase::written_elsewhere;
  }
  if (f.phase == Phase::written_elsewhere) {
    if (!candidates_written(d, f)) return 1;
    unsigned taken = 0;
    if (!allocate(d, f, taken)) {
      starve(d, f);
      return keep;
    }
    if (const unsigned wait = reach_pool(f, taken, now); wait != 0) return wait;
  }
  enter_results(d, f);
  // The first divergent write of a logical register takes the other lanes along (section V-D).
  const std::uint64_t moved = f.divergent ? move_rest(d, f) : 0;
  f.phase = Phase::moving;
  return moved > now ? static_cast<unsigned>(moved - now) : 0;
}

/// Issues dummy MOVs for the lanes that a divergent write leaves unchanged. Returns the cycle in which the last MOV is
/// done.
std::uint64_t AllocationStage::move_rest(const DynamicInstruction& d, const InFlight& f) {
  std::uint64_t moved = 0;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    const RenameEntry& e = state_.rename.at(d.warp, d.traits->writes[i]);
    if (!e.valid() || (f.in_place & bit(i)) != 0) continue;
    moved = std::max(moved, file_.move(e.reg, f.targets[i]));
    ++state_.counters.dummy_movs;
  }
  return moved;
}

/// Reserves the rename table's write port, once per register (one per cycle in each half of the tables), and the reuse
/// buffer's for an instruction that enters its result there. Returns the cycles to wait.
unsigned AllocationStage::retire_slot(const DynamicInstruction& d, const InFlight& f, std::uint64_t now) {
  if (d.active == 0) return 0;
  std::uint64_t slot = now;
  for (unsigned i = 0; i < d.traits->write_count; ++i) slot = rename_ports_[d.scheduler].take(now);
  if (f.claimed || f.keeps) {
    const std::uint64_t write = state_.reuse_writes.take(now);
    state_.counters.reuse_write_waits += write - now;
    slot = std::max(slot, write);
  }
  return static_cast<unsigned>(slot - now);
}

unsigned AllocationStage::enter(const DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  f.phase = Phase::indexing;
  std::uint64_t at = now;
  if (!f.divergent && state_.parts.signatures) {
    for (unsigned i = 0; i < d.traits->write_count; ++i) {
      at = hash_units_.take(now);
    }
  }
  return static_cast<unsigned>(at - now) + state_.config.back_delay();
}

/// A read port of the signature buffer per result.
unsigned AllocationStage::reach_table(const DynamicInstruction& d, const InFlight& f, std::uint64_t now) {
  if (f.divergent || !state_.parts.signatures) return 0;
  std::uint64_t slot = now;
  for (unsigned i = 0; i < d.traits->write_count; ++i) slot = signature_reads_.take(now);
  state_.counters.signature_read_waits += slot - now;
  return static_cast<unsigned>(slot - now);
}

void AllocationStage::look(const DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  f.phase = Phase::verifying;
  f.asked_at = now;
  if (f.divergent || !state_.parts.signatures) return;
  RegisterState::Counters& n = state_.counters;
  state_.signatures_accessed();
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    ++n.signature_reads;
    ++n.hashes;
    f.hashes[i] = hash_(d.results[i].lane.data());
    const PhysicalRegister reg = state_.signatures.find(f.hashes[i]);
    // A counter at its maximum allows no more sharers, which counts as a miss.
    if (reg == no_register || !state_.allocator.acquire(reg)) {
      ++n.signature_misses;
      continue;
    }
    ++n.counts;
    ++n.signature_hits;
    f.candidates[i] = reg;
  }
}

bool AllocationStage::same_value(const std::uint32_t* candidate, const std::uint32_t* result) const {
  return std::memcmp(candidate, result, file_.value_bytes()) == 0;
}

void AllocationStage::settle(InFlight& f, unsigned destination, bool equal) {
  if (equal) {
    f.equal |= static_cast<std::uint8_t>(bit(destination));
    return;
  }
  ++state_.counters.false_positives;
  state_.give_up(f.candidates[destination]);
  f.candidates[destination] = no_register;
}

/// Compares candidates that have not been compared yet. Returns the cycles until the outcome is known or until a busy
/// bank is tried again; 0 when nothing is left to compare.
unsigned AllocationStage::verify(const DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  std::uint64_t done = 0;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    const PhysicalRegister reg = f.candidates[i];
    if (reg == no_register || (f.equal & bit(i)) != 0) continue;
    const std::uint32_t* const result = d.results[i].lane.data();
    if (state_.on_its_way(reg)) {
      // On its way to the bank: compared in the write queue.
      ++state_.counters.verify_forwarded;
      settle(f, i, same_value(state_.sent(reg), result));
      continue;
    }
    if (state_.parts.verify_cache) {
      const std::uint64_t at = verify_ports_.take(now);
      if (const std::uint32_t* const kept = file_.verify_cache().find(reg); kept != nullptr) {
        ++state_.counters.verify_hits;
        done = std::max(done, at + 1);
        settle(f, i, same_value(kept, result));
        continue;
      }
    }
    std::uint64_t read = 0;
    if (!verify_at_bank(reg, result, f, now, read)) return 1;
    done = std::max(done, read);
    settle(f, i, same_value(file_.value(reg), result));
  }
  return done > now ? static_cast<unsigned>(done - now) : 0;
}

bool AllocationStage::verify_at_bank(PhysicalRegister reg, const std::uint32_t* result, InFlight& f, std::uint64_t now,
                                     std::uint64_t& done) {
  const bool first_come = now - f.asked_at >= state_.config.verify_patience;
  const std::uint64_t read = file_.read_extra(reg, first_come);
  if (read == 0) return false;
  if (state_.parts.affine && is_affine(result, file_.warp_size())) ++affine_verify_reads_;
  done = read;
  if (state_.parts.verify_cache) {
    ++state_.counters.verify_misses;
    ++state_.counters.verify_fills;
    file_.verify_cache().fill(reg, file_.value(reg));
    done = read + 1;  // past the cache
  }
  return true;
}

/// A register whose value is still on its way may be shared, but read only when it is there.
bool AllocationStage::candidates_written(const DynamicInstruction& d, const InFlight& f) const {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if (f.candidates[i] != no_register && state_.on_its_way(f.candidates[i])) return false;
  }
  return true;
}

void AllocationStage::take(const DynamicInstruction& d, InFlight& f, unsigned destination) {
  const PhysicalRegister reg = f.targets[destination];
  file_.fetch_ahead(reg);
  f.writes |= static_cast<std::uint8_t>(bit(destination));
  state_.send(d, destination, reg);
}

/// Destinations of `open` that may overwrite their register instead of taking another one: only rename entries of this
/// instruction's destinations refer to it, and one of these destinations keeps it.
unsigned AllocationStage::overwritable(const DynamicInstruction& d, unsigned open) const {
  unsigned places = 0;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    const RenameEntry& e = state_.rename.at(d.warp, d.traits->writes[i]);
    if ((open & bit(i)) == 0 || !e.valid()) continue;
    unsigned own = 0;
    bool free = true;
    for (unsigned j = 0; j < d.traits->write_count; ++j) {
      if (state_.rename.at(d.warp, d.traits->writes[j]).reg != e.reg) continue;
      ++own;
      free = free && (open & bit(j)) != 0 && (places & bit(j)) == 0;
    }
    if (free && state_.allocator.references(e.reg) == own) places |= bit(i);
  }
  return places;
}

/// Releases the references that it holds for a reuse buffer entry (without pending-retry).
void AllocationStage::forgo_entry(InFlight& f) {
  if (!f.keeps) return;
  f.keeps = f.reusable = false;
  state_.unhold_all(f);
}

/// Too few registers are free, so the instruction waits. While it waits, it holds no references that others may need to
/// proceed, and the buffers release theirs (low-register mode).
void AllocationStage::starve(DynamicInstruction& d, InFlight& f) {
  starving_.push(&d);
  forgo_entry(f);
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    state_.give_up(std::exchange(f.candidates[i], no_register));
    if (!f.divergent && state_.parts.signatures) forget(f.hashes[i]);
  }
  f.equal = 0;
}

/// In order of request: a register that becomes free goes to the first instruction. Those behind it hold nothing that
/// it may need.
std::size_t AllocationStage::resume_kept(RecalledList& recalled) {
  const std::uint64_t now = state_.begin();
  std::size_t count = 0;
  for (; !starving_.empty() && count < recalled.size(); starving_.pop()) {
    DynamicInstruction& d = *starving_.front();
    InFlight& f = state_.of(d);
    unsigned taken = 0;
    if (!find_registers(d, f, taken)) break;
    recalled[count++] = {&d, reach_pool(f, taken, now)};
  }
  if (count < recalled.size()) state_.counters.starved += starving_.size();
  return count;
}

/// Too few registers are free: tries again with all destinations that can be overwritten in place.
bool AllocationStage::allocate_or_overwrite(const DynamicInstruction& d, InFlight& f, unsigned open, unsigned& places,
                                            Registers& regs) {
  forgo_entry(f);
  places = overwritable(d, open);
  if (!state_.allocate(static_cast<unsigned>(__builtin_popcount(open & ~places)), regs)) return false;
  state_.satisfied();
  state_.counters.in_place += static_cast<unsigned>(__builtin_popcount(places));
  return true;
}

/// Destinations that need a register: their result is in none yet, and they have none of their own that it may partly
/// overwrite.
unsigned AllocationStage::open_destinations(const DynamicInstruction& d, const InFlight& f) const {
  const unsigned count = d.traits->write_count;
  unsigned open = (bit(count) - 1) & ~f.equal;
  if (!f.divergent) return open;
  const RenameEntry* const entries = state_.rename.of(d.warp);
  for (unsigned i = 0; i < count; ++i) {
    const RenameEntry& e = entries[d.traits->writes[i].value()];
    if (e.valid() && e.pinned) open &= ~bit(i);
  }
  return open;
}

/// Gives all destinations their registers, or none of them; starving instructions go first. `taken`: registers that
/// came from the pool.
bool AllocationStage::allocate(const DynamicInstruction& d, InFlight& f, unsigned& taken) {
  if (__builtin_expect(!starving_.empty(), 0) && open_destinations(d, f) != 0) return false;
  return find_registers(d, f, taken);
}

bool AllocationStage::find_registers(const DynamicInstruction& d, InFlight& f, unsigned& taken) {
  const unsigned count = d.traits->write_count;
  const RenameEntry* const entries = state_.rename.of(d.warp);
  const unsigned open = open_destinations(d, f);
  Registers regs{};
  unsigned places = 0;
  if (!state_.allocate(static_cast<unsigned>(__builtin_popcount(open)), regs) &&
      !allocate_or_overwrite(d, f, open, places, regs)) {
    return false;
  }
  for (unsigned i = 0; i < count; ++i) {
    if ((f.equal & bit(i)) != 0) {
      f.targets[i] = std::exchange(f.candidates[i], no_register);
    } else if ((open & ~places & bit(i)) == 0) {
      // Pinned and partly overwritten, or not shared with anyone.
      f.in_place |= static_cast<std::uint8_t>(bit(i));
      f.targets[i] = entries[d.traits->writes[i].value()].reg;
    } else {
      f.targets[i] = regs[taken++];
    }
  }
  f.phase = Phase::entering;
  return true;
}

/// The free pool gives out a limited number of registers per cycle, in order of request. Each new register is entered
/// in the signature buffer.
unsigned AllocationStage::reach_pool(const InFlight& f, unsigned taken, std::uint64_t now) {
  std::uint64_t slot = now;
  for (; taken != 0; --taken) {
    slot = allocator_.take(now);
    if (!f.divergent && state_.parts.signatures) {
      const std::uint64_t entered = signature_writes_.take(slot);
      state_.counters.signature_write_waits += entered - slot;
      slot = entered;
    }
  }
  state_.counters.allocator_waits += slot - now;
  return static_cast<unsigned>(slot - now);
}

/// Results that are in no register yet are on their way to theirs.
void AllocationStage::enter_results(const DynamicInstruction& d, InFlight& f) {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if ((f.equal & bit(i)) != 0) continue;
    take(d, f, i);
    if ((f.in_place & bit(i)) == 0 && !f.divergent && state_.parts.signatures) remember(f.hashes[i], f.targets[i]);
  }
  f.equal = 0;
}

void AllocationStage::forget(std::uint32_t hash) {
  state_.give_up(state_.signatures.evict(hash));
  ++state_.counters.low_evictions;
}

/// Enters a new register in the signature buffer. In low-register mode, evicts the existing entry instead.
void AllocationStage::remember(std::uint32_t hash, PhysicalRegister reg) {
  state_.signatures_accessed();
  if (state_.low()) return forget(hash);
  if (!state_.allocator.acquire(reg)) return;
  ++state_.counters.signature_writes;
  ++state_.counters.counts;
  state_.give_up(state_.signatures.insert(hash, reg));
}

}  // namespace regatta::models::wir
