// SPDX-License-Identifier: Apache-2.0
//
// Forms that are several instructions of ours, or none.
#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;
using ir::Type;

/// mad.lo.cc and its kin: a multiply, then an add on the carry chain.
void lower_mad_carry(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const Type type = proto.type;
  const ir::Operand a = l.source(s.operands[1], type, bare);
  const ir::Operand b = l.source(s.operands[2], type, bare);
  const ir::Operand c = l.source(s.operands[3], type, bare);
  const ir::Operand product = l.temporary(type);
  l.emit(bare, proto.op == Opcode::mad_hi ? Opcode::mul_hi : Opcode::mul_lo, type, {product}, {a, b});
  const bool carry_in = s.mnemonic == "madc";
  l.emit(bare, carry_in ? Opcode::addc : Opcode::add_cc, type, {l.destination(s.operands[0], type)}, {product, c});
  l.last().mod.carry_out = carry_in && has_modifier(s, "cc");
}

/// copysign d, a, b: the magnitude of b with the sign of a.
void lower_copysign(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const bool wide = proto.type == Type::f64;
  const Type type = wide ? Type::b64 : Type::b32;
  const unsigned words = wide ? 2 : 1;
  const std::uint64_t sign_bit = wide ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
  const ir::Instruction bare = plain(proto);
  const ir::Operand a = l.source(s.operands[1], proto.type, bare);
  const ir::Operand b = l.source(s.operands[2], proto.type, bare);
  const ir::Operand sign = l.temporary(type), magnitude = l.temporary(type);
  l.emit(bare, Opcode::and_, type, {sign}, {a, ir::Operand::immediate(sign_bit, words)});
  l.emit(bare, Opcode::and_, type, {magnitude}, {b, ir::Operand::immediate(sign_bit - 1, words)});
  l.emit(bare, Opcode::or_, type, {l.destination(s.operands[0], proto.type)}, {sign, magnitude});
}

/// prmt.mode d, a, b, c: the two low bits of c choose one of four selectors of the plain prmt, 16 bits each.
void lower_permute(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  struct Mode {
    const char* name;
    std::uint64_t selectors;  ///< of c = 0 in the lowest 16 bits
  };
  static constexpr Mode modes[] = {{"f4e", 0x6543543243213210}, {"b4e", 0x0123701267015670},
                                   {"rc8", 0x3333222211110000}, {"ecl", 0x3333322232113210},
                                   {"ecr", 0x3210221011100000}, {"rc16", 0x3232101032321010}};
  const ir::Instruction bare = plain(proto);
  const ir::Operand a = l.source(s.operands[1], Type::b32, bare);
  const ir::Operand b = l.source(s.operands[2], Type::b32, bare);
  ir::Operand selector = l.source(s.operands[3], Type::b32, bare);
  for (const Mode& m : modes) {
    if (!has_modifier(s, m.name)) continue;
    const ir::Operand low = l.temporary(Type::b32), amount = l.temporary(Type::b32), all = l.temporary(Type::b64);
    l.emit(bare, Opcode::and_, Type::b32, {low}, {selector, ir::Operand::immediate(3)});
    l.emit(bare, Opcode::shl, Type::b32, {amount}, {low, ir::Operand::immediate(4)});
    l.emit(bare, Opcode::shr, Type::u64, {all}, {ir::Operand::immediate(m.selectors, 2), amount});
    selector = l.temporary(Type::b32);
    l.emit(bare, Opcode::cvt, Type::u32, {selector}, {all});
    l.last().source_type = Type::u64;
    break;
  }
  l.emit(proto, Opcode::prmt, Type::b32, {l.destination(s.operands[0], Type::b32)}, {a, b, selector});
}

/// bmsk d, a, b: b ones from bit a on. Shifts clamp, so 32 or more ones come out right; .wrap takes both modulo 32.
void lower_bmsk(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  ir::Operand start = l.source(s.operands[1], Type::u32, bare);
  ir::Operand count = l.source(s.operands[2], Type::u32, bare);
  if (has_modifier(s, "clamp") == has_modifier(s, "wrap"))
    l.error(s.at, "'" + s.name + "' has no mode, expected .clamp or .wrap");
  if (has_modifier(s, "wrap")) {
    for (ir::Operand* o : {&start, &count}) {
      const ir::Operand low = l.temporary(Type::b32);
      l.emit(bare, Opcode::and_, Type::b32, {low}, {*o, ir::Operand::immediate(31)});
      *o = low;
    }
  }
  const ir::Operand power = l.temporary(Type::b32), ones = l.temporary(Type::b32);
  l.emit(bare, Opcode::shl, Type::b32, {power}, {ir::Operand::immediate(1), count});
  l.emit(bare, Opcode::sub, Type::u32, {ones}, {power, ir::Operand::immediate(1)});
  l.emit(bare, Opcode::shl, Type::b32, {l.destination(s.operands[0], Type::b32)}, {ones, start});
}

/// cnot d, a: logical negation.
void lower_cnot(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const unsigned words = ir::words_of(proto.type);
  const ir::Operand zero = l.temporary(Type::pred);
  l.emit(bare, Opcode::setp, proto.type, {zero},
         {l.source(s.operands[1], proto.type, bare), ir::Operand::immediate(0, words)});
  l.last().mod.compare = ir::Compare::eq;
  l.emit(bare, Opcode::selp, proto.type, {l.destination(s.operands[0], proto.type)},
         {ir::Operand::immediate(1, words), ir::Operand::immediate(0, words), zero});
}

/// slct d, a, b, c: a if c is not negative, b otherwise, and for a c that is no number.
void lower_slct(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const ir::Operand a = l.source(s.operands[1], proto.type, bare);
  const ir::Operand b = l.source(s.operands[2], proto.type, bare);
  const ir::Operand c = l.source(s.operands[3], proto.source_type, bare);
  const ir::Operand first = l.temporary(Type::pred);
  l.emit(bare, Opcode::setp, proto.source_type, {first}, {c, ir::Operand::immediate(0)});
  l.last().mod.compare = ir::Compare::ge;
  l.last().mod.ftz = proto.mod.ftz;
  l.emit(bare, Opcode::selp, proto.type, {l.destination(s.operands[0], proto.type)}, {a, b, first});
}

/// mul24 and mad24: of the low 24 bits of a and b, the low 32 bits of the product, or bits 16 to 47.
void lower_mul24(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const bool is_signed = proto.type == Type::s32;
  const bool adds = s.mnemonic == "mad24";
  ir::Operand factor[2];
  for (unsigned n = 0; n < 2; ++n) {
    const ir::Operand whole = l.source(s.operands[1 + n], proto.type, bare);
    factor[n] = l.temporary(proto.type);
    l.emit(bare, Opcode::bfe, proto.type, {factor[n]}, {whole, ir::Operand::immediate(0), ir::Operand::immediate(24)});
  }
  const ir::Operand addend = adds ? l.source(s.operands[3], proto.type, bare) : ir::Operand{};
  const ir::Operand result = l.destination(s.operands[0], proto.type);
  if (has_modifier(s, "lo")) {
    if (adds) {
      l.emit(bare, Opcode::mad_lo, proto.type, {result}, {factor[0], factor[1], addend});
    } else {
      l.emit(bare, Opcode::mul_lo, proto.type, {result}, {factor[0], factor[1]});
    }
    return;
  }
  const Type wide = is_signed ? Type::s64 : Type::u64;
  const ir::Operand product = l.temporary(wide), upper = l.temporary(wide);
  l.emit(bare, Opcode::mul_wide, proto.type, {product}, {factor[0], factor[1]});
  l.emit(bare, Opcode::shr, wide, {upper}, {product, ir::Operand::immediate(16)});
  const ir::Operand high = adds ? l.temporary(Type::u32) : result;
  l.emit(bare, Opcode::cvt, Type::u32, {high}, {upper});
  l.last().source_type = Type::u64;
  if (adds) l.emit(bare, Opcode::add, proto.type, {result}, {high, addend});
}

/// lop3 d, a, b, c, table: the table is part of the instruction.
void lower_lop3(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& table = s.operands[4];
  if (table.kind != Operand::Kind::integer || table.bits > 0xff)
    l.error(table.at, "'" + table.text + "' is no table of '" + s.name + "', expected a number from 0 to 255");
  std::vector<ir::Operand> sources;
  for (unsigned n = 1; n <= 3; ++n) sources.push_back(l.source(s.operands[n], Type::b32, plain(proto)));
  sources.push_back(ir::Operand::immediate(table.bits));
  l.emit(proto, Opcode::lop3, Type::b32, {l.destination(s.operands[0], Type::b32)}, std::move(sources));
}

/// What PTX allows to have no effect: a sleep may take no time, and a prefetch is a hint.
void lower_nothing(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (s.mnemonic == "nanosleep") l.source(s.operands[0], Type::u32, plain(proto));
  if (s.mnemonic == "prefetch" && s.operands[0].kind != Operand::Kind::address)
    l.error(s.operands[0].at, "'" + s.operands[0].text + "' is not an address");
}

}  // namespace regatta::ptx
