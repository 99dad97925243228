// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/aging/compressed_rows.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/cycle_event.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::aging {

/// Inserts the special MOV before a divergent write to a compressed register (aging-aware register file,
/// section 5.1.1): the MOV decompresses the register and stores it in its row, in which the write then changes some
/// lanes. With compression.wake = issue it also wakes the rows that an instruction may write.
class MoveInserter : public sc_core::sc_module,
                     public protocol::IssueGate,
                     public protocol::MoveRequester,
                     public support::StatProvider {
 public:
  MoveInserter(const sc_core::sc_module_name& name, CompressedRows& rows) : sc_module(name), rows_(rows) {}

  bool keeps_cycle_time() const override { return true; }
  void inject_through(protocol::Injector& injector) override { injector_ = &injector; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    return d.active == rows_.all_lanes() || d.active == 0 || d.injected || in_place(d);
  }
  void issued(const protocol::DynamicInstruction& d) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  std::uint64_t inserted() const { return inserted_; }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// True if no destination is compressed; otherwise requests the move of one that is.
  bool in_place(const protocol::DynamicInstruction& d);

  CompressedRows& rows_;
  protocol::Injector* injector_ = nullptr;
  support::CycleEvent changed_{"changed"};  ///< never: the move, or the cycle, is what a refused instruction waits for
  std::uint64_t inserted_ = 0;
};

}  // namespace regatta::models::aging
