// SPDX-License-Identifier: Apache-2.0
//
// What the passes of a target have in common when they write code on virtual registers.
#pragma once

#include <regatta/ir/ir.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regatta::passes {

/// A new virtual register of 1 or 2 words; 0: a predicate. `name` is for messages.
inline ir::Operand fresh_register(ir::Function& f, unsigned words, const std::string& name) {
  ir::VirtualRegister v;
  v.words = static_cast<std::uint8_t>(words);
  v.is_predicate = words == 0;
  v.name = name;
  f.registers.push_back(v);
  const auto id = static_cast<std::uint32_t>(f.registers.size() - 1);
  return words == 0 ? ir::Operand::predicate(id) : ir::Operand::reg(id, words);
}

inline ir::Instruction operation(ir::Opcode op, ir::Type type, ir::Operand to, std::vector<ir::Operand> from,
                                 const ir::Location& where) {
  ir::Instruction i;
  i.op = op;
  i.type = type;
  i.destinations = {std::move(to)};
  i.sources = std::move(from);
  i.where = where;
  return i;
}

/// One without operands.
inline ir::Instruction plain_operation(ir::Opcode op, const ir::Location& where) {
  ir::Instruction i;
  i.op = op;
  i.where = where;
  return i;
}

/// Whether the instruction writes the virtual register or predicate.
inline bool writes(const ir::Instruction& i, std::uint32_t v) {
  return std::any_of(i.destinations.begin(), i.destinations.end(),
                     [v](const ir::Operand& o) { return (o.is_reg() || o.is_predicate()) && o.id == v; });
}

/// A number that no address is to be added to.
inline bool is_plain_number(const ir::Operand& o) {
  return o.kind == ir::Operand::Kind::immediate && o.symbol.empty() && o.shared_variable == 0;
}

}  // namespace regatta::passes
