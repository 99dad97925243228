// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/budget_rows.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace regatta::models {

using protocol::WarpInfo;

void BudgetRows::start(const protocol::KernelContext& context, unsigned slices) {
  registers_ = context.most_registers_per_warp;
  slices_ = slices;
  rows_.assign(std::size_t{context.resident_ctas} * context.warps_per_cta * registers_, no_row);
  free_.assign(std::size_t{context.resident_ctas} * slices, {});
}

std::vector<std::uint32_t>& BudgetRows::pool(const WarpInfo& warp) {
  return free_[std::size_t{warp.cta.value()} * slices_ + warp.warp.value() % slices_];
}

void BudgetRows::warp_started(const WarpInfo& warp, std::uint32_t base, unsigned count) {
  const auto first = rows_.begin() + std::ptrdiff_t(std::size_t{warp.warp.value()} * registers_);
  std::fill_n(first, registers_, no_row);
  for (unsigned r = 0; r < count; ++r) *(first + r) = base + r;
}

void BudgetRows::cta_finished(protocol::CtaSlot cta) {
  for (unsigned s = 0; s < slices_; ++s) free_[std::size_t{cta.value()} * slices_ + s].clear();
}

bool BudgetRows::change(const WarpInfo& warp, unsigned before, unsigned after) {
  std::vector<std::uint32_t>& free = pool(warp);
  const auto rows = rows_.begin() + std::ptrdiff_t(std::size_t{warp.warp.value()} * registers_);
  if (after > before && free.size() < after - before) return false;
  for (unsigned r = after; r < before; ++r) free.push_back(std::exchange(*(rows + r), no_row));
  if (after < before) std::sort(free.begin(), free.end(), std::greater<>());
  for (unsigned r = before; r < after; ++r) {
    *(rows + r) = free.back();
    free.pop_back();
  }
  return true;
}

}  // namespace regatta::models
