// SPDX-License-Identifier: Apache-2.0
//
// GREENER's compiler (Jatala, thesis, section 4.2): for every register operand of every instruction, how far its next
// access is and whether its value is still wanted, from which the power state follows that it is put into.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/trace/power_states.h>

#include <cstddef>

namespace regatta::passes {

struct PowerOptions {
  /// W: a register that is accessed again within so many instructions stays on. 1..trace::power_bound.
  unsigned threshold = trace::default_power_threshold;
};

/// Throws trace::InputError for a threshold out of range.
void check(const PowerOptions& options);

/// `kernel`: the static form of the analyses' function. A value counts as live while any lane of the warp may read it,
/// running or waiting (analysis::WarpLiveness): the thesis's liveness of one thread would switch off what the lanes of
/// the other side of a branch still need.
trace::PowerStates plan_power_states(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                                     const PowerOptions& options);
/// Adds the section `power` to the kernel.
void add_power_section(trace::Kernel& kernel, const trace::PowerStates& states);

/// Fields of the kernel's instructions by state, at the plan's threshold.
struct PowerSummary {
  std::size_t on = 0, sleep = 0, off = 0;
  std::size_t without_field = 0;  ///< register operands, each register of an instruction once, that get SLEEP
};
PowerSummary summarise(const trace::Kernel& kernel, const trace::PowerStates& states);

}  // namespace regatta::passes
