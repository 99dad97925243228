// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/rfv/renaming_plan.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// Who may take rows of a file that does not hold the registers of all resident CTAs (RFV, MICRO 2015: CTAs are
/// throttled by their balance, the rows that a CTA may still need).
///
/// Rows may be taken, or a CTA launched, if a resident CTA f is safe afterwards: in each part p of the file,
/// free(p) >= C - taken(f, p), with one f for all parts. Such a CTA gets every row that it asks for: taking rows lowers
/// both sides by as many, others only take rows that leave some CTA safe, and C bounds what it has. It therefore runs
/// to its end, whatever the others hold, and then C rows are free for the next one.
class RowThrottle {
 public:
  /// No CTA is resident. `cta_rows`: C.
  void begin(const RenamingPlan& plan, unsigned cta_rows);
  void launched(protocol::CtaSlot cta) { resident_[cta.value()] = true; }
  void finished(protocol::CtaSlot cta) { resident_[cta.value()] = false; }
  void took(protocol::CtaSlot cta, unsigned part, unsigned rows = 1) {
    free_[part] -= static_cast<int>(rows);
    taken_[cta.value() * parts_ + part] += static_cast<int>(rows);
  }
  void gave_back(protocol::CtaSlot cta, unsigned part) {
    ++free_[part];
    --taken_[cta.value() * parts_ + part];
  }

  /// Whether a warp of a resident CTA may take `rows` of a part. `promised`: rows of it that others will take.
  bool may_take(protocol::CtaSlot cta, unsigned part, unsigned rows, unsigned promised = 0);
  /// Whether the CTA may be launched in this slot, where its warps take `start_rows` each.
  bool may_launch(protocol::CtaSlot cta, const RenamingPlan& plan) const;
  /// Whether the CTA itself is safe: it may take what it needs.
  bool is_safe(protocol::CtaSlot cta) const;
  unsigned free_rows(unsigned part) const { return static_cast<unsigned>(free_[part]); }
  unsigned cta_rows() const { return static_cast<unsigned>(needed_); }
  /// Rows that the CTA has.
  unsigned taken(protocol::CtaSlot cta, unsigned part) const {
    return static_cast<unsigned>(taken_[cta.value() * parts_ + part]);
  }

 private:
  /// Whether CTA f is safe when `cta` has taken `rows` of a part, and others `promised`.
  bool safe_after(unsigned f, unsigned cta, unsigned part, int rows, int promised) const {
    const int* const taken = &taken_[f * parts_];
    for (unsigned p = 0; p < parts_; ++p) {
      int balance = free_[p] + taken[p] - needed_;
      if (p == part) balance -= promised + (f == cta ? 0 : rows);
      if (balance < 0) return false;
    }
    return true;
  }

  unsigned parts_ = 1;
  int needed_ = 0;                      ///< C
  unsigned first_ = 0;                  ///< the CTA that was safe last, which is tried first
  std::vector<int> free_;               ///< by part
  std::vector<int> taken_;              ///< by CTA slot and part
  std::vector<std::uint8_t> resident_;  ///< by CTA slot
};

}  // namespace regatta::models
