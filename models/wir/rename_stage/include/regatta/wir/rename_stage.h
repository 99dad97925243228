// SPDX-License-Identifier: Apache-2.0
//
// Rename (WIR section V-B): an issued instruction gets the physical registers of its sources. Its kind and the load
// rules decide whether the reuse buffer may serve it.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>
#include <regatta/wir/in_flight.h>
#include <regatta/wir/load_rules.h>
#include <regatta/wir/physical_register_file.h>
#include <regatta/wir/rename_tables.h>
#include <regatta/wir/reuse_buffer.h>

#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// The tables are asked at issue, in program order; the cycles of the stage follow (RenameStage and ReuseUnit together
/// take front_delay() cycles). No mapping of a source changes in between, because the scoreboard keeps readers behind
/// writers.
///
/// A half of the rename tables has a limited number of reads per cycle. An instruction with more registers (a 64-bit
/// addition has four sources) takes more cycles and delays its scheduler's next instruction by as many.
///
/// As a gate it also holds two kinds of instruction until older ones of the warp have read the registers that they
/// overwrite: a divergent one with a pinned destination, because it overwrites the register in place, and any other, if
/// registers are so scarce that waiting readers could hold the last ones (ReaderCredits).
class RenameStage : public sc_core::sc_module,
                    public protocol::IssueGate,
                    public protocol::GateReporter,
                    public protocol::LookupClient<RenamedSources>,
                    public ReferenceKeeper,
                    public support::StatProvider {
 public:
  protocol::LookupInitiator<RenameRequest, RenamedSources> tables;
  sc_core::sc_port<RenameAccess> access;
  sc_core::sc_port<ReaderCredits> credits;
  sc_core::sc_port<ReuseUpdates> reuse;  ///< told which entries will be looked up
  sc_core::sc_port<RegisterAccess> registers;
  sc_core::sc_export<ReferenceKeeper> keeper;  ///< of the instructions in flight

  RenameStage(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
              InFlightTable& in_flight);

  bool keeps_cycle_time() const override { return true; }
  bool may_issue(const protocol::DynamicInstruction& d) override;
  void issued(const protocol::DynamicInstruction& d) override;
  void barrier_opened(const protocol::WarpInfo& warp) override { rules_.barrier_opened(warp, clock_.now()); }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override { rules_.cta_started(cta.cta); }
  void warp_started(const protocol::WarpInfo& warp) override { rules_.warp_started(warp); }
  /// The last holder has read a register: refused instructions may be asked about again.
  const sc_core::sc_event& changed() const override { return credits->opened(); }
  void answered(std::uint32_t pool_index, const RenamedSources& sources) override {
    take(in_flight_[pool_index], sources);
  }
  void count(ReferenceCounts& counts) const override { in_flight_.count(counts); }

  void end_of_elaboration() override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override { group.costs_nothing("counted by the rename tables"); }

  const LoadRules& load_rules() const { return rules_; }
  /// The running kernel's instructions, by static index.
  std::vector<StaticCode>& code() { return code_; }
  const std::uint64_t& instructions() const { return instructions_; }

 private:
  struct Half {
    std::uint64_t busy_until = 0;  ///< the first cycle in which its ports are free
    std::uint64_t told = 0;        ///< that cycle, once somebody was refused and is to be asked again in it
    const protocol::DynamicInstruction* refused = nullptr;  ///< has issued, and the tables were busy
  };
  bool tables_busy(unsigned scheduler);
  bool ask(const protocol::DynamicInstruction& d, InFlight& f);
  void ask_again();
  void take(InFlight& f, const RenamedSources& sources);

  support::ClockDomain& clock_;
  const unsigned front_delay_;
  const bool pairs_, loads_;
  InFlightTable& in_flight_;
  const RenameEntries* entries_ = nullptr;
  ReaderCredits* credits_ = nullptr;
  const RegisterPool* pool_ = nullptr;
  ReuseUpdates* reuse_ = nullptr;
  RegisterAccess* registers_ = nullptr;
  LoadRules rules_;
  std::vector<StaticCode> code_;
  protocol::LaneMask all_lanes_ = 0;
  std::vector<Half> halves_;  ///< of the rename tables, by scheduler
  protocol::GateListener* listener_ = nullptr;
  support::CycleClient again_;  ///< the next cycle: a half has somebody refused
  std::uint64_t instructions_ = 0, refused_issues_ = 0;
};

}  // namespace regatta::models::wir
