// SPDX-License-Identifier: Apache-2.0
#include "if_conversion.h"

#include "code.h"
#include "sequences.h"

#include <regatta/analysis/function_analyses.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace regatta::passes {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;

/// Lanes that execute a side.
struct Guard {
  std::uint32_t predicate = 0;
  bool negated = false;
};

bool may_be_guarded(const Instruction& i) {
  if (ir::is_exchange(i.op)) return false;
  switch (i.op) {
    case Opcode::bra:
    case Opcode::exit:
    case Opcode::bar:
    case Opcode::warp_sync:
    case Opcode::set_registers:
    case Opcode::activemask:
    case Opcode::trap:
    case Opcode::print:
      return false;
    default:
      return !branches(i) && !ir::is_asynchronous(i.op);
  }
}

/// A comparison that another condition can still be joined to.
bool is_plain_compare(const Instruction& i) {
  return i.op == Opcode::setp && !i.guarded && i.mod.bool_op == ir::BoolOp::none && i.destinations.size() == 1 &&
         i.sources.size() == 2;
}

/// The code of one side, without the jump at its end, if it has one.
class Side {
 public:
  /// `live_after`: what is read behind the side, by the other side too if that one follows.
  Side(const Block& block, Guard guard, std::vector<const analysis::BitSet*> live_after)
      : code_(block.instructions), guard_(guard), live_after_(std::move(live_after)) {
    if (!code_.empty() && code_.back().op == Opcode::bra) code_.pop_back();
  }
  std::size_t size() const { return code_.size(); }

  /// Puts everything under the guard; whether that can be done.
  bool convert() {
    for (std::size_t n = 0; n < code_.size(); ++n) {
      Instruction& i = code_[n];
      if (!may_be_guarded(i) || writes(i, guard_.predicate)) return false;
      if (i.guarded && !narrow(n)) return false;
    }
    for (Instruction& i : code_) {
      if (i.guarded || is_narrowed(i)) continue;
      i.guarded = true;
      i.guard = guard_.predicate;
      i.guard_negated = guard_.negated;
    }
    return true;
  }
  void append_to(std::vector<Instruction>& code) { std::move(code_.begin(), code_.end(), std::back_inserter(code)); }

 private:
  bool is_read_after(std::uint32_t v) const {
    return std::any_of(live_after_.begin(), live_after_.end(),
                       [v](const analysis::BitSet* live) { return live->test(v); });
  }
  bool is_narrowed(const Instruction& i) const {
    return std::any_of(narrowed_.begin(), narrowed_.end(), [&](std::uint32_t q) { return writes(i, q); });
  }

  /// Instruction n stands under a guard of its own: the comparison that decides it takes the side's condition in.
  bool narrow(std::size_t n) {
    const std::uint32_t q = code_[n].guard;
    if (code_[n].guard_negated || is_read_after(q)) return false;
    if (std::find(narrowed_.begin(), narrowed_.end(), q) != narrowed_.end()) return true;
    Instruction* compare = nullptr;
    for (std::size_t k = 0; k < code_.size(); ++k) {
      Instruction& i = code_[k];
      if (writes(i, q)) {
        if (compare != nullptr || k > n || !is_plain_compare(i)) return false;
        compare = &i;
        continue;
      }
      // Where the comparison is not made, the predicate is false from now on.
      const bool reads = std::any_of(i.sources.begin(), i.sources.end(),
                                     [q](const Operand& o) { return o.is_predicate() && o.id == q; });
      if (reads || (i.guarded && i.guard == q && (i.guard_negated || compare == nullptr))) return false;
    }
    if (compare == nullptr) return false;
    compare->mod.bool_op = ir::BoolOp::and_;
    compare->sources.push_back(Operand::predicate(guard_.predicate, guard_.negated));
    narrowed_.push_back(q);
    return true;
  }

  std::vector<Instruction> code_;
  Guard guard_;
  std::vector<const analysis::BitSet*> live_after_;
  std::vector<std::uint32_t> narrowed_;  ///< predicates whose comparison has the side's condition in it
};

class Converter {
 public:
  Converter(ir::Function& f, unsigned longest) : f_(f), longest_(longest) {}

  /// Takes out branches as the blocks stand; those around what is then short come in the next round.
  std::uint32_t round() {
    const analysis::Cfg cfg(f_);
    const analysis::Liveness liveness(f_, cfg);
    std::uint32_t converted = 0;
    for (std::uint32_t b = 0; b + 2 < f_.blocks.size(); ++b) {
      const bool done = convert(b, liveness);
      converted += done ? 1 : 0;
      if (done) b += 2;  // what liveness says of these blocks is no longer so
    }
    return converted;
  }

 private:
  bool only_from(std::uint32_t block, std::uint32_t from) const {
    return f_.blocks[block].predecessors == std::vector<std::uint32_t>{from};
  }
  /// The block that all lanes go to from `block`, -1 none.
  std::int64_t only_to(std::uint32_t block) const {
    const Block& b = f_.blocks[block];
    if (b.successors.size() != 1) return -1;
    const bool jumps = !b.instructions.empty() && b.instructions.back().op == Opcode::bra;
    if (jumps && b.instructions.back().guarded) return -1;
    return b.successors[0];
  }

  bool convert(std::uint32_t b, const analysis::Liveness& liveness) {
    Block& head = f_.blocks[b];
    if (head.instructions.empty()) return false;
    const Instruction branch = head.instructions.back();
    if (branch.op != Opcode::bra || !branch.guarded || branch.target <= b + 1) return false;
    const std::uint32_t first = b + 1;
    if (!only_from(first, b)) return false;
    const std::int64_t behind = only_to(first);
    if (behind < 0) return false;
    const auto join = static_cast<std::uint32_t>(behind);
    const Guard not_taken{branch.guard, !branch.guard_negated}, taken{branch.guard, branch.guard_negated};
    if (join == branch.target) {
      Side side(f_.blocks[first], not_taken, {&liveness.live_in(join)});
      if (side.size() > longest_ || !side.convert()) return false;
      head.instructions.pop_back();
      side.append_to(head.instructions);
      f_.blocks[first].instructions.clear();
      if (join != first + 1) jump(first, join, branch);
      return true;
    }
    const std::uint32_t second = branch.target;
    if (second != first + 1 || !only_from(second, b) || only_to(second) != behind) return false;
    Side one(f_.blocks[first], not_taken, {&liveness.live_in(second), &liveness.live_in(join)}),
        other(f_.blocks[second], taken, {&liveness.live_in(join)});
    if (one.size() + other.size() > longest_ || !one.convert() || !other.convert()) return false;
    head.instructions.pop_back();
    one.append_to(head.instructions);
    other.append_to(head.instructions);
    f_.blocks[first].instructions.clear();
    f_.blocks[second].instructions.clear();
    if (join != second + 1) jump(second, join, branch);
    return true;
  }

  void jump(std::uint32_t from, std::uint32_t to, const Instruction& branch) {
    Instruction i = branch;
    i.guarded = false;
    i.guard = 0;
    i.guard_negated = false;
    i.target = to;
    f_.blocks[from].instructions.push_back(i);
  }

  ir::Function& f_;
  unsigned longest_;
};

}  // namespace

void join_blocks(ir::Function& f) {
  ir::remove_empty_blocks(f);
  ir::build_edges(f);
  for (std::uint32_t b = 0; b + 1 < f.blocks.size(); ++b) {
    // From the last block of a run on, so that the run becomes its first block.
    std::uint32_t last = b;
    const auto exits = [&](std::uint32_t n) { return f.blocks[n].instructions.back().op == Opcode::exit; };
    while (last + 1 < f.blocks.size() && !exits(last) &&
           f.blocks[last].successors == std::vector<std::uint32_t>{last + 1} &&
           f.blocks[last + 1].predecessors == std::vector<std::uint32_t>{last})
      ++last;
    for (std::uint32_t n = b + 1; n <= last; ++n) {
      auto& code = f.blocks[b].instructions;
      if (!code.empty() && code.back().op == Opcode::bra) code.pop_back();
      auto& more = f.blocks[n].instructions;
      std::move(more.begin(), more.end(), std::back_inserter(code));
      more.clear();
    }
    b = last;
  }
  // An exit would be put into an empty last block, but nothing leads to it.
  while (f.blocks.back().instructions.empty()) f.blocks.pop_back();
  ir::remove_empty_blocks(f);
  ir::build_edges(f);
}

std::uint32_t convert_branches(ir::Function& f, unsigned longest) {
  std::uint32_t converted = 0;
  for (;;) {
    const std::uint32_t more = Converter(f, longest).round();
    if (more == 0) return converted;
    converted += more;
    join_blocks(f);
  }
}

}  // namespace regatta::passes
