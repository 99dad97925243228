// SPDX-License-Identifier: Apache-2.0
//
// Makes PTX the code that an assembler would encode: operands that need no register lose it.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

struct CombineResult {
  std::uint32_t copies = 0;      ///< operands that read through a copy in another block too
  std::uint32_t immediates = 0;  ///< operands that became an immediate
  std::uint32_t bank_operands =
      0;  ///< operands that became a read of the constant bank: a parameter, a launch dimension
  std::uint32_t multiply_adds = 0;  ///< 64-bit address arithmetic that became one instruction
  std::uint32_t offsets = 0;        ///< additions that became the offset of a memory access
};

/// Works on virtual registers that have one definition, across blocks; edges must be built. Leaves the instructions
/// whose results nobody reads any more to cleanup(). Results are the same bits.
/// An instruction gets at most one operand from the constant bank and one immediate other than zero beside what the
/// PTX file wrote, as SASS encodings have it; memory instructions get immediates as addresses only where a space's
/// addresses start at zero (shared, local, parameters, constants).
CombineResult combine(ir::Function& f);

/// Whether the instruction gives the same value wherever it stands: it writes one register, unguarded, with a number, a
/// parameter at a fixed offset, or a special register that does not change while a thread runs.
bool is_recomputable(const ir::Instruction& i);

/// Moves such instructions next to their uses, into each block that has some, unless a use is in a loop that the
/// definition is not in. Special registers, which take a while to read, move to one block or not at all. Returns the
/// number of instructions made; the originals are left to cleanup() where nothing reads them any more.
std::uint32_t sink_constants(ir::Function& f);

}  // namespace regatta::passes
