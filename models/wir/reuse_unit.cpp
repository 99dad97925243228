// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/reuse_unit.h>

#include <algorithm>
#include <cstring>

namespace regatta::models::wir {

using protocol::DynamicInstruction;

namespace {
/// Identifies the owner of a claimed entry; unique among the instructions in flight.
std::uint32_t owner(const DynamicInstruction& d) { return d.pool_index + 1; }
}  // namespace

ReuseUnit::ReuseUnit(PhysicalRegisterFile& file)
    : file_(file), state_(file.state()), retry_(state_.parts.pending ? state_.config.retry_entries : 0) {}

void ReuseUnit::kernel_started(const protocol::KernelContext& context) {
  racy_ = trace::race_check(*context.kernel) == trace::RaceCheck::racy;
}

ReuseUnit::Decision ReuseUnit::decide(DynamicInstruction& d) {
  const std::uint64_t now = state_.begin();
  InFlight& f = state_.of(d);
  if (f.renamed_at > now) return hold(d, f, f.renamed_at);
  if (!f.reusable) return execute(f);
  // An instruction that could look up in this cycle goes first.
  if (held_.first(now) != nullptr) return hold(d, f, now);
  const Decision made = try_look_up(d, f, now);
  return made == Decision::wait ? hold(d, f, now) : made;
}

/// Decides the held instructions, in order, as far as there are ports in this cycle; then one of those that wait for a
/// result, which look up only when rename delivers nothing.
[[gnu::flatten]] std::size_t ReuseUnit::resume_kept(unsigned asked, DecidedList& decided) {
  const std::uint64_t now = state_.begin();
  DynamicInstruction* const head = retry_.head(now, state_.counters.retries);
  std::size_t count = 0;
  while (DynamicInstruction* const d = held_.next(now)) {
    if (count == decided.size()) return count;
    ++asked;
    if (d == missed_ && misses_again()) continue;
    InFlight& f = state_.of(*d);
    const Decision made = f.reusable ? try_look_up(*d, f, now) : execute(f);
    if (made == Decision::wait) continue;
    held_.remove(*d);
    if (made != Decision::keep) decided[count++] = {d, made};
  }
  if (asked != 0 || head == nullptr || !state_.reuse_reads.free(now)) return count;
  const Decision made = retry(*head, now);
  if (made != Decision::keep) decided[count++] = {head, made};
  return count;
}

/// Returns wait if there is no port for the instruction; there is then none for those behind it either.
ReuseUnit::Decision ReuseUnit::try_look_up(DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  RegisterState::Counters& n = state_.counters;
  if (!state_.reuse_reads.free(now)) {
    ++n.reuse_read_waits;
    held_.tried(now);
    return Decision::wait;
  }
  state_.reuse_accessed();
  state_.reuse_reads.take(now);
  const Decision made = look_up(d, f, now, false);
  if (made == Decision::wait) {
    // A miss whose entry cannot be claimed in this cycle: it looks again.
    missed_ = &d;
    missed_at_ = state_.reuse.entered();
    ++n.reuse_write_waits;
    held_.tried(now);
    return made;
  }
  missed_ = nullptr;
  ++n.lookups;
  if (f.wide_immediate) ++n.wide_immediates;
  return made;
}

ReuseUnit::Decision ReuseUnit::retry(DynamicInstruction& d, std::uint64_t now) {
  ++state_.counters.retries;
  state_.reuse_reads.take(now);
  return look_up(d, state_.of(d), now, true);
}

/// Whether the first in line, which missed, would miss again in this cycle and again find no port for its claim: a
/// short cut for try_look_up().
bool ReuseUnit::misses_again() {
  const std::uint64_t now = state_.now();
  if (!state_.reuse_reads.free(now) || state_.reuse_writes.free(now) || state_.low()) return false;
  if (missed_at_ != state_.reuse.entered()) {
    const InFlight& f = state_.of(*missed_);
    if (state_.reuse.has(f.tag, f.fold)) return false;
    missed_at_ = state_.reuse.entered();
  }
  state_.reuse_accessed();
  state_.reuse_reads.take(now);
  ++state_.counters.reuse_reads;
  ++state_.counters.reuse_write_waits;
  held_.tried(now);
  return true;
}

/// Lets the instruction look up in a later cycle.
ReuseUnit::Decision ReuseUnit::hold(DynamicInstruction& d, const InFlight& f, std::uint64_t since) {
  held_.push(d, since, f.reusable);
  return Decision::keep;
}

/// Returns keep if it waits for the result of another instruction, and wait if it missed and its entry cannot be
/// claimed in this cycle.
ReuseUnit::Decision ReuseUnit::look_up(DynamicInstruction& d, InFlight& f, std::uint64_t now, bool waited) {
  if (!waited) ++state_.counters.reuse_reads;  // retries are counted as such, those that were passed over too
  const ReuseBuffer::Lookup found = state_.reuse.find(f.tag, f.fold);
  switch (found.found) {
    case ReuseBuffer::Found::result:
      if (waited) retry_.pop();
      return bypass(d, f, found.result, waited);
    case ReuseBuffer::Found::pending:
      if (waited) {
        retry_.to_tail();
        return Decision::keep;
      }
      f.reusable = false;  // the entry is another instruction's: this one will not update it
      if (!state_.parts.pending) return execute(f);
      if (retry_.full()) {
        ++state_.counters.queue_full;
        return execute(f);
      }
      ++state_.counters.queued;
      if (retry_.empty()) {
        retry_.begin(now);
      } else {
        retry_.head(now, state_.counters.retries);  // settles the turns of past cycles before the queue grows
      }
      retry_.push(d);
      return Decision::keep;
    case ReuseBuffer::Found::nothing:
      break;
  }
  if (waited) {
    retry_.pop();
    return execute(f);
  }
  const bool low = state_.low();
  if (!low && state_.parts.pending && !state_.reuse_writes.free(now)) return Decision::wait;
  if (low) {
    give_way(f);
  } else if (state_.parts.pending) {
    claim(d, f, now);
  } else {
    f.keeps = true;
  }
  return execute(f);
}

/// In low-register mode a miss makes its entry's registers free.
void ReuseUnit::give_way(InFlight& f) {
  state_.reuse.evict(f.tag, f.fold, [this](PhysicalRegister reg) { state_.give_up(reg); });
  ++state_.counters.low_evictions;
  retry_.retry_all();
  f.reusable = false;
}

/// Takes references for the sources of an entry with the instruction's tag. Returns false and takes none if a counter
/// is at its maximum.
bool ReuseUnit::acquire_sources(const InFlight& f) {
  for (unsigned i = 0; i < pair_operands && f.tag.sources[i] != no_register; ++i) {
    if (state_.allocator.acquire(f.tag.sources[i])) {
      ++state_.counters.counts;
      continue;
    }
    while (i-- > 0) state_.give_up(f.tag.sources[i]);
    return false;
  }
  return true;
}

void ReuseUnit::claim(const DynamicInstruction& d, InFlight& f, std::uint64_t now) {
  f.reusable = acquire_sources(f);
  if (!f.reusable) return;
  f.claimed = true;
  ++state_.counters.reuse_writes;
  state_.reuse_writes.take(now);
  state_.reuse.claim(f.tag, f.fold, owner(d), [this](PhysicalRegister reg) { state_.give_up(reg); });
  retry_.retry_all();  // it may have been the entry that somebody waits for
}

ReuseUnit::Decision ReuseUnit::bypass(DynamicInstruction& d, InFlight& f, const ReuseResult& result, bool waited) {
  RegisterState::Counters& n = state_.counters;
  f.reusable = false;
  const unsigned count = d.traits->write_count;
  if (racy_ && (f.kind == ReuseKind::global_load || f.kind == ReuseKind::shared_load)) {
    for (unsigned i = 0; i < count; ++i) {
      if (std::memcmp(file_.value(result[i]), d.results[i].lane.data(), file_.value_bytes()) == 0) continue;
      // Nothing orders the loads of this kernel and the stores that they race with. The order in the trace is another
      // legal one, and the run continues with it.
      ++n.racy_loads;
      return execute(f);
    }
  }
  if (!acquire(result)) return execute(f);
  for (unsigned i = 0; i < count; ++i) {
    f.targets[i] = result[i];
    // Takes the register's value, not the trace's, so that the checker detects an illegal reuse.
    trace::copy_value(d.results[i].lane.data(), file_.value(result[i]), file_.value_bytes());
  }
  state_.unhold_all(f);
  n.reused_registers += count;
  ++(waited ? n.reused_pending : f.kind == ReuseKind::arithmetic ? n.reused_arithmetic : n.reused_load);
  return Decision::bypass;
}

/// Takes references for the results of an entry, or for those that an instruction takes from it. Returns false and
/// takes none if a counter is at its maximum.
bool ReuseUnit::acquire(const ReuseResult& result) {
  for (unsigned i = 0; i < pair_results && result[i] != no_register; ++i) {
    if (state_.allocator.acquire(result[i])) {
      ++state_.counters.counts;
      continue;
    }
    while (i-- > 0) state_.give_up(result[i]);
    return false;
  }
  return true;
}

ReuseUnit::Decision ReuseUnit::execute(const InFlight& f) {
  ++state_.counters.executed[static_cast<unsigned>(f.unit)];
  return Decision::execute;
}

[[gnu::flatten]] void ReuseUnit::written_back(const DynamicInstruction& d) {
  state_.begin();
  InFlight& f = state_.of(d);
  if (d.traits->write_count != 0 && d.active != 0) retire(d, f);
  if (f.claimed || f.keeps) update_buffer(d, f);
  state_.unhold_all(f);
  state_.leave(f);
  state_.retired();
}

void ReuseUnit::retire(const DynamicInstruction& d, InFlight& f) {
  RenameEntry* const entries = state_.rename.of(d.warp);
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    RenameEntry& e = entries[d.traits->writes[i].value()];
    const PhysicalRegister before = e.reg;
    e.reg = f.targets[i];
    e.pinned = f.divergent;
    ++state_.counters.rename_writes;
    // From here on, the instruction's reference belongs to the rename entry. A register that stays has only the entry's
    // reference.
    if ((f.in_place >> i & 1) == 0) {
      state_.give_up(before);
      ++state_.counters.counts;
    }
  }
  f.in_place = 0;
}

void ReuseUnit::update_buffer(const DynamicInstruction& d, InFlight& f) {
  ReuseResult result;
  for (unsigned i = 0; i < d.traits->write_count && i < pair_results; ++i) result[i] = f.targets[i];
  // The entry's references to the result; a counter at its end leaves the buffer without the entry.
  const bool counted = result[0] != no_register && acquire(result);
  const auto give_up = [this](const ReuseResult& r) {
    for (const PhysicalRegister reg : r) state_.give_up(reg);
  };
  state_.reuse_accessed();
  if (f.claimed) {
    ++state_.counters.reuse_writes;
    if (!counted) {
      state_.give_up(state_.reuse.abandon(f.tag, owner(d)));
    } else if (!state_.reuse.complete(f.tag, f.fold, owner(d), result)) {
      give_up(result);
    }
    retry_.retry_all();
  } else if (counted) {
    if (!state_.low() && acquire_sources(f)) {
      ++state_.counters.reuse_writes;
      state_.give_up(state_.reuse.insert(f.tag, result));
    } else {
      give_up(result);
    }
  }
  f.targets.fill(no_register);
}

}  // namespace regatta::models::wir
