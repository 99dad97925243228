// SPDX-License-Identifier: Apache-2.0
//
// Expressions of a launch file: sizes of grids and scalars that follow the counters of loops. Integers of 64 bits with
// the operators and precedences of C:
//
//   shift   = sum { ("<<" | ">>") sum }
//   sum     = product { ("+" | "-") product }
//   product = unary { ("*" | "/" | "%") unary }
//   unary   = "-" unary | number | name | ("min" | "max") "(" shift "," shift ")" | "(" shift ")"
//
// Numbers are decimal or 0x...; `/` rounds towards zero and `%` has the sign of its left side, as in C. A result that
// 64 bits do not hold, a division by zero and a shift by other than 0 to 63 are errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace regatta::launch {

/// What is wrong with an expression, and where in its text (bytes from its beginning).
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(const std::string& what, std::size_t at) : std::runtime_error(what), at_(at) {}
  std::size_t at() const { return at_; }

 private:
  std::size_t at_;
};

class Expression {
 public:
  using Constants = std::map<std::string, std::int64_t>;
  using Counters = std::map<std::string, std::uint64_t>;

  /// A name in the text, at the place where it stands first.
  struct Name {
    std::string name;
    std::size_t at = 0;
    bool is_constant = false;
    std::int64_t value = 0;  ///< of a constant
  };

  /// Parses `text`. Names that are not among `constants` are counters. Throws ExpressionError.
  static Expression parse(const std::string& text, const Constants& constants);

  /// In the order of their first appearance, each once.
  const std::vector<Name>& names() const { return names_; }
  /// Whether it has the same value always.
  bool is_constant() const;
  /// The value while the loops stand at `counters`, which must have all counters of the expression. Throws
  /// ExpressionError.
  std::int64_t evaluate(const Counters& counters) const;
  /// " (k = 3, n = 128)": what its names stand for; "" without names.
  std::string values(const Counters& counters) const;

 private:
  friend class ExpressionParser;
  enum class Kind : std::uint8_t {
    number,
    name,
    negate,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    left,
    right,
    min,
    max
  };
  struct Operation {
    Kind kind = Kind::number;
    std::int64_t value = 0;  ///< of a number
    std::size_t name = 0;    ///< index into names_
    std::size_t at = 0;
  };

  static std::int64_t apply(const Operation& operation, std::int64_t left, std::int64_t right);
  std::int64_t value_of(const Name& name, const Counters& counters) const;

  std::vector<Name> names_;
  std::vector<Operation> operations_;  ///< operands first
};

/// Whether an expression can refer to it: a letter or '_', then letters, digits, '_' and '.'.
bool is_expression_name(const std::string& name);

}  // namespace regatta::launch
