// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

namespace regatta::test {

ir::Function make_function(const std::vector<std::vector<std::uint32_t>>& successors, unsigned registers) {
  ir::Function f;
  f.name = "test";
  f.registers.resize(registers);
  f.blocks.resize(successors.size());
  for (std::uint32_t b = 0; b < successors.size(); ++b) {
    f.blocks[b].successors = successors[b];
    for (std::uint32_t s : successors[b]) f.blocks[s].predecessors.push_back(b);
  }
  return f;
}

ir::Instruction& append(ir::Function& f, std::uint32_t block, const std::vector<std::uint32_t>& definitions,
                        const std::vector<std::uint32_t>& uses) {
  const auto operand = [&](std::uint32_t v) {
    return f.registers[v].is_predicate ? ir::Operand::predicate(v) : ir::Operand::reg(v, f.registers[v].words);
  };
  ir::Instruction i;
  i.op = ir::Opcode::add;
  i.type = ir::Type::u32;
  for (std::uint32_t d : definitions) i.destinations.push_back(operand(d));
  for (std::uint32_t u : uses) i.sources.push_back(operand(u));
  f.blocks[block].instructions.push_back(i);
  return f.blocks[block].instructions.back();
}

std::vector<std::vector<std::uint32_t>> random_edges(std::mt19937& random, unsigned most) {
  const unsigned n = 1 + static_cast<unsigned>(random() % most);
  std::vector<std::vector<std::uint32_t>> edges(n);
  for (auto& out : edges) {
    const unsigned kind = random() % 8;
    const unsigned count = kind == 0 ? 0 : kind < 4 ? 1 : 2;
    for (unsigned e = 0; e < count; ++e) out.push_back(static_cast<std::uint32_t>(random() % n));
  }
  return edges;
}

}  // namespace regatta::test
