// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>

#include <cstdint>

namespace regatta::protocol {

/// One bit per warp of a scheduler, by its local index.
using WarpMask = std::uint64_t;
inline constexpr unsigned max_warps_per_scheduler = 64;

/// A warp as a scheduling policy sees it.
struct ScheduledWarp {
  WarpInfo info;
  std::uint64_t age = 0;        ///< grows with launch order, and by warp number within a CTA
  unsigned priority_class = 0;  ///< handed over by a policy of the scheme (SmControl::classify)
};

/// Told by a policy that lets only a set of its warps issue who belongs to the set.
class ActiveSetListener {
 public:
  virtual ~ActiveSetListener() = default;
  /// The warp with this local index enters the policy's active set, or leaves it. Not told of warps that are removed.
  virtual void active_set_changed(unsigned warp, bool inside) = 0;
};

/// Which ready warp. A plain policy: no time, no sockets.
///
/// Called by: issue, once per scheduler and cycle with at least one candidate; if the picked warp turns out to
/// be refused (unit busy, gate), pick() is called again without it in the same cycle. May change: its own state.
class WarpScheduler {
 public:
  /// What eligible() answers.
  struct Eligible {
    WarpMask warps = 0;     ///< of the ready ones, those that pick() may be asked about in this cycle
    bool settling = false;  ///< asked about the same warps in the next cycle, the answer would be another
  };

  virtual ~WarpScheduler() = default;
  /// Local index of the warp to try; `ready` is not zero and the answer must be one of its bits.
  virtual unsigned pick(WarpMask ready) = 0;
  virtual void issued(unsigned warp) = 0;
  /// A warp joined.
  virtual void warp_added(unsigned warp, const ScheduledWarp& added) = 0;
  virtual void warp_removed(unsigned warp) = 0;
  /// The warp has another priority class from now on.
  virtual void class_changed(unsigned /*warp*/, unsigned /*priority_class*/) {}
  /// The warp began or ended waiting for something long: a long-latency result, a fence, a barrier.
  virtual void long_latency(unsigned /*warp*/, bool /*waiting*/) {}
  /// Once, before the first launch: a policy with an active set keeps the listener and tells it.
  virtual void connect(ActiveSetListener&) {}
  /// Whether eligible() has something to say; asked once, before the first launch.
  virtual bool restricts() const { return false; }
  /// First in every cycle with a ready warp, for a policy that lets only some of them take part.
  virtual Eligible eligible(WarpMask ready) { return Eligible{ready, false}; }
};

}  // namespace regatta::protocol
