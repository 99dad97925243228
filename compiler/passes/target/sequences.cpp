// SPDX-License-Identifier: Apache-2.0
#include "sequences.h"

#include "code.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace regatta::passes {

namespace {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using ir::Rounding;
using ir::Type;

bool is_nearest(const Instruction& i) {
  return (i.mod.rounding == Rounding::rn || i.mod.rounding == Rounding::none) && !i.mod.approximate && !i.mod.full &&
         !i.mod.ftz && !i.mod.saturate;
}

bool is_word(Type t) { return t == Type::s32 || t == Type::u32; }

Operand number(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return Operand::immediate(bits);
}

/// Code in line, cut into blocks where it branches.
class Writer {
 public:
  explicit Writer(ir::Function& f) : f_(f) {}

  std::vector<ir::Block>& blocks() { return blocks_; }
  std::uint32_t open() {
    blocks_.emplace_back();
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  void at(const ir::Location& where) { where_ = where; }
  void plain(Opcode op) { copy(plain_operation(op, where_)); }
  void copy(Instruction i) { blocks_.back().instructions.push_back(std::move(i)); }

  Operand fresh(unsigned words = 1) { return fresh_register(f_, words, "%sequence"); }
  Instruction& emit(Opcode op, Type type, const Operand& to, std::vector<Operand> from) {
    copy(operation(op, type, to, std::move(from), where_));
    return blocks_.back().instructions.back();
  }
  Operand value(Opcode op, Type type, std::vector<Operand> from) {
    const Operand to = fresh();
    emit(op, type, to, std::move(from));
    return to;
  }
  Operand rounded(Opcode op, std::vector<Operand> from, Rounding rounding = Rounding::rn) {
    const Operand to = fresh();
    emit(op, Type::f32, to, std::move(from)).mod.rounding = rounding;
    return to;
  }
  /// By the special function unit, which flushes subnormal numbers.
  Operand approximate(Opcode op, const Operand& from) {
    const Operand to = fresh();
    Instruction& i = emit(op, Type::f32, to, {from});
    i.mod.approximate = true;
    i.mod.ftz = true;
    return to;
  }
  Operand converted(Type to_type, Type from_type, Rounding rounding, const Operand& from) {
    const Operand to = fresh();
    Instruction& i = emit(Opcode::cvt, to_type, to, {from});
    i.source_type = from_type;
    i.mod.rounding = rounding;
    return to;
  }
  Operand compared(Compare how, Type type, const Operand& a, const Operand& b) {
    const Operand to = fresh(0);
    emit(Opcode::setp, type, to, {a, b}).mod.compare = how;
    return to;
  }
  void guard(const Operand& predicate, bool negated = false) {
    Instruction& i = blocks_.back().instructions.back();
    i.guarded = true;
    i.guard = predicate.id;
    i.guard_negated = negated;
  }
  /// Ends the block with a jump, whose target land() sets; with a predicate, the next block is the other way.
  void jump(std::vector<std::uint32_t>& jumps, const Operand* predicate = nullptr, bool negated = false) {
    plain(Opcode::bra);
    if (predicate != nullptr) guard(*predicate, negated);
    jumps.push_back(static_cast<std::uint32_t>(blocks_.size() - 1));
    open();
  }
  /// Begins the block that some jumps lead to.
  void land(const std::vector<std::uint32_t>& jumps) {
    if (!blocks_.back().instructions.empty()) open();
    for (const std::uint32_t b : jumps)
      blocks_[b].instructions.back().target = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  void compared_too(Compare how, Type type, const Operand& a, const Operand& b, ir::BoolOp join, const Operand& to) {
    Instruction& i = emit(Opcode::setp, type, to, {a, b, to});
    i.mod.compare = how;
    i.mod.bool_op = join;
  }

 private:
  ir::Function& f_;
  std::vector<ir::Block> blocks_;
  ir::Location where_;
};

/// What is expanded: approximations by the special function unit, or the rest.
enum class Kinds { scaled, others };

class Expander {
 public:
  Expander(ir::Function& f, Kinds kinds) : kinds_(kinds), f_(f), w_(f) {}

  std::uint32_t run() {
    std::vector<std::uint32_t> number;
    std::vector<bool> own;  // per new block: its jump leads to a new block
    for (ir::Block& old : f_.blocks) {
      number.push_back(w_.open());
      w_.blocks().back().label = old.label;
      w_.blocks().back().keeps_loop = old.keeps_loop;
      own.resize(w_.blocks().size(), false);
      for (Instruction& i : old.instructions) {
        const std::size_t before = w_.blocks().size();
        if (!expand(i)) {
          w_.copy(std::move(i));
          continue;
        }
        ++expanded_;
        // The sequence's jumps have their targets; the last block goes on with old code.
        own.resize(w_.blocks().size(), false);
        for (std::size_t b = before; b < w_.blocks().size(); ++b) own[b - 1] = true;
      }
    }
    for (std::size_t b = 0; b < w_.blocks().size(); ++b) {
      auto& code = w_.blocks()[b].instructions;
      if (!code.empty() && code.back().op == Opcode::bra && !own[b]) code.back().target = number[code.back().target];
    }
    f_.blocks = std::move(w_.blocks());
    ir::build_edges(f_);
    return expanded_;
  }

 private:
  bool expand(const Instruction& original) {
    w_.at(original.where);
    if (!is_expanded(original)) return false;
    // The result comes before the last use of the operands.
    Instruction i = original;
    for (Operand& o : i.sources)
      if (o.is_reg() && o.id == i.destinations[0].id) o = w_.value(Opcode::mov, Type::b32, {o});
    if (kinds_ == Kinds::scaled) {
      scale(i);
    } else if (i.op == Opcode::clz) {
      leading_zeros(i);
    } else if (is_word(i.type)) {
      divide(i);
    } else if (i.op == Opcode::div) {
      quotient(i);
    } else if (i.op == Opcode::rcp) {
      reciprocal(i);
    } else {
      root(i);
    }
    return true;
  }
  bool is_expanded(const Instruction& i) const {
    if (i.guarded) return false;
    if (kinds_ == Kinds::scaled) return is_scaled(i);
    if (branches(i)) return true;
    if (i.op == Opcode::clz) return i.type == Type::b32;
    return (i.op == Opcode::div || i.op == Opcode::rem) && is_word(i.type);
  }
  /// The special function unit takes no subnormal numbers, and angles only as turns.
  static bool is_scaled(const Instruction& i) {
    if (i.type != Type::f32) return false;
    switch (i.op) {
      case Opcode::sin:
      case Opcode::cos:
        return true;
      case Opcode::ex2:
      case Opcode::rsqrt:
      case Opcode::lg2:
        return !i.mod.ftz;
      case Opcode::sqrt:
        return i.mod.approximate && !i.mod.ftz;
      default:
        return false;
    }
  }

  /// `refine` where `slow` does not hold, the subroutine `call` where it does.
  template <class Refine, class Call>
  void unless(const Operand& slow, Refine&& refine, Call&& call) {
    w_.plain(Opcode::bssy);
    refine();
    std::vector<std::uint32_t> fast;
    w_.jump(fast, &slow, true);
    call();
    w_.land(fast);
    w_.plain(Opcode::bsync);
  }

  /// The same for a test that is known before the refinement begins: the branch past the subroutine comes first. The
  /// caller has written the bssy, ahead of what both ways need.
  template <class Refine, class Call>
  void refine_unless(const Operand& slow, Refine&& refine, Call&& call) {
    std::vector<std::uint32_t> fast, done;
    w_.jump(fast, &slow, true);
    call();
    w_.jump(done);
    w_.land(fast);
    refine();
    w_.land(done);
    w_.plain(Opcode::bsync);
  }

  void quotient(const Instruction& i) {
    const Operand &a = i.sources[0], &b = i.sources[1];
    const Operand slow = w_.compared(Compare::slow_division, Type::f32, a, b);
    unless(
        slow,
        [&] {
          const Operand y = w_.approximate(Opcode::rcp, b);
          const Operand error = w_.rounded(Opcode::fnma, {b, y, number(1)});
          const Operand inverse = w_.rounded(Opcode::fma, {y, error, y});
          const Operand q = w_.rounded(Opcode::fma, {a, inverse, number(0)});
          const Operand rest = w_.rounded(Opcode::fnma, {b, q, a});
          w_.emit(Opcode::fma, Type::f32, i.destinations[0], {inverse, rest, q}).mod.rounding = Rounding::rn;
        },
        [&] { special_quotient(i); });
  }

  /// The subroutine of a division: what zeros, infinities and NaN give, and the operation for other numbers.
  void special_quotient(const Instruction& i) {
    const Operand to = i.destinations[0], infinity = Operand::immediate(0x7f800000u), zero = Operand::immediate(0);
    const Operand a = w_.value(Opcode::mov, Type::b32, {i.sources[0]}),
                  b = w_.value(Opcode::mov, Type::b32, {i.sources[1]});
    const auto exponent = [&](const Operand& x) {
      const Operand shifted = w_.value(Opcode::shr, Type::u32, {x, Operand::immediate(23)});
      const Operand bits = w_.value(Opcode::and_, Type::b32, {shifted, Operand::immediate(0xff)});
      return w_.value(Opcode::add, Type::s32, {bits, Operand::immediate(0xffffffffu)});
    };
    const Operand exponent_a = exponent(a), exponent_b = exponent(b), largest = Operand::immediate(0xfd);
    const Operand special = w_.compared(Compare::gt, Type::u32, exponent_a, largest);
    w_.compared_too(Compare::gt, Type::u32, exponent_b, largest, ir::BoolOp::or_, special);
    std::vector<std::uint32_t> to_number, to_nan, to_invalid, to_infinity, to_zero, done;
    w_.jump(to_number, &special, true);
    const Operand nan = w_.compared(Compare::nan, Type::f32, a, a);
    w_.compared_too(Compare::nan, Type::f32, b, b, ir::BoolOp::or_, nan);
    w_.jump(to_nan, &nan);
    const auto magnitude = [&](const Operand& x) {
      return w_.value(Opcode::and_, Type::b32, {x, Operand::immediate(0x7fffffff)});
    };
    const Operand size_a = magnitude(a), size_b = magnitude(b);
    const auto if_both = [&](Compare how, const Operand& x, const Operand& y, const Operand& value_x,
                             const Operand& value_y, ir::BoolOp join, std::vector<std::uint32_t>& jumps) {
      const Operand both = w_.compared(how, Type::u32, x, value_x);
      w_.compared_too(how, Type::u32, y, value_y, join, both);
      w_.jump(jumps, &both);
    };
    if_both(Compare::eq, size_a, size_b, zero, zero, ir::BoolOp::and_, to_invalid);
    if_both(Compare::eq, size_a, size_b, infinity, infinity, ir::BoolOp::and_, to_invalid);
    if_both(Compare::eq, size_a, size_b, infinity, zero, ir::BoolOp::or_, to_infinity);
    if_both(Compare::eq, size_a, size_b, zero, infinity, ir::BoolOp::or_, to_zero);
    w_.land(to_number);
    w_.copy(i);
    w_.jump(done);
    const auto with_sign = [&](std::uint32_t bits) {
      const Operand parity = w_.value(Opcode::xor_, Type::b32, {a, b});
      const Operand sign = w_.value(Opcode::and_, Type::b32, {parity, Operand::immediate(0x80000000u)});
      w_.emit(Opcode::or_, Type::b32, to, {sign, Operand::immediate(bits)});
    };
    w_.land(to_nan);
    w_.emit(Opcode::add, Type::f32, to, {a, b}).mod.rounding = Rounding::rn;
    w_.jump(done);
    w_.land(to_invalid);
    w_.emit(Opcode::mov, Type::b32, to, {Operand::immediate(0x7fffffff)});
    w_.jump(done);
    w_.land(to_infinity);
    with_sign(0x7f800000u);
    w_.jump(done);
    w_.land(to_zero);
    with_sign(0);
    w_.land(done);
  }

  void reciprocal(const Instruction& i) {
    const Operand& x = i.sources[0];
    const Operand shifted = w_.value(Opcode::add, Type::s32, {x, Operand::immediate(0x1800000)});
    const Operand exponent = w_.value(Opcode::and_, Type::b32, {shifted, Operand::immediate(0x7f800000)});
    const Operand slow = w_.compared(Compare::le, Type::u32, exponent, Operand::immediate(0x1ffffff));
    w_.plain(Opcode::bssy);
    refine_unless(
        slow,
        [&] {
          const Operand y = w_.approximate(Opcode::rcp, x);
          const Operand error = w_.rounded(Opcode::fnma, {x, y, number(1)});
          w_.emit(Opcode::fma, Type::f32, i.destinations[0], {y, error, y}).mod.rounding = Rounding::rn;
        },
        [&] { w_.copy(i); });
  }

  void root(const Instruction& i) {
    const Operand& x = i.sources[0];
    // Neither zero, negative, infinite nor so small that a residual would be subnormal.
    const Operand shifted = w_.value(Opcode::add, Type::s32, {x, Operand::immediate(0xf3000000u)});
    const Operand slow = w_.compared(Compare::gt, Type::u32, shifted, Operand::immediate(0x727fffff));
    w_.plain(Opcode::bssy);
    const Operand y = w_.approximate(Opcode::rsqrt, x);
    refine_unless(
        slow,
        [&] {
          const Operand s = w_.rounded(Opcode::mul, {x, y});
          const Operand half = w_.rounded(Opcode::mul, {y, number(0.5f)});
          const Operand rest = w_.rounded(Opcode::fnma, {s, s, x});
          w_.emit(Opcode::fma, Type::f32, i.destinations[0], {rest, half, s}).mod.rounding = Rounding::rn;
        },
        [&] {
          // The root of a zero is that zero.
          const Operand value = w_.value(Opcode::mov, Type::b32, {x});
          const Operand size = w_.value(Opcode::and_, Type::b32, {value, Operand::immediate(0x7fffffff)});
          const Operand other = w_.compared(Compare::ne, Type::u32, size, Operand::immediate(0));
          w_.emit(Opcode::mov, Type::b32, i.destinations[0], {value});
          std::vector<std::uint32_t> done;
          w_.jump(done, &other, true);
          Instruction operation = i;
          operation.sources[0] = value;
          w_.copy(std::move(operation));
          w_.land(done);
        });
  }

  /// The quotient by the divisor's reciprocal, which is a little too small, and one more step; then up to two
  /// corrections.
  void divide(const Instruction& i) {
    const bool is_signed = i.type == Type::s32, is_quotient = i.op == Opcode::div;
    const Operand &dividend = i.sources[0], &divisor = i.sources[1];
    const Operand a = is_signed ? w_.value(Opcode::abs, Type::s32, {dividend}) : dividend;
    const Operand b = is_signed ? w_.value(Opcode::abs, Type::s32, {divisor}) : divisor;
    const Operand y = w_.approximate(Opcode::rcp, w_.converted(Type::f32, Type::u32, Rounding::rp, b));
    const Operand below = w_.value(Opcode::add, Type::s32, {y, Operand::immediate(0xffffffeu)});
    const Operand estimate = w_.converted(Type::u32, Type::f32, Rounding::rzi, below);
    const Operand minus = w_.value(Opcode::neg, Type::s32, {estimate});
    const Operand error = w_.value(Opcode::mul_lo, Type::u32, {minus, b});
    const Operand inverse = w_.value(Opcode::mad_hi, Type::u32, {estimate, error, estimate});
    const Operand q = w_.value(Opcode::mul_hi, Type::u32, {inverse, a});
    const Operand back = w_.value(Opcode::neg, Type::s32, {q});
    const Operand rest = w_.value(Opcode::mad_lo, Type::u32, {back, b, a});
    const Operand& to = i.destinations[0];
    const Operand result = is_quotient ? q : rest;
    for (unsigned step = 0; step < 2; ++step) {
      const Operand more = w_.compared(Compare::ge, Type::u32, rest, b);
      if (is_quotient) {
        w_.emit(Opcode::add, Type::s32, q, {q, Operand::immediate(1)});
        w_.guard(more);
        if (step == 1) break;
      }
      w_.emit(Opcode::sub, Type::s32, rest, {rest, b});
      w_.guard(more);
    }
    if (is_signed) {
      const Operand sign = is_quotient ? w_.value(Opcode::xor_, Type::b32, {dividend, divisor}) : dividend;
      const Operand negative = w_.compared(Compare::lt, Type::s32, sign, Operand::immediate(0));
      w_.emit(Opcode::neg, Type::s32, result, {result});
      w_.guard(negative);
    }
    const Operand by_zero = w_.compared(Compare::eq, Type::u32, divisor, Operand::immediate(0));
    const Operand of_zero = is_quotient ? Operand::immediate(0xffffffffu) : dividend;
    w_.emit(Opcode::selp, Type::b32, to, {of_zero, result, by_zero});
  }

  /// By the place of the highest bit, -1 if there is none.
  void leading_zeros(const Instruction& i) {
    const Operand place = w_.value(Opcode::bfind, Type::u32, {i.sources[0]});
    w_.emit(Opcode::sub, Type::s32, i.destinations[0], {Operand::immediate(31), place});
  }

  /// An approximation whose unit flushes subnormal numbers, for operands or results that may be some: scaled before and
  /// after. An angle is multiplied by one, as the emulator's sine takes radians; the unit takes turns.
  void scale(const Instruction& i) {
    constexpr float smallest_normal = 1.17549435e-38f, two_to_24 = 16777216, two_to_12 = 4096;
    const Operand& from = i.sources[0];
    if (i.op == Opcode::sin || i.op == Opcode::cos) {
      Instruction unit = i;
      unit.sources[0] = w_.rounded(Opcode::mul, {from, number(1)});
      w_.copy(std::move(unit));
      return;
    }
    const bool is_power = i.op == Opcode::ex2;
    const Operand normal = w_.compared(Compare::geu, Type::f32, from, number(is_power ? -126 : smallest_normal));
    const Operand x = w_.value(Opcode::mov, Type::b32, {from});
    w_.emit(Opcode::mul, Type::f32, x, {from, number(is_power ? 0.5f : two_to_24)}).mod.rounding = Rounding::rn;
    w_.guard(normal, true);
    const Operand y = w_.approximate(i.op, x);
    if (i.op == Opcode::lg2) {
      w_.emit(Opcode::add, Type::f32, y, {y, number(-24)}).mod.rounding = Rounding::rn;
    } else {
      const Operand factor = is_power ? y : number(i.op == Opcode::sqrt ? 1 / two_to_12 : two_to_12);
      w_.emit(Opcode::mul, Type::f32, y, {y, factor}).mod.rounding = Rounding::rn;
    }
    w_.guard(normal, true);
    w_.emit(Opcode::mov, Type::b32, i.destinations[0], {y});
  }

  Kinds kinds_;
  ir::Function& f_;
  Writer w_;
  std::uint32_t expanded_ = 0;
};

}  // namespace

bool branches(const Instruction& i) {
  if (i.type != Type::f32 || !is_nearest(i)) return false;
  return i.op == Opcode::div || i.op == Opcode::rcp || i.op == Opcode::sqrt;
}

std::uint32_t scale_approximations(ir::Function& f) { return Expander(f, Kinds::scaled).run(); }

std::uint32_t expand_operations(ir::Function& f) { return Expander(f, Kinds::others).run(); }

}  // namespace regatta::passes
