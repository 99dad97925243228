// SPDX-License-Identifier: Apache-2.0
//
// What runs on an SM, and the interface through which the parts of an SM are told that it starts, moves and ends.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::protocol {

/// What a launch looks like to the platform.
struct KernelContext {
  const trace::Kernel* kernel = nullptr;
  const trace::Launch* launch = nullptr;
  const std::vector<InstructionTraits>* traits = nullptr;
  std::uint32_t launch_index = 0;
  unsigned warp_size = 32;
  unsigned warps_per_cta = 1;
  unsigned registers_per_warp = 1;  ///< general registers of a warp, rounded to the allocation granularity
  /// CTAs of the launch that an SM can hold at once: its warps have the slots below resident_ctas * warps_per_cta. Set
  /// for all but the residency policy, whose answer it is; 0: not known.
  unsigned resident_ctas = 0;
  /// Of these, scheduled at once at most; likewise.
  unsigned active_ctas = 0;
};

struct WarpInfo {
  WarpSlot warp;
  CtaSlot cta;
  std::uint64_t cta_index = 0;  ///< linear CTA index in the grid
  unsigned warp_in_cta = 0;
  LaneMask lanes = 0;  ///< lanes that exist (a CTA's last warp may be partial)
};

struct CtaInfo {
  CtaSlot cta;
  std::uint64_t cta_index = 0;
  unsigned warps = 0;
  unsigned shared_bytes = 0;
};

class SmControl;

/// Base of every extension point but WarpScheduler and Observer: told when launches, CTAs and warps start and end.
///
/// Called by: the SM, in one order for all events: residency policy, operand storage, issue gates, reuse point,
/// write-back point, decode point, fetch listeners, further listeners. An object that stands at several of these places
/// is told once, at the first. Observers are told after all listeners. May change: its own state.
class LifecycleListener {
 public:
  virtual ~LifecycleListener() = default;
  /// Once, before the first launch: what the SM offers (sm_control.h), for a block that keeps it.
  virtual void attach(SmControl&) {}
  /// A launch begins; the SM is empty. After the residency policy has planned it and before its first CTA.
  virtual void kernel_started(const KernelContext&) {}
  /// The launch has ended: no CTA is resident and no access is under way. Not told when the run breaks off.
  virtual void kernel_finished(const KernelContext&) {}
  /// A CTA takes its slot. Its warps follow, in order.
  virtual void cta_launched(const CtaInfo&) {}
  /// The CTA's warps are scheduled from now on, or not any more: it has begun to drain. A CTA is inactive until first
  /// told active.
  virtual void cta_switched(const CtaInfo&, bool /*active*/) {}
  /// A CTA that was switched out has nothing in flight, but for loads that are steered (Residency::Action), and its
  /// context is saved: its registers may be moved.
  virtual void cta_quiesced(const CtaInfo&) {}
  /// The registers of a quiesced CTA have left the storage, which may use their place from now on.
  virtual void cta_moved(const CtaInfo&) {}
  /// The CTA leaves its slot, after its last warp.
  virtual void cta_finished(const CtaInfo&) {}
  /// A warp takes its slot; its registers are undefined.
  virtual void warp_started(const WarpInfo&) {}
  /// The warp has issued its last instruction and has all results; it leaves its slot.
  virtual void warp_finished(const WarpInfo&) {}
  /// The warp enters or leaves the active set of its warp scheduler, for policies that have one (two_level).
  virtual void active_set_changed(const WarpInfo&, bool /*inside*/) {}
};

/// The listeners of an SM, in the order in which they are told.
class LifecycleList {
 public:
  /// A listener that is there already keeps its place.
  void add(LifecycleListener& l) {
    if (std::find(listeners_.begin(), listeners_.end(), &l) == listeners_.end()) listeners_.push_back(&l);
  }
  /// Calls f(listener) for each.
  template <class F>
  void notify(F&& f) const {
    for (LifecycleListener* l : listeners_) f(*l);
  }

 private:
  std::vector<LifecycleListener*> listeners_;
};

}  // namespace regatta::protocol
