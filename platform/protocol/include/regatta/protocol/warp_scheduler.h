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
  unsigned priority_class = 0;  ///< set by a policy of the scheme (SmControl::classify)
};

/// Notified of changes to the active set by a policy in which only the warps of that set may issue.
class ActiveSetListener {
 public:
  virtual ~ActiveSetListener() = default;
  /// The warp with this local index enters or leaves the policy's active set. Not called for warps that are removed.
  virtual void active_set_changed(unsigned warp, bool inside) = 0;
};

/// Selects the ready warp that issues. A plain policy: no time, no sockets.
///
/// Called by: issue, once per scheduler and cycle with at least one candidate (collector unit free, not closed or
/// paused); if a gate refuses the picked warp, pick() is called again without it. May change: its own state.
class WarpScheduler {
 public:
  /// What eligible() answers.
  struct Eligible {
    WarpMask warps = 0;     ///< ready warps that may be offered to pick() in this cycle
    bool settling = false;  ///< for the same ready warps, the next cycle's answer would differ
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
  /// Called once, before the first launch. A policy with an active set keeps the listener and notifies it of changes.
  virtual void connect(ActiveSetListener&) {}
  /// True if eligible() may exclude ready warps; asked once, before the first launch.
  virtual bool restricts() const { return false; }
  /// Called before pick() in every cycle with a ready warp, if restricts() is true. Returns the warps that may issue.
  virtual Eligible eligible(WarpMask ready) { return Eligible{ready, false}; }
};

}  // namespace regatta::protocol
