// SPDX-License-Identifier: Apache-2.0
//
// How many CTAs of a launch an SM holds when pairs of CTAs share a resource (Jatala, thesis, section 2.2.4).
#pragma once

#include <regatta/sharing/threshold.h>

#include <cstdint>

namespace regatta::models {

/// CTAs of one SM: `pairs` pairs of CTAs that share, the others have all of their resources.
struct SharingPlan {
  unsigned ctas = 0;
  unsigned pairs = 0;  ///< 0: nothing is shared in this launch

  unsigned unshared() const { return ctas - 2 * pairs; }
  bool sharing() const { return pairs != 0; }
};

/// `resource`: units of an SM, `per_cta`: of a CTA, at least 1. `most`: CTAs that all other limits allow.
///
/// Equations 2.1 to 2.4: pairs take (1 + t) x `per_cta` units, and as many CTAs make progress as without sharing. The
/// thesis does not write down the bound of twice as many CTAs, which follows from it: there is no pair without a CTA
/// that would be resident alone.
SharingPlan effective_ctas(std::uint64_t resource, std::uint64_t per_cta, const Threshold& t, unsigned most);

}  // namespace regatta::models
