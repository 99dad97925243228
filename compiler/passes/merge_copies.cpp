// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"

#include <numeric>

namespace regatta::passes {

namespace {

/// Registers merged into one at most: each attempt looks at all pairs.
constexpr std::size_t largest_class = 48;

/// Virtual registers that became one.
class Classes {
 public:
  Classes(const ir::Function& f, const Interference& graph) : graph_(graph), leader_(f.registers.size()) {
    std::iota(leader_.begin(), leader_.end(), 0u);
    for (std::uint32_t v = 0; v < leader_.size(); ++v) members_.push_back({v});
  }
  std::uint32_t leader(std::uint32_t v) const { return leader_[v]; }

  bool merge(std::uint32_t a, std::uint32_t b) {
    a = leader_[a];
    b = leader_[b];
    if (a == b || members_[a].size() + members_[b].size() > largest_class) return false;
    for (std::uint32_t x : members_[a])
      for (std::uint32_t y : members_[b])
        if (graph_.interferes(x, y)) return false;
    for (std::uint32_t y : members_[b]) {
      leader_[y] = a;
      members_[a].push_back(y);
    }
    members_[b].clear();
    return true;
  }

 private:
  const Interference& graph_;
  std::vector<std::uint32_t> leader_;
  std::vector<std::vector<std::uint32_t>> members_;
};

}  // namespace

std::uint32_t merge_copies(ir::Function& f, unsigned max_registers) {
  const Interference graph(f, std::vector<bool>(f.registers.size(), false));
  if (graph.pressure() > max_registers) return 0;
  Classes classes(f, graph);
  std::uint32_t merged = 0;
  for (const Copy& c : graph.copies()) {
    const ir::VirtualRegister &a = f.registers[c.a], &b = f.registers[c.b];
    const bool same_limit = graph.limit(c.a) == graph.limit(c.b);
    if (a.words == b.words && a.is_predicate == b.is_predicate && c.word_a == 0 && c.word_b == 0 && same_limit)
      merged += classes.merge(c.a, c.b) ? 1 : 0;
  }
  if (merged == 0) return 0;
  for (ir::Block& block : f.blocks) {
    std::vector<ir::Instruction> kept;
    kept.reserve(block.instructions.size());
    for (ir::Instruction& i : block.instructions) {
      if (i.guarded) i.guard = classes.leader(i.guard);
      for (auto* operands : {&i.destinations, &i.sources})
        for (ir::Operand& o : *operands)
          if (o.is_reg() || o.is_predicate()) o.id = classes.leader(o.id);
      const bool is_identity = i.op == ir::Opcode::mov && i.destinations.size() == 1 && i.sources.size() == 1 &&
                               i.sources[0].kind == i.destinations[0].kind && !i.sources[0].negated &&
                               (i.sources[0].is_reg() || i.sources[0].is_predicate()) &&
                               i.sources[0].id == i.destinations[0].id;
      if (!is_identity) kept.push_back(std::move(i));
    }
    block.instructions = std::move(kept);
  }
  return merged;
}

}  // namespace regatta::passes
