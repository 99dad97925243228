// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/expression.h>

#include <regatta/base/suggestion.h>

#include <algorithm>
#include <charconv>

namespace regatta::launch {

namespace {

/// Of parentheses, functions and signs: the parser is recursive.
constexpr unsigned deepest = 64;
/// No expression that somebody writes is longer, and evaluation is linear in it.
constexpr std::size_t longest = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

bool is_expression_name(const std::string& name) {
  return !name.empty() && begins_name(name[0]) && std::all_of(name.begin(), name.end(), continues_name);
}

/// Recursive descent; binary operators by precedence climbing.
class ExpressionParser {
 public:
  ExpressionParser(const std::string& text, const Expression::Constants& constants)
      : text_(text), constants_(constants) {}

  Expression parse() {
    if (text_.size() > longest) {
      throw ExpressionError("an expression of " + std::to_string(text_.size()) + " characters, expected at most " +
                                std::to_string(longest),
                            0);
    }
    skip_spaces();
    if (at_ == text_.size()) throw ExpressionError("the expression is empty", 0);
    binary(0, 0);
    if (at_ != text_.size()) fail("expected an operator (+ - * / % << >>)" + found());
    return std::move(out_);
  }

 private:
  using Kind = Expression::Kind;
  struct Operator {
    Kind kind;
    int precedence;
    std::size_t length;
  };

  [[noreturn]] void fail(const std::string& what) const { throw ExpressionError(what, at_); }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  /// ", found 'x'": a name, a number, one character, or the end.
  std::string found() const {
    if (at_ == text_.size()) return ", found the end";
    std::size_t end = at_ + 1;
    if (continues_name(text_[at_])) {
      while (end < text_.size() && continues_name(text_[end])) ++end;
    } else {
      // Not into the middle of a character of UTF-8.
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0u) == 0x80) ++end;
    }
    return ", found '" + text_.substr(at_, end - at_) + "'";
  }

  /// Length 0: what follows is no operator.
  Operator next_operator() const {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    switch (c) {
      case '+':
        return {Kind::add, 2, 1};
      case '-':
        return {Kind::subtract, 2, 1};
      case '*':
        return {Kind::multiply, 3, 1};
      case '/':
        return {Kind::divide, 3, 1};
      case '%':
        return {Kind::modulo, 3, 1};
      case '<':
      case '>':
        if (at_ + 1 < text_.size() && text_[at_ + 1] == c) return {c == '<' ? Kind::left : Kind::right, 1, 2};
        break;
      default:
        break;
    }
    return {Kind::number, 0, 0};
  }

  void push(Kind kind, std::size_t at) { out_.operations_.push_back({kind, 0, 0, at}); }

  /// Operators above `lowest`, from the left.
  void binary(int lowest, unsigned depth) {
    unary(depth);
    for (;;) {
      const Operator op = next_operator();
      if (op.length == 0 || op.precedence <= lowest) return;
      const std::size_t at = at_;
      at_ += op.length;
      binary(op.precedence, depth);
      push(op.kind, at);
    }
  }

  void unary(unsigned depth) {
    skip_spaces();
    if (depth == deepest) fail("the expression is nested more than " + std::to_string(deepest) + " deep");
    const std::size_t at = at_;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '-') {
      ++at_;
      unary(depth + 1);
      push(Kind::negate, at);
    } else if (c == '(') {
      ++at_;
      binary(0, depth + 1);
      expect(')');
    } else if (is_digit(c)) {
      number();
    } else if (begins_name(c)) {
      name(depth);
    } else {
      fail("expected a number, a name, '-' or '('" + found());
    }
    skip_spaces();
  }

  void expect(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) fail("expected '" + std::string(1, c) + "'" + found());
    ++at_;
  }

  void number() {
    std::size_t end = at_;
    while (end < text_.size() && continues_name(text_[end])) ++end;
    const std::string digits = text_.substr(at_, end - at_);
    const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    const char* const last = digits.data() + digits.size();
    std::int64_t value = 0;
    const auto [stop, error] =
        std::from_chars(digits.data() + (hexadecimal ? 2 : 0), last, value, hexadecimal ? 16 : 10);
    if (stop != last) fail("'" + digits + "' is no integer");
    if (error != std::errc()) fail("the number " + digits + " does not fit 64 bits with sign");
    push(Kind::number, at_);
    out_.operations_.back().value = value;
    at_ = end;
  }

  void name(unsigned depth) {
    const std::size_t at = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string name = text_.substr(at, at_ - at);
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '(') return function(name, at, depth);
    auto known =
        std::find_if(out_.names_.begin(), out_.names_.end(), [&](const Expression::Name& n) { return n.name == name; });
    if (known == out_.names_.end()) {
      const auto constant = constants_.find(name);
      const bool is_constant = constant != constants_.end();
      out_.names_.push_back({name, at, is_constant, is_constant ? constant->second : 0});
      known = out_.names_.end() - 1;
    }
    push(Kind::name, at);
    out_.operations_.back().name = static_cast<std::size_t>(known - out_.names_.begin());
  }

  void function(const std::string& name, std::size_t at, unsigned depth) {
    if (name != "min" && name != "max") {
      throw ExpressionError(
          "unknown function '" + name + "', expected min or max" + base::suggestion(name, {"min", "max"}), at);
    }
    ++at_;
    binary(0, depth + 1);
    expect(',');
    binary(0, depth + 1);
    expect(')');
    push(name == "min" ? Kind::min : Kind::max, at);
  }

  const std::string& text_;
  const Expression::Constants& constants_;
  std::size_t at_ = 0;
  Expression out_;
};

Expression Expression::parse(const std::string& text, const Constants& constants) {
  return ExpressionParser(text, constants).parse();
}

bool Expression::is_constant() const {
  return std::all_of(names_.begin(), names_.end(), [](const Name& n) { return n.is_constant; });
}

std::int64_t Expression::value_of(const Name& n, const Counters& counters) const {
  return n.is_constant ? n.value : static_cast<std::int64_t>(counters.at(n.name));
}

std::int64_t Expression::apply(const Operation& o, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const auto checked = [&](bool overflows, const char* what) {
    if (overflows) throw ExpressionError(std::string(what) + " does not fit 64 bits", o.at);
    return result;
  };
  switch (o.kind) {
    case Kind::add:
      return checked(__builtin_add_overflow(a, b, &result), "the sum");
    case Kind::subtract:
      return checked(__builtin_sub_overflow(a, b, &result), "the difference");
    case Kind::multiply:
      return checked(__builtin_mul_overflow(a, b, &result), "the product");
    case Kind::negate:
      return checked(__builtin_sub_overflow(std::int64_t{0}, a, &result), "the negated number");
    case Kind::divide:
    case Kind::modulo:
      if (b == 0) throw ExpressionError("division by zero", o.at);
      // The machine's division overflows for both at INT64_MIN / -1; the remainder is 0.
      if (b == -1) {
        if (o.kind == Kind::modulo) return 0;
        return checked(__builtin_sub_overflow(std::int64_t{0}, a, &result), "the quotient");
      }
      return o.kind == Kind::divide ? a / b : a % b;
    case Kind::left:
    case Kind::right:
      if (b < 0 || b > 63) throw ExpressionError("a shift by " + std::to_string(b) + ", expected 0 to 63", o.at);
      if (o.kind == Kind::right) return a >> b;
      result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
      return checked(result >> b != a, "the shifted number");
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
    case Kind::number:
    case Kind::name:
      break;
  }
  return 0;
}

std::int64_t Expression::evaluate(const Counters& counters) const {
  std::vector<std::int64_t> stack;
  for (const Operation& o : operations_) {
    if (o.kind == Kind::number) {
      stack.push_back(o.value);
    } else if (o.kind == Kind::name) {
      stack.push_back(value_of(names_[o.name], counters));
    } else if (o.kind == Kind::negate) {
      stack.back() = apply(o, stack.back(), 0);
    } else {
      const std::int64_t right = stack.back();
      stack.pop_back();
      stack.back() = apply(o, stack.back(), right);
    }
  }
  return stack.back();
}

std::string Expression::values(const Counters& counters) const {
  std::string text;
  for (const Name& n : names_) {
    text += (text.empty() ? " (" : ", ") + n.name + " = " + std::to_string(value_of(n, counters));
  }
  return text.empty() ? "" : text + ")";
}

}  // namespace regatta::launch
