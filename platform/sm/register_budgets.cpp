// SPDX-License-Identifier: Apache-2.0
#include "register_budgets.h"

#include "contract.h"

#include <algorithm>

namespace regatta::sm {

void RegisterBudgets::kernel_started(unsigned ctas, unsigned sub_cores, bool has_places) {
  has_places_ = has_places;
  budgets_.clear();
  free_.clear();
  if (core_.kernel.kernel->launch_registers == 0) return;
  sub_cores_ = sub_cores;
  budgets_.assign(std::size_t{ctas} * core_.kernel.warps_per_cta, 0);
  free_.assign(std::size_t{ctas} * sub_cores, 0);
}

void RegisterBudgets::cta_launched(CtaSlot cta) {
  if (free_.empty()) return;
  std::fill_n(free_.begin() + std::ptrdiff_t{cta.value()} * sub_cores_, sub_cores_, 0u);
}

void RegisterBudgets::warp_started(const Warp& warp) {
  if (!budgets_.empty()) budgets_[warp.info.warp.value()] = core_.kernel.registers_per_warp;
}

unsigned RegisterBudgets::lacks(const Warp& warp, const trace::StaticInstruction& i) const {
  const unsigned wanted = core_.config.allocated_registers(i.register_budget), has = of(warp);
  return wanted > has ? wanted - has : 0;
}

bool RegisterBudgets::available(const Warp& warp, const trace::StaticInstruction& i) const {
  return !has_places_ || lacks(warp, i) <= free(warp);
}

bool RegisterBudgets::issued(const Warp& warp, const trace::StaticInstruction& i) {
  unsigned& budget = budgets_[warp.info.warp.value()];
  unsigned& free = free_[pool(warp)];
  const unsigned before = budget, after = core_.config.allocated_registers(i.register_budget);
  if (after == before) return false;
  if (has_places_) free = free + before - after;
  budget = after;
  core_.listeners.notify([&](protocol::LifecycleListener& l) { l.budget_changed(warp.info, before, after); });
  return after < before;
}

}  // namespace regatta::sm
