// SPDX-License-Identifier: Apache-2.0
//
// Register allocation by graph colouring (Chaitin 1982; Briggs, Cooper, Torczon 1994; operands of several
// registers after Smith, Ramsey, Holloway 2004).
#pragma once

#include <regatta/ir/ir.h>
#include <regatta/passes/target.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

struct AllocationOptions {
  unsigned max_registers = 255;  ///< general registers per thread, 16..255
  unsigned banks = 4;            ///< register banks; sources of one instruction are spread over number % banks; 1: off
  bool coalesce = true;
  bool cleanup = true;       ///< run passes::combine() and passes::cleanup() first
  bool narrow = false;       ///< run passes::narrow_addresses(); memory must lie below 4 GB
  bool schedule = true;      ///< run passes::schedule() before colouring (schedule.h)
  bool keep_before = false;  ///< fill `before` and `origin` of AllocationResult
  /// What the machine code is for: branches, loops and operations are made as it has them.
  const Target* target = &Target::generic();
};

struct AllocationResult {
  std::uint32_t registers_used = 0;      ///< highest general register + 1
  std::uint32_t predicates_used = 0;     ///< highest predicate + 1
  std::uint32_t pressure = 0;            ///< most general registers live at once, after spilling
  std::uint32_t spilled_registers = 0;   ///< virtual registers that went to local memory
  std::uint32_t spilled_predicates = 0;  ///< predicates that went to general registers
  std::uint32_t rematerialized = 0;      ///< virtual registers recomputed at each use instead of spilled
  std::uint32_t spill_bytes = 0;         ///< growth of the local frame
  std::uint32_t removed_copies = 0;      ///< copies that became identities
  std::uint32_t rounds = 0;              ///< colouring attempts, at least 1

  /// With keep_before: the function just before its virtual registers were renamed, spill code included, ...
  ir::Function before;
  /// ... the physical number of each of its virtual registers (the base of a pair), -1: appears nowhere, ...
  std::vector<std::int32_t> assignment;
  /// ... which of them allocation made for the needs of one instruction, ...
  std::vector<bool> temporaries;
  /// ... and per block, for each instruction left, its index in `before`.
  std::vector<std::vector<std::uint32_t>> origin;
};

/// Renames virtual registers to R0.. and P0..P6 in place, inserting spill code and copies where it must.
/// Pairs get even numbers; the elements of a vector access get consecutive registers aligned to their total.
/// Spills go to the local frame behind what the function already uses there; a reload may read a slot that no
/// lane wrote where the program itself uses an undefined value. Afterwards f.allocated, registers_used,
/// predicates_used, spilled_registers, spill_bytes and local_bytes are set and edges built; f.registers keeps
/// the virtual registers for messages.
/// Throws trace::InputError when max_registers is out of range or too small for some instruction.
AllocationResult allocate_registers(ir::Function& f, const AllocationOptions& options = {});

/// Proves by forward data flow that every operand of `result.before` finds its value in the register that `after`
/// names, whatever the path. Throws std::logic_error with function, block and instruction when one does not.
/// allocate_registers runs it itself in builds without NDEBUG.
void verify_allocation(const AllocationResult& result, const ir::Function& after);

}  // namespace regatta::passes
