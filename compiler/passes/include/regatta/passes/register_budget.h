// SPDX-License-Identifier: Apache-2.0
//
// How many registers a thread of a kernel may have: the user's limit and the kernel's launch bounds (.maxnreg, .maxntid
// or .reqntid, .minnctapersm), by the rules of ptxas 13.
#pragma once

#include <regatta/ir/ir.h>

#include <string>
#include <vector>

namespace regatta::passes {

struct RegisterBudget {
  unsigned registers = 0;             ///< general registers per thread
  std::string set_by;                 ///< "--max-registers", ".maxnreg 24", ".maxntid 256 with .minnctapersm 8"
  std::vector<std::string> warnings;  ///< about bounds that do not hold: "file:line:column: warning: kernel 'k': ..."
};

/// What `ctas` CTAs of `threads` threads leave each thread of a register file of 65,536 registers: their warps rounded
/// up to a multiple of four, the registers down to a multiple of eight; at most 255.
unsigned registers_for(std::uint64_t threads, std::uint64_t ctas);

/// The budget of `f` where the user allows `max_registers`. Of the bounds, .minnctapersm with .maxntid (.reqntid) and
/// .maxnreg hold together, and .maxntid (.reqntid) alone only without .maxnreg.
RegisterBudget register_budget(const ir::Function& f, unsigned max_registers);

}  // namespace regatta::passes
