// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/read_planner.h>
#include <regatta/protocol/time_keeper.h>

#include <cstdint>

namespace regatta::protocol {

/// Storage of warp registers: the register file or its replacement.
///
/// Data: two TLM target sockets. The operand collectors drive read_socket(), write-back drives
/// write_socket(). nb_transport_fw(BEGIN_REQ) is answered by
///   TLM_COMPLETED with an annotated delay, if the finishing time is known (register banks), or
///   TLM_ACCEPTED / TLM_UPDATED(END_REQ), followed by BEGIN_RESP on the backward path when it is done; the
///   initiator sends no further request on that socket before END_REQ (base protocol): this is back-pressure.
/// Reads fill all lanes of the payload's data and set WarpAccess::origin; writes change only the enabled lanes.
/// A read returns the value of the last write accepted before it. Delays are whole cycles.
///
/// Control: LifecycleListener, called outside the issue and operand stages. kernel_started() prepares the storage for
/// `context.registers_per_warp`; warp_started() allocates a warp's registers with undefined contents; after
/// warp_finished() the contents may be dropped.
class OperandStorage : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual OperandTargetSocket& read_socket() = 0;
  virtual OperandTargetSocket& write_socket() = 0;
  /// Warp registers (32-bit x lanes) the storage can hold for resident warps; bounds occupancy.
  virtual std::uint64_t capacity_registers() const = 0;
  /// Called once, before the first launch, by an operand path that would reserve read ports ahead. Null: they cannot be
  /// reserved, and the path takes every read's answer as it comes.
  virtual ReadPlanner* plan_reads() { return nullptr; }
  /// Asked at the start of a launch. False: a warp's registers have no place of their own, so that a setmaxnreg.inc
  /// finds what it asks for whatever others have given away.
  virtual bool has_places_for_warps() const { return true; }
  /// A storage that follows a change of budgets, or that does not care, overrides this.
  std::string budget_obstacle() const override { return "keeps the registers of a warp from its start to its end"; }
};

}  // namespace regatta::protocol
