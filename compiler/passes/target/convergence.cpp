// SPDX-License-Identifier: Apache-2.0
#include "convergence.h"

#include "code.h"

#include <regatta/analysis/function_analyses.h>

#include <algorithm>
#include <map>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

bool differs_by_itself(const Instruction& i) {
  if (ir::is_asynchronous(i.op)) return true;
  switch (i.op) {
    case Opcode::atom:
    case Opcode::shfl:
    case Opcode::match:
    case Opcode::elect:
    case Opcode::activemask:
    case Opcode::mma:
    case Opcode::ldmatrix:
    case Opcode::movmatrix:
      return true;
    case Opcode::ld:
      return i.mod.space == MemorySpace::local || i.mod.is_volatile;
    default:
      break;
  }
  return std::any_of(i.sources.begin(), i.sources.end(), [](const Operand& o) {
    if (o.kind != Operand::Kind::special) return false;
    const auto s = static_cast<ir::Special>(o.value);
    return s <= ir::Special::tid_z || s == ir::Special::laneid ||
           (s >= ir::Special::lanemask_eq && s <= ir::Special::globaltimer_hi);
  });
}

/// What all lanes of a warp get alike.
bool is_common(const Instruction& i) { return i.op == Opcode::vote || i.op == Opcode::redux; }

class Divergence {
 public:
  explicit Divergence(const ir::Function& f)
      : f_(f),
        analyses_(f),
        meets_(analyses_.reconvergence().immediate()),
        differs_(f.registers.size(), false),
        definitions_(f.registers.size(), 0),
        is_apart_(f.blocks.size(), false) {
    for (const ir::Block& b : f.blocks)
      for (const Instruction& i : b.instructions)
        for (const Operand& d : i.destinations)
          if (d.is_reg() || d.is_predicate()) ++definitions_[d.id];
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
        for (const Instruction& i : f.blocks[b].instructions) again |= look(b, i);
    }
  }
  const std::vector<bool>& registers() const { return differs_; }

 private:
  bool reads_differing(const Instruction& i) const {
    if (i.guarded && differs_[i.guard]) return true;
    return std::any_of(i.sources.begin(), i.sources.end(),
                       [this](const Operand& o) { return (o.is_reg() || o.is_predicate()) && differs_[o.id]; });
  }
  /// Whether anything became known.
  bool look(std::uint32_t b, const Instruction& i) {
    if (i.op == Opcode::bra) return i.guarded && differs_[i.guard] && part(b);
    const bool differs = differs_by_itself(i) || (!is_common(i) && reads_differing(i));
    bool changed = false;
    for (const Operand& d : i.destinations) {
      if (!d.is_reg() && !d.is_predicate()) continue;
      // One of several definitions, which some lanes come by and others do not.
      const bool by_way = is_apart_[b] && definitions_[d.id] > 1;
      if ((differs || by_way) && !differs_[d.id]) changed = differs_[d.id] = true;
    }
    return changed;
  }
  /// Lanes part at the end of block b: the blocks up to where they meet.
  bool part(std::uint32_t b) {
    const std::int32_t end = meets_[b];
    std::vector<std::uint32_t> work(f_.blocks[b].successors);
    bool changed = false;
    std::vector<bool> seen(f_.blocks.size(), false);
    while (!work.empty()) {
      const std::uint32_t n = work.back();
      work.pop_back();
      if (seen[n] || static_cast<std::int32_t>(n) == end) continue;
      seen[n] = true;
      if (!is_apart_[n]) changed = is_apart_[n] = true;
      work.insert(work.end(), f_.blocks[n].successors.begin(), f_.blocks[n].successors.end());
    }
    return changed;
  }

  const ir::Function& f_;
  analysis::FunctionAnalyses analyses_;
  std::vector<std::int32_t> meets_;
  std::vector<bool> differs_;
  std::vector<std::uint32_t> definitions_;
  std::vector<bool> is_apart_;  ///< only some lanes may be there
};

}  // namespace

std::vector<bool> divergent_registers(const ir::Function& f) { return Divergence(f).registers(); }

std::uint32_t add_convergence_barriers(ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  const std::vector<bool> differs = divergent_registers(f);
  const std::vector<std::int32_t> meets = analyses.reconvergence().immediate();
  std::map<std::uint32_t, std::vector<std::uint32_t>> branches;  // by where their lanes meet
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    const auto& code = f.blocks[b].instructions;
    if (code.empty() || code.back().op != Opcode::bra || !code.back().guarded || !differs[code.back().guard]) continue;
    if (meets[b] < 0 || !analyses.dominators().reachable(b)) continue;
    const auto place = static_cast<std::uint32_t>(meets[b]);
    const auto& there = f.blocks[place].instructions;
    if (there.empty() || there.front().op != Opcode::bsync) branches[place].push_back(b);
  }
  std::uint32_t pairs = 0;
  for (const auto& [place, from] : branches) {
    const auto& dominators = analyses.dominators();
    std::int64_t first = from.front();
    const auto above = [&](std::int64_t n) {
      return std::int64_t{dominators.immediate(static_cast<std::uint32_t>(n))};
    };
    for (const std::uint32_t b : from)
      while (first >= 0 && !dominators.dominates(static_cast<std::uint32_t>(first), b)) first = above(first);
    // Out of the loops that the lanes leave before they meet.
    const auto& loops = analyses.loops();
    while (first >= 0 && loops.depth(static_cast<std::uint32_t>(first)) > loops.depth(place)) first = above(first);
    if (first < 0) continue;
    auto& code = f.blocks[static_cast<std::size_t>(first)].instructions;
    auto at = code.end();
    if (!code.empty() && (code.back().op == Opcode::bra || code.back().op == Opcode::exit)) --at;
    const Instruction beside = f.blocks[from.front()].instructions.back();
    code.insert(at, plain_operation(Opcode::bssy, beside.where));
    auto& end = f.blocks[place].instructions;
    end.insert(end.begin(), plain_operation(Opcode::bsync, end.empty() ? beside.where : end.front().where));
    ++pairs;
  }
  return pairs;
}

}  // namespace regatta::passes
