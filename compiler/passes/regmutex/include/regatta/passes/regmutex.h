// SPDX-License-Identifier: Apache-2.0
//
// RegMutex's compiler (Khorasani et al., ISCA 2018): which registers form the extended set, and where a warp acquires
// and releases its section of the shared register pool. regatta/trace/regmutex.h says what hardware may rely on.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/trace/regmutex.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::passes {

struct RegMutexOptions {
  /// Registers of the base set. 0: the pass chooses the size at which a warp occupies the fewest registers on average.
  unsigned base = 0;
};

/// A place where the state changes.
struct SectionChange {
  bool acquires = false;     ///< or releases
  std::uint32_t before = 0;  ///< static index of the instruction behind it
  std::int32_t after = -1;   ///< on an edge, the instruction that the edge leaves
};

struct RegMutexPlan {
  trace::RegMutexRegisters registers;
  unsigned asked = 0;                  ///< the option
  unsigned least_base = 0;             ///< registers that must be in the base set
  std::vector<bool> held;              ///< per instruction: it executes with a section
  std::vector<SectionChange> changes;  ///< ascending `before`
  double held_share = 0;               ///< of the instructions, weighted by loop depth

  std::size_t acquires() const;
};

/// Throws trace::InputError for a size out of range.
void check(const RegMutexOptions& options);

/// `kernel`: the static form of the analyses' function. The base set is larger than asked where more registers must be
/// in it, and smaller where the kernel has fewer.
RegMutexPlan plan_regmutex(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                           const RegMutexOptions& options);
/// Adds the section `regmutex` and the acquires and releases to the kernel.
void add_regmutex(trace::Kernel& kernel, const RegMutexPlan& plan);

}  // namespace regatta::passes
