// SPDX-License-Identifier: Apache-2.0
//
// CTA dispatch inside an SM: warp slots, launch and end of CTAs, barriers, and the residency policy's actions.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sm/cta_source.h>

#include "core.h"
#include "holds.h"

#include <string>

namespace regatta::sm {

class FrontEnd;
class IssueStage;
class LoadStoreUnit;

class CtaStage {
 public:
  explicit CtaStage(Core& core) : core_(core) {}
  void connect(FrontEnd& front_end, IssueStage& issue, LoadStoreUnit& lsu, CtaSource& source,
               protocol::Residency& residency, const protocol::OperandStorage& storage,
               std::vector<protocol::IssueGate*> gates);

  /// `resident` CTAs at most from now on, by the residency policy, which was shown `limits`; the SM is empty.
  void kernel_started(unsigned resident, const protocol::SmLimits& limits);
  /// A barrier instruction issued: its warp waits, and has arrived if number and threads of the barrier are static.
  void barrier_issued(Warp& warp, const DynamicInstruction& d);
  /// A barrier instruction has its operands: where one of them is the barrier's number or threads, the warp has
  /// arrived.
  void barrier_dispatched(const DynamicInstruction& d);
  void barrier_open(Warp& warp);
  /// The warp's last instruction has issued.
  void warp_exited(Warp& warp);
  /// Call when an instruction of the warp retired: ends the warp when nothing of it is left.
  void retired(Warp& warp);
  void warp_state_changed(Warp& warp, WarpState before);
  /// The residency policy's answer may have changed.
  void poke() { dirty_ = true; }
  /// Last stage of a cycle: carries out what the residency policy asks for.
  void cycle();
  unsigned resident() const { return resident_; }
  /// What keeps a warp at its barrier, and one whose CTA is inactive.
  Hold at_barrier(const Warp& warp) const;
  Hold inactive(const Warp& warp) const;
  /// "residency ... launches none of 5 CTAs that wait" when it could; "" when there is nothing to say.
  std::string launches_nothing() const;
  /// Registers of resident warps, summed over the cycles so far, and at most.
  std::uint64_t register_cycles() const {
    return register_cycles_ + (core_.now.value() - registers_since_.value()) * registers_;
  }
  std::uint64_t most_registers() const { return most_registers_; }

 private:
  /// Takes a CTA from the source and makes it resident; false when the source has none, or none now.
  bool launch();
  /// After `resident_` changed.
  void account_registers();
  void activate(ResidentCta& cta);
  void deactivate(ResidentCta& cta);
  void end_warp(Warp& warp);
  void look_at_stall(ResidentCta& cta);
  void arrive(Warp& warp, const DynamicInstruction& d, unsigned number, unsigned threads);
  void check_barrier(ResidentCta& cta, unsigned id);
  [[noreturn, gnu::noinline, gnu::cold]] void broken(const std::string& did, const std::string& expected) const;
  /// The policy switches a CTA in or out: the one that it names, which must be resident and not so already.
  ResidentCta& named(const protocol::Residency::Action& action);
  /// The policy wants `cta` active: whether the SM has the room.
  void check_room(const ResidentCta& cta) const;

  Core& core_;
  FrontEnd* front_end_ = nullptr;
  IssueStage* issue_ = nullptr;
  LoadStoreUnit* lsu_ = nullptr;
  CtaSource* source_ = nullptr;
  protocol::Residency* residency_ = nullptr;
  const protocol::OperandStorage* storage_ = nullptr;
  std::vector<protocol::IssueGate*> gates_;
  std::vector<ResidentCta> ctas_;
  std::vector<unsigned> waiting_warps_;  ///< per CTA: warps that wait for memory or at a barrier
  std::vector<protocol::CtaStatus> view_;
  protocol::SmLimits limits_;
  std::uint64_t age_ = 0;
  unsigned resident_ = 0;
  std::uint64_t registers_ = 0, most_registers_ = 0;  ///< of resident warps
  std::uint64_t register_cycles_ = 0;                 ///< until registers_since_
  Cycle registers_since_;
  unsigned active_ctas_ = 0;
  unsigned active_warps_ = 0;
  bool follows_stalls_ = true;  ///< the residency policy's answer
  bool dirty_ = false;
  Cycle asked_;  ///< when the policy was asked last
};

}  // namespace regatta::sm
