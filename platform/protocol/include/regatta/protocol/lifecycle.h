// SPDX-License-Identifier: Apache-2.0
//
// Launches, CTAs and warps of an SM, and the interface that notifies the SM's parts when they start, move and end.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <algorithm>
#include <cstdint>
#include <string>
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
  unsigned registers_per_warp = 1;  ///< general registers of a warp, rounded to the allocation granularity; of a kernel
                                    ///< with setmaxnreg, those that it begins with
  /// The most that a warp has at any time, likewise: more only with setmaxnreg. Register numbers lie below.
  unsigned most_registers_per_warp = 1;
  /// Most CTAs of the launch that an SM holds at a time; warp slots are below resident_ctas * warps_per_cta.
  /// 0: not known, as in Residency::plan(), which determines it.
  unsigned resident_ctas = 0;
  /// Most of these that are active at a time; 0 likewise.
  unsigned active_ctas = 0;
};

struct WarpInfo {
  WarpSlot warp;
  CtaSlot cta;
  std::uint64_t cta_index = 0;  ///< linear CTA index in the grid
  unsigned warp_in_cta = 0;
  LaneMask lanes = 0;          ///< lanes that exist (a CTA's last warp may be partial)
  std::uint8_t scheduler = 0;  ///< of a warp whose CTA is active
};

struct CtaInfo {
  CtaSlot cta;
  std::uint64_t cta_index = 0;
  unsigned warps = 0;
  unsigned shared_bytes = 0;
};

class SmControl;

/// Base of every extension point but WarpScheduler and Observer: notified when launches, CTAs and warps start and end.
///
/// Called by: the SM, in one order for all events: residency policy, operand storage, issue gates, reuse point,
/// write-back point, decode point, fetch listeners, further listeners. An object at several of these positions is
/// notified once, at the first. Observers are notified after all listeners. May change: its own state.
class LifecycleListener {
 public:
  virtual ~LifecycleListener() = default;
  /// Called once, before the first launch. A block that needs the services in sm_control.h keeps the reference.
  virtual void attach(SmControl&) {}
  /// A launch begins; the SM is empty. After the residency policy has planned it and before its first CTA.
  virtual void kernel_started(const KernelContext&) {}
  /// The launch has ended: no CTA is resident and no access is under way. Not called if the run ends early.
  virtual void kernel_finished(const KernelContext&) {}
  /// A CTA takes its slot. Its warps follow, in order, unless they wait to be admitted (Residency::Action::warps_wait).
  virtual void cta_launched(const CtaInfo&) {}
  /// The CTA's warps are scheduled from now on (true), or the CTA has begun to drain (false). A CTA is inactive until
  /// the first call with true.
  virtual void cta_switched(const CtaInfo&, bool /*active*/) {}
  /// A CTA that was switched out has nothing in flight except steered loads (Residency::Action::steer_loads), and its
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
  /// A setmaxnreg of the warp has issued, with nothing else of it in flight: it had `before` warp registers and has
  /// `after` from now on. Fewer: those from `after` on have no value any more, and their place is its CTA's. More:
  /// those from `before` on are undefined; other warps of the CTA, in the same sub-core, have given as many away.
  virtual void budget_changed(const WarpInfo&, unsigned /*before*/, unsigned /*after*/) {}
  /// Why the part cannot follow that, as a clause behind its name: "gives ...". Empty: it follows, or does not care. A
  /// kernel with setmaxnreg is refused where a part of the SM cannot follow.
  virtual std::string budget_obstacle() const { return {}; }
  /// The warp enters or leaves the active set of its warp scheduler, for policies that have one (two_level).
  virtual void active_set_changed(const WarpInfo&, bool /*inside*/) {}
};

/// The listeners of an SM, in the order in which they are notified.
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
