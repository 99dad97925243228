// SPDX-License-Identifier: Apache-2.0
//
// Constant expressions: C's operators on integers of 64 bits and on doubles. Where the PTX ISA and ptxas 13 differ (the
// result of ~ and % is unsigned, a shift takes its count modulo 64), ptxas decides.
#include "parser.h"

#include <cstring>
#include <utility>

namespace regatta::ptx {

namespace {

constexpr unsigned max_depth = 64;

enum class Op : std::uint8_t {
  or_else,
  and_then,
  or_,
  xor_,
  and_,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  left,
  right,
  add,
  subtract,
  multiply,
  divide,
  modulo
};

struct Spelling {
  const char* text;  ///< characters that touch each other
  Op op;
  unsigned precedence;
};
/// Longer ones first.
constexpr Spelling spellings[] = {
    {"||", Op::or_else, 1}, {"&&", Op::and_then, 2}, {"==", Op::equal, 6},      {"!=", Op::unequal, 6},
    {"<<", Op::left, 8},    {">>", Op::right, 8},    {"<=", Op::less_equal, 7}, {">=", Op::greater_equal, 7},
    {"|", Op::or_, 3},      {"^", Op::xor_, 4},      {"&", Op::and_, 5},        {"<", Op::less, 7},
    {">", Op::greater, 7},  {"+", Op::add, 9},       {"-", Op::subtract, 9},    {"*", Op::multiply, 10},
    {"/", Op::divide, 10},  {"%", Op::modulo, 10}};

double as_double(const Constant& c) {
  double v = 0;
  std::memcpy(&v, &c.bits, sizeof v);
  return v;
}

Constant real(double v) {
  Constant c;
  c.is_real = true;
  std::memcpy(&c.bits, &v, sizeof v);
  return c;
}

Constant integer(std::uint64_t bits, bool is_unsigned) {
  Constant c;
  c.bits = bits;
  c.is_unsigned = is_unsigned;
  return c;
}

Constant truth(bool v) { return integer(v ? 1 : 0, false); }

/// Of doubles or integers of one signedness.
template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::unequal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool compares(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

}  // namespace

bool Parser::starts_constant() const {
  const Token& t = peek();
  if (t.kind == Token::Kind::number || t.is("WARP_SZ") || t.is('-') || t.is('+') || t.is('~') || t.is('(')) return true;
  // Of a predicate, '!' is part of the operand.
  return t.is('!') && (!peek(1).is_identifier() || peek(1).is("WARP_SZ"));
}

Constant Parser::constant(unsigned least_precedence) {
  const Token& first = peek();
  Constant c = constant(least_precedence, 0);
  const std::string_view last = tokens_[next_ - 1].text;
  c.at = first.at;
  c.text.assign(first.text.data(), static_cast<std::size_t>(last.data() + last.size() - first.text.data()));
  return c;
}

Constant Parser::constant(unsigned least_precedence, unsigned depth) {
  if (depth > max_depth)
    fail(file_, peek().at, "a constant expression is nested more than " + std::to_string(max_depth) + " deep");
  Constant left = unary(depth);
  for (;;) {
    const Spelling* found = nullptr;
    for (const Spelling& s : spellings) {
      const std::size_t length = std::strlen(s.text);
      bool same = true;
      for (std::size_t i = 0; i < length; ++i) {
        // A '%' that stands alone is read as the start of a name.
        same = same && peek(i).is(std::string_view(s.text + i, 1)) && (i == 0 || peek(i - 1).adjacent(peek(i)));
      }
      if (!same) continue;
      found = &s;
      break;
    }
    if (found == nullptr) break;
    if (found->precedence < least_precedence) return left;
    const Token& at = peek();
    for (std::size_t i = std::strlen(found->text); i > 0; --i) take();
    const Constant right = constant(found->precedence + 1, depth + 1);
    const auto refuse = [&](const char* what) {
      fail(file_, at.at, std::string("constant expression with '") + found->text + "': " + what);
    };
    const Op op = found->op;
    const bool logical = op == Op::or_else || op == Op::and_then;
    if (logical) {
      if (left.is_real || right.is_real) refuse("expected whole numbers");
      left = truth(op == Op::or_else ? left.bits != 0 || right.bits != 0 : left.bits != 0 && right.bits != 0);
      continue;
    }
    if (left.is_real || right.is_real) {
      if (!left.is_real || !right.is_real) refuse("a whole number and a floating-point number do not mix");
      if (left.is_single || right.is_single) refuse("a number written as 0f... can only stand alone");
      const double a = as_double(left), b = as_double(right);
      if (compares(op)) {
        left = truth(compare(op, a, b));
      } else if (op == Op::add) {
        left = real(a + b);
      } else if (op == Op::subtract) {
        left = real(a - b);
      } else if (op == Op::multiply) {
        left = real(a * b);
      } else if (op == Op::divide) {
        left = real(a / b);
      } else {
        refuse("expected whole numbers");
      }
      continue;
    }
    const std::uint64_t a = left.bits, b = right.bits;
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    if (compares(op)) {
      left = truth(is_unsigned ? compare(op, a, b) : compare(op, sa, sb));
      continue;
    }
    switch (op) {
      case Op::or_:
        left = integer(a | b, is_unsigned);
        break;
      case Op::xor_:
        left = integer(a ^ b, is_unsigned);
        break;
      case Op::and_:
        left = integer(a & b, is_unsigned);
        break;
      case Op::left:
        left = integer(a << (b & 63), left.is_unsigned);
        break;
      case Op::right:
        left = integer(left.is_unsigned ? a >> (b & 63) : static_cast<std::uint64_t>(sa >> (b & 63)), left.is_unsigned);
        break;
      case Op::add:
        left = integer(a + b, is_unsigned);
        break;
      case Op::subtract:
        left = integer(a - b, is_unsigned);
        break;
      case Op::multiply:
        left = integer(a * b, is_unsigned);
        break;
      default:
        if (b == 0) refuse("division by zero");
        if (op == Op::modulo) {
          left = integer(a % b, true);
        } else if (is_unsigned) {
          left = integer(a / b, true);
        } else {
          // The least number by -1 wraps.
          left = integer(sb == -1 ? 0 - a : static_cast<std::uint64_t>(sa / sb), false);
        }
        break;
    }
  }
  if (least_precedence > 0 || !accept('?')) return left;
  if (left.is_real) fail(file_, peek().at, "the condition of '?' is a floating-point number, expected a whole number");
  const Constant yes = constant(0, depth + 1);
  expect(':', "in a constant expression with '?'");
  const Constant no = constant(0, depth + 1);
  return left.bits != 0 ? yes : no;
}

std::uint64_t Parser::whole_constant(unsigned least_precedence) {
  const Constant c = constant(least_precedence);
  if (c.is_real) fail(file_, c.at, "'" + c.text + "' is not a whole number");
  return c.bits;
}

Constant Parser::unary(unsigned depth) {
  if (depth > max_depth)
    fail(file_, peek().at, "a constant expression is nested more than " + std::to_string(max_depth) + " deep");
  const Token& t = peek();
  if (t.is('-') || t.is('+') || t.is('~') || t.is('!')) {
    take();
    Constant c = unary(depth + 1);
    if (t.is('+')) return c;
    if (c.is_real) {
      if (!t.is('-')) fail(file_, t.at, "'" + std::string(t.text) + "' is for whole numbers");
      c.bits ^= std::uint64_t{1} << (c.is_single ? 31 : 63);
      return c;
    }
    if (t.is('!')) return truth(c.bits == 0);
    return t.is('~') ? integer(~c.bits, true) : integer(0 - c.bits, c.is_unsigned);
  }
  if (t.is('(')) {
    take();
    const Token& cast = peek();
    if (cast.is(".s64") || cast.is(".u64")) {
      take();
      expect(')', "after a type in a constant expression");
      Constant c = unary(depth + 1);
      if (c.is_real) fail(file_, cast.at, "'" + std::string(cast.text) + "' of a floating-point number");
      return integer(c.bits, cast.is(".u64"));
    }
    const Constant c = constant(0, depth + 1);
    expect(')', "in a constant expression");
    return c;
  }
  if (t.is("WARP_SZ")) {
    take();
    return integer(warp_constant, false);
  }
  Constant c;
  if (t.kind != Token::Kind::number || !read_number(t.text, c.bits, c.is_real, c.is_single)) unexpected(t, "a number");
  c.is_unsigned = !c.is_real && (t.text.back() == 'U' || (c.bits >> 63) != 0);
  take();
  return c;
}

}  // namespace regatta::ptx
