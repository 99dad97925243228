// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/spilling_gate.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::RegisterId;
using protocol::WarpSlot;

SpillingGate::SpillingGate(const sc_core::sc_module_name& name, const RenamingConfig& config,
                           support::ClockDomain& clock)
    : RenamingGate(name, config, clock),
      moves("moves"),
      moved("moved"),
      wakeup_(
          clock, [](void* g) { static_cast<SpillingGate*>(g)->decide(); }, this) {
  moved.bind(*this);
}

void SpillingGate::end_of_elaboration() {
  RenamingGate::end_of_elaboration();
  unit_ = moves.operator->();
}

void SpillingGate::kernel_started(const protocol::KernelContext& context) {
  RenamingGate::kernel_started(context);
  spills_ = plan_.spills;
  warp_rows_ = warp_rows(plan_);
  all_in_use_ = false;
  spilled_of_.assign(warps_.size(), Spilled{});
}

template <class F>
void SpillingGate::for_part(unsigned part, F&& f) const {
  for (std::size_t w = part; w < warps_.size(); w += plan_.parts) f(WarpSlot(static_cast<WarpSlot::rep>(w)));
}

// ---- what warps do ----

void SpillingGate::warp_started(const protocol::WarpInfo& info) {
  Spilled& s = spilled_of_[info.warp.value()];
  s = Spilled{};
  s.resident = true;
  RenamingGate::warp_started(info);
}

void SpillingGate::take_at_start(WarpSlot warp, Registers registers) {
  if (!spills_ || registers == 0 || may_take(warp, count(registers), 0)) {
    RenamingGate::take_at_start(warp, registers);
    return;
  }
  // As if they were in memory, but there is nothing to be read.
  Spilled& s = spilled_of_[warp.value()];
  s.blank = registers;
  s.closed = true;
  warps_[warp.value()].away = registers;
  ++late_starts_;
  wait_for_rows(warp);
  listener_->closed(warp, true);
  look();
}

void SpillingGate::warp_finished(const protocol::WarpInfo& info) {
  spilled_of_[info.warp.value()].resident = false;
  RenamingGate::warp_finished(info);
  if (!waiting_.empty()) look();
}

bool SpillingGate::may_issue(const DynamicInstruction& d) {
  if (RenamingGate::may_issue(d)) return true;
  look();
  return false;
}

void SpillingGate::issued(const DynamicInstruction& d) {
  RenamingGate::issued(d);
  if (d.injected || !protocol::waits_at_barrier(d)) return;
  spilled_of_[d.warp.value()].at_barrier = true;
  if (!waiting_.empty()) look();
}

void SpillingGate::barrier_opened(const protocol::WarpInfo& info) {
  Spilled& s = spilled_of_[info.warp.value()];
  s.at_barrier = false;
  if (!s.closed) return;
  wait_for_rows(info.warp);
  look();
}

void SpillingGate::written_back(const DynamicInstruction& d) {
  RenamingGate::written_back(d);
  if (all_in_use_) look();
}

void SpillingGate::served(WarpSlot warp, RegisterId reg) {
  RenamingGate::served(warp, reg);
  if (all_in_use_) look();
}

// ---- who may take rows ----

bool SpillingGate::may_take(const DynamicInstruction& d, unsigned n) {
  return spills_ ? may_take(d.warp, n, 0) : RenamingGate::may_take(d, n);
}

bool SpillingGate::may_take(WarpSlot warp, unsigned rows, unsigned promised) const {
  const Warp& w = warps_[warp.value()];
  const unsigned free = throttle_.free_rows(w.part);
  if (free < rows + promised) return false;
  const unsigned left = free - rows - promised;
  bool safe = false;
  for_part(w.part, [&](WarpSlot other) {
    const unsigned has = count(warps_[other.value()].owned) + (other == warp ? rows : 0);
    safe = safe || (can_run(other) && left + has >= warp_rows_);
  });
  return safe;
}

/// Whether it comes to a barrier or to its end if it gets the rows that it asks for.
bool SpillingGate::can_run(WarpSlot warp) const {
  const Spilled& s = spilled_of_[warp.value()];
  return s.resident && !s.at_barrier;
}

/// Whether only rows let it go on.
bool SpillingGate::waits(WarpSlot warp) const {
  const Warp& w = warps_[warp.value()];
  return (w.waits_for != 0 || spilled_of_[warp.value()].closed) && spilled_of_[warp.value()].returning == 0;
}

void SpillingGate::open_warps() { spills_ ? look() : RenamingGate::open_warps(); }

void SpillingGate::look() {
  if (spills_) wakeup_.request(clock_.now() + 1);
}

void SpillingGate::decide() {
  all_in_use_ = false;
  grant();
  for (unsigned part = 0; part < plan_.parts; ++part) make_room(part);
}

/// In the order in which they were closed.
void SpillingGate::grant() {
  promised_.assign(plan_.parts, 0);
  std::size_t kept = 0;
  for (const WarpSlot warp : waiting_) {
    if (!granted(warp, promised_[warps_[warp.value()].part])) waiting_[kept++] = warp;
  }
  keep_waiting(kept);
}

bool SpillingGate::granted(WarpSlot warp, unsigned& promised) {
  const Warp& w = warps_[warp.value()];
  const Spilled& s = spilled_of_[warp.value()];
  if (s.leaving != 0) return false;
  // All at once: a warp that came back without the rows that it waits for might only be spilled again.
  const unsigned rows = count(w.away) + w.waits_for;
  if (rows != 0 && !may_take(warp, rows, promised)) return false;
  if (w.away == 0) {
    promised += w.waits_for;
    back(warp);
    return true;
  }
  if ((w.away & ~s.blank) != 0 && !unit_->may_refill()) return false;
  bring_back(warp);
  return true;
}

void SpillingGate::back(WarpSlot warp) {
  spilled_of_[warp.value()].closed = false;
  open(warp);
}

void SpillingGate::bring_back(WarpSlot warp) {
  Warp& w = warps_[warp.value()];
  Spilled& s = spilled_of_[warp.value()];
  const Registers blank = std::exchange(s.blank, 0), lines = std::exchange(w.away, 0) & ~blank;
  take(warp, blank);
  if (const Registers dead = blank & w.releasing; dead != 0) {
    for_each(dead, [&](unsigned reg) { give_back(warp, w, reg); });
    look();
  }
  if (lines == 0) return back(warp);
  get_rows(warp, w, lines);
  // Writes in flight, for releases and for whoever looks for registers to spill.
  w.writing |= lines;
  s.returning = lines;
  away_ -= count(lines);
  refilled_ += count(lines);
  ++refills_;
  unit_->refill(warp, lines);
}

void SpillingGate::returned(WarpSlot warp, RegisterId reg) {
  Warp& w = warps_[warp.value()];
  Spilled& s = spilled_of_[warp.value()];
  const Registers bit = Registers{1} << reg.value();
  w.writing &= ~bit;
  s.returning &= ~bit;
  if ((w.releasing & bit) != 0) {
    give_back(warp, w, reg.value());
    rows_came_back();
  }
  if (s.returning != 0) return;
  look();
  if (w.waits_for == 0) return back(warp);
  s.closed = false;
  wait_for_rows(warp);
}

// ---- who is spilled ----

SpillingGate::Registers SpillingGate::movable(WarpSlot warp) const {
  const Warp& w = warps_[warp.value()];
  Registers found = 0;
  for_each(w.owned & ~w.releasing, [&](unsigned reg) {
    if (!in_use(warp, reg)) found |= Registers{1} << reg;
  });
  return found;
}

/// If no warp of the part can go on, makes the one with the most rows safe.
void SpillingGate::make_room(unsigned part) {
  if (!unit_->may_spill()) return;
  std::optional<WarpSlot> first;
  for (const WarpSlot warp : waiting_) {
    const Warp& w = warps_[warp.value()];
    if (w.part != part || spilled_of_[warp.value()].leaving != 0) continue;
    if (!first || count(w.owned) > count(warps_[first->value()].owned)) first = warp;
  }
  if (!first) return;
  bool goes_on = false;  // some warp does, or rows come back without it
  for_part(part, [&](WarpSlot warp) {
    const Warp& w = warps_[warp.value()];
    goes_on = goes_on || (w.owned & w.releasing) != 0 || (can_run(warp) && !waits(warp));
  });
  const unsigned has = count(warps_[first->value()].owned) + throttle_.free_rows(part);
  if (goes_on || has >= warp_rows_) return;
  // Warps at a barrier first, as they need their registers last; then the youngest.
  std::optional<WarpSlot> victim;
  Registers registers = 0;
  for_part(part, [&](WarpSlot warp) {
    if (warp == *first || !spilled_of_[warp.value()].resident) return;
    const Registers found = movable(warp);
    if (found == 0) return;
    if (victim && spilled_of_[victim->value()].at_barrier && !spilled_of_[warp.value()].at_barrier) return;
    victim = warp;
    registers = found;
  });
  if (!victim) {
    all_in_use_ = true;
    return;
  }
  // No more than is needed.
  while (count(registers) > warp_rows_ - has) registers &= ~(Registers{1} << (63 - __builtin_clzll(registers)));
  begin_spill(*victim, registers);
}

void SpillingGate::begin_spill(WarpSlot warp, Registers registers) {
  Spilled& s = spilled_of_[warp.value()];
  s.leaving = registers;
  // Reads in flight: a release waits for them, and makes them needless.
  for_each(registers, [&](unsigned reg) { ++reads_[at(warp, reg)]; });
  if (!s.closed) {
    s.closed = true;
    listener_->closed(warp, true);
  }
  ++spills_begun_;
  unit_->spill(warp, registers);
}

bool SpillingGate::left(WarpSlot warp, RegisterId reg) {
  Warp& w = warps_[warp.value()];
  Spilled& s = spilled_of_[warp.value()];
  const Registers bit = Registers{1} << reg.value();
  s.leaving &= ~bit;
  const bool needed = (w.owned & bit) != 0;
  if (needed) {
    w.away |= bit;
    give_back(warp, w, reg.value());
    ++spilled_;
    most_away_ = std::max<std::uint64_t>(most_away_, ++away_);
  }
  if (s.leaving == 0 && w.away == 0 && s.at_barrier) back(warp);
  rows_came_back();
  look();
  return needed;
}

std::string SpillingGate::describe_stuck() const {
  if (!spills_) return RenamingGate::describe_stuck();
  std::string text;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const Warp& w = warps_[i];
    const Spilled& s = spilled_of_[i];
    if (!s.resident || (w.waits_for == 0 && !s.closed)) continue;
    text +=
        "  " + std::string(sc_module::name()) + ": warp " + std::to_string(i) +
        (s.at_barrier ? " is at a barrier" : " waits for " + std::to_string(w.waits_for + count(w.away)) + " rows") +
        " of part " + std::to_string(w.part) + ", which has " + std::to_string(throttle_.free_rows(w.part)) +
        " free; it has " + std::to_string(count(w.owned)) + " of at most " + std::to_string(warp_rows_) +
        ", of which " + std::to_string(count(s.leaving)) + " leave and " + std::to_string(count(s.returning)) +
        " return, and " + std::to_string(count(w.away)) + " registers in memory\n";
  }
  return text + unit_->describe();
}

void SpillingGate::register_stats(support::StatGroup& g) {
  RenamingGate::register_stats(g);
  const char* const regs = "warp registers";
  g.counter("spills", spills_begun_, "times", "that registers of a warp were sent to memory");
  g.counter("spilled", spilled_, regs, "that gave their row back and are in memory");
  g.counter("refills", refills_, "times", "that a warp got its registers back from memory");
  g.counter("refilled", refilled_, regs, "that got a row again for their value in memory");
  g.counter("late_starts", late_starts_, "warps", "that waited for the rows of the registers that they have at start");
  g.derived(
      "away_max", [this] { return double(most_away_); }, regs, "in memory at a time, at most");
}

}  // namespace regatta::models
