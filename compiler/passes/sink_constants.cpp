// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/combine.h>

#include "definitions.h"

#include <algorithm>
#include <map>

namespace regatta::passes {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

bool is_recomputable(const Instruction& i) {
  if (i.guarded || i.destinations.size() != 1 || !i.destinations[0].is_reg() || i.sources.size() != 1) return false;
  const Operand& s = i.sources[0];
  if (i.op == Opcode::ld)
    return i.mod.space == trace::MemorySpace::param && s.kind == Operand::Kind::immediate && i.mod.vector == 1;
  if (i.op != Opcode::mov) return false;
  if (s.kind == Operand::Kind::immediate || s.kind == Operand::Kind::parameter) return true;
  if (s.kind != Operand::Kind::special) return false;
  const auto special = static_cast<ir::Special>(s.value);
  return special < ir::Special::clock || special > ir::Special::globaltimer_hi;
}

namespace {

/// Blocks that get an instruction of their own at most.
constexpr std::size_t most_copies = 6;

struct Insertion {
  std::uint32_t index = 0;  ///< before this instruction
  Instruction code;
};

}  // namespace

std::uint32_t sink_constants(ir::Function& f) {
  Definitions definitions(f);
  std::vector<std::vector<Insertion>> insertions(f.blocks.size());
  std::uint32_t made = 0;
  const auto registers = static_cast<std::uint32_t>(f.registers.size());
  for (std::uint32_t v = 0; v < registers; ++v) {
    if (definitions.count(v) != 1 || definitions.uses(v).empty()) continue;
    const Place home = definitions.place(v);
    const Instruction definition = f.blocks[home.block].instructions[home.index];
    if (!is_recomputable(definition)) continue;
    std::map<std::uint32_t, std::uint32_t> first_use;  // block -> index
    bool movable = true;
    for (Place use : definitions.uses(v)) {
      movable = movable && definitions.unique(v, use) != nullptr &&
                definitions.loop_depth(use.block) <= definitions.loop_depth(home.block);
      if (use.block != home.block) first_use.emplace(use.block, use.index);  // uses are listed in order
    }
    const bool is_special = definition.sources[0].kind == Operand::Kind::special;
    const auto& uses = definitions.uses(v);
    const bool used_at_home = std::any_of(uses.begin(), uses.end(), [&](Place p) { return p.block == home.block; });
    if (!movable || first_use.empty() || first_use.size() > most_copies) continue;
    if (is_special && (first_use.size() > 1 || used_at_home)) continue;
    for (const auto& [block, index] : first_use) {
      f.registers.push_back(f.registers[v]);
      const auto copy = static_cast<std::uint32_t>(f.registers.size() - 1);
      auto& code = f.blocks[block].instructions;
      for (std::uint32_t n = index; n < code.size(); ++n)
        for (Operand& o : code[n].sources)
          if (o.is_reg() && o.id == v) o.id = copy;
      insertions[block].push_back({index, definition});
      insertions[block].back().code.destinations[0].id = copy;
      ++made;
    }
  }
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    if (insertions[b].empty()) continue;
    std::stable_sort(insertions[b].begin(), insertions[b].end(),
                     [](const Insertion& x, const Insertion& y) { return x.index < y.index; });
    auto& code = f.blocks[b].instructions;
    std::vector<Instruction> merged;
    merged.reserve(code.size() + insertions[b].size());
    auto next = insertions[b].begin();
    for (std::uint32_t n = 0; n < code.size(); ++n) {
      for (; next != insertions[b].end() && next->index == n; ++next) merged.push_back(std::move(next->code));
      merged.push_back(std::move(code[n]));
    }
    code = std::move(merged);
  }
  return made;
}

}  // namespace regatta::passes
