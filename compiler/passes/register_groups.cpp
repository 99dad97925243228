// SPDX-License-Identifier: Apache-2.0
#include "register_groups.h"

#include <algorithm>

namespace regatta::passes {

namespace {

/// Numbers first .. first+words-1 stay a group: the smallest aligned power of two that holds them.
void keep_together(std::vector<unsigned>& width, unsigned first, unsigned words) {
  const auto count = static_cast<unsigned>(width.size());
  unsigned size = 1;
  while (first / size != (first + words - 1) / size) size *= 2;
  const unsigned base = first / size * size;
  for (unsigned r = base; r < std::min(base + size, count); ++r) width[r] = std::max(width[r], size);
}

}  // namespace

std::vector<unsigned> register_groups(const ir::Function& f) {
  std::vector<unsigned> width(f.registers_used, 1);
  for (const ir::Block& block : f.blocks)
    for (const ir::Instruction& i : block.instructions) {
      for (const auto* operands : {&i.sources, &i.destinations})
        for (const ir::Operand& o : *operands)
          if (o.is_reg() && o.words > 1) keep_together(width, o.id, o.words);
      for (const ir::OperandGroup& g : ir::operand_groups(i)) {
        const std::vector<ir::Operand>& elements = g.destinations ? i.destinations : i.sources;
        unsigned low = f.registers_used, high = 0;
        for (std::size_t e = g.first; e < std::size_t{g.first} + g.count; ++e)
          if (elements[e].is_reg()) {
            low = std::min(low, elements[e].id);
            high = std::max(high, elements[e].id + elements[e].words);
          }
        if (low < high) keep_together(width, low, high - low);
      }
    }
  return width;
}

void rename_registers(ir::Function& f, const std::vector<unsigned>& place) {
  f.registers_used = 0;
  for (ir::Block& block : f.blocks)
    for (ir::Instruction& i : block.instructions)
      for (auto* operands : {&i.destinations, &i.sources})
        for (ir::Operand& o : *operands) {
          if (!o.is_reg()) continue;
          o.id = place[o.id];
          f.registers_used = std::max(f.registers_used, o.id + o.words);
        }
}

}  // namespace regatta::passes
