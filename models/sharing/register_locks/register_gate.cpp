// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/register_gate.h>

#include <regatta/protocol/sm_control.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::WarpSlot;

namespace {
WarpSlot slot_of(std::size_t n) { return WarpSlot(static_cast<WarpSlot::rep>(n)); }
std::string warp_text(std::size_t n) { return "warp " + std::to_string(n); }
}  // namespace

RegisterGate::RegisterGate(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name),
      pairs("pairs"),
      boundary("boundary"),
      locks("locks"),
      rule("rule"),
      owners("owners"),
      clock_(clock),
      changed_("changed") {}

void RegisterGate::end_of_elaboration() {
  pairs_ = pairs.operator->();
  locks_ = locks.operator->();
  rule_ = rule.operator->();
  owners_ = owners.operator->();
}

void RegisterGate::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/register_locks",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

bool RegisterGate::names_shared(const protocol::InstructionTraits& t) const {
  const auto is_shared = [this](protocol::RegisterId r) { return r.value() >= private_; };
  return std::any_of(t.reads.begin(), t.reads.begin() + t.read_count, is_shared) ||
         std::any_of(t.writes.begin(), t.writes.begin() + t.write_count, is_shared);
}

void RegisterGate::kernel_started(const protocol::KernelContext& context) {
  const SharingPlan& plan = pairs_->plan();
  sharing_ = plan.sharing();
  private_ = boundary->private_registers();
  warps_per_cta_ = context.warps_per_cta;
  warps_.assign(std::size_t{plan.ctas} * warps_per_cta_, Warp{});
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const auto cta = protocol::CtaSlot(static_cast<protocol::CtaSlot::rep>(i / warps_per_cta_));
    const std::optional<PairMember> member = pairs_->member(cta);
    if (!member) continue;
    warps_[i].paired = true;
    warps_[i].cta = *member;
    const auto number = static_cast<unsigned>(i % warps_per_cta_);
    warps_[i].lock = member->pair * warps_per_cta_ + number;
    warps_[i].partner = pairs_->slot(member->partner()).value() * warps_per_cta_ + number;
  }
  shared_.assign(context.traits->size(), false);
  for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i] = names_shared((*context.traits)[i]);
}

void RegisterGate::cta_launched(const protocol::CtaInfo& cta) {
  const std::optional<PairMember> member = pairs_->member(cta.cta);
  if (!member) return;
  const std::size_t own = std::size_t{cta.cta.value()} * warps_per_cta_;
  for (std::size_t i = own; i < own + warps_per_cta_; ++i) warps_[i].life = Life::launched;
  const protocol::CtaSlot partner = pairs_->slot(member->partner());
  const std::size_t first = std::size_t{partner.value()} * warps_per_cta_;
  const bool is_resident = std::any_of(warps_.begin() + static_cast<std::ptrdiff_t>(first),
                                       warps_.begin() + static_cast<std::ptrdiff_t>(first + warps_per_cta_),
                                       [](const Warp& w) { return w.is_resident(); });
  if (is_resident && owners_->role(partner) != WarpRole::owner) {
    complain("CTA slot " + std::to_string(cta.cta.value()) + " gets a CTA, and its partner in slot " +
             std::to_string(partner.value()) + " is not the owner; expected that ownership has passed to it");
  }
}

void RegisterGate::warp_started(const protocol::WarpInfo& warp) {
  Warp& w = warps_[warp.warp.value()];
  w.life = Life::resident;
  w.closed = false;
}

bool RegisterGate::may_issue(const DynamicInstruction& d) {
  if (!sharing_ || !names_shared(d)) return true;
  Warp& w = warps_[d.warp.value()];
  if (!w.paired || locks_->holder(w.lock) == d.warp || is_available(w)) return true;
  if (!w.closed) close(w, d.warp);
  return false;
}

void RegisterGate::close(Warp& w, WarpSlot slot) {
  w.closed = true;
  w.since = clock_.now();
  ++waits_;
  listener_->closed(slot, true);
}

void RegisterGate::issued(const DynamicInstruction& d) {
  if (!sharing_) return;
  Warp& w = warps_[d.warp.value()];
  if (!w.paired) return;
  ++checks_;
  if (!names_shared(d) || locks_->holder(w.lock) == d.warp) return;
  ++acquires_;
  const LockClaim claim = claim_of(w);
  locks_->take(w.lock, d.warp);
  if (!rule_->taken(claim)) return;
  const protocol::CtaSlot cta = pairs_->slot(w.cta);
  owners_->took(cta);
  if (owners_->role(cta) != WarpRole::owner) {
    complain("warp " + std::to_string(d.warp.value()) + " takes lock " + std::to_string(w.lock) +
             ", and its CTA in slot " + std::to_string(cta.value()) + " is not the owner; expected that it is now");
  }
}

void RegisterGate::warp_finished(const protocol::WarpInfo& warp) {
  Warp& w = warps_[warp.warp.value()];
  w.life = Life::ended;
  if (!w.paired) return;
  if (locks_->holder(w.lock) == warp.warp) {
    locks_->give_back(w.lock, warp.warp);
    rule_->returned(w.cta);
  } else if (!warps_[w.partner].closed) {
    return;
  }
  reopen(w.cta.partner());
}

void RegisterGate::reopen(PairMember cta) {
  const std::size_t first = std::size_t{pairs_->slot(cta).value()} * warps_per_cta_;
  for (std::size_t i = first; i < first + warps_per_cta_; ++i) {
    Warp& w = warps_[i];
    if (!w.closed || !is_available(w)) continue;
    w.closed = false;
    wait_cycles_ += clock_.now() - w.since;
    listener_->closed(slot_of(i), false);
  }
}

bool RegisterGate::at_barrier(unsigned warp) const {
  protocol::WarpContext context;
  control_->context(slot_of(warp), context);
  return context.at_barrier;
}

unsigned RegisterGate::waits_for(unsigned warp) const {
  const Warp& w = warps_[warp];
  if (w.closed) {
    if (const std::optional<WarpSlot> holder = locks_->holder(w.lock)) return holder->value();
    // The rule keeps it: it waits for a holder on the other side.
    const unsigned first = pairs_->slot(w.cta.partner()).value() * warps_per_cta_;
    for (unsigned i = first; i < first + warps_per_cta_; ++i) {
      if (warps_[i].is_resident() && locks_->holder(warps_[i].lock) == slot_of(i)) return i;
    }
    return warp;
  }
  if (!at_barrier(warp)) return warp;
  // For a warp of its CTA that has not arrived; for one that waits itself, if there is one.
  const unsigned first = warp / warps_per_cta_ * warps_per_cta_;
  unsigned found = warp;
  for (unsigned i = first; i < first + warps_per_cta_; ++i) {
    if (i == warp || !warps_[i].is_resident() || at_barrier(i)) continue;
    if (found == warp || warps_[i].closed) found = i;
  }
  return found;
}

std::string RegisterGate::describe_circles() const {
  if (!sharing_) return "";
  std::string text;
  enum class Seen : std::uint8_t { no, now, before };
  std::vector<Seen> seen(warps_.size(), Seen::no);
  for (unsigned start = 0; start < warps_.size(); ++start) {
    std::vector<unsigned> path;
    unsigned at = start;
    while (warps_[at].is_resident() && seen[at] == Seen::no) {
      seen[at] = Seen::now;
      path.push_back(at);
      const unsigned next = waits_for(at);
      if (next == at) break;
      at = next;
    }
    const auto circle = std::find(path.begin(), path.end(), at);
    if (circle != path.end() && path.end() - circle > 1 && seen[at] == Seen::now && waits_for(path.back()) == at) {
      text += "  " + std::string(name()) + ": warps wait in a circle:";
      for (auto w = circle; w != path.end(); ++w) {
        const char* const why = warps_[*w].closed ? " waits for the shared registers of " : " waits at a barrier for ";
        text += (w == circle ? " " + warp_text(*w) : std::string(", which")) + why + warp_text(waits_for(*w));
      }
      text += "\n";
    }
    for (const unsigned w : path) seen[w] = Seen::before;
  }
  return text;
}

void RegisterGate::register_stats(support::StatGroup& g) {
  g.counter("checks", checks_, "warp instructions",
            "of warps of pairs, whose registers were compared with the boundary");
  g.counter("acquires", acquires_, "locks", "taken, with the instruction that first names a shared register");
  g.counter("waits", waits_, "warps", "that had to wait for a lock, counted once per wait");
  g.counter("wait_cycles", wait_cycles_, "warp-cycles", "that they waited");
}

void RegisterGate::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.check", checks_);
}

}  // namespace regatta::models
