// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfh/active_entries.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

using protocol::WarpSlot;

ActiveEntries::ActiveEntries(const sc_core::sc_module_name& name, unsigned count, bool active_set,
                             support::ClockDomain& clock)
    : sc_module(name), slots("slots"), files("files"), clock_(clock), count_(count), active_set_(active_set) {
  slots.bind(*this);
}

void ActiveEntries::kernel_started(const protocol::KernelContext& context) {
  slot_of_.assign(std::size_t{context.resident_ctas} * context.warps_per_cta, none);
  since_.assign(count_, 0);
  free_.clear();
  for (unsigned s = count_; s-- > 0;) free_.push_back(s);
}

void ActiveEntries::take(WarpSlot warp) {
  unsigned& slot = slot_of_[warp.value()];
  if (slot != none) return;
  if (free_.empty()) {
    SC_REPORT_ERROR(
        "regatta/register_hierarchy",
        (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": warp " + std::to_string(warp.value()) +
         " finds no entries, expected at most " + std::to_string(count_) + " warps to have some")
            .c_str());
    return;
  }
  slot = free_.back();
  free_.pop_back();
  since_[slot] = clock_.now();
  ++given_;
  most_ = std::max<std::uint64_t>(most_, count_ - free_.size());
}

void ActiveEntries::lose(unsigned slot) {
  for (int f = 0; f < files.size(); ++f) files[f]->lose(slot);
}

void ActiveEntries::give_back(WarpSlot warp) {
  unsigned& slot = slot_of_[warp.value()];
  if (slot == none) return;
  lose(slot);
  slot_cycles_ += clock_.now() - since_[slot];
  free_.push_back(slot);
  slot = none;
  ++returned_;
}

void ActiveEntries::strand_begins(WarpSlot warp) {
  if (slot_of_[warp.value()] != none) lose(slot_of_[warp.value()]);
}

void ActiveEntries::warp_started(const protocol::WarpInfo& warp) {
  if (!active_set_) take(warp.warp);
}

void ActiveEntries::active_set_changed(const protocol::WarpInfo& warp, bool inside) {
  inside ? take(warp.warp) : give_back(warp.warp);
}

void ActiveEntries::cta_switched(const protocol::CtaInfo& cta, bool active) {
  // The warps of a CTA that is switched out leave their scheduler, which does not report them.
  if (active || !active_set_) return;
  for (unsigned w = 0; w < cta.warps; ++w)
    give_back(WarpSlot(static_cast<std::uint16_t>(cta.cta.value() * cta.warps + w)));
}

void ActiveEntries::warp_finished(const protocol::WarpInfo& warp) { give_back(warp.warp); }

std::uint64_t ActiveEntries::bits(unsigned warps) const {
  unsigned number = 0;
  while ((1u << number) < count_) ++number;
  return std::uint64_t{warps} * (number + 1) + count_;
}

void ActiveEntries::register_stats(support::StatGroup& g) {
  g.counter("given", given_, "slots", "of entries, taken by warps that became active");
  g.counter("returned", returned_, "slots", "given back by warps that left the active set or ended");
  g.counter("slot_cycles", slot_cycles_, "slot-cycles", "from taken to given back");
  g.counter("slots_max", most_, "slots", "taken at a time, at most");
}

void ActiveEntries::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a table of a few bits per warp, accessed when the active set changes");
}

}  // namespace regatta::models
