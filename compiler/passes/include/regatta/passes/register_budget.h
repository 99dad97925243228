// SPDX-License-Identifier: Apache-2.0
//
// How many registers a thread of a kernel may have: the user's limit and the kernel's launch bounds (.maxnreg, .maxntid
// or .reqntid, .minnctapersm), by the rules of ptxas 13.
#pragma once

#include <regatta/ir/ir.h>

#include <string>
#include <vector>

namespace regatta::passes {

/// Registers that a kernel is to be compiled for instead of its own: what if it had others?
struct BudgetOverride {
  unsigned entry = 0;            ///< per thread, in place of the launch bounds: 16 to 255
  std::vector<unsigned> groups;  ///< of each setmaxnreg, in the order of the PTX; empty: the kernel's own
};

/// "168" or "168:24,240": the registers at a kernel's entry, and those of each setmaxnreg. Throws trace::InputError,
/// which names `option`.
BudgetOverride budget_override(const std::string& text, const std::string& option);
/// Writes the numbers of `groups` into the function's setmaxnreg. Throws trace::InputError if there are more or fewer
/// of them; a function without any is left as it is.
void override_groups(ir::Function& f, const BudgetOverride& registers);

struct RegisterBudget {
  unsigned registers = 0;             ///< general registers per thread
  unsigned entry = 0;                 ///< of a kernel that changes them (setmaxnreg): those that it begins with; else 0
  bool is_promised = false;           ///< a launch has as many for each thread; .maxntid alone does not say so
  std::string set_by;                 ///< "--max-registers", ".maxnreg 24", ".maxntid 256 with .minnctapersm 8"
  std::vector<std::string> warnings;  ///< about bounds that do not hold: "file:line:column: warning: kernel 'k': ..."
};

/// What `ctas` CTAs of `threads` threads leave each thread of a register file of 65,536 registers: their warps rounded
/// up to a multiple of four, the registers down to a multiple of eight; at most 255.
unsigned registers_for(std::uint64_t threads, std::uint64_t ctas);

/// The budget of `f` where the user allows `max_registers`. Of the bounds, .minnctapersm with .maxntid (.reqntid) and
/// .maxnreg hold together, and .maxntid (.reqntid) alone only without .maxnreg.
///
/// Of a kernel with setmaxnreg, `entry` is the least of the budget and the largest setmaxnreg.inc, and `registers` the
/// most that it ever has. That needs a bound: .maxnreg, .minnctapersm with .maxntid (.reqntid), or, if it has none of
/// these, fewer than 255 `max_registers`; without one a warning says that setmaxnreg is ignored.
///
/// `registers`: at the entry, at most `max_registers`, whatever the kernel's bounds say.
RegisterBudget register_budget(const ir::Function& f, unsigned max_registers,
                               const BudgetOverride* registers = nullptr);

/// Makes the budget the function's: sets entry_registers, or takes a setmaxnreg out that is to be ignored. Before
/// allocation. Throws trace::InputError for a setmaxnreg.dec to more registers than its warps can have.
void apply_budget(ir::Function& f, const RegisterBudget& budget);

}  // namespace regatta::passes
