// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/expression.h>
#include <regatta/test/catch.h>

#include <memory>
#include <optional>
#include <random>

using namespace regatta::launch;

namespace {

const Expression::Constants some_constants{{"n", 128}, {"tile.x", 16}};
const Expression::Counters some_counters{{"k", 3}, {"round_2", 7}};

std::int64_t value_of(const std::string& text) {
  return Expression::parse(text, some_constants).evaluate(some_counters);
}

/// "at: message"
std::string expression_error(const std::string& text) {
  try {
    value_of(text);
  } catch (const ExpressionError& e) {
    return std::to_string(e.at()) + ": " + e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("expressions of integers, some_constants and some_counters") {
  CHECK(value_of("7") == 7);
  CHECK(value_of(" 0x1F ") == 31);
  CHECK(value_of("(n - 1 - k) / 16 + 1") == 8);
  CHECK(value_of("128 - 16 * k") == 80);
  CHECK(value_of("n/tile.x*round_2") == 56);
  CHECK(value_of("10 - 4 - 3") == 3);
  CHECK(value_of("100 / 5 / 2") == 10);
  CHECK(value_of("2 + 3 * 4 - 6 / 4") == 13);
  CHECK(value_of("7 % 4 * 2") == 6);
  CHECK(value_of("-7 / 2") == -3);
  CHECK(value_of("-7 % 4") == -3);
  CHECK(value_of("7 % -4") == 3);
  CHECK(value_of("1 << 2 + 1") == 8);
  CHECK(value_of("1 << 2 << 1") == 8);
  CHECK(value_of("-16 >> 2") == -4);
  CHECK(value_of("-1 >> 63") == -1);
  CHECK(value_of("- - 5") == 5);
  CHECK(value_of("3 - -5") == 8);
  CHECK(value_of("-(2 + 3) * 2") == -10);
  CHECK(value_of("min(n, max(k, 40)) + 1") == 41);
  CHECK(value_of("max(1 << k, -2)") == 8);
  CHECK(value_of("\t1\n+ 2") == 3);
  CHECK(value_of("9223372036854775807") == INT64_MAX);
  CHECK(value_of("-9223372036854775807 - 1") == INT64_MIN);
  CHECK(value_of("-1 << 63") == INT64_MIN);
  CHECK(value_of("(-1 << 63) % -1") == 0);
  CHECK(Expression::parse("min(n, 4)", some_constants).is_constant());
  CHECK(!Expression::parse("min(n, k)", some_constants).is_constant());
  CHECK(Expression::parse("k * n + k - m", some_constants).values({{"k", 3}, {"m", 9}}) == " (k = 3, n = 128, m = 9)");
  CHECK(Expression::parse("4", some_constants).values({}).empty());
}

TEST_CASE("errors of expressions, word for word") {
  CHECK(expression_error("") == "0: the expression is empty");
  CHECK(expression_error("  ") == "0: the expression is empty");
  CHECK(expression_error("1 +") == "3: expected a number, a name, '-' or '(', found the end");
  CHECK(expression_error("1 + * 2") == "4: expected a number, a name, '-' or '(', found '*'");
  CHECK(expression_error("+1") == "0: expected a number, a name, '-' or '(', found '+'");
  CHECK(expression_error("(1 + 2") == "6: expected ')', found the end");
  CHECK(expression_error("1 + 2)") == "5: expected an operator (+ - * / % << >>), found ')'");
  CHECK(expression_error("n k") == "2: expected an operator (+ - * / % << >>), found 'k'");
  CHECK(expression_error("1 < 2") == "2: expected an operator (+ - * / % << >>), found '<'");
  CHECK(expression_error("1 <> 2") == "2: expected an operator (+ - * / % << >>), found '<'");
  CHECK(expression_error("n \xc3\xa4") == "2: expected an operator (+ - * / % << >>), found '\xc3\xa4'");
  CHECK(expression_error("min(1)") == "5: expected ',', found ')'");
  CHECK(expression_error("min(1, 2, 3)") == "8: expected ')', found ','");
  CHECK(expression_error("1 + mim(1, 2)") == "4: unknown function 'mim', expected min or max; did you mean 'min'?");
  CHECK(expression_error("3 * 12ab") == "4: '12ab' is no integer");
  CHECK(expression_error("1.5") == "0: '1.5' is no integer");
  CHECK(expression_error("0x") == "0: '0x' is no integer");
  CHECK(expression_error("0x-5") == "0: '0x' is no integer");
  CHECK(expression_error("9223372036854775808") == "0: the number 9223372036854775808 does not fit 64 bits with sign");
  CHECK(expression_error("0xffffffffffffffff") == "0: the number 0xffffffffffffffff does not fit 64 bits with sign");
  CHECK(expression_error("n / (k - 3)") == "2: division by zero");
  CHECK(expression_error("n % (k - 3)") == "2: division by zero");
  CHECK(expression_error("n << 64") == "2: a shift by 64, expected 0 to 63");
  CHECK(expression_error("n >> -k") == "2: a shift by -3, expected 0 to 63");
  CHECK(expression_error("0x7fffffffffffffff + 1") == "19: the sum does not fit 64 bits");
  CHECK(expression_error("-2 - 0x7fffffffffffffff") == "3: the difference does not fit 64 bits");
  CHECK(expression_error("0x7fffffffffffffff * -n") == "19: the product does not fit 64 bits");
  CHECK(expression_error("(-1 << 63) / -1") == "11: the quotient does not fit 64 bits");
  CHECK(expression_error("-(-1 << 63)") == "0: the negated number does not fit 64 bits");
  CHECK(expression_error("n << 57") == "2: the shifted number does not fit 64 bits");
  CHECK(expression_error("1 << 63") == "2: the shifted number does not fit 64 bits");
  CHECK(value_of(std::string(63, '(') + "1" + std::string(63, ')')) == 1);
  CHECK(expression_error(std::string(64, '(') + "1") == "64: the expression is nested more than 64 deep");
  CHECK(expression_error(std::string(100000, '-') + "1") ==
        "0: an expression of 100001 characters, expected at most 4096");
  CHECK(expression_error(std::string(4000, '-') + "1") == "64: the expression is nested more than 64 deep");
}

namespace {

__extension__ typedef __int128 Wide;

/// A random expression, computed in 128 bits.
struct RandomTree {
  char op =
      '0';  ///< '0' number, 'k' name, '_' negation, '<' and '>' shifts, 'm' and 'M' minimum and maximum, + - * / %
  std::int64_t number = 0;
  std::unique_ptr<RandomTree> left, right;

  /// nullopt: something in it is an error.
  std::optional<Wide> value() const {
    const auto fitting = [](Wide v) { return v < INT64_MIN || v > INT64_MAX ? std::nullopt : std::optional<Wide>(v); };
    if (op == '0') return number;
    if (op == 'k') return 3;
    const std::optional<Wide> a = left->value();
    if (!a) return a;
    if (op == '_') return fitting(-*a);
    const std::optional<Wide> b = right->value();
    if (!b) return b;
    if ((op == '/' || op == '%') && *b == 0) return std::nullopt;
    if ((op == '<' || op == '>') && (*b < 0 || *b > 63)) return std::nullopt;
    switch (op) {
      case '+':
        return fitting(*a + *b);
      case '-':
        return fitting(*a - *b);
      case '*':
        return fitting(*a * *b);
      case '/':
        return fitting(*a / *b);
      case '%':
        return *a % *b;
      case '<':
        return fitting(*a * (Wide{1} << static_cast<int>(*b)));
      case '>': {
        const Wide divisor = Wide{1} << static_cast<int>(*b);
        return (*a - (*a < 0 ? divisor - 1 : 0)) / divisor;  // towards minus infinity
      }
      case 'm':
        return *a < *b ? *a : *b;
      default:
        return *a < *b ? *b : *a;
    }
  }

  int precedence() const {
    switch (op) {
      case '<':
      case '>':
        return 1;
      case '+':
      case '-':
        return 2;
      case '*':
      case '/':
      case '%':
        return 3;
      case '_':
        return 4;
      default:
        return 5;
    }
  }

  /// With no more parentheses than it needs, and some for nothing.
  std::string text(std::mt19937_64& random) const {
    const auto part = [&](const RandomTree& t, int least) {
      const std::string inner = t.text(random);
      return t.precedence() < least || random() % 8 == 0 ? "(" + inner + ")" : inner;
    };
    const std::string space = random() % 2 == 0 ? " " : "";
    if (op == '0') return std::to_string(number);
    if (op == 'k') return "k";
    if (op == '_') return "-" + space + part(*left, 4);
    if (op == 'm' || op == 'M') {
      return (op == 'm' ? "min" : "max") + space + "(" + part(*left, 0) + space + "," + part(*right, 0) + ")";
    }
    const std::string sign = op == '<' || op == '>' ? std::string(2, op) : std::string(1, op);
    return part(*left, precedence()) + space + sign + space + part(*right, precedence() + 1);
  }
};

std::unique_ptr<RandomTree> random_tree(std::mt19937_64& random, int depth) {
  auto t = std::make_unique<RandomTree>();
  if (depth == 0 || random() % 6 == 0) {
    if (random() % 4 == 0) {
      t->op = 'k';
    } else {
      // Small numbers, shift counts, and what is near the ends of 64 bits.
      const std::uint64_t kind = random() % 8;
      t->number = static_cast<std::int64_t>(kind < 6 ? random() % 70 : kind == 6 ? random() >> 1 : INT64_MAX);
    }
    return t;
  }
  t->op = "+-*/%<>mM_"[random() % 10];
  t->left = random_tree(random, depth - 1);
  if (t->op != '_') t->right = random_tree(random, depth - 1);
  return t;
}

}  // namespace

TEST_CASE("random expressions are what 128 bits make of them, or errors where 64 do not hold it") {
  std::mt19937_64 random(47);
  unsigned values = 0, errors = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto tree = random_tree(random, 1 + i % 5);
    const std::string text = tree->text(random);
    CAPTURE(text);
    const std::optional<Wide> expected = tree->value();
    const Expression e = Expression::parse(text, {});
    std::optional<Wide> got;
    try {
      got = e.evaluate({{"k", 3}});
    } catch (const ExpressionError&) {
      // none
    }
    REQUIRE((got == expected));
    ++(expected ? values : errors);
  }
  CHECK(values > 8000);
  CHECK(errors > 3000);
}
