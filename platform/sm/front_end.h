// SPDX-License-Identifier: Apache-2.0
//
// Fetch and decode: every cycle each scheduler's front end fetches for one of its warps, in turn; the
// instructions arrive in the warp's buffer fetch_latency cycles later. Their values are taken from the trace when the
// issue stage tries them first, so that what waits in the buffers is small. Fetch stops behind a branch until it
// has issued (the trace holds the right path only, so there is no wrong path to squash).
#pragma once

#include "core.h"

namespace regatta::sm {

class FrontEnd {
 public:
  explicit FrontEnd(Core& core);

  /// Last pipeline stage of a cycle: starts at most one fetch per scheduler.
  void cycle();
  /// A fetch arrived: its instructions may be tried from this cycle's issue stage on.
  void fetched(Warp& warp);
  /// Call whenever something changed that lets a warp fetch again, or stops it for good.
  void update(Warp& warp);
  void unblocked(Warp& warp);
  /// Decodes the head of the warp's buffer, which is there and not decoded yet: lanes, values and addresses.
  DynamicInstruction& decode(Warp& warp);
  /// A warp left the scheduler (finished or switched out).
  void removed(Warp& warp);
  // Statistics.
  std::uint64_t fetches = 0;
  std::uint64_t instructions = 0;

 private:
  void fetch(Warp& warp);
  bool wants(const Warp& warp) const;

  Core& core_;
  std::vector<WarpMask> wanting_;  ///< per scheduler, by local index
  std::vector<unsigned> next_;     ///< per scheduler, round robin
  std::vector<std::array<WarpSlot, protocol::max_warps_per_scheduler>> slots_;
};

}  // namespace regatta::sm
