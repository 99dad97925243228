// SPDX-License-Identifier: Apache-2.0
//
// Rename (WIR section V-B): an issued instruction gets the physical registers of its sources. Its kind and the load
// rules decide whether the reuse buffer may serve it.
#pragma once

#include <regatta/models/wir/load_rules.h>
#include <regatta/models/wir/physical_register_file.h>
#include <regatta/protocol/extension_points.h>

#include <vector>

namespace regatta::models::wir {

/// The mapping is captured at issue. The cycle of the stage follows (RenameStage and ReuseUnit together take
/// front_delay() cycles). No mapping of a source changes in between, because the scoreboard keeps readers behind
/// writers.
///
/// A half of the rename tables has a limited number of reads per cycle. An instruction with more registers (a 64-bit
/// addition has four sources) takes more cycles and delays its scheduler's next instruction by as many.
///
/// As a gate it also holds two kinds of instruction until older ones of the warp have read the registers that they
/// overwrite: a divergent one with a pinned destination, because it overwrites the register in place, and any other, if
/// registers are so scarce that waiting readers could hold the last ones (RegisterState::credits_left).
class RenameStage : public protocol::IssueGate {
 public:
  explicit RenameStage(PhysicalRegisterFile& file);

  bool keeps_cycle_time() const override { return true; }
  bool may_issue(const protocol::DynamicInstruction& d) override;
  void issued(const protocol::DynamicInstruction& d) override;
  void barrier_opened(const protocol::WarpInfo& warp) override { rules_.barrier_opened(warp, state_->begin()); }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  /// The last holder has read a register: refused instructions may be asked about again.
  void opened() { changed_.notify(sc_core::SC_ZERO_TIME); }
  const LoadRules& load_rules() const { return rules_; }

 private:
  struct Half {
    std::uint64_t busy_until = 0;  ///< the first cycle in which its ports are free
    std::uint64_t told = 0;        ///< that cycle, once somebody was refused and is to be asked again in it
  };
  bool tables_busy(unsigned scheduler);
  void occupy_tables(const protocol::DynamicInstruction& d, InFlight& f);
  void tag(const protocol::DynamicInstruction& d, const StaticCode& code, InFlight& f) const;

  PhysicalRegisterFile* file_;
  RegisterState* state_;
  LoadRules rules_;
  protocol::LaneMask all_lanes_ = 0;
  std::vector<unsigned> warps_of_cta_;  ///< by CTA slot: resident
  std::vector<Half> halves_;            ///< of the rename tables, by scheduler
  protocol::GateListener* listener_ = nullptr;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir
