// SPDX-License-Identifier: Apache-2.0
#include "redundancy.h"

#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/cleanup.h>

#include "../accesses.h"

#include <algorithm>
#include <map>
#include <utility>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;

struct Definition {
  std::uint32_t count = 0;
  std::uint32_t block = 0;
  std::uint32_t index = 0;
  bool guarded = false;
  bool read_before = false;  ///< some way leads to a reader without the definition, or around a loop to one before it

  /// Whether all who read the register read the result of one instruction.
  bool is_value() const { return count == 1 && !guarded && !read_before; }
};

std::vector<Definition> definitions_of(const ir::Function& f, analysis::FunctionAnalyses& analyses) {
  std::vector<Definition> all(f.registers.size());
  const analysis::Variables variables(f);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (std::uint32_t n = 0; n < f.blocks[b].instructions.size(); ++n) {
      const Instruction& i = f.blocks[b].instructions[n];
      variables.for_each_write(i, [&](std::uint32_t v) {
        Definition& d = all[v];
        if (d.count++ == 0) d = {1, b, n, i.guarded, false};
      });
    }
  const auto& dominators = analyses.dominators();
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    if (!dominators.reachable(b)) continue;
    for (std::uint32_t n = 0; n < f.blocks[b].instructions.size(); ++n)
      variables.for_each_read(f.blocks[b].instructions[n], [&](std::uint32_t v) {
        Definition& d = all[v];
        if (d.block == b ? d.index >= n : !dominators.dominates(d.block, b)) d.read_before = true;
      });
  }
  return all;
}

/// Operations on one thread's registers that give one register.
bool is_value(const Instruction& i) {
  if (i.guarded || i.destinations.size() != 1 || !i.destinations[0].is_reg() || is_access(i) ||
      ir::takes_texture(i.op) || ir::is_exchange(i.op) || !is_removable(i))
    return false;
  switch (i.op) {
    case Opcode::mov:
    case Opcode::pack:
    case Opcode::unpack:
    case Opcode::activemask:
    case Opcode::nop:
      return false;
    default:
      break;
  }
  return std::all_of(i.sources.begin(), i.sources.end(), [](const Operand& o) {
    return o.is_reg() || o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::parameter;
  });
}

}  // namespace

std::uint32_t share_values(ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  const std::vector<Definition> definitions = definitions_of(f, analyses);
  const auto is_single = [&](const Operand& o) { return !o.is_reg() || definitions[o.id].is_value(); };
  std::map<std::string, std::vector<std::pair<std::uint32_t, std::uint32_t>>> known;  // text -> block, register
  std::vector<std::uint32_t> same(f.registers.size());
  for (std::uint32_t v = 0; v < same.size(); ++v) same[v] = v;
  std::uint32_t shared = 0;
  for (std::uint32_t b : analyses.cfg().reverse_post_order())
    for (Instruction& i : f.blocks[b].instructions) {
      for (Operand& o : i.sources)
        if (o.is_reg()) o.id = same[o.id];
      if (!is_value(i) || !is_single(i.destinations[0]) || !std::all_of(i.sources.begin(), i.sources.end(), is_single))
        continue;
      std::string text = ir::opcode_text(i);
      for (const Operand& o : i.sources)
        text += " " + std::to_string(static_cast<int>(o.kind)) + ":" + std::to_string(o.id) + ":" +
                std::to_string(o.value) + ":" + std::to_string(o.words) + o.symbol;
      auto& candidates = known[text];
      const auto first = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const auto& c) { return analyses.dominators().dominates(c.first, b); });
      if (first == candidates.end()) {
        candidates.emplace_back(b, i.destinations[0].id);
      } else {
        same[i.destinations[0].id] = first->second;
        ++shared;
      }
    }
  if (shared == 0) return 0;
  // In blocks that nothing leads to as well.
  for (ir::Block& block : f.blocks)
    for (Instruction& i : block.instructions)
      for (Operand& o : i.sources)
        if (o.is_reg()) o.id = same[o.id];
  return shared;
}

std::uint32_t hoist_invariants(ir::Function& f) {
  std::uint32_t moved = 0;
  // An operation leaves one loop in a round.
  for (bool again = true; again;) {
    again = false;
    analysis::FunctionAnalyses analyses(f);
    const std::vector<Definition> definitions = definitions_of(f, analyses);
    const auto& loops = analyses.loops().loops();
    std::vector<std::vector<Instruction>> arriving(f.blocks.size());
    std::vector<bool> is_arriving(f.registers.size(), false);
    for (std::uint32_t b : analyses.cfg().reverse_post_order()) {
      const std::int32_t around = analyses.loops().innermost(b);
      if (around < 0) continue;
      const analysis::Loop& loop = loops[static_cast<std::size_t>(around)];
      const std::int32_t before = analyses.dominators().immediate(loop.header);
      if (before < 0) continue;
      const auto stays = [&](const Operand& o) {
        if (!o.is_reg()) return true;
        const Definition& d = definitions[o.id];
        if (d.count == 0) return true;
        if (!d.is_value() || is_arriving[o.id]) return false;
        return analyses.dominators().dominates(d.block, static_cast<std::uint32_t>(before));
      };
      auto& code = f.blocks[b].instructions;
      std::vector<Instruction> kept;
      for (Instruction& i : code) {
        const bool leaves = is_value(i) && definitions[i.destinations[0].id].is_value() &&
                            std::all_of(i.sources.begin(), i.sources.end(), stays);
        if (!leaves) {
          kept.push_back(std::move(i));
          continue;
        }
        is_arriving[i.destinations[0].id] = true;
        arriving[static_cast<std::size_t>(before)].push_back(std::move(i));
        ++moved;
        again = true;
      }
      code = std::move(kept);
    }
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      auto& code = f.blocks[b].instructions;
      auto at = code.end();
      if (!code.empty() && (code.back().op == Opcode::bra || code.back().op == Opcode::exit)) --at;
      code.insert(at, std::make_move_iterator(arriving[b].begin()), std::make_move_iterator(arriving[b].end()));
    }
  }
  return moved;
}

}  // namespace regatta::passes
