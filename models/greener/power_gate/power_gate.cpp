// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/power_gate.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::GeneralRegisters;
using protocol::InstructionTraits;
using protocol::RegisterId;
using protocol::WarpSlot;
using trace::RegisterPower;

namespace {

constexpr unsigned registers_of_a_warp = 256;

GeneralRegisters common(const GeneralRegisters& a, const GeneralRegisters& b) {
  return {a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]};
}
GeneralRegisters without(const GeneralRegisters& a, const GeneralRegisters& b) {
  return {a[0] & ~b[0], a[1] & ~b[1], a[2] & ~b[2], a[3] & ~b[3]};
}
bool any(const GeneralRegisters& a) { return (a[0] | a[1] | a[2] | a[3]) != 0; }

template <class F>
void for_each(const GeneralRegisters& set, F&& f) {
  for (unsigned w = 0; w < set.size(); ++w) {
    for (std::uint64_t bits = set[w]; bits != 0; bits &= bits - 1) {
      f(RegisterId(static_cast<std::uint8_t>(64 * w + static_cast<unsigned>(__builtin_ctzll(bits)))));
    }
  }
}

}  // namespace

void PowerGateConfig::declare(support::OptionSet& o) {
  o.add("greener.threshold", threshold, "instructions",
        "a register accessed again within this many instructions stays on; 0: as the trace was annotated", 0,
        trace::max_power_bound);
  o.add("greener.runtime_table", runtime_table, "keep on the registers that a decoded instruction will access");
  o.add("greener.table_entries", table_entries, "entries", "entries of the run-time table per warp", 1, 64);
  o.add("greener.table_registers", table_registers, "registers", "registers per entry of the run-time table", 1, 10);
  o.add("greener.table_search", table_search,
        "instructions in the run-time table that keep a register on: any other one, or only younger ones",
        {"any", "younger"});
  o.add("greener.reserve_sources", reserve_sources,
        "sources that block later accesses until they are read: all, or (falling) only those that do not stay on",
        {"all", "falling"});
}

void PowerGateConfig::validate() const {
  const auto one_of = [](const char* knob, const std::string& found, const char* a, const char* b) {
    if (found == a || found == b) return;
    throw support::ConfigError(std::string("configuration: greener.") + knob + " = '" + found + "', expected " + a +
                               " or " + b);
  };
  one_of("table_search", table_search, "any", "younger");
  one_of("reserve_sources", reserve_sources, "all", "falling");
}

PowerGate::PowerGate(const sc_core::sc_module_name& name, const PowerGating& config, support::ClockDomain& clock)
    : sc_module(name),
      table_lookups("table", *this),
      table_updates("table_updates"),
      power("power"),
      registers("registers"),
      config_(config),
      search_younger_(config.table_search == "younger"),
      clock_(clock),
      client_(
          clock, [](void* gate) { static_cast<PowerGate*>(gate)->tick(); }, this),
      warps_(config.warps) {
  config.validate();
}

void PowerGate::end_of_elaboration() {
  has_table_ = table_lookups.requests.size() != 0;
  power_ = power.operator->();
  if (registers.size() != 0) {
    registers_ = registers.operator->();
  } else {
    voter_ = power_->add_voter("power_gate");
  }
}

void PowerGate::settle() {
  const std::uint64_t cycle = now();
  if (cycle == settled_) return;
  settled_ = cycle;
  if (__builtin_expect(static_cast<int>(refused_lookups_ != 0), 0) != 0) ask_again();
  calendar_.drain(cycle, [this](const ReadDone& read) {
    remove(warps_[read.warp].reserved, RegisterId(read.reg));
    apply(WarpSlot(read.warp), read.sequence, RegisterId(read.reg), read.state);
  });
}

void PowerGate::tick() {
  settle();
  const std::uint64_t next = calendar_.next();
  if (next != support::no_cycle) client_.request(next);
}

bool PowerGate::refuse(WarpSlot warp, std::uint64_t until, std::uint64_t& count, std::uint64_t& cycles) {
  ++count;
  cycles += until - settled_;
  listener_->pause(warp, Cycle(until));
  return false;
}

bool PowerGate::may_issue(const DynamicInstruction& d) {
  settle();
  Warp& w = warps_[d.warp.value()];
  const GeneralRegisters& accessed = d.traits->accessed;
  if (any(common(accessed, w.reserved)))
    return refuse(d.warp, reads_end(w, d.warp, accessed), read_waits_, read_wait_cycles_);
  if (any(without(accessed, w.on))) wake(w, d);
  if (w.ready > settled_) return refuse(d.warp, w.ready, wake_waits_, wake_wait_cycles_);
  return true;
}

/// The cycle in which none of those registers is waited for any more; the next one where that is not known yet.
std::uint64_t PowerGate::reads_end(const Warp& w, WarpSlot slot, const GeneralRegisters& accessed) const {
  const GeneralRegisters awaited = common(accessed, w.reserved);
  std::uint64_t end = settled_ + 1;
  if (any(common(awaited, w.unread))) return end;
  const std::uint64_t* done = &read_done_[std::size_t{slot.value()} * registers_of_a_warp];
  for_each(awaited, [&](RegisterId r) { end = std::max(end, done[r.value()]); });
  return end;
}

void PowerGate::wake(Warp& w, const DynamicInstruction& d) {
  const InstructionTraits& traits = *d.traits;
  const auto wake_row = [&](RegisterId reg) {
    if (contains(w.on, reg)) return;
    const Cycle ready = vote(d.warp, w, reg, PowerState::on);
    add(w.on, reg);
    remove(w.off, reg);
    // `never`: another voter keeps the row off and wakes it when it is written.
    if (ready != protocol::never) w.ready = std::max(w.ready, ready.value());
  };
  for (unsigned k = 0; k < traits.write_count; ++k) {
    if (needs_ == nullptr || needs_->writes_row(d, k)) wake_row(traits.writes[k]);
  }
  for (unsigned k = 0; k < traits.read_count; ++k) {
    if (codec_ != nullptr && !codec_->needs_row(w.window.row(traits.reads[k]))) continue;
    if (needs_ != nullptr && !needs_->reads_row(d, k)) continue;
    wake_row(traits.reads[k]);
  }
}

void PowerGate::issued(const DynamicInstruction& d) {
  if (open_lookups_ != 0) forget_decisions(d.warp, d.traits->accessed);
  if (!in_program(d)) return;
  const PowerPlan& plan = plans_[d.traits->index];
  Warp& w = warps_[d.warp.value()];
  for (unsigned k = 0; k < d.traits->write_count; ++k) add(w.writing, d.traits->writes[k]);
  for (unsigned i = 0; i < plan.reserved.size(); ++i) {
    w.reserved[i] |= plan.reserved[i];
    w.unread[i] |= plan.reserved[i];
  }
}

void PowerGate::was_read(const protocol::WarpAccess& access, Row, Cycle done) {
  const DynamicInstruction* d = access.instruction;
  if (d == nullptr || !in_program(*d)) return;
  const PowerPlan& plan = plans_[d->traits->index];
  const RegisterPower state = plan.state_after_read(access.operand);
  const bool reserved = contains(plan.reserved, access.reg);
  if (!reserved && state == RegisterPower::on) return;
  remove(warps_[access.warp.value()].unread, access.reg);
  read_done_[std::size_t{access.warp.value()} * registers_of_a_warp + access.reg.value()] = done.value();
  calendar_.schedule(done.value(), ReadDone{d->sequence, access.warp.value(), access.reg.value(), state});
  client_.request(done.value());
}

void PowerGate::apply(WarpSlot slot, std::uint64_t sequence, RegisterId reg, RegisterPower state) {
  if (state == RegisterPower::on) {
    ++kept_on_;
    return;
  }
  if (!has_table_) return decide(slot, reg, state, false);
  std::uint32_t tag = 0;
  while (tag < awaited_.size() && awaited_[tag].open) ++tag;
  ask_table(tag, Awaited{true, false, false, slot.value(), reg.value(), state, sequence});
}

void PowerGate::ask_table(std::uint32_t tag, Awaited decision) {
  const WarpSlot slot(decision.warp);
  const RegisterId reg(decision.reg);
  bool accessed = false;
  const protocol::LookupReply reply =
      table_lookups.requests->look_up(TableQuery{slot, reg, decision.sequence, search_younger_}, tag, accessed);
  if (reply == protocol::LookupReply::answered) return decide(slot, reg, decision.state, accessed);
  decision.asked = reply == protocol::LookupReply::later;
  if (!decision.asked) {
    ++refused_lookups_;
    client_.request(now() + 1);
  }
  if (tag == awaited_.size()) awaited_.emplace_back();
  awaited_[tag] = decision;
  ++open_lookups_;
}

void PowerGate::ask_again() {
  refused_lookups_ = 0;
  for (std::uint32_t tag = 0; tag < awaited_.size(); ++tag) {
    if (!awaited_[tag].open || awaited_[tag].asked) continue;
    const Awaited decision = std::exchange(awaited_[tag], Awaited{});
    --open_lookups_;
    if (!decision.dropped) ask_table(tag, decision);
  }
}

void PowerGate::answered(std::uint32_t tag, const bool& accessed) {
  if (tag >= awaited_.size() || !awaited_[tag].open || !awaited_[tag].asked) {
    protocol::unexpected_answer(name(), now(), tag);
  }
  settle();
  Awaited& a = awaited_[tag];
  const Awaited decided = std::exchange(a, Awaited{});
  --open_lookups_;
  if (!decided.dropped) decide(WarpSlot(decided.warp), RegisterId(decided.reg), decided.state, accessed);
}

void PowerGate::forget_decisions(WarpSlot slot, const GeneralRegisters& accessed) {
  for (Awaited& a : awaited_) {
    if (!a.open || a.dropped || a.warp != slot.value() || !contains(accessed, RegisterId(a.reg))) continue;
    a.dropped = true;
    ++corrections_;
  }
}

void PowerGate::decide(WarpSlot slot, RegisterId reg, RegisterPower state, bool accessed) {
  if (accessed) {
    ++corrections_;
    return;
  }
  Warp& w = warps_[slot.value()];
  if (!w.decides) return;
  // The register is elsewhere, and its row has slept or been off since before.
  if (needs_ != nullptr && !contains(w.on, reg)) return;
  const bool off = state == RegisterPower::off;
  ++(off ? switched_off_ : put_to_sleep_);
  remove(w.on, reg);
  if (off) add(w.off, reg);
  vote(slot, w, reg, off ? PowerState::off : PowerState::sleep);
}

void PowerGate::written_back(const DynamicInstruction& d) {
  settle();
  const InstructionTraits& t = *d.traits;
  if (!in_program(d)) return;
  const PowerPlan& plan = plans_[t.index];
  for (unsigned k = 0; k < t.write_count; ++k) {
    remove(warps_[d.warp.value()].writing, t.writes[k]);
    apply(d.warp, d.sequence, t.writes[k], plan.state_after_write(k));
  }
  if (has_table_) table_updates->retire(d.warp, d.sequence);
}

void PowerGate::fetched(const protocol::WarpInfo& warp, const InstructionTraits& traits) {
  warps_[warp.warp.value()].arriving.push_back(traits.index);
}

void PowerGate::arrived(const protocol::WarpInfo& warp) {
  Warp& w = warps_[warp.warp.value()];
  for (const std::uint32_t index : w.arriving) table_updates->record(warp.warp, ++w.decoded, index);
  w.arriving.clear();
}

void PowerGate::kernel_started(const protocol::KernelContext& context) {
  PowerPlanOptions options;
  options.look_ahead = config_.look_ahead;
  options.threshold = config_.threshold;
  options.reserve_all = config_.reserve_sources == "all";
  options.table_registers = config_.table_registers;
  plans_ = make_power_plans(context, options);
  traits_ = context.traits;
  registers_per_warp_ = context.registers_per_warp;
  if (has_table_) table_updates->begin(plans_);
}

void PowerGate::rows_started(std::uint32_t rows, unsigned) {
  for (std::uint32_t r = 0; registers_ == nullptr && r < rows; ++r) power_->vote(voter_, Row(r), PowerState::off);
  for (Warp& w : warps_) {
    w = Warp{};
    w.off = registers_at_start();
  }
  read_done_.assign(warps_.size() * registers_of_a_warp, 0);
}

void PowerGate::window_taken(WarpSlot warp, const RegisterWindow& window, unsigned registers) {
  Warp& w = warps_[warp.value()];
  w.window = window;
  w.ready = 0;
  w.decides = true;
  if (!config_.look_ahead) vote_all(window, registers, PowerState::sleep);
  wake_destinations(w, window);
}

void PowerGate::wake_destinations(Warp& w, const RegisterWindow& window) {
  for_each(w.writing, [&](RegisterId reg) {
    power_->vote(voter_, window.row(reg), PowerState::on);
    add(w.on, reg);
    remove(w.off, reg);
  });
}

void PowerGate::vote_all(const RegisterWindow& window, unsigned registers, PowerState state) {
  for (unsigned r = 0; r < registers; ++r) {
    power_->vote(voter_, window.row(RegisterId(static_cast<std::uint8_t>(r))), state);
  }
}

void PowerGate::warp_started(const protocol::WarpInfo& warp) {
  Warp& w = warps_[warp.warp.value()];
  w.off = registers_at_start();
  w.writing = w.slept = GeneralRegisters{};
  w.decoded = 0;
  if (registers_ == nullptr) return;
  w.ready = 0;
  w.decides = true;
  vote_all(warp.warp, state_at_start());
}

void PowerGate::warp_finished(const protocol::WarpInfo& warp) {
  if (has_table_) table_updates->clear(warp.warp);
  if (registers_ == nullptr) return;
  settle();
  vote_all(warp.warp, PowerState::off);
  forget(warp.warp);
}

void PowerGate::vote_all(WarpSlot slot, PowerState state) {
  for (unsigned r = 0; r < registers_per_warp_; ++r) {
    registers_->vote(slot, RegisterId(static_cast<std::uint8_t>(r)), state);
  }
}

void PowerGate::window_left(WarpSlot warp, const RegisterWindow& window, unsigned registers) {
  settle();
  vote_all(window, registers, PowerState::off);
  forget(warp);
}

void PowerGate::forget(WarpSlot warp) {
  Warp& w = warps_[warp.value()];
  w.on = w.reserved = w.unread = w.back = GeneralRegisters{};
  w.decides = false;
  for (Awaited& a : awaited_) a.dropped = a.dropped || a.warp == warp.value();
}

// A decision about a register of either warp could switch off one of the other.
void PowerGate::window_shared(WarpSlot from, WarpSlot to, const RegisterWindow& window) {
  settle();
  warps_[from.value()].decides = false;
  wake_destinations(warps_[to.value()], window);
}

void PowerGate::window_kept(WarpSlot owner, WarpSlot left, const RegisterWindow& window, unsigned registers,
                            const GeneralRegisters& held) {
  settle();
  Warp& w = warps_[owner.value()];
  // Rows that are on for the other warp's sake stay on if they may hold a register of the owner.
  const GeneralRegisters kept = without(held, w.off);
  const GeneralRegisters other = common(warps_[left.value()].on, kept);
  for (unsigned i = 0; i < w.on.size(); ++i) w.on[i] |= other[i];
  forget(left);
  w.window = window;
  w.decides = true;
  for (unsigned r = 0; r < registers; ++r) {
    const RegisterId reg(static_cast<std::uint8_t>(r));
    if (!contains(w.on, reg) && !contains(kept, reg)) power_->vote(voter_, window.row(reg), state_at_start());
  }
  for_each(std::exchange(w.back, GeneralRegisters{}), [&](RegisterId r) { apply(owner, 0, r, RegisterPower::sleep); });
}

void PowerGate::was_written(const protocol::WarpAccess& access, Row, Cycle done) {
  if (__builtin_expect(static_cast<int>(access.instruction != nullptr), 1) != 0) return;
  Warp& w = warps_[access.warp.value()];
  if (!contains(w.slept, access.reg) || !contains(w.on, access.reg)) return;
  remove(w.slept, access.reg);
  if (contains(w.writing, access.reg)) return;
  if (!w.decides) return add(w.back, access.reg);
  calendar_.schedule(done.value(), ReadDone{0, access.warp.value(), access.reg.value(), RegisterPower::sleep});
  client_.request(done.value());
}

bool PowerGate::moves(const protocol::WarpAccess& access, Row row, bool into_file) {
  Warp& w = warps_[access.warp.value()];
  if (contains(w.off, access.reg)) return false;
  if (!into_file) contains(w.on, access.reg) ? remove(w.slept, access.reg) : add(w.slept, access.reg);
  power_->vote(voter_, row, PowerState::on);
  add(w.on, access.reg);
  return true;
}

void PowerGate::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("the thesis does not count the scoreboard");
}

void PowerGate::register_stats(support::StatGroup& g) {
  g.counter("put_to_sleep", put_to_sleep_, "warp registers", "after an access");
  g.counter("switched_off", switched_off_, "warp registers", "after an access");
  g.counter("kept_on", kept_on_, "warp registers", "by the compiler's decision after an access");
  g.counter("wake_waits", wake_waits_, "instructions", "that waited for rows to wake");
  g.counter("wake_wait_cycles", wake_wait_cycles_, "warp-cycles", "that instructions waited for rows to wake");
  g.counter("read_waits", read_waits_, "instructions", "that waited for an older instruction to read a register");
  g.counter("read_wait_cycles", read_wait_cycles_, "warp-cycles",
            "that instructions waited for an older one to read a register");
  if (!has_table_) return;
  g.counter("lookup_corrections", corrections_, "warp registers",
            "kept on against the compiler's decision, because an instruction in the table accesses them");
}

}  // namespace regatta::models
