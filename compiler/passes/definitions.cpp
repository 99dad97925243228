// SPDX-License-Identifier: Apache-2.0
#include "definitions.h"

namespace regatta::passes {

namespace {

/// Instructions that is_stable() is ready to look through.
constexpr std::uint32_t longest_scan = 256;

}  // namespace

Definitions::Definitions(const ir::Function& f)
    : function_(&f),
      analyses_(f),
      first_(f.registers.size()),
      count_(f.registers.size(), 0),
      uses_(f.registers.size()) {
  const analysis::Variables variables(f);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (std::uint32_t n = 0; n < f.blocks[b].instructions.size(); ++n) {
      const ir::Instruction& i = f.blocks[b].instructions[n];
      variables.for_each_write(i, [&](std::uint32_t v) {
        if (count_[v]++ == 0) first_[v] = {b, n};
      });
      variables.for_each_read(i, [&](std::uint32_t v) { uses_[v].push_back({b, n}); });
    }
}

bool Definitions::precedes(Place a, Place b) const {
  if (a.block == b.block) return a.index < b.index;
  return analyses_.dominators().strictly_dominates(a.block, b.block);
}

const ir::Instruction* Definitions::unique(std::uint32_t v, Place use) const {
  if (count_[v] != 1 || !precedes(first_[v], use)) return nullptr;
  const ir::Instruction& i = function_->blocks[first_[v].block].instructions[first_[v].index];
  return i.guarded ? nullptr : &i;
}

bool Definitions::is_stable(const ir::Operand& o, Place from, Place use) const {
  if (!o.is_reg() && !o.is_predicate()) return true;
  if (count_[o.id] == 1 && precedes(first_[o.id], from)) return true;
  if (from.block != use.block || use.index <= from.index || use.index - from.index > longest_scan) return false;
  const analysis::Variables variables(*function_);
  const auto& code = function_->blocks[from.block].instructions;
  bool written = false;
  for (std::uint32_t n = from.index; n < use.index; ++n)
    variables.for_each_write(code[n], [&](std::uint32_t v) { written |= v == o.id; });
  return !written;
}

}  // namespace regatta::passes
