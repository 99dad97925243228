// SPDX-License-Identifier: Apache-2.0
//
// Which register gets which number, once it is settled which values share one: RegLess's staging unit keeps a register
// in the bank of its number modulo 8 (MICRO 2017, section 5.2: "the compiler selects register numbers in a manner that
// reduces bank conflicts"), a banked register file of the baseline modulo 4.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Registers that a block uses together: they should be in different banks.
struct RegisterGroup {
  std::uint32_t block = 0;
  std::vector<std::uint8_t> registers;  ///< ascending, each once
};

struct RenumberOptions {
  unsigned banks = 8;       ///< of a staging unit
  unsigned file_banks = 4;  ///< of a register file; divides `banks`
};

struct RenumberResult {
  /// Pairs of different source registers of one instruction in one bank of the staging unit, weighted by an estimate of
  /// executions (ten times as many per loop around).
  double conflicts_before = 0, conflicts_after = 0;
  unsigned moved = 0;  ///< registers with another number
};

/// Permutes the numbers of an allocated function's registers: pairs and vectors stay together and aligned, the highest
/// number in use does not grow, the program stays the same. First for distinct banks within an instruction, in the
/// register file and then in the staging unit, then for an even spread of the registers of each of `groups` over the
/// staging unit's banks. Deterministic. Analyses of the function are out of date afterwards.
RenumberResult renumber_registers(ir::Function& f, const std::vector<RegisterGroup>& groups,
                                  const RenumberOptions& options = {});

}  // namespace regatta::passes
