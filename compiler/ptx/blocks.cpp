// SPDX-License-Identifier: Apache-2.0
//
// From a line of instructions to basic blocks, with the clean-up that an assembler would do: code that cannot be
// reached, branches to the next instruction, and results that nobody reads are dropped.
#include "lowering.h"

#include <algorithm>

namespace regatta::ptx {
namespace {

using ir::Opcode;

bool ends_block(const ir::Instruction& i) { return i.op == Opcode::bra || i.op == Opcode::exit; }

/// True if an instruction may go when nobody reads its results.
bool is_pure(const ir::Instruction& i) {
  if (ir::has_other_effects(i.op) || ir::is_exchange(i.op)) return false;
  switch (i.op) {
    case Opcode::nop:
      return false;
    case Opcode::ld:
      return !i.mod.is_volatile &&
             (i.mod.space == trace::MemorySpace::param || i.mod.space == trace::MemorySpace::constant);
    case Opcode::mov:
      // A read of a clock is kept: it may be there for its time.
      return i.sources.empty() || i.sources[0].kind != ir::Operand::Kind::special ||
             i.sources[0].value < static_cast<std::uint64_t>(ir::Special::clock);
    default:
      return true;
  }
}

/// Removes instructions whose results are never read, and those that this leaves unread in turn.
void remove_unread(std::vector<ir::Instruction>& code, std::vector<Draft::Label>& labels, std::size_t registers) {
  std::vector<std::uint32_t> readers(registers, 0);
  std::vector<std::vector<std::uint32_t>> writers(registers);
  const auto reads = [](const ir::Instruction& i, auto&& visit) {
    const ir::Accesses a = ir::accesses(i, false);
    for (std::uint32_t r : a.reads) visit(r);
    for (std::uint32_t r : a.predicate_reads) visit(r);
  };
  for (std::uint32_t n = 0; n < code.size(); ++n) {
    reads(code[n], [&](std::uint32_t r) { ++readers[r]; });
    for (const ir::Operand& d : code[n].destinations) writers[d.id].push_back(n);
  }
  std::vector<char> dead(code.size(), 0);
  std::vector<std::uint32_t> work;
  const auto consider = [&](std::uint32_t n) {
    if (dead[n] || !is_pure(code[n])) return;
    for (const ir::Operand& d : code[n].destinations)
      if (readers[d.id] != 0) return;
    dead[n] = 1;
    work.push_back(n);
  };
  for (std::uint32_t n = 0; n < code.size(); ++n) consider(n);
  while (!work.empty()) {
    const std::uint32_t n = work.back();
    work.pop_back();
    reads(code[n], [&](std::uint32_t r) {
      if (--readers[r] == 0)
        for (std::uint32_t w : writers[r]) consider(w);
    });
  }
  // A second predicate that nobody reads (shfl's p, setp's q) would only take a register.
  for (std::uint32_t n = 0; n < code.size(); ++n) {
    std::vector<ir::Operand>& d = code[n].destinations;
    if (!dead[n] && d.size() == 2 && d[1].is_predicate() && readers[d[1].id] == 0) d.pop_back();
  }
  // kept[n]: position of instruction n among those that stay.
  std::vector<std::uint32_t> kept(code.size() + 1, 0);
  std::size_t out = 0;
  for (std::size_t n = 0; n < code.size(); ++n) {
    kept[n] = static_cast<std::uint32_t>(out);
    if (dead[n]) continue;
    if (out != n) code[out] = std::move(code[n]);
    ++out;
  }
  kept[code.size()] = static_cast<std::uint32_t>(out);
  code.resize(out);
  for (Draft::Label& l : labels)
    if (l.position != Draft::unplaced) l.position = kept[l.position];
}

/// Renumbers the virtual registers that are still mentioned, in order of their first mention.
void compact_registers(ir::Function& f) {
  constexpr std::uint32_t unseen = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(f.registers.size(), unseen);
  std::vector<ir::VirtualRegister> registers;
  const auto rename = [&](std::uint32_t id) {
    if (number[id] == unseen) {
      number[id] = static_cast<std::uint32_t>(registers.size());
      registers.push_back(std::move(f.registers[id]));
    }
    return number[id];
  };
  for (ir::Block& b : f.blocks)
    for (ir::Instruction& i : b.instructions) {
      if (i.guarded) i.guard = rename(i.guard);
      for (std::vector<ir::Operand>* list : {&i.destinations, &i.sources})
        for (ir::Operand& o : *list)
          if (o.is_reg() || o.is_predicate()) o.id = rename(o.id);
    }
  f.registers = std::move(registers);
}

/// Drops blocks without instructions and unreachable ones, and rewrites targets. True if anything changed.
bool drop_blocks(ir::Function& f) {
  const auto count = static_cast<std::uint32_t>(f.blocks.size());
  std::vector<char> reached(count, 0);
  std::vector<std::uint32_t> work{0};
  reached[0] = 1;
  ir::build_edges(f);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (std::uint32_t s : f.blocks[b].successors)
      if (!reached[s]) {
        reached[s] = 1;
        work.push_back(s);
      }
  }
  // An empty block stands for the next one that stays; the last block always stays if it is reached.
  std::vector<std::uint32_t> number(count, 0);
  std::uint32_t kept = 0;
  std::vector<char> stays(count, 0);
  for (std::uint32_t b = 0; b < count; ++b) {
    stays[b] = reached[b] && !f.blocks[b].instructions.empty();
    number[b] = kept;
    if (stays[b]) ++kept;
  }
  if (kept == count) return false;
  std::vector<ir::Block> blocks;
  blocks.reserve(kept);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (!stays[b]) continue;
    blocks.push_back(std::move(f.blocks[b]));
    ir::Instruction& last = blocks.back().instructions.back();
    if (last.op == Opcode::bra) last.target = number[last.target];
  }
  f.blocks = std::move(blocks);
  return true;
}

bool only_exits(const ir::Block& b) {
  return b.instructions.size() == 1 && b.instructions.front().op == Opcode::exit && !b.instructions.front().guarded;
}

/// A branch to a block that only leaves the kernel becomes an exit with the branch's guard, and so does a branch past
/// such a block. nvcc and clang write an early return as such a branch; ptxas makes a predicated EXIT of it.
bool shorten_exits(ir::Function& f) {
  bool changed = false;
  const auto make_exit = [&](ir::Instruction& branch, bool negate) {
    ir::Instruction exit;
    exit.op = Opcode::exit;
    exit.where = branch.where;
    exit.guarded = branch.guarded;
    exit.guard = branch.guard;
    exit.guard_negated = branch.guard_negated != negate;
    branch = std::move(exit);
    changed = true;
  };
  for (ir::Block& b : f.blocks) {
    if (b.instructions.empty()) continue;
    ir::Instruction& last = b.instructions.back();
    if (last.op == Opcode::bra && only_exits(f.blocks[last.target])) make_exit(last, false);
  }
  // No branch goes to such a block any more.
  for (std::uint32_t b = 0; b + 2 < f.blocks.size(); ++b) {
    if (f.blocks[b].instructions.empty() || !only_exits(f.blocks[b + 1])) continue;
    ir::Instruction& last = f.blocks[b].instructions.back();
    if (last.op != Opcode::bra || !last.guarded || last.target != b + 2) continue;
    make_exit(last, true);
    f.blocks[b + 1].instructions.clear();
  }
  return changed;
}

/// Removes a branch to the block behind it, and joins a block to its only predecessor when it falls through.
bool simplify(ir::Function& f) {
  bool changed = shorten_exits(f);
  for (std::uint32_t b = 0; b + 1 < f.blocks.size(); ++b) {
    std::vector<ir::Instruction>& code = f.blocks[b].instructions;
    if (!code.empty() && code.back().op == Opcode::bra && code.back().target == b + 1) {
      code.pop_back();
      changed = true;
    }
  }
  ir::build_edges(f);
  for (std::size_t b = f.blocks.size(); b-- > 1;) {
    ir::Block& before = f.blocks[b - 1];
    ir::Block& block = f.blocks[b];
    const bool joins = !before.instructions.empty() && !ends_block(before.instructions.back()) &&
                       block.predecessors.size() == 1 && block.predecessors[0] == b - 1;
    if (!joins || block.instructions.empty()) continue;
    before.instructions.insert(before.instructions.end(), std::make_move_iterator(block.instructions.begin()),
                               std::make_move_iterator(block.instructions.end()));
    block.instructions.clear();
    block.predecessors.clear();
    // The joined block's successors now follow the block before; only edges of blocks further down were final.
    before.successors = std::move(block.successors);
    block.successors.clear();
    changed = true;
  }
  return changed;
}

}  // namespace

void make_blocks(Draft&& draft, ir::Function& f) {
  // Code may run off its end, and a label may stand there: both mean a return.
  ir::Instruction exit;
  exit.op = Opcode::exit;
  if (!draft.instructions.empty()) exit.where = draft.instructions.back().where;
  draft.instructions.push_back(exit);
  remove_unread(draft.instructions, draft.labels, f.registers.size());

  const std::size_t count = draft.instructions.size();
  std::vector<char> leader(count + 1, 0);
  leader[0] = 1;
  for (std::size_t n = 0; n < count; ++n)
    if (ends_block(draft.instructions[n])) {
      leader[n + 1] = 1;
      if (draft.instructions[n].op == Opcode::bra) leader[draft.labels[draft.instructions[n].target].position] = 1;
    }
  std::vector<std::uint32_t> block_of(count, 0);
  f.blocks.clear();
  for (std::size_t n = 0; n < count; ++n) {
    if (leader[n]) f.blocks.emplace_back();
    block_of[n] = static_cast<std::uint32_t>(f.blocks.size() - 1);
    f.blocks.back().instructions.push_back(std::move(draft.instructions[n]));
  }
  for (ir::Block& b : f.blocks) {
    ir::Instruction& last = b.instructions.back();
    if (last.op != Opcode::bra) continue;
    const Draft::Label& label = draft.labels[last.target];
    last.target = block_of[label.position];
    if (f.blocks[last.target].label.empty()) f.blocks[last.target].label = label.name;
  }
  for (const Draft::Label& label : draft.labels)
    if (label.keeps_loop) f.blocks[block_of[label.position]].keeps_loop = true;
  drop_blocks(f);
  while (simplify(f)) drop_blocks(f);
  compact_registers(f);
  ir::build_edges(f);
}

}  // namespace regatta::ptx
