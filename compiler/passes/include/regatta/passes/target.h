// SPDX-License-Identifier: Apache-2.0
//
// What the machine code of a GPU generation looks like, beyond the allocation of registers: which operations are
// sequences, which operands an instruction takes, what an assembler does to branches and loops.
#pragma once

#include <regatta/ir/ir.h>
#include <regatta/passes/latency.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::passes {

struct Target {
  /// `generic` is the machine of the papers: one instruction for each PTX operation, an operand from the constant bank
  /// wherever one is read. Each property below is off there.
  std::string name = "generic";
  LatencyTable latency;

  /// Registers that a schedule may take beyond what the function needs at its tightest point: this share of it.
  double schedule_slack = 0.06;
  /// Instructions of a side of a branch that are executed under a guard instead; 0: branches stay.
  unsigned predicated = 0;
  /// Instructions of a loop's body, all copies together, up to which a counted loop is unrolled; 0: loops stay.
  unsigned unrolled = 0;
  /// Copies of the body of a loop whose trip count is not known.
  unsigned copies = 4;
  /// Division, square roots and conversions are sequences of instructions that have pipelines.
  bool sequences = false;
  /// Loads through the read-only path move past stores.
  bool read_only_passes = false;
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

struct TargetResult {
  std::uint32_t predicated = 0;  ///< branches that became guards
  std::uint32_t unrolled = 0;    ///< loops
  std::uint32_t expanded = 0;    ///< operations that became sequences
  std::uint32_t barriers = 0;    ///< pairs of bssy and bsync, but for those of sequences
  std::uint32_t loads = 0;       ///< of parameters that were operands
  std::uint32_t merged = 0;      ///< instructions that became part of another one
};

/// Branches and loops as the target has them: before anything else is done to the function, whose registers are
/// virtual.
TargetResult shape_control_flow(ir::Function& f, const Target& target);
/// Operations and operands as the target has them: after combine() and cleanup(), before scheduling.
TargetResult select_instructions(ir::Function& f, const Target& target);

}  // namespace regatta::passes
