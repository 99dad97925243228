// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/rfv/renaming_config.h>
#include <regatta/trace/rfv.h>

namespace regatta::models {

/// How a launch uses a file whose registers are renamed, counted in rows of one part of the file.
///
/// C is the most rows that a CTA has in a part at once, exempt registers apart: the registers that one of its warps may
/// have at once, for all of its warps there. Barriers may make every warp run before one ends, and divergence makes a
/// warp run both sides, so C counts all warps and the compiler's number counts both sides.
struct RenamingPlan {
  trace::RfvSection section;
  unsigned registers = 0;  ///< of a thread of the kernel
  unsigned exempt = 0;     ///< registers that are mapped directly
  unsigned parts = 1;      ///< of the file
  unsigned rows = 0;       ///< of a part
  unsigned warps_per_cta = 1;
  unsigned resident_ctas =
      0;  ///< as many as allowed, whose exempt registers leave C rows in each part; C for each with admission "rows"
  unsigned cta_rows = 0;   ///< C
  unsigned warp_rows = 0;  ///< W: the most rows that a warp has at once, exempt registers apart
  /// A part does not hold C rows, but W: one CTA is resident, and registers of its warps go to memory (rfv.spill).
  bool spills = false;
  unsigned start_rows = 0;  ///< of a warp, from its start on

  unsigned part_of(protocol::WarpSlot warp) const { return warp.value() % parts; }
  /// Warps of the CTA in this slot whose rows lie in a part.
  unsigned warps_in(unsigned part, protocol::CtaSlot cta) const;
};

/// For at most `most_ctas` resident CTAs. Throws support::ConfigError if the kernel has no section "rfv", naming the
/// option of regatta-annotate, or if the file does not hold one CTA, with the numbers.
RenamingPlan renaming_plan(const protocol::KernelContext& context, const RenamingConfig& config, unsigned most_ctas);

}  // namespace regatta::models
