// SPDX-License-Identifier: Apache-2.0
//
// Packed and narrow formats, tests of numbers, cache policies (forms_packed.cpp).
#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;
using ir::Type;

/// cvt.rn.f16x2.f32 d, a, b and its kin: a goes to the upper half of d, b to the lower.
void lower_cvt_pair(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  ir::Instruction i = proto;
  for (unsigned n = 1; n <= 2; ++n) i.sources.push_back(l.source(s.operands[n], Type::f32, bare));
  const FunctionLowering::RelaxedDestination d = l.relaxed_destination(s.operands[0], proto.type);
  i.destinations.push_back(d.operand);
  l.append(std::move(i));
  l.finish_wide(d, proto.type, bare);
}

/// cvt.pack.sat d, a, b, c: c moved up by two numbers, under it a and b, each clamped.
void lower_cvt_pack(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  unsigned bits = 8 * ir::size_of(proto.type);
  bool is_signed = ir::is_signed(proto.type);
  for (const char* narrow : {"u4", "s4", "u2", "s2"}) {
    if (!has_modifier(s, narrow)) continue;
    bits = static_cast<unsigned>(narrow[1] - '0');
    is_signed = narrow[0] == 's';
  }
  const bool merges = s.operands.size() > 3;
  if (merges && bits == 32) l.error(s.at, "'" + s.name + "' has no size, expected .u8, .s8, .u4, .s4, .u2 or .s2");
  const std::uint64_t span = std::uint64_t{1} << (is_signed ? bits - 1 : bits);
  const std::uint64_t lowest = is_signed ? (0 - span) & 0xffffffffu : 0;
  ir::Operand clamped[2];
  for (unsigned n = 0; n < 2; ++n) {
    const ir::Operand below = l.temporary(Type::s32);
    clamped[n] = l.temporary(Type::s32);
    l.emit(bare, Opcode::min, Type::s32, {below},
           {l.source(s.operands[1 + n], Type::s32, bare), ir::Operand::immediate(span - 1)});
    l.emit(bare, Opcode::max, Type::s32, {clamped[n]}, {below, ir::Operand::immediate(lowest)});
  }
  const auto insert = [&](const ir::Operand& to, const ir::Operand& from, const ir::Operand& into, unsigned at) {
    l.emit(bare, Opcode::bfi, Type::b32, {to}, {from, into, ir::Operand::immediate(at), ir::Operand::immediate(bits)});
  };
  ir::Operand low = clamped[1];
  if (merges) {
    const ir::Operand moved = l.temporary(Type::b32);
    l.emit(bare, Opcode::shl, Type::b32, {moved},
           {l.source(s.operands[3], Type::b32, bare), ir::Operand::immediate(2u * bits)});
    low = l.temporary(Type::b32);
    insert(low, clamped[1], moved, 0);
  }
  insert(l.destination(s.operands[0], Type::b32), clamped[0], low, bits);
}

/// testp d, a: by the bits of the magnitude. Zeros are normal.
void lower_testp(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const bool wide = proto.type == Type::f64;
  const Type type = wide ? Type::u64 : Type::u32;
  const unsigned words = wide ? 2 : 1;
  const std::uint64_t infinity = wide ? 0x7ff0000000000000u : 0x7f800000u;
  const std::uint64_t least_normal = wide ? 0x0010000000000000u : 0x00800000u;
  const std::uint64_t magnitude_bits = wide ? 0x7fffffffffffffffu : 0x7fffffffu;
  const auto number = [words](std::uint64_t v) { return ir::Operand::immediate(v, words); };
  const ir::Operand d = l.predicate_destination(s.operands[0], s.operands[0].name);
  const ir::Operand magnitude = l.temporary(type);
  l.emit(bare, Opcode::and_, wide ? Type::b64 : Type::b32, {magnitude},
         {l.source(s.operands[1], proto.type, bare), number(magnitude_bits)});
  const auto compare = [&](const ir::Operand& to, ir::Compare c, const ir::Operand& value, std::uint64_t limit) {
    l.emit(bare, Opcode::setp, type, {to}, {value, number(limit)});
    l.last().mod.compare = c;
  };
  if (has_modifier(s, "finite")) return compare(d, ir::Compare::lt, magnitude, infinity);
  if (has_modifier(s, "infinite")) return compare(d, ir::Compare::eq, magnitude, infinity);
  if (has_modifier(s, "number")) return compare(d, ir::Compare::le, magnitude, infinity);
  if (has_modifier(s, "notanumber")) return compare(d, ir::Compare::gt, magnitude, infinity);
  const bool normal = has_modifier(s, "normal");
  if (!normal && !has_modifier(s, "subnormal"))
    l.error(s.at, "'" + s.name +
                      "' has no property, expected .finite, .infinite, .number, .notanumber, .normal or .subnormal");
  const ir::Operand less = l.temporary(type);  // a zero goes round to the top
  l.emit(bare, Opcode::sub, type, {less}, {magnitude, number(1)});
  if (!normal) return compare(d, ir::Compare::lt, less, least_normal - 1);
  const ir::Operand finite = l.temporary(Type::pred);
  compare(finite, ir::Compare::lt, magnitude, infinity);
  l.emit(bare, Opcode::setp, type, {d}, {less, number(least_normal - 1), finite});
  l.last().mod.compare = ir::Compare::ge;
  l.last().mod.bool_op = ir::BoolOp::and_;
}

/// szext d, a, b: the low b bits of a, extended.
void lower_szext(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const ir::Operand a = l.source(s.operands[1], proto.type, bare);
  const ir::Operand count = l.source(s.operands[2], Type::u32, bare);
  const ir::Operand bits = l.temporary(Type::u32);
  if (has_modifier(s, "wrap")) {
    l.emit(bare, Opcode::and_, Type::b32, {bits}, {count, ir::Operand::immediate(31)});
  } else {
    l.emit(bare, Opcode::min, Type::u32, {bits}, {count, ir::Operand::immediate(32)});
  }
  l.emit(bare, Opcode::bfe, proto.type, {l.destination(s.operands[0], proto.type)},
         {a, ir::Operand::immediate(0), bits});
}

/// lop3.and d|p, a, b, c, table, q: p is (d is not 0) and q.
void lower_lop3_predicate(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& d = s.operands[0];
  if (d.kind != Operand::Kind::pair) l.error(d.at, "'" + s.name + "' has one result, expected d|p");
  const ir::Instruction bare = plain(proto);
  const ir::Operand q = l.source(s.operands[5], Type::pred, bare);
  ir::Instruction results = bare;
  l.destinations_with_predicate(d, Type::b32, results);
  l.emit(bare, Opcode::lop3, Type::b32, {results.destinations[0]}, l.lop3_sources(s, bare));
  l.emit(bare, Opcode::setp, Type::u32, {results.destinations[1]},
         {results.destinations[0], ir::Operand::immediate(0), q});
  l.last().mod.compare = ir::Compare::ne;
  l.last().mod.bool_op = has_modifier(s, "and") ? ir::BoolOp::and_ : ir::BoolOp::or_;
}

/// A policy says how long a cache should keep a line: no cache of ours asks.
void lower_create_policy(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  if (has_modifier(s, "range")) {
    if (s.operands[1].kind != Operand::Kind::address)
      l.error(s.operands[1].at, "'" + s.operands[1].text + "' is not an address, expected '[...]'");
    for (unsigned n = 2; n < 4; ++n) l.source(s.operands[n], Type::u32, bare);
  } else if (has_modifier(s, "cvt")) {
    l.source(s.operands[1], Type::b64, bare);
  } else if (s.operands.size() > 1) {
    l.source(s.operands[1], Type::f32, bare);
  }
  l.emit(bare, Opcode::mov, Type::b64, {l.destination(s.operands[0], Type::b64)}, {ir::Operand::immediate(0, 2)});
}

}  // namespace regatta::ptx
