// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/scratchpad_locks/scratchpad_gate.h>

#include <regatta/protocol/shared_contents.h>
#include <regatta/support/config.h>
#include <regatta/support/energy.h>
#include <regatta/trace/sharing.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::DynamicInstruction;
using protocol::LaneMask;
using protocol::WarpSlot;
using trace::MemorySpace;
using trace::OpClass;

ScratchpadGate::ScratchpadGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                               sc_core::sc_time clock_period)
    : sc_module(name),
      pairs("pairs"),
      boundary("boundary"),
      locks("locks"),
      owners("owners"),
      release_bits("release_bits"),
      clock_(support::CycleScheduler::of(clock_period)),
      t_(t),
      relssp_(std::move(relssp)),
      changed_("changed") {}

void ScratchpadGate::end_of_elaboration() {
  pairs_ = pairs.operator->();
  locks_ = locks.operator->();
  owners_ = owners.operator->();
  bits_ = release_bits.size() != 0 ? release_bits[0] : nullptr;
}

void ScratchpadGate::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/scratchpad_locks",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

void ScratchpadGate::require_section(const trace::Kernel& kernel) const {
  const std::optional<trace::SharingLayout> layout = trace::find_sharing(kernel);
  if (!layout) {
    throw support::ConfigError("kernel " + kernel.name + " has no section 'sharing', which " + relssp_ +
                               " needs: annotate it with --scratchpad-layout " + t_.text());
  }
  if (layout->t.numerator * t_.denominator() != layout->t.denominator * t_.numerator()) {
    throw support::ConfigError("kernel " + kernel.name + " is annotated for --scratchpad-layout " +
                               trace::to_string(layout->t) + ", and scratchpad_sharing.t is " + t_.text() +
                               ": expected the same share");
  }
}

void ScratchpadGate::kernel_started(const protocol::KernelContext& context) {
  const SharingPlan& plan = pairs_->plan();
  sharing_ = plan.sharing();
  private_ = boundary->private_bytes();
  if (sharing_ && !relssp_.empty()) require_section(*context.kernel);
  warps_per_cta_ = context.warps_per_cta;
  ctas_.assign(plan.ctas, Cta{});
  for (std::size_t i = 0; i < ctas_.size(); ++i) {
    const std::optional<PairMember> member = pairs_->member(CtaSlot(static_cast<CtaSlot::rep>(i)));
    if (!member) continue;
    ctas_[i].paired = true;
    ctas_[i].member = *member;
  }
  warps_.assign(std::size_t{plan.ctas} * warps_per_cta_, Warp{});
  free_from_.assign(plan.pairs, 0);
  kinds_.assign(context.traits->size(), Kind::other);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const protocol::InstructionTraits& t = (*context.traits)[i];
    if (!t.has_addresses) continue;
    if (t.info->space == MemorySpace::shared) kinds_[i] = Kind::shared;
    if (t.info->space == MemorySpace::generic) kinds_[i] = Kind::generic;
  }
}

void ScratchpadGate::cta_launched(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  cta.resident = true;
  cta.released = false;
  if (!cta.paired) return;
  const CtaSlot partner = pairs_->slot(cta.member.partner());
  if (ctas_[partner.value()].resident && owners_->role(partner) != WarpRole::owner) {
    complain("CTA slot " + std::to_string(info.cta.value()) + " gets a CTA, and its partner in slot " +
             std::to_string(partner.value()) + " is not the owner; expected that ownership has passed to it");
  }
}

void ScratchpadGate::warp_started(const protocol::WarpInfo& warp) { warps_[warp.warp.value()] = Warp{}; }

bool ScratchpadGate::touches_common(const DynamicInstruction& d) const {
  const Kind kind = kinds_[d.traits->index];
  if (kind == Kind::other || d.active == 0) return false;
  const std::uint64_t bytes = d.info->access_bytes;
  const auto lane_touches = [&](unsigned lane) {
    return protocol::shared_offset(d.addresses[lane]) + bytes > private_;
  };
  if (kind == Kind::shared && d.affine_addresses) {
    // With one stride, an end has the highest address.
    return lane_touches(static_cast<unsigned>(__builtin_ctzll(d.active))) ||
           lane_touches(63 - static_cast<unsigned>(__builtin_clzll(d.active)));
  }
  for (LaneMask m = trace::shared_lanes(*d.info, d.active, d.addresses.data()); m != 0; m &= m - 1) {
    if (lane_touches(static_cast<unsigned>(__builtin_ctzll(m)))) return true;
  }
  return false;
}

bool ScratchpadGate::is_available(const Cta& cta) const {
  return !locks_->holder(cta.member.pair) && clock_.now() >= free_from_[cta.member.pair];
}

bool ScratchpadGate::may_issue(const DynamicInstruction& d) {
  if (!sharing_ || d.injected) return true;
  const Cta& cta = ctas_[d.cta.value()];
  if (!cta.paired || !touches_common(d)) return true;
  if (cta.released) {
    std::ostringstream text;
    text << "warp " << d.warp.value() << " (CTA slot " << d.cta.value()
         << ") accesses the common part of shared memory at PC 0x" << std::hex
         << std::uint64_t{d.traits->index} * trace::bytes_per_instruction << std::dec << ", " << d.info->opcode
         << ", after all threads of its CTA have released it; expected no access behind relssp";
    complain(text.str());
    return true;
  }
  if (locks_->holder(cta.member.pair) == d.cta || is_available(cta)) return true;
  Warp& w = warps_[d.warp.value()];
  if (w.closed) return false;
  ++waits_;
  if (!locks_->holder(cta.member.pair)) {
    // Returned in this very cycle.
    wait_cycles_ += free_from_[cta.member.pair] - clock_.now();
    listener_->pause(d.warp, protocol::Cycle(free_from_[cta.member.pair]));
    return false;
  }
  w.closed = true;
  w.since = clock_.now();
  listener_->closed(d.warp, true);
  return false;
}

void ScratchpadGate::issued(const DynamicInstruction& d) {
  if (!sharing_) return;
  const Cta& cta = ctas_[d.cta.value()];
  if (!cta.paired) return;
  Warp& w = warps_[d.warp.value()];
  if (d.injected) {
    // An inserted instruction of this gate's scheme: relssp, or the jump that a split edge costs.
    if (d.info->op_class != OpClass::fence) return;
    ++relssps_;
    release(d.warp, d.active);
    return;
  }
  if (d.traits->is_exit) {
    if (w.in_flight == 0) {
      release(d.warp, d.active);
    } else {
      w.leaving |= d.active;
    }
    return;
  }
  if (kinds_[d.traits->index] == Kind::other) return;
  ++checks_;
  if (!touches_common(d)) return;
  ++common_;
  ++w.in_flight;
  const unsigned pair = cta.member.pair;
  if (locks_->holder(pair) == d.cta) return;
  ++acquires_;
  locks_->take(pair, d.cta);
  owners_->took(d.cta);
  // Beside an owner that has released its part, the holder is no owner.
  if (owners_->role(d.cta) == WarpRole::non_owner) {
    complain("CTA slot " + std::to_string(d.cta.value()) + " takes the lock of pair " + std::to_string(pair) +
             " and is not the owner; expected that it is now");
  }
}

void ScratchpadGate::written_back(const DynamicInstruction& d) {
  if (!sharing_ || d.injected || !ctas_[d.cta.value()].paired || !touches_common(d)) return;
  Warp& w = warps_[d.warp.value()];
  if (--w.in_flight == 0 && w.leaving != 0) release(d.warp, std::exchange(w.leaving, 0));
}

void ScratchpadGate::release(WarpSlot warp, LaneMask lanes) {
  if (bits_ == nullptr || lanes == 0) return;
  const CtaSlot slot(static_cast<CtaSlot::rep>(warp.value() / warps_per_cta_));
  Cta& cta = ctas_[slot.value()];
  if (cta.released) return;
  bits_->set(warp, lanes);
  if (!bits_->all_set(slot)) return;
  cta.released = true;
  ++releases_;
  owners_->released(slot);
  // The partner sees it in the next cycle.
  if (locks_->holder(cta.member.pair) == slot) free_from_[cta.member.pair] = clock_.now() + 1;
  give_back(slot);
}

void ScratchpadGate::give_back(CtaSlot slot) {
  const PairMember member = ctas_[slot.value()].member;
  if (locks_->holder(member.pair) != slot) return;
  locks_->give_back(member.pair, slot);
  reopen(pairs_->slot(member.partner()));
}

void ScratchpadGate::warp_finished(const protocol::WarpInfo& warp) {
  if (!sharing_ || !ctas_[warp.cta.value()].paired) return;
  release(warp.warp, warp.lanes);
}

void ScratchpadGate::cta_finished(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  cta.resident = false;
  if (cta.paired) give_back(info.cta);
}

void ScratchpadGate::reopen(CtaSlot cta) {
  const std::size_t first = std::size_t{cta.value()} * warps_per_cta_;
  for (std::size_t i = first; i < first + warps_per_cta_; ++i) {
    Warp& w = warps_[i];
    if (!w.closed) continue;
    w.closed = false;
    wait_cycles_ += clock_.now() - w.since;
    listener_->closed(WarpSlot(static_cast<WarpSlot::rep>(i)), false);
  }
}

void ScratchpadGate::register_stats(support::StatGroup& g) {
  g.counter("checks", checks_, "warp instructions",
            "of CTAs of pairs, whose addresses were compared with the boundary");
  g.counter("common_accesses", common_, "warp instructions", "of these that access the common part");
  g.counter("acquires", acquires_, "locks", "taken, with the first access of the common part");
  g.counter("waits", waits_, "warps", "that had to wait for a lock, counted once per wait");
  g.counter("wait_cycles", wait_cycles_, "warp-cycles", "that they waited");
  g.counter("relssp", relssps_, "warp instructions", "that released, of CTAs of pairs");
  g.counter("releases", releases_, "CTAs", "of which all threads have released the common part");
}

void ScratchpadGate::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.check", checks_);
}

}  // namespace regatta::models
