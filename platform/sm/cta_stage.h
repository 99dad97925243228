// SPDX-License-Identifier: Apache-2.0
//
// CTA dispatch inside an SM: warp slots, launch and end of CTAs, barriers, and the residency policy's actions.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sm/cta_source.h>

#include "core.h"
#include "holds.h"
#include "register_budgets.h"

#include <string>

namespace regatta::sm {

class FrontEnd;
class IssueStage;
class LoadStoreUnit;

class CtaStage : public sc_core::sc_module {
 public:
  CtaStage(const sc_core::sc_module_name& name, Core& core) : sc_module(name), core_(core), budgets_(core) {}
  void connect(FrontEnd& front_end, IssueStage& issue, LoadStoreUnit& lsu, CtaSource& source,
               protocol::Residency& residency, std::vector<protocol::IssueGate*> gates);

  /// The residency policy, which was shown `limits`, has made this plan for the launch; the SM is empty.
  void kernel_started(const protocol::ResourcePlan& plan, const protocol::SmLimits& limits,
                      const protocol::OperandStorage& storage);
  /// A barrier instruction issued: its warp waits, and has arrived if number and threads of the barrier are static.
  void barrier_issued(Warp& warp, const DynamicInstruction& d);
  /// A barrier instruction has its operands: where one of them is the barrier's number or threads, the warp has
  /// arrived.
  void barrier_dispatched(const DynamicInstruction& d);
  void barrier_open(Warp& warp);
  /// Of a warp whose next instruction is a setmaxnreg and finds its operands: whether it may issue.
  WarpState state_at_budget(const Warp& warp, const trace::StaticInstruction& i) const;
  /// A setmaxnreg has issued.
  void budget_issued(Warp& warp, const DynamicInstruction& d);
  /// The launcher is through with the warp, which has its registers since the launch of its CTA.
  void warp_launched(Warp& warp);
  /// The warp's last instruction has issued.
  void warp_exited(Warp& warp);
  /// Call when an instruction of the warp retired: ends the warp when nothing of it is left.
  void retired(Warp& warp);
  void warp_state_changed(Warp& warp, WarpState before);
  /// The residency policy's answer may have changed.
  void reconsider() { dirty_ = true; }
  /// The context of the CTA in this slot has been written to shared memory, or read from it.
  void context_moved(std::size_t slot);
  /// Whether cycle() may ask for a CTA.
  bool may_ask() const { return (dirty_ || draining_ != 0 || launch_is_due()) && !nothing_waits(); }
  /// Last stage of a cycle: carries out what the residency policy asks for.
  void cycle() {
    if (dirty_ || draining_ != 0 || launch_is_due()) consult();
  }
  unsigned resident() const { return resident_; }
  /// Whether the launch has no CTA left to give to an SM.
  bool nothing_waits() const { return source_->waiting() == 0; }
  /// The same for a past cycle, exactly, when all SMs are through with it.
  bool nothing_waited(Cycle cycle) const { return source_->none_waited(cycle.value()); }
  /// Warps of resident CTAs, without those that wait to be admitted.
  std::uint64_t resident_warps() const {
    return std::uint64_t{resident_} * core_.kernel.warps_per_cta - warps_waiting_;
  }
  const protocol::ResourcePlan& plan() const { return plan_; }
  /// What keeps a warp at its barrier, and one whose CTA is inactive.
  Hold at_barrier(const Warp& warp) const;
  Hold inactive(const Warp& warp) const;
  Hold at_budget(const Warp& warp, const trace::StaticInstruction& i) const;
  /// "residency ... launches none of 5 CTAs that wait" when it could; "" when there is nothing to say.
  std::string launches_nothing() const;
  /// "residency ... has not admitted 3 warps of CTA slot 1 ..."; "" if no warp waits.
  std::string admits_nothing() const;
  /// Registers of resident warps, summed over the cycles so far, and at most.
  std::uint64_t register_cycles() const {
    return register_cycles_ + (core_.now.value() - registers_since_.value()) * registers_;
  }
  std::uint64_t most_registers() const { return most_registers_; }
  /// Of a residency policy that switches CTAs.
  void register_stats(support::StatGroup& group);

 private:
  /// Asks the residency policy until it has no further action.
  void consult();
  /// Takes a CTA from the source and makes it resident, its warps too unless they wait to be admitted; false when the
  /// source has none, or none now.
  bool launch(bool warps_wait);
  /// The launcher of an SM takes one CTA after another, and its warps one after another. Whether it is free.
  bool launcher_free() const { return core_.now >= launcher_free_; }
  bool launch_is_due() const { return launch_wanted_ && launcher_free(); }
  void start(Warp& warp);
  /// A warp without instructions ends at once. The last warp to end also ends the CTA.
  void end_if_empty(Warp& warp);
  void schedule(const ResidentCta& cta, Warp& warp);
  void admit(const protocol::Residency::Action& action);
  /// After `resident_` or `warps_waiting_` changed.
  void account_registers();
  /// The CTA counts as active from now on: whether there is room, and how much is left.
  void reserve(ResidentCta& cta);
  /// Its warps join their schedulers, or leave them.
  void activate(ResidentCta& cta);
  void deactivate(ResidentCta& cta);
  void switch_out(ResidentCta& cta, const protocol::Residency::Action& action);
  void switch_in(ResidentCta& cta, const protocol::Residency::Action& action);
  void moved(ResidentCta& cta);
  /// Of a CTA that drains: whether all that it waits for has ended, which makes it quiesced.
  void look_at_draining(ResidentCta& cta);
  bool drained(const ResidentCta& cta) const;
  static bool counts_as_active(const ResidentCta& cta) {
    return cta.phase == protocol::CtaPhase::active || cta.phase == protocol::CtaPhase::entering;
  }
  void end_warp(Warp& warp);
  void look_at_stall(ResidentCta& cta);
  void arrive(Warp& warp, const DynamicInstruction& d, unsigned number, unsigned threads);
  void check_barrier(ResidentCta& cta, unsigned id);
  void cluster_half(Warp& warp, const trace::StaticInstruction& i);
  void check_cluster_barrier(ResidentCta& cta);
  [[noreturn, gnu::noinline, gnu::cold]] void broken(const std::string& did, const std::string& expected) const;
  /// The policy switches a CTA: the one that it names, which must be resident and in a phase that the action is for.
  ResidentCta& named(const protocol::Residency::Action& action);
  /// The policy wants `cta` active: whether the SM has the room.
  void check_room(const ResidentCta& cta) const;

  Core& core_;
  RegisterBudgets budgets_;
  FrontEnd* front_end_ = nullptr;
  IssueStage* issue_ = nullptr;
  LoadStoreUnit* lsu_ = nullptr;
  CtaSource* source_ = nullptr;
  protocol::Residency* residency_ = nullptr;
  std::vector<protocol::IssueGate*> gates_;
  std::vector<ResidentCta> ctas_;
  std::vector<unsigned> stalled_warps_;  ///< per CTA: warps that wait for memory or at a barrier
  std::vector<protocol::CtaStatus> view_;
  protocol::SmLimits limits_;
  protocol::ResourcePlan plan_;
  std::uint64_t age_ = 0;
  Cycle launcher_free_;
  bool launch_wanted_ = false;  ///< the residency policy launches a CTA when the launcher is free
  Cycle barrier_free_;          ///< the barrier unit takes the next arrival then, with sm.barrier_interval
  unsigned resident_ = 0;
  unsigned warps_waiting_ = 0;                        ///< of resident CTAs: not admitted
  std::uint64_t registers_ = 0, most_registers_ = 0;  ///< of resident warps
  std::uint64_t register_cycles_ = 0;                 ///< until registers_since_
  Cycle registers_since_;
  unsigned active_ctas_ = 0;  ///< those that enter included, as of the warps
  unsigned active_warps_ = 0;
  unsigned draining_ = 0;  ///< CTAs
  std::uint64_t switches_out_ = 0, switches_in_ = 0, drain_cycles_ = 0;
  bool follows_stalls_ = true;  ///< the residency policy's answer
  bool follows_warps_ = false;  ///< likewise
  bool dirty_ = false;
  Cycle asked_;  ///< when the policy was asked last
};

}  // namespace regatta::sm
