// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::ir {

std::size_t Function::instruction_count() const {
  std::size_t n = 0;
  for (const Block& b : blocks) n += b.instructions.size();
  return n;
}

std::string stack_overflow_text(std::uint32_t stack_bytes) {
  return "stack overflow: frames of recursive functions take more than the " + std::to_string(stack_bytes) +
         " bytes that a thread has for them (--stack-bytes, cudaLimitStackSize)";
}

void build_edges(Function& f) {
  for (Block& b : f.blocks) {
    b.successors.clear();
    b.predecessors.clear();
  }
  const auto count = static_cast<std::uint32_t>(f.blocks.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    Block& b = f.blocks[i];
    bool falls_through = true;
    if (!b.instructions.empty()) {
      const Instruction& last = b.instructions.back();
      if (last.op == Opcode::bra) {
        if (last.target >= count)
          throw std::logic_error(f.name + ": block " + std::to_string(i) + " branches to block " +
                                 std::to_string(last.target) + " of " + std::to_string(count));
        b.successors.push_back(last.target);
        falls_through = last.guarded;
      } else if (last.op == Opcode::exit) {
        falls_through = last.guarded;
      }
    }
    // A branch to the next block has one successor, not the same one twice.
    if (falls_through && i + 1 < count && (b.successors.empty() || b.successors.front() != i + 1))
      b.successors.push_back(i + 1);
  }
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t s : f.blocks[i].successors) f.blocks[s].predecessors.push_back(i);
}

void move_shared_variables(Function& f, const SharedPlacement& placement) {
  if (f.allocated || placement.offsets.size() != f.shared_variables.size())
    throw std::logic_error(f.name + ": shared variables move before allocation, and all of them");
  for (Block& b : f.blocks)
    for (Instruction& i : b.instructions)
      for (Operand& o : i.sources) {
        if (o.shared_variable == 0) continue;
        const std::uint32_t v = o.shared_variable - 1;
        o.value += std::uint64_t{placement.offsets[v]} - f.shared_variables[v].offset;
        if (o.words == 1) o.value &= 0xffffffffu;
      }
  for (std::size_t v = 0; v < placement.offsets.size(); ++v) f.shared_variables[v].offset = placement.offsets[v];
  f.static_shared_bytes = placement.static_bytes;
}

void remove_empty_blocks(Function& f) {
  if (!f.blocks.empty() && f.blocks.back().instructions.empty()) {
    Instruction exit;
    exit.op = Opcode::exit;
    f.blocks.back().instructions.push_back(exit);
  }
  std::vector<std::uint32_t> number(f.blocks.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < f.blocks.size(); ++i) {
    number[i] = kept;
    if (!f.blocks[i].instructions.empty()) ++kept;
  }
  if (kept == f.blocks.size()) return;
  f.blocks.erase(
      std::remove_if(f.blocks.begin(), f.blocks.end(), [](const Block& b) { return b.instructions.empty(); }),
      f.blocks.end());
  for (Block& b : f.blocks) {
    Instruction& last = b.instructions.back();
    if (last.op == Opcode::bra) last.target = number[last.target];
  }
}

bool takes_texture(Opcode op) { return op >= Opcode::tex && op <= Opcode::sust; }

bool accesses_memory(Opcode op) {
  switch (op) {
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
      return true;
    default:
      return false;
  }
}

bool is_asynchronous(Opcode op) { return op >= Opcode::cp_async && op <= Opcode::bulk_wait; }

bool has_other_effects(Opcode op) {
  if (is_asynchronous(op)) return true;
  switch (op) {
    case Opcode::st:
    case Opcode::stmatrix:
    case Opcode::sust:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::bra:
    case Opcode::exit:
    case Opcode::bar:
    case Opcode::membar:
    case Opcode::warp_sync:
    case Opcode::set_registers:
    case Opcode::trap:
    case Opcode::print:
    case Opcode::add_cc:
    case Opcode::addc:
    case Opcode::sub_cc:
    case Opcode::subc:
      return true;
    default:
      return false;
  }
}

Accesses accesses(const Instruction& i, bool allocated) {
  Accesses a;
  const auto add = [allocated](const Operand& o, std::vector<std::uint32_t>& registers,
                               std::vector<std::uint32_t>& predicates) {
    if (o.is_predicate()) {
      predicates.push_back(o.id);
    } else if (o.is_reg()) {
      const unsigned words = allocated ? o.words : 1;
      for (unsigned w = 0; w < words; ++w) registers.push_back(o.id + w);
    }
  };
  for (const Operand& o : i.sources) add(o, a.reads, a.predicate_reads);
  for (const Operand& o : i.destinations) add(o, a.writes, a.predicate_writes);
  if (i.guarded) a.predicate_reads.push_back(i.guard);
  return a;
}

}  // namespace regatta::ir
