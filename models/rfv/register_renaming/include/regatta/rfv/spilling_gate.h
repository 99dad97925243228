// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/rfv/renaming_gate.h>
#include <regatta/rfv/spill_unit.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// A renaming gate for files smaller than C, the rows of one CTA (rfv.spill). With a larger file it is a RenamingGate.
///
/// One CTA is resident, and rows are kept for its warps one by one: a warp is *safe* if free rows >= W - its rows,
/// where W is the most that a warp has at once. Rows may be taken if afterwards a warp of the part that can run is
/// safe. A safe warp gets what it asks for, and therefore comes to a barrier or to its end. If none that can run is
/// safe, and all of them wait, registers of others are spilled until the one with the most rows is.
///
/// A warp with registers in memory is closed. It asks for their rows like one that waits, once it is not at a barrier.
class SpillingGate : public RenamingGate, public MovedRegisters {
 public:
  sc_core::sc_port<RegisterMoves> moves;
  sc_core::sc_export<MovedRegisters> moved;

  SpillingGate(const sc_core::sc_module_name& name, const RenamingConfig& config, support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;
  void barrier_opened(const protocol::WarpInfo& warp) override;
  void served(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  bool may_launch(protocol::CtaSlot cta) override { return spills_ || RenamingGate::may_launch(cta); }

  bool left(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  void returned(protocol::WarpSlot warp, protocol::RegisterId reg) override;

  std::string describe_stuck() const override;
  void register_stats(support::StatGroup& group) override;

 protected:
  bool may_take(const protocol::DynamicInstruction& d, unsigned n) override;
  void take_at_start(protocol::WarpSlot warp, Registers registers) override;
  void open_warps() override;
  // Replaced by tests that plant a fault.
  virtual unsigned warp_rows(const RenamingPlan& plan) const { return plan.warp_rows; }
  /// Registers that may be spilled: nothing in flight reads or writes them.
  virtual Registers movable(protocol::WarpSlot warp) const;

 private:
  /// Of a warp slot, beside Warp.
  struct Spilled {
    bool resident = false;
    bool at_barrier = false;
    bool closed = false;      ///< for its registers that are leaving, away or returning
    Registers leaving = 0;    ///< have a row, and a command to spill
    Registers blank = 0;      ///< of those away: not written since the warp's start, so that memory has no line
    Registers returning = 0;  ///< have a row, and a command to refill
  };

  bool may_take(protocol::WarpSlot warp, unsigned rows, unsigned promised) const;
  bool waits(protocol::WarpSlot warp) const;
  bool can_run(protocol::WarpSlot warp) const;
  /// Looks in the next cycle at what may be done.
  void look();
  void decide();
  void grant();
  /// Gives a warp that waits what it asks for, if it may have it. `promised`: of the warp's part.
  bool granted(protocol::WarpSlot warp, unsigned& promised);
  void bring_back(protocol::WarpSlot warp);
  void make_room(unsigned part);
  void begin_spill(protocol::WarpSlot warp, Registers registers);
  /// All registers of the warp have rows, and it may issue.
  void back(protocol::WarpSlot warp);
  template <class F>
  void for_part(unsigned part, F&& f) const;

  RegisterMoves* unit_ = nullptr;
  support::CycleClient wakeup_;
  bool spills_ = false;             ///< in this launch
  bool all_in_use_ = false;         ///< room is wanted, and every register that might leave is in use
  std::vector<unsigned> promised_;  ///< by part: rows that warps which were just opened will take
  std::vector<Spilled> spilled_of_;
  unsigned warp_rows_ = 0;  ///< W
  unsigned away_ = 0;       ///< warp registers in memory
  std::uint64_t spills_begun_ = 0, spilled_ = 0, refills_ = 0, refilled_ = 0, late_starts_ = 0, most_away_ = 0;
};

}  // namespace regatta::models
