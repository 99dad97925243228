// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/cta_places.h>

#include <regatta/support/energy.h>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::WarpSlot;

CtaPlaceWindows::CtaPlaceWindows(const sc_core::sc_module_name& name, unsigned slices)
    : sc_module(name), windows("windows"), places("places"), fixed_(slices), slices_(slices) {
  windows.bind(*this);
  places.bind(*this);
}

void CtaPlaceWindows::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/cta_places", (std::string(sc_module::name()) + ": " + what).c_str());
}

void CtaPlaceWindows::kernel_started(std::uint32_t rows, unsigned registers) {
  rows_ = rows;
  registers_ = registers;
  fixed_.kernel_started(rows, registers);
}

void CtaPlaceWindows::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  const std::uint32_t warps = rows_ / slices_ / registers_ * slices_;
  taken_.assign(warps / warps_per_cta_, false);
  free_ = static_cast<unsigned>(taken_.size());
  ctas_.assign(context.resident_ctas, Cta{});
  alive_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, false);
}

std::uint32_t CtaPlaceWindows::take_place() {
  for (std::uint32_t p = 0; p < taken_.size(); ++p) {
    if (taken_[p]) continue;
    taken_[p] = true;
    --free_;
    return p;
  }
  complain("a CTA takes a place when none is free, expected a free one of " + std::to_string(taken_.size()));
  throw std::logic_error("an error that SystemC reported was ignored");
}

RegisterWindow CtaPlaceWindows::assign(WarpSlot w) {
  const CtaSlot slot(static_cast<std::uint16_t>(w.value() / warps_per_cta_));
  Cta& cta = ctas_[slot.value()];
  if (cta.place == nowhere) cta.place = take_place();
  ++cta.alive;
  alive_[w.value()] = true;
  return window(cta.place, w.value() % warps_per_cta_);
}

void CtaPlaceWindows::release(WarpSlot w) {
  const CtaSlot slot(static_cast<std::uint16_t>(w.value() / warps_per_cta_));
  alive_[w.value()] = false;
  if (--ctas_[slot.value()].alive == 0) vacate(slot);
}

void CtaPlaceWindows::vacate(CtaSlot slot) {
  Cta& cta = ctas_[slot.value()];
  if (cta.entering) {
    for (unsigned i = 0; i < warps_per_cta_; ++i) mapping_->unalias(warp(slot, i), warp(*cta.entering, i));
    ctas_[cta.entering->value()].leaving.reset();
    cta.entering.reset();
  } else if (cta.leaving) {  // the CTA that was coming has ended: the place is the other one's again
    for (unsigned i = 0; i < warps_per_cta_; ++i) mapping_->unalias(warp(slot, i), warp(*cta.leaving, i));
    ctas_[cta.leaving->value()].entering.reset();
    cta.leaving.reset();
  } else if (cta.place != nowhere) {
    taken_[cta.place] = false;
    ++free_;
  }
  cta.place = nowhere;
}

void CtaPlaceWindows::map(CtaSlot slot) {
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const WarpSlot w = warp(slot, i);
    if (!alive_[w.value()]) continue;
    const std::string wrong = mapping_->map(w, window(ctas_[slot.value()].place, i));
    if (!wrong.empty()) complain(wrong);
    if (file_ != nullptr) tell_entered(ctas_[slot.value()], w, i);
  }
  ++entered_;
}

void CtaPlaceWindows::tell_entered(const Cta& cta, WarpSlot entering, unsigned i) {
  // A warp that has ended has left its rows, even if its CTA is in the place.
  if (cta.leaving && mapping_->mapped(warp(*cta.leaving, i))) {
    file_->window_shared(warp(*cta.leaving, i), entering);
  } else {
    file_->window_entered(entering);
  }
}

void CtaPlaceWindows::enter(CtaSlot slot) {
  ctas_[slot.value()].place = take_place();
  map(slot);
}

void CtaPlaceWindows::enter_place_of(CtaSlot slot, CtaSlot leaving) {
  Cta& cta = ctas_[slot.value()];
  Cta& other = ctas_[leaving.value()];
  if (other.place == nowhere || other.entering || cta.place != nowhere) {
    complain("CTA slot " + std::to_string(slot.value()) + " enters the place of CTA slot " +
             std::to_string(leaving.value()) + ", expected one that has a place, for one that has none");
  }
  cta.place = other.place;
  cta.leaving = leaving;
  other.entering = slot;
  for (unsigned i = 0; i < warps_per_cta_; ++i) mapping_->alias(warp(slot, i), warp(leaving, i));
  map(slot);
}

void CtaPlaceWindows::leave(CtaSlot slot) {
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const WarpSlot w = warp(slot, i);
    if (!mapping_->mapped(w)) continue;
    if (file_ != nullptr) file_->window_leaves(w);
    mapping_->unmap(w);
  }
  vacate(slot);
  ++left_;
}

void CtaPlaceWindows::register_stats(support::StatGroup& g) {
  g.counter("entered", entered_, "CTAs", "that came back into a place");
  g.counter("left", left_, "CTAs", "whose registers left their place");
}

void CtaPlaceWindows::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a base register per warp, as in the conventional file");
}

}  // namespace regatta::models
