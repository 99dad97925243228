// SPDX-License-Identifier: Apache-2.0
//
// Definitions and uses of virtual registers, for rewriting code that is nearly in single-assignment form.
#pragma once

#include <regatta/analysis/function_analyses.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Where an instruction stands.
struct Place {
  std::uint32_t block = 0;
  std::uint32_t index = 0;
};

/// Valid while no instruction is inserted, removed or given another destination.
class Definitions {
 public:
  explicit Definitions(const ir::Function& f);

  /// The only definition of v when it is unguarded and every path to `use` runs through it; otherwise null.
  const ir::Instruction* unique(std::uint32_t v, Place use) const;
  Place place(std::uint32_t v) const { return first_[v]; }
  std::uint32_t count(std::uint32_t v) const { return count_[v]; }
  const std::vector<Place>& uses(std::uint32_t v) const { return uses_[v]; }
  /// Whether the operand has the same value at `use` as at `from`, from where `use` is reached.
  bool is_stable(const ir::Operand& o, Place from, Place use) const;
  /// Whether both blocks are in the same loops.
  bool same_loop(std::uint32_t a, std::uint32_t b) {
    return analyses_.loops().innermost(a) == analyses_.loops().innermost(b);
  }
  std::uint32_t loop_depth(std::uint32_t block) { return analyses_.loops().depth(block); }
  const std::vector<std::uint32_t>& order() { return analyses_.cfg().reverse_post_order(); }

  void add_use(std::uint32_t v, Place use) { uses_[v].push_back(use); }

 private:
  bool precedes(Place a, Place b) const;

  const ir::Function* function_;
  mutable analysis::FunctionAnalyses analyses_;  // computed on demand
  std::vector<Place> first_;
  std::vector<std::uint32_t> count_;
  std::vector<std::vector<Place>> uses_;
};

}  // namespace regatta::passes
