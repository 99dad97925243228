// SPDX-License-Identifier: Apache-2.0
//
// Effect of stress on a cell's transistors (aging-aware register file, section 6.4, Equation 3).
#pragma once

#include <regatta/support/config.h>

namespace regatta::models {

/// Negative bias temperature instability. In Equation 3, all factors but the last two are constants of the technology.
/// They cancel when the threshold voltage shift is given as a fraction of the largest possible shift, that of a
/// transistor under stress for the whole lifetime. The remaining factors are
///
///   stress^(1/4) x (1 - sqrt(eta x (1 - stress)))     stress: share of the time under stress
///
/// Knobs nbti.*.
struct NbtiConfig {
  double eta = 0.35;    ///< recovery; not in the paper: chosen so that a duty of 42 % gives about its 46 %
  double lifetime = 3;  ///< years (section 6.4)
  double delay_increase =
      0.139;  ///< of the switching delay at the largest shift of 3 years (section 6.4: the baseline's)

  void declare(support::OptionSet& options);
  void validate() const;

  /// Shift of the threshold voltage, as a fraction of the largest shift in the same lifetime.
  double threshold_shift(double stress) const;
  /// Relative increase of the switching delay for such a shift, proportional to the shift and to lifetime^(1/4).
  double switching_delay_increase(double shift) const;
};

}  // namespace regatta::models
