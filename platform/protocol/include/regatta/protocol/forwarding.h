// SPDX-License-Identifier: Apache-2.0
//
// Bases of blocks that wrap another block at the same extension point: a cache in front of a storage, a fault in a
// gate. Every call goes to the wrapped block; a wrapper overrides what it changes, and calls the base to pass it on.
#pragma once

#include <regatta/protocol/issue_gate.h>
#include <regatta/protocol/operand_storage.h>
#include <regatta/protocol/reuse_point.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <utility>

namespace regatta::protocol {

/// Forwards what all extension points have: the calls of LifecycleListener and TimeKeeper.
///
/// The wrapped block keeps time as it did: a wrapper that reads sc_time_stamp(), or notifies events after a time,
/// answers false to keeps_cycle_time(). The SM must not know the wrapped block besides, as a DecodePoint or a
/// LifecycleListener of SmParts: it would hear of each CTA and warp twice.
template <class Point>
class Forwarding : public Point {
 public:
  /// `inside`: not null.
  explicit Forwarding(std::unique_ptr<Point> inside) : owned_(std::move(inside)), inside_(*owned_) {}
  /// `inside` outlives the wrapper.
  explicit Forwarding(Point& inside) : inside_(inside) {}

  bool keeps_cycle_time() const override { return inside_.keeps_cycle_time(); }
  void attach(SmControl& control) override { inside_.attach(control); }
  void kernel_started(const KernelContext& context) override { inside_.kernel_started(context); }
  void kernel_finished(const KernelContext& context) override { inside_.kernel_finished(context); }
  void cta_launched(const CtaInfo& cta) override { inside_.cta_launched(cta); }
  void cta_switched(const CtaInfo& cta, bool active) override { inside_.cta_switched(cta, active); }
  void cta_quiesced(const CtaInfo& cta) override { inside_.cta_quiesced(cta); }
  void cta_moved(const CtaInfo& cta) override { inside_.cta_moved(cta); }
  void cta_finished(const CtaInfo& cta) override { inside_.cta_finished(cta); }
  void warp_started(const WarpInfo& warp) override { inside_.warp_started(warp); }
  void warp_finished(const WarpInfo& warp) override { inside_.warp_finished(warp); }
  void budget_changed(const WarpInfo& warp, unsigned before, unsigned after) override {
    inside_.budget_changed(warp, before, after);
  }
  std::string budget_obstacle() const override { return inside_.budget_obstacle(); }
  void active_set_changed(const WarpInfo& warp, bool is_inside) override {
    inside_.active_set_changed(warp, is_inside);
  }

 protected:
  Point& inside() const { return inside_; }

 private:
  std::unique_ptr<Point> owned_;
  Point& inside_;
};

/// The sockets are the wrapped storage's: accesses do not pass through the wrapper (InterposedStorage).
class ForwardingStorage : public Forwarding<OperandStorage> {
 public:
  using Forwarding::Forwarding;
  OperandTargetSocket& read_socket() override { return inside().read_socket(); }
  OperandTargetSocket& write_socket() override { return inside().write_socket(); }
  std::uint64_t capacity_registers() const override { return inside().capacity_registers(); }
  bool has_places_for_warps() const override { return inside().has_places_for_warps(); }
};

class ForwardingGate : public Forwarding<IssueGate> {
 public:
  using Forwarding::Forwarding;
  bool may_issue(const DynamicInstruction& instruction) override { return inside().may_issue(instruction); }
  void issued(const DynamicInstruction& instruction) override { inside().issued(instruction); }
  void written_back(const DynamicInstruction& instruction) override { inside().written_back(instruction); }
  void barrier_opened(const WarpInfo& warp) override { inside().barrier_opened(warp); }
  const sc_core::sc_event& changed() const override { return inside().changed(); }
  /// The wrapper's own roles, and those of the wrapped gate that the wrapper does not have.
  GateRoles roles() override {
    GateRoles own = Forwarding::roles();
    const GateRoles theirs = inside().roles();
    if (own.reporter == nullptr) own.reporter = theirs.reporter;
    if (own.inserted == nullptr) own.inserted = theirs.inserted;
    if (own.mover == nullptr) own.mover = theirs.mover;
    if (own.keeper == nullptr) own.keeper = theirs.keeper;
    return own;
  }
};

class ForwardingReusePoint : public Forwarding<ReusePoint> {
 public:
  using Forwarding::Forwarding;
  Decision decide(DynamicInstruction& instruction) override { return inside().decide(instruction); }
  unsigned latency() const override { return inside().latency(); }
  std::size_t resume_kept(unsigned asked, DecidedList& list) override { return inside().resume_kept(asked, list); }
  bool needs_cycle() const override { return inside().needs_cycle(); }
  unsigned bypass_latency() const override { return inside().bypass_latency(); }
  std::string result_origin(const DynamicInstruction& instruction, unsigned destination) const override {
    return inside().result_origin(instruction, destination);
  }
  void written_back(const DynamicInstruction& instruction) override { inside().written_back(instruction); }
  const sc_core::sc_event& changed() const override { return inside().changed(); }
};

}  // namespace regatta::protocol
