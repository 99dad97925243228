// SPDX-License-Identifier: Apache-2.0
//
// Where a warp may hold its section, whichever registers are in the extended set.
#pragma once

#include <regatta/analysis/bit_set.h>
#include <regatta/analysis/function_analyses.h>
#include <regatta/trace/kernel.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::passes {

/// The places are the instructions and the entries of blocks. Places that must agree on whether the section is held
/// form a group. README.md of compiler/passes has the rules.
class HoldPlaces {
 public:
  /// Two places in succession. A change of the state between them is an inserted instruction.
  struct Step {
    std::uint32_t from = 0, to = 0;  ///< groups
    std::uint64_t weight = 0;        ///< how often it is executed
    std::uint32_t before = 0;        ///< static index of the instruction behind it
    std::int32_t after = -1;         ///< on an edge, the instruction that the edge leaves
  };

  HoldPlaces(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses);

  std::size_t groups() const { return needs_.size(); }
  std::uint32_t group_of(std::uint32_t instruction) const { return group_[instruction]; }
  /// Registers that an instruction of the group names, or that a lane may read later: if one of them is in the extended
  /// set, the group holds the section.
  const analysis::BitSet& needs(std::uint32_t group) const { return needs_[group]; }
  /// The section must not be held: a barrier, the kernel's start and its end.
  bool is_free(std::uint32_t group) const { return free_[group]; }
  /// Instructions of the group, weighted by loop depth.
  std::uint64_t weight(std::uint32_t group) const { return weight_[group]; }
  /// In program order; those of one place in the order of execution.
  const std::vector<Step>& steps() const { return steps_; }
  /// Registers that a free group needs: they are in the base set.
  const analysis::BitSet& base_only() const { return base_only_; }

 private:
  std::vector<std::uint32_t> group_;  ///< per instruction
  std::vector<analysis::BitSet> needs_;
  std::vector<bool> free_;
  std::vector<std::uint64_t> weight_;
  std::vector<Step> steps_;
  analysis::BitSet base_only_;
};

}  // namespace regatta::passes
