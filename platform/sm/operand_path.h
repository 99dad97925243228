// SPDX-License-Identifier: Apache-2.0
//
// From issue to the execution units: where an issued instruction waits while the operand storage is asked for its
// source registers. An SM has one of the operand paths; sm.operand_path selects it.
#pragma once

#include <regatta/protocol/operand_cache.h>
#include <regatta/protocol/operand_storage.h>
#include <regatta/protocol/payload.h>
#include <regatta/support/energy.h>

#include "core.h"
#include "holds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

class IssueStage;

/// Contract. Issue asks whether an instruction finds a place, and only then lets it enter; the path hands it to the
/// execution units when its operands are there, and has the place back when they dispatch it.
class OperandPath : public sc_core::sc_module, public support::StatProvider {
 public:
  /// To the operand storage. `storage`: its name in messages.
  virtual protocol::OperandInitiatorSocket& socket() = 0;
  virtual void connect(const std::string& storage) = 0;
  /// For a path that plans its reads, and tells issue when it has read sources.
  virtual void connect_storage(protocol::OperandStorage& /*storage*/, protocol::OperandCache* /*cache*/) {}
  virtual void connect_issue(IssueStage& /*issue*/) {}
  virtual void kernel_started() {}
  /// Whether a result of fixed latency reaches instructions that issue before it is written.
  virtual bool forwards() const { return false; }

  // What issue asks, in every cycle in which a scheduler has a candidate.
  /// The kinds of instructions that find no place, a bit per protocol::Unit; one more, `some_pipelines`, if
  /// instructions of sp pipelines that are not closed have to be asked about with finds_pipeline().
  virtual unsigned closed(unsigned scheduler) const = 0;
  static constexpr unsigned some_pipelines = 1u << protocol::unit_count;
  virtual bool finds_pipeline(unsigned /*scheduler*/, const InstructionTraits& /*next*/) const { return true; }
  /// Whether an instruction of this kind finds a place.
  virtual bool available(unsigned scheduler, protocol::Unit kind) const = 0;
  /// Why an instruction of this kind finds none.
  virtual protocol::Stall reason(unsigned scheduler, protocol::Unit kind) const = 0;

  // With a reuse point, instructions arrive some cycles after their issue.
  /// Whether an instruction of this kind that has arrived may enter now.
  virtual bool takes(unsigned scheduler, protocol::Unit kind) const { return available(scheduler, kind); }
  /// There is a reuse point.
  virtual void put_behind_reuse_point() {}
  /// So many instructions of a scheduler have arrived and not entered.
  virtual void backlog(unsigned /*scheduler*/, unsigned /*instructions*/) {}

  /// An instruction enters: a place is available, and its reads begin.
  virtual void enter(DynamicInstruction& d) = 0;
  /// Work::Kind::operands_ready, if the path schedules it: all operands of `place` are there.
  virtual void operands_ready(std::uint32_t place) = 0;
  /// The execution units take `d` now: its place is free.
  virtual void dispatched(DynamicInstruction& d) = 0;
  /// Once per cycle, after the execution units.
  virtual void cycle() = 0;

  // For reports.
  /// What keeps `d` here, if it has not got all its operands; none: it has, or is not here.
  virtual std::optional<Hold> holds(const DynamicInstruction& d) const = 0;
  /// Who has the places that an instruction of this kind could take.
  virtual std::vector<const DynamicInstruction*> holders(unsigned scheduler, protocol::Unit kind) const = 0;
  /// The instruction of `place`, which must have one.
  virtual const DynamicInstruction& in_place(std::uint32_t place) const = 0;
  /// Whether `d` has a place and lacks an operand in cycle `at`, after the cycles that every instruction spends there.
  virtual bool waits_for_operands(const DynamicInstruction& d, Cycle at) const = 0;
  /// Reads go on in a later cycle that is known.
  virtual bool is_due() const = 0;

 protected:
  explicit OperandPath(const sc_core::sc_module_name& name) : sc_module(name) {}
};

}  // namespace regatta::sm
