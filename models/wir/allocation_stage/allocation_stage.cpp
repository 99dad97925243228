// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/allocation_stage.h>

#include <regatta/wir/affine.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace regatta::models::wir {

using protocol::DynamicInstruction;
using protocol::LookupReply;
using Phase = AllocationPhase;

AllocationStage::AllocationStage(const sc_core::sc_module_name& name, const WirConfig& config,
                                 support::ClockDomain& clock, InFlightTable& in_flight)
    : sc_module(name),
      signatures("signatures", *this),
      verify_cache("verify_cache", *this),
      allocator("allocator", *this),
      vsb_access("vsb_access"),
      cached("cached"),
      references("references"),
      credits("credits"),
      tables("tables"),
      reuse("reuse"),
      registers("registers"),
      has_signatures_(config.signatures()),
      has_verify_cache_(config.verify_cache()),
      affine_(config.affine()),
      back_delay_(config.back_delay()),
      verify_patience_(config.verify_patience),
      clock_(clock),
      in_flight_(in_flight) {}

void AllocationStage::end_of_elaboration() {
  vsb_access_ = vsb_access.operator->();
  cached_ = cached.operator->();
  references_ = references.operator->();
  pool_ = &credits->view();
  tables_ = tables.operator->();
  entries_ = &tables->view();
  reuse_ = reuse.operator->();
  registers_ = registers.operator->();
}

// Flattened, like the entries of the other stages: it runs twice per instruction, through a dozen steps that are
// cheaper than their calls.
[[gnu::flatten]] unsigned AllocationStage::arrive(DynamicInstruction& d) {
  const std::uint64_t now = clock_.now();
  InFlight& f = in_flight_.of(d);
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
    if (const unsigned wait = look(d, f, now); wait != 0) return wait;
  }
  if (f.phase == Phase::verifying) {
    if (const unsigned wait = verify(d, f, now); wait != 0) return wait;
    f.phase = Phase::written_elsewhere;
  }
  if (f.phase == Phase::written_elsewhere) {
    if (!candidates_written(d, f)) return 1;
    const Grant grant = allocate(d, f);
    if (grant == Grant::later) return keep_until_answered(d);
    if (grant == Grant::none) {
      starve(d, f);
      return keep;
    }
    if (const unsigned wait = reach_pool(f, now); wait != 0) return wait;
  } else if (f.phase == Phase::granting) {
    f.phase = Phase::entering;
    if (const unsigned wait = reach_pool(f, now); wait != 0) return wait;
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
    const RenameEntry& e = entries_->of(d.warp)[d.traits->writes[i].value()];
    if (!e.valid() || (f.in_place & bit(i)) != 0) continue;
    moved = std::max(moved, registers_->move(e.reg, f.targets[i]));
    ++counters_.dummy_movs;
  }
  return moved;
}

/// Reserves the rename table's write port, once per register (one per cycle in each half of the tables), and the reuse
/// buffer's for an instruction that enters its result there. Returns the cycles to wait.
unsigned AllocationStage::retire_slot(const DynamicInstruction& d, const InFlight& f, std::uint64_t now) {
  if (d.active == 0) return 0;
  std::uint64_t slot = now;
  for (unsigned i = 0; i < d.traits->write_count; ++i) slot = tables_->book_write(d.scheduler);
  if (f.claimed || f.keeps) {
    slot = std::max(slot, reuse_->book_write());
  }
  return static_cast<unsigned>(slot - now);
}

unsigned AllocationStage::enter(const DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  f.phase = Phase::indexing;
  std::uint64_t at = now;
  if (hashed(f)) {
    for (unsigned i = 0; i < d.traits->write_count; ++i) at = vsb_access_->book_hash();
  }
  return static_cast<unsigned>(at - now) + back_delay_;
}

/// A read port of the signature buffer per result.
unsigned AllocationStage::reach_table(const DynamicInstruction& d, const InFlight& f, std::uint64_t now) {
  if (!hashed(f)) return 0;
  std::uint64_t slot = now;
  for (unsigned i = 0; i < d.traits->write_count; ++i) slot = vsb_access_->book_read();
  counters_.signature_read_waits += slot - now;
  return static_cast<unsigned>(slot - now);
}

/// Looks up the values of the results. Returns the cycles to wait, or keep while answers are to come.
unsigned AllocationStage::look(DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  if (hashed(f)) {
    bool busy = false;
    for (unsigned i = 0; i < d.traits->write_count; ++i) {
      if ((f.asked & bit(i)) != 0) continue;
      VsbRequest request;
      request.value = d.results[i].lane.data();
      VsbAnswer answer;
      const LookupReply reply = signatures.requests->look_up(request, tag(d, i), answer);
      if (__builtin_expect(static_cast<int>(reply == LookupReply::answered), 1) != 0) {
        candidate(f, i, answer);
      } else if (reply == LookupReply::busy) {
        busy = true;
        break;
      } else {
        f.awaited |= static_cast<std::uint8_t>(bit(i));
      }
      f.asked |= static_cast<std::uint8_t>(bit(i));
    }
    if (f.awaited != 0) return keep_until_answered(d);
    if (busy) return 1;
    f.asked = 0;
  }
  f.phase = Phase::verifying;
  f.asked_at = now;
  return 0;
}

void AllocationStage::candidate(InFlight& f, unsigned destination, const VsbAnswer& answer) {
  f.hashes[destination] = answer.hash;
  f.candidates[destination] = answer.candidate;
}

/// The answers come in any order; the instruction goes on when it has all of them.
unsigned AllocationStage::keep_until_answered(DynamicInstruction& d) {
  if (waiting_.size() <= d.pool_index) waiting_.resize(d.pool_index + std::size_t{64});
  waiting_[d.pool_index] = &d;
  return keep;
}

/// Returns whose answer it is.
InFlight& AllocationStage::take_answer(std::uint32_t tag) {
  const std::uint32_t index = tag / trace::max_destination_registers;
  const unsigned awaited = bit(tag % trace::max_destination_registers);
  if (index >= waiting_.size() || (in_flight_[index].awaited & awaited) == 0) {
    protocol::unexpected_answer(name(), clock_.now(), tag);
  }
  InFlight& f = in_flight_[index];
  f.awaited &= static_cast<std::uint8_t>(~awaited);
  if (f.awaited == 0) answered_.push_back(waiting_[index]);
  return f;
}

void AllocationStage::answered(std::uint32_t tag, const VsbAnswer& answer) {
  candidate(take_answer(tag), tag % trace::max_destination_registers, answer);
}

void AllocationStage::answered(std::uint32_t tag, const VerifyAnswer& answer) {
  InFlight& f = take_answer(tag);
  if (answer.hit) settle(f, tag % trace::max_destination_registers, answer.equal);
}

void AllocationStage::answered(std::uint32_t tag, const GrantedRegisters& granted) {
  InFlight& f = take_answer(tag);
  give(*f.instruction, f, f.open, granted);
  f.phase = Phase::granting;
}

bool AllocationStage::same_value(const std::uint32_t* candidate, const std::uint32_t* result) const {
  return std::memcmp(candidate, result, registers_->value_bytes()) == 0;
}

void AllocationStage::settle(InFlight& f, unsigned destination, bool equal) {
  if (equal) {
    f.equal |= static_cast<std::uint8_t>(bit(destination));
    return;
  }
  ++counters_.false_positives;
  references_->release(f.candidates[destination]);
  f.candidates[destination] = no_register;
}

/// Compares candidates that have not been compared yet. Returns the cycles until the outcome is known or until a busy
/// bank is tried again; 0 when nothing is left to compare.
unsigned AllocationStage::verify(DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  std::uint64_t done = 0;
  bool busy = false;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    const PhysicalRegister reg = f.candidates[i];
    if (reg == no_register || (f.equal & bit(i)) != 0) continue;
    const std::uint32_t* const result = d.results[i].lane.data();
    if (const std::uint32_t* const sent = registers_->on_its_way(reg); sent != nullptr) {
      // On its way to the bank: compared in the write queue.
      ++counters_.verify_forwarded;
      settle(f, i, same_value(sent, result));
      continue;
    }
    if (has_verify_cache_ && (f.asked & bit(i)) == 0) {
      VerifyRequest request;
      request.reg = reg;
      request.value = result;
      VerifyAnswer answer;
      const LookupReply reply = verify_cache.requests->look_up(request, tag(d, i), answer);
      if (reply == LookupReply::busy) {
        busy = true;
        continue;
      }
      if (reply == LookupReply::later) {
        f.asked |= static_cast<std::uint8_t>(bit(i));
        f.awaited |= static_cast<std::uint8_t>(bit(i));
        continue;
      }
      if (answer.hit) {
        done = std::max(done, now + answer.cycles);
        settle(f, i, answer.equal);
        continue;
      }
    }
    std::uint64_t read = 0;
    if (!verify_at_bank(reg, result, f, now, read)) {
      if (f.awaited == 0) return 1;
      busy = true;
      continue;
    }
    done = std::max(done, read);
    settle(f, i, same_value(registers_->value(reg), result));
  }
  if (f.awaited != 0) return keep_until_answered(d);
  if (busy) return 1;
  f.asked = 0;
  return done > now ? static_cast<unsigned>(done - now) : 0;
}

bool AllocationStage::verify_at_bank(PhysicalRegister reg, const std::uint32_t* result, InFlight& f, std::uint64_t now,
                                     std::uint64_t& done) {
  const bool first_come = now - f.asked_at >= verify_patience_;
  const std::uint64_t read = registers_->read_extra(reg, first_come);
  if (read == 0) return false;
  if (affine_ && is_affine(result, static_cast<unsigned>(registers_->value_bytes() / trace::bytes_per_lane))) {
    ++counters_.affine_verify_reads;
  }
  done = read;
  if (has_verify_cache_) {
    cached_->fill(reg, registers_->value(reg));
    done = read + 1;  // past the cache
  }
  return true;
}

/// A register whose value is still on its way may be shared, but read only when it is there.
bool AllocationStage::candidates_written(const DynamicInstruction& d, const InFlight& f) const {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if (f.candidates[i] != no_register && registers_->on_its_way(f.candidates[i]) != nullptr) return false;
  }
  return true;
}

/// Results that are in no register yet are on their way to theirs. Each new register is entered in the signature
/// buffer.
void AllocationStage::enter_results(DynamicInstruction& d, InFlight& f) {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if ((f.equal & bit(i)) != 0) continue;
    f.writes |= static_cast<std::uint8_t>(bit(i));
    registers_->send(d, i, f.targets[i]);
    if ((f.in_place & bit(i)) == 0 && hashed(f)) vsb_access_->enter(f.hashes[i], f.targets[i]);
  }
  f.equal = 0;
}

void AllocationStage::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("false_positives", counters_.false_positives, regs, "candidates of the same hash with another value");
  g.counter("verify_forwarded", counters_.verify_forwarded, regs, "candidates compared on their way to the bank");
  g.counter("dummy_movs", counters_.dummy_movs, "warp instructions", "injected for first divergent writes");
  g.counter("signature_read_waits", counters_.signature_read_waits, "cycles",
            "that results waited for a read port of the value signature buffer, summed");
  g.counter("allocator_waits", counters_.allocator_waits, "cycles",
            "that results waited for the ports of the free pool and of the signature buffer, summed");
  g.counter("starved_cycles", counters_.starved, "cycles", "that results waited for a physical register, summed");
  g.counter("in_place", counters_.in_place, regs, "overwritten because there was no free one");
}

}  // namespace regatta::models::wir
