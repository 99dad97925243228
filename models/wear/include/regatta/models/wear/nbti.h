// SPDX-License-Identifier: Apache-2.0
//
// What stress does to a cell's transistors (aging-aware register file, section 6.4, Equation 3).
#pragma once

#include <regatta/support/config.h>

namespace regatta::models {

/// Negative bias temperature instability. Of Equation 3 all factors but the last two are constants of the technology,
/// which cancel when the shift of the threshold voltage is given as a part of the largest that there can be: of a
/// transistor under stress for all of the lifetime. What remains is
///
///   stress^(1/4) x (1 - sqrt(eta x (1 - stress)))     stress: share of the time under stress
///
/// Knobs nbti.*.
struct NbtiConfig {
  double eta = 0.35;    ///< recovery; the paper does not print it: so that duty 42 % gives about its 46 %
  double lifetime = 3;  ///< years (section 6.4)
  double delay_increase =
      0.139;  ///< of the switching delay at the largest shift of 3 years (section 6.4: the baseline's)

  void declare(support::OptionSet& options);
  void validate() const;

  /// Shift of the threshold voltage, as a part of the largest of the same lifetime.
  double threshold_shift(double stress) const;
  /// Increase of the switching delay, a ratio, for such a shift: proportional to it, and to the fourth root of time.
  double switching_delay_increase(double shift) const;
};

}  // namespace regatta::models
