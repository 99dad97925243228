// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <iomanip>
#include <iostream>
#include <utility>

namespace one_block {

using Found = wir::ReuseAnswer::Found;
using protocol::LookupReply;

namespace {

std::string text(wir::PhysicalRegister reg) {
  return reg == wir::no_register ? std::string("no register") : "p" + std::to_string(reg.value());
}

std::string text(const Computation& c) {
  std::string text = std::string(1, c.name) + " = op" + std::to_string(c.tag.opcode);
  for (const wir::PhysicalRegister source : c.tag.sources) {
    if (source != wir::no_register) text += " p" + std::to_string(source.value());
  }
  return text;
}

std::string text(Outcome outcome, wir::PhysicalRegister result) {
  switch (outcome) {
    case Outcome::busy:
      return "busy";
    case Outcome::claimed:
      return "nothing, entry claimed";
    case Outcome::evicted:
      return "nothing, entry given up";
    case Outcome::nothing:
      return "nothing";
    case Outcome::pending:
      return "pending";
    case Outcome::result:
      return "result " + text(result);
    case Outcome::unshared:
      return "result, not shared";
    case Outcome::updated:
      return "write port granted";
    case Outcome::waits:
      return "waits for a write port";
    case Outcome::none:
      break;
  }
  return "";
}

Outcome outcome_of(const wir::ReuseAnswer& answer) {
  switch (answer.found) {
    case Found::pending:
      return Outcome::pending;
    case Found::result:
      return Outcome::result;
    case Found::unshared:
      return Outcome::unshared;
    case Found::nothing:
      break;
  }
  return answer.claimed ? Outcome::claimed : answer.evicted ? Outcome::evicted : Outcome::nothing;
}

}  // namespace

Bench::Bench(const sc_core::sc_module_name& name, std::vector<Step> script, unsigned entries, RegisterCounts& counts,
             regatta::support::ClockDomain& domain)
    : sc_module(name),
      clock("clock"),
      lookups("lookup", *this),
      updates("updates"),
      script_(std::move(script)),
      entries_(entries),
      counts_(counts),
      domain_(domain) {
  SC_HAS_PROCESS(Bench);
  SC_METHOD(cycle);
  sensitive << clock.pos();
  dont_initialize();
}

void Bench::trace_to(sc_core::sc_trace_file* file) const {
  for (unsigned i = 0; i < most_slots; ++i) {
    const std::string slot = "slot" + std::to_string(i) + ".";
    sc_core::sc_trace(file, slots_[i].valid, slot + "valid");
    sc_core::sc_trace(file, slots_[i].opcode, slot + "opcode");
    sc_core::sc_trace(file, slots_[i].answered, slot + "answered");
    sc_core::sc_trace(file, slots_[i].busy, slot + "busy");
    sc_core::sc_trace(file, slots_[i].found, slot + "found");
    sc_core::sc_trace(file, slots_[i].claimed, slot + "claimed");
  }
  sc_core::sc_trace(file, update_valid_, "update.valid");
  sc_core::sc_trace(file, update_opcode_, "update.opcode");
  sc_core::sc_trace(file, low_mode_, "low_mode");
  sc_core::sc_trace(file, references_, "references");
}

void Bench::start_of_simulation() {
  std::cout << "\n"
            << std::left << std::setw(7) << "cycle" << std::setw(24) << "request" << std::setw(26) << "reply"
            << std::setw(17) << "entry"
            << "references\n";
}

void Bench::cycle() {
  for (Slot& slot : slots_) {
    for (sc_core::sc_signal<bool>* bit : {&slot.valid, &slot.answered, &slot.busy, &slot.claimed}) *bit = false;
    slot.opcode = 0;
    slot.found = 0;
  }
  slot_ = 0;
  update_valid_ = false;
  update_opcode_ = 0;

  // Low-register mode: the past cycle may have cost an entry.
  const unsigned before = counts_.total();
  counts_.settle();
  if (counts_.total() != before) print_row("", "an entry given up", "");
  for (auto due = due_.begin(); due != due_.end() && due->first == domain_.now(); due = due_.erase(due)) {
    update(due->second);
  }
  while (next_ < script_.size() && script_[next_].cycle == domain_.now()) play(next_++);
  if (open_.empty()) counts_.check();  // a late answer may bring a reference
  low_mode_ = counts_.low_mode();
  references_ = counts_.total();
}

void Bench::play(std::size_t step) {
  switch (script_[step].action) {
    case Action::look_up:
    case Action::retry:
      return look_up(step);
    case Action::retire:
      return retire(step);
    case Action::low_on:
      counts_.set_low(true);
      return check(step, "low-register mode", Outcome::none, {});
    case Action::low_off:
      counts_.set_low(false);
      return check(step, "no low-register mode", Outcome::none, {});
    case Action::end_of_kernel:
      counts_.keeper->give_up_all();
      return check(step, "end of the kernel", Outcome::none, {});
  }
}

void Bench::look_up(std::size_t step) {
  const Step& s = script_[step];
  wir::ReuseRequest request;
  request.tag = s.computation.tag;
  request.fold = s.computation.tag.fold();
  request.owner = s.owner;
  request.retry = s.action == Action::retry;
  wir::ReuseAnswer answer;
  const auto tag = static_cast<std::uint32_t>(step);
  const LookupReply reply = lookups.requests->look_up(request, tag, answer);
  Slot& slot = slots_.at(slot_++);
  slot.valid = true;
  slot.opcode = s.computation.tag.opcode;
  slot.answered = reply == LookupReply::answered;
  slot.busy = reply == LookupReply::busy;
  if (reply == LookupReply::later) {
    open_.emplace(tag, step);
    return;
  }
  if (reply == LookupReply::busy) return check(step, "", Outcome::busy, {});
  slot.found = static_cast<unsigned>(answer.found);
  slot.claimed = answer.claimed;
  take(step, answer);
}

void Bench::answered(std::uint32_t tag, const wir::ReuseAnswer& answer) {
  const auto open = open_.find(tag);
  if (open == open_.end()) return fail("an answer without a request, tag " + std::to_string(tag));
  take(open->second, answer);
  open_.erase(open);
}

void Bench::take(std::size_t step, const wir::ReuseAnswer& answer) {
  claims_[script_[step].owner] = answer.claimed;
  wir::ReuseResult result;
  if (answer.found == Found::result) {
    // The instruction owns a reference. Its rename entry would keep it; the bench gives it up.
    result = answer.result;
    for (const wir::PhysicalRegister reg : result) counts_.release(reg);
  }
  check(step, "", outcome_of(answer), result);
}

void Bench::retire(std::size_t step) {
  const std::uint64_t at = updates->book_write();
  if (at == domain_.now()) return update(step);
  due_.emplace(at, step);
  check(step, "", Outcome::waits, {});
}

void Bench::update(std::size_t step) {
  const Step& s = script_[step];
  wir::ReuseUpdate update;
  update.tag = s.computation.tag;
  update.fold = s.computation.tag.fold();
  update.owner = s.owner;
  update.claimed = claims_[s.owner];
  update.result[0] = s.result;
  updates->update(update);
  update_valid_ = true;
  update_opcode_ = s.computation.tag.opcode;
  if (s.cycle == domain_.now()) return check(step, "", Outcome::updated, update.result);
  print_row("update " + text(s.computation), text(Outcome::updated, s.result), entry_of(s.computation));
}

void Bench::check(std::size_t step, const std::string& request, Outcome outcome, const wir::ReuseResult& result) {
  const Step& s = script_[step];
  const bool of_instruction = request.empty();
  const std::string verb = s.action == Action::retry ? "retry " : s.action == Action::retire ? "retire " : "look up ";
  const std::string asked = of_instruction ? verb + text(s.computation) : request;
  print_row(asked, text(outcome, result[0]), of_instruction ? entry_of(s.computation) : std::string());
  const bool same_result = outcome != Outcome::result || result[0] == s.result;
  if (outcome != s.outcome || !same_result) {
    fail(asked + ": expected '" + text(s.outcome, s.result) + "', got '" + text(outcome, result[0]) + "'");
  }
  if (counts_.total() != s.references) {
    fail(asked + ": expected " + std::to_string(s.references) + " references, got " + std::to_string(counts_.total()));
  }
}

void Bench::print_row(const std::string& request, const std::string& reply, const std::string& entry) const {
  std::cout << std::setw(7) << domain_.now() << std::setw(24) << request << std::setw(26) << reply << std::setw(17)
            << entry << counts_.total() << "\n";
}

std::string Bench::entry_of(const Computation& computation) const {
  const unsigned index = computation.tag.fold() % entries_;
  std::string found = std::to_string(index);
  if (contents_ == nullptr) return found;
  const wir::ReuseEntries::Entry& e = contents_->entries()[index];
  if (!e.valid) return found + ": free";
  found += ": op" + std::to_string(e.tag.opcode);
  return found + (e.pending ? " pending" : " -> " + text(e.result[0]));
}

void Bench::fail(const std::string& message) {
  std::cout << std::flush;
  std::cerr << "FAILED cycle " << domain_.now() << ": " << message << "\n";
  ++failures_;
}

unsigned Bench::finish() {
  if (next_ != script_.size()) fail("the script is not at its end");
  if (!open_.empty()) fail(std::to_string(open_.size()) + " requests were not answered");
  if (!due_.empty()) fail(std::to_string(due_.size()) + " results were not written");
  return failures_;
}

}  // namespace one_block
