// SPDX-License-Identifier: Apache-2.0
#include "units.h"

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Type;
using trace::OpClass;

constexpr unsigned word = 4;

bool is_half(Type t) { return ir::is_float(t) && ir::size_of(t) < word; }

/// Conversions that the arithmetic pipelines have: between integers, from 32-bit integers to f32, between f32 and f16,
/// and of pairs and tf32.
bool has_pipeline(const Instruction& i) {
  const Type to = i.type, from = i.source_type;
  if (!ir::is_float(to) && !ir::is_float(from)) return true;
  if (!ir::is_float(from)) {
    const bool nearest = i.mod.rounding == ir::Rounding::rn || i.mod.rounding == ir::Rounding::none;
    return to == Type::f32 && ir::size_of(from) == word && nearest;
  }
  if (ir::is_pair(to) || ir::is_pair(from) || to == Type::tf32) return true;
  return (is_half(to) && from == Type::f32) || (to == Type::f32 && is_half(from));
}

OpClass unit_of(const Instruction& i) {
  switch (i.op) {
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
    case Opcode::bfind:
      return ir::size_of(i.type) > word ? OpClass::nop : OpClass::sfu;
    case Opcode::cvt:
      return has_pipeline(i) ? OpClass::nop : OpClass::sfu;
    case Opcode::setp:
      return i.mod.compare == ir::Compare::slow_division ? OpClass::sfu : OpClass::nop;
    case Opcode::vote:
    case Opcode::elect:
    case Opcode::activemask:
      return OpClass::int_add;
    default:
      return OpClass::nop;
  }
}

}  // namespace

std::uint32_t assign_units(ir::Function& f) {
  std::uint32_t assigned = 0;
  for (ir::Block& b : f.blocks)
    for (Instruction& i : b.instructions) {
      i.target_class = unit_of(i);
      assigned += i.target_class != OpClass::nop ? 1 : 0;
    }
  return assigned;
}

}  // namespace regatta::passes
