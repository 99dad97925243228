// SPDX-License-Identifier: Apache-2.0
//
// RFV's compiler (Jeon, Ravi, Kim, Annavaram, MICRO 2015): where registers are released, and how many a warp has at
// once. regatta/trace/rfv.h says what hardware may rely on.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/trace/rfv.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

struct RfvOptions {
  /// Entries of the renaming table per warp. 0: one for each register, none is exempt.
  unsigned table_entries = 0;
};

struct RfvPlan {
  trace::RfvSection section;
  trace::RfvReleases releases;
  std::vector<trace::RfvRegisters> owned;  ///< per instruction: what a warp may have while it executes
  /// Last reads, per register and instruction. `unflagged`: those that no flag can say, because the operand has no slot
  /// or another half that lives on. Their registers are released with the next block.
  std::uint64_t flagged = 0, unflagged = 0;
};

/// Throws trace::InputError for a number out of range.
void check(const RfvOptions& options);

/// `kernel`: the static form of the analyses' function. Throws trace::InputError for more registers than the words can
/// number.
RfvPlan plan_rfv(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses, const RfvOptions& options);
/// Adds the section `rfv` and the words to the kernel.
void add_rfv(trace::Kernel& kernel, const RfvPlan& plan);

}  // namespace regatta::passes
