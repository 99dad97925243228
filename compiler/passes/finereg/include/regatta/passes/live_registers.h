// SPDX-License-Identifier: Apache-2.0
//
// FineReg's compiler (MICRO 2018, section V-A): the registers that are live before each static instruction.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/trace/live_registers.h>

#include <cstdint>

namespace regatta::passes {

/// `kernel`: the static form of the analyses' function. A register is live if a lane whose next instruction is this one
/// may still read it (WarpLiveness::running()). What waiting lanes need is not included: the hardware looks up the
/// vector of every SIMT stack entry.
trace::LiveRegisters live_registers_of(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses);
/// Adds the section `liveness` to the kernel.
void add_liveness_section(trace::Kernel& kernel, const trace::LiveRegisters& live);

/// Over the kernel's static instructions.
struct LivenessSummary {
  std::uint64_t max = 0;  ///< most registers live before one instruction
  double mean = 0;
};
LivenessSummary summarise(const trace::LiveRegisters& live);

}  // namespace regatta::passes
