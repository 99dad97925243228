// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/release_table.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::LaneMask;
using protocol::WarpSlot;

ReleaseTable::ReleaseTable(const sc_core::sc_module_name& name) : sc_module(name), bits("bits") { bits.bind(*this); }

void ReleaseTable::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  warps_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, Warp{});
}

void ReleaseTable::cta_launched(const protocol::CtaInfo& cta) {
  const auto first = warps_.begin() + static_cast<std::ptrdiff_t>(std::size_t{cta.cta.value()} * warps_per_cta_);
  std::fill(first, first + static_cast<std::ptrdiff_t>(warps_per_cta_), Warp{});
}

void ReleaseTable::warp_started(const protocol::WarpInfo& warp) { warps_[warp.warp.value()].active = warp.lanes; }

void ReleaseTable::set(WarpSlot warp, LaneMask lanes) {
  Warp& w = warps_[warp.value()];
  if ((lanes & ~w.released) == 0) return;
  w.released |= lanes;
  ++writes_;
}

bool ReleaseTable::all_set(CtaSlot cta) const {
  const auto first = warps_.begin() + static_cast<std::ptrdiff_t>(std::size_t{cta.value()} * warps_per_cta_);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(warps_per_cta_),
                     [](const Warp& w) { return (w.active & ~w.released) == 0; });
}

void ReleaseTable::register_stats(support::StatGroup& g) {
  g.counter("writes", writes_, "warp instructions",
            "that set release bits which were not set: relssp, and exits without one");
}

void ReleaseTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.release", writes_);
}

}  // namespace regatta::models
