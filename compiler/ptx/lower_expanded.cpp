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

/// fma.relu, min.relu, max.relu: what is negative becomes +0, and what is no number the canonical one.
void lower_relu(FunctionLowering& l, const Statement& s, const Form& form, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  std::vector<ir::Operand> sources;
  for (std::size_t n = 1; n < s.operands.size(); ++n) sources.push_back(l.source(s.operands[n], proto.type, bare));
  const ir::Operand value = l.temporary(proto.type);
  l.emit(bare, form.op, proto.type, {value}, std::move(sources));
  l.last().mod = proto.mod;
  l.emit(proto, Opcode::max, proto.type, {l.destination(s.operands[0], proto.type)},
         {value, ir::Operand::immediate(0)});
  l.last().mod.nan = ir::is_float(proto.type);
}

namespace {

/// Compares operands 1 and 2, floats of 16 bits or pairs of them, as `proto` says; the predicates, the low half's
/// first.
std::vector<ir::Operand> compare_halves(FunctionLowering& l, const Statement& s, const ir::Instruction& proto,
                                        Type type) {
  if (proto.mod.compare == ir::Compare::none) l.error(s.at, "'" + s.name + "' has no comparison operator");
  const ir::Instruction bare = plain(proto);
  std::vector<ir::Operand> sides[2];
  for (std::size_t n = 0; n < 2; ++n) {
    const ir::Operand whole = l.source(s.operands[1 + n], type, bare);
    if (!ir::is_pair(type)) {
      sides[n] = {whole};
      continue;
    }
    sides[n] = {l.temporary(Type::b16), l.temporary(Type::b16)};
    l.emit(bare, Opcode::unpack, Type::b32, {sides[n][0], sides[n][1]}, {whole});
  }
  std::vector<ir::Operand> found;
  for (std::size_t half = 0; half < sides[0].size(); ++half) {
    std::vector<ir::Operand> sources{sides[0][half], sides[1][half]};
    if (s.operands.size() > 3) sources.push_back(l.source(s.operands[3], Type::pred, bare));
    found.push_back(l.temporary(Type::pred));
    const Type one = type == Type::f16 || type == Type::f16x2 ? Type::f16 : Type::bf16;
    l.emit(bare, Opcode::setp, one, {found.back()}, std::move(sources));
    l.last().mod = proto.mod;
  }
  return found;
}

}  // namespace

/// setp.f16x2 (.bf16x2) p|q, a, b: p of the low halves, q of the high ones.
void lower_setp_pair(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Operand& d = s.operands[0];
  if (d.kind != Operand::Kind::pair) l.error(d.at, "'" + s.name + "' has one result, expected p|q");
  // The third operand may be one of the results, and is read for both halves.
  const std::vector<ir::Operand> found = compare_halves(l, s, proto, proto.type);
  const ir::Instruction bare = plain(proto);
  l.emit(bare, Opcode::mov, Type::pred, {l.predicate_destination(d, d.name)}, {found[0]});
  l.emit(bare, Opcode::mov, Type::pred, {l.predicate_destination(d, d.second)}, {found[1]});
}

/// set of floats of 16 bits, or of pairs of them: 1.0, or all ones, in each half that the comparison holds for.
void lower_set_half(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const ir::Instruction bare = plain(proto);
  const std::vector<ir::Operand> found = compare_halves(l, s, proto, proto.source_type);
  const bool pair = ir::is_pair(proto.source_type);
  const bool one_half = proto.type == Type::f16 || proto.type == Type::f16x2;
  const bool one_brain = proto.type == Type::bf16 || proto.type == Type::bf16x2;
  const Type part = pair || one_half || one_brain ? Type::b16 : proto.type;
  const std::uint64_t yes = one_half ? 0x3c00 : one_brain ? 0x3f80 : part == Type::s16 ? 0xffffffff : 0xffff;
  std::vector<ir::Operand> parts;
  for (const ir::Operand& p : found) {
    parts.push_back(pair ? l.temporary(Type::b16) : l.destination(s.operands[0], proto.type));
    l.emit(bare, Opcode::selp, part, {parts.back()}, {ir::Operand::immediate(yes), ir::Operand::immediate(0), p});
  }
  if (pair) l.emit(bare, Opcode::pack, Type::b32, {l.destination(s.operands[0], proto.type)}, parts);
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

std::vector<ir::Operand> FunctionLowering::lop3_sources(const Statement& s, const ir::Instruction& bare) {
  const Operand& table = s.operands[4];
  if (table.kind != Operand::Kind::integer || table.bits > 0xff)
    error(table.at, "'" + table.text + "' is no table of '" + s.name + "', expected a number from 0 to 255");
  std::vector<ir::Operand> sources;
  for (unsigned n = 1; n <= 3; ++n) sources.push_back(source(s.operands[n], Type::b32, bare));
  sources.push_back(ir::Operand::immediate(table.bits));
  return sources;
}

/// lop3 d, a, b, c, table.
void lower_lop3(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  std::vector<ir::Operand> sources = l.lop3_sources(s, plain(proto));
  l.emit(proto, Opcode::lop3, Type::b32, {l.destination(s.operands[0], Type::b32)}, std::move(sources));
}

/// What PTX allows to have no effect: a sleep may take no time, and a prefetch is a hint.
void lower_nothing(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  if (s.mnemonic == "nanosleep") l.source(s.operands[0], Type::u32, plain(proto));
  const bool has_address = s.mnemonic == "prefetch" || s.mnemonic == "applypriority" || s.mnemonic == "discard";
  if (has_address && s.operands[0].kind != Operand::Kind::address)
    l.error(s.operands[0].at, "'" + s.operands[0].text + "' is not an address");
  if (s.operands.size() > 1 && (s.operands[1].kind != Operand::Kind::integer || s.operands[1].bits != 128))
    l.error(s.operands[1].at, "'" + s.operands[1].text + "' is not the size of a cache line, expected 128");
}

}  // namespace regatta::ptx
