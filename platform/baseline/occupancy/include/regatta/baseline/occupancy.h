// SPDX-License-Identifier: Apache-2.0
//
// How many CTAs of a launch fit on an SM, by each of its limits (CUDA's occupancy rules). Every residency policy starts
// from this.
#pragma once

#include <regatta/protocol/residency.h>

#include <string>

namespace regatta::models {

/// Number of resident CTAs that each limit allows, and their minimum.
struct Occupancy {
  unsigned by_ctas = 0;
  unsigned by_warps = 0;
  unsigned by_threads = 0;
  unsigned by_registers = 0;
  unsigned by_shared = 0;
  unsigned ctas() const;
  /// The binding limit: "CTAs", "warps", "threads", "registers" or "shared memory".
  std::string bound() const;
};

/// `registers_per_warp` in warp registers, already rounded to the allocation granularity; `shared_bytes` of one CTA.
Occupancy occupancy(const protocol::SmLimits& limits, unsigned warps_per_cta, unsigned registers_per_warp,
                    unsigned shared_bytes);
/// Of the launch. Throws support::ConfigError, naming the binding limit, when not one CTA fits.
Occupancy occupancy_of(const protocol::KernelContext& context, const protocol::SmLimits& limits);

}  // namespace regatta::models
