// SPDX-License-Identifier: Apache-2.0
//
// What the machine code of a GPU generation looks like, beyond the allocation of registers: which operations are
// sequences, which operands an instruction takes, what an assembler does to branches and loops.
#pragma once

#include <regatta/ir/ir.h>
#include <regatta/passes/schedule.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::passes {

struct Target {
  /// `generic` is the machine of the papers: one instruction for each PTX operation, an operand from the constant bank
  /// wherever one is read. Each property below is off there.
  std::string name = "generic";
  /// How blocks are ordered; the limit of registers is the kernel's.
  ScheduleOptions schedule;

  /// Instructions of a side of a branch that are executed under a guard instead; 0: branches stay.
  unsigned predicated = 0;
  /// Instructions of a loop's body, all copies together, up to which a counted loop is unrolled; 0: loops stay.
  unsigned unrolled = 0;
  /// Copies of the body of a loop whose trip count is not known.
  unsigned copies = 4;
  /// Division, square roots and conversions are sequences of instructions that have pipelines.
  bool sequences = false;
  /// Register banks of a sub-core, between which the sources of an instruction are spread; 0: as for other targets.
  unsigned register_banks = 0;
  /// Bit counts, most conversions and tests of divisions are the special function unit's.
  bool special_units = false;
  /// An instruction takes one operand that is no register, and it is a number: parameters are loaded. Every kernel
  /// loads its stack pointer, and if it has global accesses, their descriptor.
  bool loads_parameters = false;
  /// Additions of three operands, of a shifted operand, logic of three operands.
  bool three_inputs = false;
  /// Loads of neighbouring words of shared memory or constants are one.
  bool vectors = false;
  /// Lanes that may part at a branch meet again by an instruction at either end.
  bool barriers = false;

  static const Target& generic();
  /// Throws trace::InputError, which names those there are.
  static const Target& named(const std::string& name);
  static std::vector<std::string> names();
};

struct ShapeResult {
  std::uint32_t predicated = 0;  ///< branches that became guards
  std::uint32_t unrolled = 0;    ///< loops
};

/// Branches and loops as the target has them: before anything else is done to the function, whose registers are
/// virtual.
ShapeResult shape_control_flow(ir::Function& f, const Target& target);
/// Operations and operands as the target has them: after combine() and cleanup(), before scheduling.
void select_instructions(ir::Function& f, const Target& target);

}  // namespace regatta::passes
