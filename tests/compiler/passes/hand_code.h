// SPDX-License-Identifier: Apache-2.0
//
// Functions over physical registers, written by hand.
#pragma once

#include <regatta/ir/ir.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::test {

class HandCode {
 public:
  HandCode() {
    f.name = "by_hand";
    f.allocated = true;
    f.predicates_used = 1;
    block();
  }
  ir::Function f;

  void block() { f.blocks.emplace_back(); }
  ir::Instruction& op(const std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from,
                      unsigned words = 1) {
    ir::Instruction& i = add(words == 2 ? ir::Opcode::mov : ir::Opcode::mad_lo);
    i.type = words == 2 ? ir::Type::u64 : ir::Type::u32;
    for (const std::uint32_t r : to) i.destinations.push_back(named(r, words));
    for (const std::uint32_t r : from) i.sources.push_back(named(r, words));
    return i;
  }
  /// Under P0, or without a guard. It ends its block.
  ir::Instruction& branch(std::uint32_t target, bool guarded) {
    ir::Instruction& i = add(ir::Opcode::bra);
    i.target = target;
    return guarded ? under(i) : i;
  }
  /// P0 is decided by a register.
  void compare(std::uint32_t reg) { add(ir::Opcode::setp).sources = {named(reg, 1)}; }
  void barrier() { add(ir::Opcode::bar).sources = {ir::Operand::immediate(0)}; }
  ir::Instruction& exit() { return add(ir::Opcode::exit); }
  /// Puts P0, or its opposite, before an instruction.
  static ir::Instruction& under(ir::Instruction& i, bool negated = false) {
    i.guarded = true;
    i.guard = 0;
    i.guard_negated = negated;
    return i;
  }

 private:
  ir::Instruction& add(ir::Opcode op) {
    ir::Instruction i;
    i.op = op;
    if (op == ir::Opcode::setp) i.destinations = {ir::Operand::predicate(0)};
    f.blocks.back().instructions.push_back(i);
    return f.blocks.back().instructions.back();
  }
  ir::Operand named(std::uint32_t reg, unsigned words) {
    f.registers_used = std::max(f.registers_used, reg + words);
    return ir::Operand::reg(reg, words);
  }
};

}  // namespace regatta::test
