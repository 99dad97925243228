// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/common_part_gate.h>

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

CommonPartGate::CommonPartGate(const sc_core::sc_module_name& name, std::string knob, const Threshold& t,
                               std::string relssp, support::ClockDomain& clock)
    : sc_module(name),
      boundary("boundary"),
      release_bits("release_bits"),
      clock_(clock),
      knob_(std::move(knob)),
      t_(t),
      relssp_(std::move(relssp)),
      changed_("changed") {}

void CommonPartGate::end_of_elaboration() { bits_ = release_bits.size() != 0 ? release_bits[0] : nullptr; }

void CommonPartGate::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/scratchpad_locks",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

void CommonPartGate::require_section(const trace::Kernel& kernel) const {
  const std::optional<trace::SharingLayout> layout = trace::find_sharing(kernel);
  const std::string option = "--scratchpad-layout " + (t_.numerator() == 0 ? std::string("0.000001") : t_.text());
  if (!layout) {
    throw support::UnfitTrace(
        "kernel " + kernel.name + " has no section 'sharing', which " + relssp_ + " needs: annotate it with " + option,
        option);
  }
  // A share of 0 cannot be annotated: one that is less than a word leaves nothing private either.
  const bool is_same = t_.numerator() == 0
                           ? layout->boundary == 0
                           : layout->t.numerator * t_.denominator() == layout->t.denominator * t_.numerator();
  if (!is_same) {
    throw support::UnfitTrace("kernel " + kernel.name + " is annotated for --scratchpad-layout " +
                                  trace::to_string(layout->t) + ", and " + knob_ + " is " + t_.text() + ": expected " +
                                  (t_.numerator() == 0 ? "a share of less than a word" : "the same share"),
                              option);
  }
}

void CommonPartGate::kernel_started(const protocol::KernelContext& context) {
  sharing_ = sharing();
  private_ = boundary->private_bytes();
  if (sharing_ && !relssp_.empty()) require_section(*context.kernel);
  warps_per_cta_ = context.warps_per_cta;
  ctas_.assign(context.resident_ctas, Cta{});
  for (std::size_t i = 0; i < ctas_.size(); ++i) {
    ctas_[i].takes_turns = takes_turns(CtaSlot(static_cast<CtaSlot::rep>(i)));
  }
  warps_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, Warp{});
  kinds_.assign(context.traits->size(), Kind::other);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const protocol::InstructionTraits& t = (*context.traits)[i];
    if (!t.has_addresses) continue;
    if (t.info->space == MemorySpace::shared) kinds_[i] = Kind::shared;
    if (t.info->space == MemorySpace::generic) kinds_[i] = Kind::generic;
  }
}

void CommonPartGate::cta_launched(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  cta.resident = true;
  cta.released = false;
}

void CommonPartGate::warp_started(const protocol::WarpInfo& warp) { warps_[warp.warp.value()] = Warp{}; }

bool CommonPartGate::touches_common(const DynamicInstruction& d) const {
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

bool CommonPartGate::may_issue(const DynamicInstruction& d) {
  if (!sharing_ || d.injected) return true;
  const Cta& cta = ctas_[d.cta.value()];
  if (!cta.takes_turns || !touches_common(d)) return true;
  if (cta.released) {
    std::ostringstream text;
    text << "warp " << d.warp.value() << " (CTA slot " << d.cta.value()
         << ") accesses the common part of shared memory at PC 0x" << std::hex
         << std::uint64_t{d.traits->index} * trace::bytes_per_instruction << std::dec << ", " << d.info->opcode
         << ", after all threads of its CTA have released it; expected no access behind relssp";
    complain(text.str());
    return true;
  }
  if (has(d.cta)) return true;
  const std::optional<std::uint64_t> from = may_take_from(d.cta);
  if (from && clock_.now() >= *from) return true;
  Warp& w = warps_[d.warp.value()];
  if (w.closed) return false;
  ++waits_;
  if (from) {
    // Returned in this very cycle.
    wait_cycles_ += *from - clock_.now();
    listener_->pause(d.warp, protocol::Cycle(*from));
    return false;
  }
  w.closed = true;
  w.since = clock_.now();
  waits(d.cta);
  listener_->closed(d.warp, true);
  return false;
}

void CommonPartGate::issued(const DynamicInstruction& d) {
  if (!sharing_) return;
  const Cta& cta = ctas_[d.cta.value()];
  if (!cta.takes_turns) return;
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
  if (has(d.cta)) return;
  ++acquires_;
  take(d.cta);
}

void CommonPartGate::written_back(const DynamicInstruction& d) {
  if (!sharing_ || d.injected || !ctas_[d.cta.value()].takes_turns || !touches_common(d)) return;
  Warp& w = warps_[d.warp.value()];
  if (--w.in_flight == 0 && w.leaving != 0) release(d.warp, std::exchange(w.leaving, 0));
}

void CommonPartGate::release(WarpSlot warp, LaneMask lanes) {
  if (bits_ == nullptr || lanes == 0) return;
  const CtaSlot slot(static_cast<CtaSlot::rep>(warp.value() / warps_per_cta_));
  Cta& cta = ctas_[slot.value()];
  if (cta.released) return;
  bits_->set(warp, lanes);
  if (!bits_->all_set(slot)) return;
  cta.released = true;
  ++releases_;
  released(slot);
  // Others see it in the next cycle.
  if (has(slot)) give_back(slot, clock_.now() + 1);
}

void CommonPartGate::warp_finished(const protocol::WarpInfo& warp) {
  if (!sharing_ || !ctas_[warp.cta.value()].takes_turns) return;
  release(warp.warp, warp.lanes);
}

void CommonPartGate::cta_finished(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  cta.resident = false;
  if (cta.takes_turns && has(info.cta)) give_back(info.cta, clock_.now());
}

void CommonPartGate::reopen(CtaSlot cta) {
  if (!is_resident(cta)) return;
  const std::size_t first = std::size_t{cta.value()} * warps_per_cta_;
  for (std::size_t i = first; i < first + warps_per_cta_; ++i) {
    Warp& w = warps_[i];
    if (!w.closed) continue;
    w.closed = false;
    wait_cycles_ += clock_.now() - w.since;
    listener_->closed(WarpSlot(static_cast<WarpSlot::rep>(i)), false);
  }
}

void CommonPartGate::register_stats(support::StatGroup& g) {
  g.counter("checks", checks_, "warp instructions",
            "of CTAs that take turns, whose addresses were compared with the boundary");
  g.counter("common_accesses", common_, "warp instructions", "of these that access the common part");
  g.counter("acquires", acquires_, "CTAs", "that took the common part, with their first access of it");
  g.counter("waits", waits_, "warps", "that had to wait for the common part, counted once per wait");
  g.counter("wait_cycles", wait_cycles_, "warp-cycles", "that they waited");
  g.counter("relssp", relssps_, "warp instructions", "that released, of CTAs that take turns");
  g.counter("releases", releases_, "CTAs", "of which all threads have released the common part");
}

void CommonPartGate::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.check", checks_);
}

}  // namespace regatta::models
