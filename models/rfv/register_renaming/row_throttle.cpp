// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/row_throttle.h>

namespace regatta::models {

using protocol::CtaSlot;

void RowThrottle::begin(const RenamingPlan& plan, unsigned cta_rows) {
  parts_ = plan.parts;
  needed_ = static_cast<int>(cta_rows);
  first_ = 0;
  taken_.assign(std::size_t{plan.resident_ctas} * parts_, 0);
  resident_.assign(plan.resident_ctas, 0);
  free_.clear();
  // Slots have their rows of exempt registers throughout the launch.
  const unsigned warps = plan.resident_ctas * plan.warps_per_cta;
  for (unsigned p = 0; p < parts_; ++p) {
    const unsigned slots = warps > p ? (warps - p + parts_ - 1) / parts_ : 0;
    free_.push_back(static_cast<int>(plan.rows) - static_cast<int>(slots * plan.exempt));
  }
}

bool RowThrottle::may_take(CtaSlot cta, unsigned part, unsigned rows, unsigned promised) {
  const int n = static_cast<int>(rows), others = static_cast<int>(promised);
  if (free_[part] < n + others) return false;
  const unsigned own = cta.value();
  if (resident_[first_] != 0 && safe_after(first_, own, part, n, others)) return true;
  for (unsigned f = 0; f < resident_.size(); ++f) {
    if (resident_[f] == 0 || !safe_after(f, own, part, n, others)) continue;
    first_ = f;
    return true;
  }
  return false;
}

bool RowThrottle::is_safe(CtaSlot cta) const { return safe_after(cta.value(), cta.value(), 0, 0, 0); }

bool RowThrottle::may_launch(CtaSlot cta, const RenamingPlan& plan) const {
  std::vector<int> start(parts_);
  for (unsigned p = 0; p < parts_; ++p) {
    start[p] = static_cast<int>(plan.start_rows * plan.warps_in(p, cta));
    if (free_[p] < start[p]) return false;
  }
  const auto safe = [&](unsigned f) {
    for (unsigned p = 0; p < parts_; ++p) {
      const int has = f == cta.value() ? start[p] : taken_[f * parts_ + p];
      if (free_[p] - start[p] < needed_ - has) return false;
    }
    return true;
  };
  for (unsigned f = 0; f < resident_.size(); ++f) {
    if ((resident_[f] != 0 || f == cta.value()) && safe(f)) return true;
  }
  return false;
}

}  // namespace regatta::models
