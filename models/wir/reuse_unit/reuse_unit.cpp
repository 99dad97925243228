// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/reuse_unit.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace regatta::models::wir {

using protocol::DynamicInstruction;
using protocol::LookupReply;
using Found = ReuseAnswer::Found;

namespace {
/// Identifies the owner of a claimed entry; unique among the instructions in flight.
std::uint32_t owner(const DynamicInstruction& d) { return d.pool_index + 1; }
}  // namespace

ReuseUnit::ReuseUnit(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
                     InFlightTable& in_flight)
    : sc_module(name),
      buffer("buffer", *this),
      updates("updates"),
      retries("retries"),
      tables("tables"),
      references("references"),
      registers("registers"),
      clock_(clock),
      front_delay_(config.front_delay()),
      pending_(config.pending()),
      recount_interval_(config.recount_interval),
      physical_(config.physical()),
      in_flight_(in_flight) {}

void ReuseUnit::end_of_elaboration() {
  updates_ = updates.operator->();
  retries_ = retries.operator->();
  tables_ = tables.operator->();
  references_ = references.operator->();
  registers_ = registers.operator->();
}

void ReuseUnit::kernel_started(const protocol::KernelContext& context) {
  racy_ = trace::race_check(*context.kernel) == trace::RaceCheck::racy;
}

ReuseUnit::Decision ReuseUnit::decide(DynamicInstruction& d) {
  const std::uint64_t now = clock_.now();
  InFlight& f = in_flight_.of(d);
  if (__builtin_expect(static_cast<int>(f.renamed), 1) == 0) {
    unrenamed_.push_back(&d);
    return Decision::keep;
  }
  if (f.renamed_at > now) return hold(d, f, f.renamed_at);
  if (!f.reusable) return execute(f);
  // An instruction that could look up in this cycle goes first.
  if (held_.first(now) != nullptr) return hold(d, f, now);
  const Decision made = look_up(d, f, false);
  return made == Decision::wait ? hold(d, f, now) : made;
}

/// Decides the held instructions, in order, as far as there are ports in this cycle; then one of those that wait for a
/// result, which look up only when rename delivers nothing.
[[gnu::flatten]] std::size_t ReuseUnit::resume_kept(unsigned asked, DecidedList& decided) {
  const std::uint64_t now = clock_.now();
  DynamicInstruction* head = nullptr;
  if (in_queue_ != 0) {
    std::uint64_t skipped = 0;
    head = retries_->head(skipped);
    if (skipped != 0) updates_->count_retries(skipped);
  }
  std::size_t count = 0;
  if (__builtin_expect(static_cast<int>(!unrenamed_.empty()), 0) != 0) take_renamed(now);
  if (__builtin_expect(static_cast<int>(!late_.empty()), 0) != 0) take_answers(decided, count);
  while (DynamicInstruction* const d = held_.next(now)) {
    if (count == decided.size()) return count;
    ++asked;
    InFlight& f = in_flight_.of(*d);
    const Decision made = f.reusable ? look_up(*d, f, false) : execute(f);
    if (made == Decision::wait) continue;
    held_.remove(*d);
    if (made != Decision::keep) decided[count++] = {d, made};
  }
  if (asked != 0 || head == nullptr || count == decided.size()) return count;
  const Decision made = retry(*head);
  if (made != Decision::keep && made != Decision::wait) decided[count++] = {head, made};
  return count;
}

/// Instructions whose registers have become known wait for their lookup behind all others.
void ReuseUnit::take_renamed(std::uint64_t now) {
  const auto known = [&](DynamicInstruction* d) {
    const InFlight& f = in_flight_.of(*d);
    if (!f.renamed) return false;
    hold(*d, f, std::max(now, f.renamed_at));
    return true;
  };
  unrenamed_.erase(std::remove_if(unrenamed_.begin(), unrenamed_.end(), known), unrenamed_.end());
}

/// A result that was pending when the buffer was asked may have arrived before the answer: all retry.
void ReuseUnit::take_answers(DecidedList& decided, std::size_t& count) {
  while (!late_.empty() && count < decided.size()) {
    const Late late = late_.front();
    late_.pop_front();
    --waiting_;
    DynamicInstruction& d = *late.instruction;
    InFlight& f = in_flight_.of(d);
    f.asking = false;
    Decision made = Decision::keep;
    if (retrying_[d.pool_index]) {
      if (late.answer.found == Found::pending) {
        std::uint64_t skipped = 0;
        retries_->put_back(d, skipped);
        ++in_queue_;
        updates_->count_retries(skipped);
        retries_->retry_all();
        continue;
      }
      retries_->free_place();
      made = late.answer.found == Found::result ? bypass(d, f, late.answer.result, true) : execute(f);
    } else {
      made = act(d, f, late.answer);
      if (late.answer.found == Found::pending) retries_->retry_all();
    }
    if (made != Decision::keep) decided[count++] = {&d, made};
  }
}

void ReuseUnit::answered(std::uint32_t pool_index, const ReuseAnswer& answer) {
  DynamicInstruction* const asked = pool_index < asking_.size() ? std::exchange(asking_[pool_index], nullptr) : nullptr;
  if (asked == nullptr) protocol::unexpected_answer(name(), clock_.now(), pool_index);
  late_.push_back(Late{asked, answer});
}

/// Returns wait if the buffer is busy; it then is for those behind, too. Returns keep if the answer comes later.
ReuseUnit::Decision ReuseUnit::look_up(DynamicInstruction& d, InFlight& f, bool retry) {
  ReuseRequest request;
  request.tag = f.tag;
  request.fold = f.fold;
  request.owner = owner(d);
  request.retry = retry;
  ReuseAnswer answer;
  const LookupReply reply = buffer.requests->look_up(request, d.pool_index, answer);
  if (reply == LookupReply::busy) {
    if (!retry) held_.tried(clock_.now());
    return Decision::wait;
  }
  if (!retry && f.wide_immediate) ++counters_.wide_immediates;
  if (__builtin_expect(static_cast<int>(reply == LookupReply::answered), 1) != 0) {
    return retry ? act_on_retry(d, f, answer) : act(d, f, answer);
  }
  ++waiting_;
  f.asking = true;
  if (asking_.size() <= d.pool_index) {
    asking_.resize(d.pool_index + std::size_t{64});
    retrying_.resize(asking_.size());
  }
  asking_[d.pool_index] = &d;
  retrying_[d.pool_index] = retry;
  if (retry) {
    retries_->pop(true);
    --in_queue_;
  }
  return Decision::keep;
}

/// Lets the instruction look up in a later cycle.
ReuseUnit::Decision ReuseUnit::hold(DynamicInstruction& d, const InFlight& f, std::uint64_t since) {
  held_.push(d, since, f.reusable);
  return Decision::keep;
}

ReuseUnit::Decision ReuseUnit::retry(DynamicInstruction& d) { return look_up(d, in_flight_.of(d), true); }

/// Returns keep if the instruction waits for the result of another one.
ReuseUnit::Decision ReuseUnit::act(DynamicInstruction& d, InFlight& f, const ReuseAnswer& answer) {
  switch (answer.found) {
    case Found::result:
      return bypass(d, f, answer.result, false);
    case Found::unshared:
      f.reusable = false;
      return execute(f);
    case Found::pending: {
      f.reusable = false;  // the entry is another instruction's: this one will not update it
      if (!pending_) return execute(f);
      std::uint64_t skipped = 0;
      const bool waits = retries_->push(d, skipped);
      if (skipped != 0) updates_->count_retries(skipped);
      if (!waits) return execute(f);
      ++in_queue_;
      return Decision::keep;
    }
    case Found::nothing:
      break;
  }
  if (answer.evicted) {
    f.reusable = false;
  } else if (pending_) {
    f.reusable = f.claimed = answer.claimed;
  } else {
    f.keeps = true;
  }
  // The entry may have been the one that somebody waits for.
  if (answer.evicted || answer.claimed) retries_->retry_all();
  return execute(f);
}

ReuseUnit::Decision ReuseUnit::act_on_retry(DynamicInstruction& d, InFlight& f, const ReuseAnswer& answer) {
  if (answer.found == Found::pending) {
    retries_->to_tail();
    return Decision::keep;
  }
  retries_->pop(false);
  --in_queue_;
  return answer.found == Found::result ? bypass(d, f, answer.result, true) : execute(f);
}

void ReuseUnit::no_result(const DynamicInstruction& d, PhysicalRegister reg, unsigned destination) const {
  const std::string what = std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": PC 0x" +
                           [&d] {
                             std::ostringstream pc;
                             pc << std::hex << std::uint64_t{d.traits->index} * trace::bytes_per_instruction;
                             return pc.str();
                           }() +
                           " of warp " + std::to_string(d.warp.value()) + " was answered with a result that has " +
                           (reg == no_register ? "no register" : "register " + std::to_string(reg.value())) +
                           " for destination " + std::to_string(destination) + "; expected one of the " +
                           std::to_string(physical_) + " physical registers";
  SC_REPORT_ERROR("regatta/wir", what.c_str());
  throw std::logic_error(what);
}

/// The instruction owns a reference to each register of the result.
ReuseUnit::Decision ReuseUnit::bypass(DynamicInstruction& d, InFlight& f, const ReuseResult& result, bool waited) {
  f.reusable = false;
  const unsigned count = d.traits->write_count;
  for (unsigned i = 0; i < count; ++i) {
    if (__builtin_expect(static_cast<int>(result[i].value() >= physical_), 0) != 0) no_result(d, result[i], i);
  }
  if (racy_ && (f.kind == ReuseKind::global_load || f.kind == ReuseKind::shared_load)) {
    for (unsigned i = 0; i < count; ++i) {
      if (std::memcmp(registers_->value(result[i]), d.results[i].lane.data(), registers_->value_bytes()) == 0) continue;
      // Nothing orders the loads of this kernel and the stores that they race with. The order in the trace is another
      // legal one, and the run continues with it.
      ++counters_.racy_loads;
      for (const PhysicalRegister reg : result) references_->release(reg);
      return execute(f);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    f.targets[i] = result[i];
    // Takes the register's value, not the trace's, so that the checker detects an illegal reuse.
    trace::copy_value(d.results[i].lane.data(), registers_->value(result[i]), registers_->value_bytes());
  }
  end_holds(*references_, f);
  counters_.reused_registers += count;
  ++(waited                            ? counters_.reused_pending
     : f.kind == ReuseKind::arithmetic ? counters_.reused_arithmetic
                                       : counters_.reused_load);
  return Decision::bypass;
}

std::string ReuseUnit::result_origin(const DynamicInstruction& d, unsigned destination) const {
  return (supplier_ ? supplier_(owner(d)) : std::string(name())) + ", physical register " +
         std::to_string(in_flight_.of(d).targets[destination].value());
}

ReuseUnit::Decision ReuseUnit::execute(const InFlight& f) {
  ++counters_.executed[static_cast<unsigned>(f.unit)];
  return Decision::execute;
}

[[gnu::flatten]] void ReuseUnit::written_back(const DynamicInstruction& d) {
  InFlight& f = in_flight_.of(d);
  if (d.traits->write_count != 0 && d.active != 0) retire(d, f);
  if (f.claimed || f.keeps) update_buffer(d, f);
  end_holds(*references_, f);
  InFlightTable::leave(f);
  if (__builtin_expect(static_cast<int>(recount_interval_ != 0), 0) != 0 && ++retired_ % recount_interval_ == 0) {
    references_->check();
  }
}

void ReuseUnit::retire(const DynamicInstruction& d, InFlight& f) {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    // From here on, the instruction's reference belongs to the rename entry. A register that stays has only the entry's
    // reference.
    RenameEntry entry;
    entry.reg = f.targets[i];
    entry.pinned = f.divergent;
    tables_->write(d.warp, d.traits->writes[i], entry, (f.in_place >> i & 1) != 0);
  }
  f.in_place = 0;
}

void ReuseUnit::update_buffer(const DynamicInstruction& d, InFlight& f) {
  ReuseUpdate u;
  u.tag = f.tag;
  u.fold = f.fold;
  u.owner = owner(d);
  u.claimed = f.claimed;
  for (unsigned i = 0; i < d.traits->write_count && i < pair_results; ++i) u.result[i] = f.targets[i];
  updates_->update(u);
  if (f.claimed) retries_->retry_all();
  f.targets.fill(no_register);
}

void ReuseUnit::register_stats(support::StatGroup& g) {
  const char* const insns = "warp instructions";
  g.counter("wide_immediates", counters_.wide_immediates, insns,
            "lookups whose immediates exceed the tag's unused operand fields");
  g.counter("reused_arithmetic", counters_.reused_arithmetic, insns, "bypassed with a result of the reuse buffer");
  g.counter("reused_load", counters_.reused_load, insns, "loads bypassed with a result of the reuse buffer");
  g.counter("reused_pending", counters_.reused_pending, insns, "bypassed with a result that they waited for");
  g.counter("reused_registers", counters_.reused_registers, "warp registers",
            "results of the instructions so bypassed");
  g.counter("racy_loads", counters_.racy_loads, insns,
            "loads of a racy kernel whose reusable result was not the traced one, and which were executed");
}

}  // namespace regatta::models::wir
