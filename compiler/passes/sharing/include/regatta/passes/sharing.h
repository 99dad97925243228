// SPDX-License-Identifier: Apache-2.0
//
// The compiler half of scratchpad sharing (thesis of V. Jatala, section 3.2): which shared variables two CTAs have in
// common, and where a thread gives that part up. regatta/trace/sharing.h says what hardware may rely on.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/shared_accesses.h>
#include <regatta/trace/sharing.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace regatta::passes {

using analysis::VariableSet;

/// Iterations that are assumed for a loop without a constant bound (section 3.4).
inline constexpr std::uint64_t assumed_trip_count = 1024;
/// Kernels with more shared variables than this are laid out greedily.
inline constexpr std::size_t most_searched_variables = 16;

/// Access ranges (definitions 3.2.1 and 3.2.2) at every instruction of an allocated function whose accesses are marked
/// (analysis::mark_shared_accesses()). Instructions are numbered in program order.
class AccessRanges {
 public:
  explicit AccessRanges(analysis::FunctionAnalyses& analyses);

  std::size_t instructions() const { return accesses_.size(); }
  /// Variables that the instruction itself may access.
  VariableSet accesses(std::uint32_t i) const { return accesses_[i]; }
  /// Variables that are accessed before the instruction on some path from the entry, ...
  VariableSet before(std::uint32_t i) const { return before_[i]; }
  /// ... or behind it on some path to an exit.
  VariableSet after(std::uint32_t i) const { return after_[i]; }
  /// Whether the point in front of the instruction is in the access range of the set `s`.
  bool holds_in(std::uint32_t i, VariableSet s) const {
    return (before_[i] & s) != 0 && ((after_[i] | accesses_[i]) & s) != 0;
  }
  /// Likewise the point behind it.
  bool holds_out(std::uint32_t i, VariableSet s) const {
    return ((before_[i] | accesses_[i]) & s) != 0 && (after_[i] & s) != 0;
  }
  /// Whether the instruction counts for the weight of `s`: it lies in the range, or is one of the accesses that end it.
  bool covers(std::uint32_t i, VariableSet s) const {
    return ((before_[i] | accesses_[i]) & s) != 0 && ((after_[i] | accesses_[i]) & s) != 0;
  }

 private:
  std::vector<VariableSet> accesses_, before_, after_;
};

/// Iterations of each loop of `analyses.loops()`: the constant bound where a counter that starts at a number, is
/// changed by a number once per iteration and is compared with a number ends the loop; else assumed_trip_count.
std::vector<std::uint64_t> trip_counts(analysis::FunctionAnalyses& analyses);

/// Instructions in the access range of a set. A loop body counts as often as the loop iterates; of the arms of a branch
/// only the one with more such instructions counts. Cycles that are no natural loops count once. A larger set has no
/// smaller weight. Weights end at 2^62.
class RangeWeight {
 public:
  RangeWeight(const AccessRanges& ranges, analysis::FunctionAnalyses& analyses);
  std::uint64_t of(VariableSet s) const;

 private:
  /// Instructions of one block with equal ranges.
  struct Stretch {
    VariableSet first = 0, last = 0;  ///< accessed up to and including it, from it on
    std::uint64_t count = 0;
  };
  std::uint64_t loop_body(std::int32_t loop, const std::vector<std::uint64_t>& block_weight,
                          std::vector<std::uint64_t>& loop_weight) const;

  analysis::FunctionAnalyses& analyses_;
  std::vector<std::uint64_t> trips_;
  std::vector<std::vector<Stretch>> blocks_;
  std::vector<std::uint32_t> order_;  ///< reverse post-order: place of each block
};

/// A layout of the shared variables.
struct ScratchpadLayout {
  ir::SharedPlacement placement;
  std::uint32_t boundary = 0;  ///< bytes that are private
  VariableSet common = 0;      ///< variables that lie behind the others, S of the thesis
  std::uint64_t weight = 0;    ///< of `common`
  bool is_exact = true;        ///< no other set weighs less
};

/// Places the variables that are not in `common` first, then those in it, both by descending alignment and then in the
/// order of their declaration; dynamic shared memory last. Sizes in bytes.
ScratchpadLayout place_variables(const std::vector<ir::SharedVariable>& variables, std::uint32_t dynamic_bytes,
                                 const trace::Share& t, VariableSet common);
/// Whether all variables outside `common` end at the boundary or before it.
bool keeps_private(const ScratchpadLayout& layout, const std::vector<ir::SharedVariable>& variables);

/// The layout of the set with the least weight among those that keep all others private. Of equally light sets: the
/// fewest bytes of shared memory, the fewest bytes in the set, the earliest declarations. Dynamic shared memory is in
/// every set, because its size is not known. `weight` must not be smaller for a larger set.
ScratchpadLayout choose_layout(const std::vector<ir::SharedVariable>& variables, std::uint32_t dynamic_bytes,
                               const trace::Share& t, const std::function<std::uint64_t(VariableSet)>& weight);

/// Places for relssp in `kernel`, whose instructions are marked in `common` if they may access the common part.
///
/// Optimal (section 3.2.3): each path from the entry passes one relssp, behind the last common access of the path and
/// nowhere later than necessary. A taken edge whose end has other ways in costs a jump. An exit is safe, and a thread
/// that leaves at a guarded exit with common accesses behind it executes none. Empty if the kernel has no common access
/// and a loop around its first instruction: there is no place that a thread passes once.
std::vector<trace::RelsspPoint> place_relssp_optimal(const trace::Kernel& kernel, const std::vector<bool>& common);
/// Post-dominating (section 3.2.2): one relssp in the first block that every thread passes once and that has no common
/// access behind it. Without such a block, in front of each unguarded exit.
std::vector<trace::RelsspPoint> place_relssp_postdom(const trace::Kernel& kernel, const std::vector<bool>& common);

/// Everything about one kernel.
struct SharingPlan {
  trace::SharingLayout layout;
  std::vector<trace::RelsspPoint> optimal, postdom;
};

/// `kernel`: the static form of the analyses' function, whose variables lie where choose_layout() has put them.
SharingPlan plan_sharing(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses, const trace::Share& t,
                         std::uint32_t dynamic_bytes, bool registers_reordered);
/// Adds the section `sharing` and the inserted instructions to the kernel.
void add_sharing(trace::Kernel& kernel, const SharingPlan& plan);

}  // namespace regatta::passes
