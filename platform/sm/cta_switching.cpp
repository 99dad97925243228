// SPDX-License-Identifier: Apache-2.0
//
// CTAs that become active, leave and come back: the part of the CTA stage that carries out a residency policy's
// switches.
#include "contract.h"
#include "cta_stage.h"
#include "front_end.h"
#include "issue.h"
#include "load_store_unit.h"

#include <string>

namespace regatta::sm {

using protocol::CtaPhase;
using protocol::Event;
using protocol::LifecycleListener;
using protocol::Observer;
using protocol::Residency;

void CtaStage::check_room(const ResidentCta& cta) const {
  const auto refuse = [&](std::uint64_t found, const char* what, std::uint64_t most, const char* limit) {
    broken("makes CTA slot " + std::to_string(cta.info.cta.value()) + " active, so that " + std::to_string(found) +
               " " + what + " are",
           "at most " + std::to_string(most) + " (" + limit + ")");
  };
  const std::uint64_t warps = std::uint64_t{active_warps_} + cta.unfinished;
  if (warps > limits_.warps) refuse(warps, "warps", limits_.warps, "sm.warps");
  const std::uint64_t places = std::uint64_t{core_.config.schedulers} * protocol::max_warps_per_scheduler;
  if (warps > places) refuse(warps, "warps", places, "places in the warp schedulers");
  if (active_ctas_ == plan_.active_ctas) refuse(active_ctas_ + 1, "CTAs", plan_.active_ctas, "its plan()");
}

ResidentCta& CtaStage::named(const Residency::Action& action) {
  using Kind = Residency::Action::Kind;
  const std::size_t slot = action.cta.value();
  const bool resident = slot < ctas_.size() && ctas_[slot].resident;
  const CtaPhase phase = resident ? ctas_[slot].phase : CtaPhase::active;
  const bool out = phase == CtaPhase::draining || phase == CtaPhase::quiesced || phase == CtaPhase::parked;
  const bool fits = action.kind == Kind::switch_out || action.kind == Kind::admit ? phase == CtaPhase::active
                    : action.kind == Kind::moved                                  ? phase == CtaPhase::quiesced
                                                                                  : out;
  if (!resident || !fits) {
    broken(std::string(action.kind == Kind::switch_out ? "switches out"
                       : action.kind == Kind::admit    ? "admits a warp of"
                       : action.kind == Kind::moved    ? "has moved"
                                                       : "switches in") +
               " CTA slot " + std::to_string(slot) + ", which is " +
               (resident ? protocol::to_string(phase) : "not resident"),
           std::string("a resident CTA that is ") + (action.kind == Kind::switch_out || action.kind == Kind::admit
                                                         ? "active"
                                                     : action.kind == Kind::moved ? "quiesced"
                                                                                  : "draining, quiesced or parked"));
  }
  return ctas_[slot];
}

void CtaStage::reserve(ResidentCta& cta) {
  check_room(cta);
  ++active_ctas_;
  active_warps_ += cta.unfinished;
}

void CtaStage::activate(ResidentCta& cta) {
  cta.active = true;
  cta.phase = CtaPhase::active;
  for (WarpSlot id : cta.warps) {
    Warp& w = core_.warp(id);
    if (!w.resident || w.launching) continue;
    schedule(cta, w);
  }
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_switched(cta.info, true); });
  core_.observers.notify(Event::cta_switched, [&](Observer& o) { o.cta_switched(core_.now, cta.info.cta, true); });
}

void CtaStage::schedule(const ResidentCta& cta, Warp& w) {
  w.active = true;
  issue_->add(w, cta.age * 1024 + w.info.warp_in_cta);
  front_end_->update(w);
}

void CtaStage::deactivate(ResidentCta& cta) {
  cta.active = false;
  --active_ctas_;
  active_warps_ -= cta.unfinished;
  for (WarpSlot id : cta.warps) {
    Warp& w = core_.warp(id);
    if (!w.resident || w.launching) continue;
    issue_->remove(w);
    front_end_->removed(w);
    w.active = false;
  }
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_switched(cta.info, false); });
  core_.observers.notify(Event::cta_switched, [&](Observer& o) { o.cta_switched(core_.now, cta.info.cta, false); });
}

void CtaStage::switch_out(ResidentCta& cta, const Residency::Action& action) {
  cta.phase = CtaPhase::draining;
  cta.steer_loads = action.steer_loads;
  cta.switched = core_.now;
  cta.context_until = core_.now;
  ++draining_;
  ++switches_out_;
  deactivate(cta);
  if (action.context_bytes != 0) {
    cta.context_until = lsu_->move_context(action.context_bytes);
    core_.note_wait(cta.context_until);
    core_.at(cta.context_until, Work::Kind::context_moved, cta.info.cta.value());
  }
  look_at_draining(cta);
}

void CtaStage::switch_in(ResidentCta& cta, const Residency::Action& action) {
  if (cta.phase == CtaPhase::draining) --draining_;
  cta.phase = CtaPhase::entering;
  ++switches_in_;
  reserve(cta);
  if (action.context_bytes == 0) return activate(cta);
  // The last data arrives after the latency of an access to shared memory.
  cta.context_until = lsu_->move_context(action.context_bytes) + core_.config.shared_latency;
  core_.note_wait(cta.context_until);
  core_.at(cta.context_until, Work::Kind::context_moved, cta.info.cta.value());
}

void CtaStage::context_moved(std::size_t slot) {
  if (slot >= ctas_.size()) return;  // of a launch that has ended
  ResidentCta& cta = ctas_[slot];
  if (!cta.resident || cta.phase != CtaPhase::entering || core_.now < cta.context_until) return;
  activate(cta);
  dirty_ = true;
}

bool CtaStage::drained(const ResidentCta& cta) const {
  if (core_.now < cta.context_until) return false;
  for (const WarpSlot id : cta.warps) {
    const Warp& w = core_.warps[id.value()];
    if (!w.resident || w.in_flight == 0) continue;
    // What is left in flight may be memory instructions whose addresses are made: they read no register any more, and
    // their results, if they come from beyond the SM, are steered.
    const bool steered = cta.steer_loads && w.in_flight == w.memory_in_flight && !w.has_accesses_to_make() &&
                         w.pending.general == w.pending_long.general &&
                         w.pending.predicates == w.pending_long.predicates;
    if (!steered) return false;
  }
  return true;
}

void CtaStage::look_at_draining(ResidentCta& cta) {
  if (cta.phase != CtaPhase::draining || !drained(cta)) return;
  cta.phase = CtaPhase::quiesced;
  --draining_;
  drain_cycles_ += core_.now - cta.switched;
  dirty_ = true;
  core_.progress = true;
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_quiesced(cta.info); });
}

void CtaStage::moved(ResidentCta& cta) {
  cta.phase = CtaPhase::parked;
  core_.listeners.notify([&](LifecycleListener& l) { l.cta_moved(cta.info); });
}

void CtaStage::register_stats(support::StatGroup& g) {
  g.counter("cta_switches_out", switches_out_, "CTAs", "taken from the warp schedulers by the residency policy");
  g.counter("cta_switches_in", switches_in_, "CTAs", "given back to the warp schedulers");
  g.counter("cta_drain_cycles", drain_cycles_, "cycles",
            "from switching out to nothing in flight, summed over the CTAs");
  g.counter("context_passes", lsu_->context_passes(), "cycles",
            "in which shared memory banks were occupied by contexts of CTAs");
}

}  // namespace regatta::sm
