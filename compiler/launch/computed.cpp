// SPDX-License-Identifier: Apache-2.0
#include "computed.h"

#include <regatta/base/suggestion.h>
#include <regatta/ir/half.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace regatta::launch {

Position Formula::at(std::size_t byte) const {
  if (!is_on_line) return where;
  return {where.line, where.column + 1 + static_cast<std::uint32_t>(byte)};
}

bool Launch::computes(Computed::What what) const {
  for (const Computed& c : computed) {
    if (c.what == what) return true;
  }
  return false;
}

IntegerRange integer_range(ir::Type type) {
  const char sign = ir::to_string(type)[0];
  const unsigned bits = 8 * ir::size_of(type);
  const std::int64_t low = sign == 'u' ? 0 : bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = bits == 64 ? INT64_MAX : (std::int64_t{1} << (sign == 's' ? bits - 1 : bits)) - 1;
  return {low, high};
}

void check_names(const LaunchFile& file, const Formula& f, const std::string& what,
                 const std::vector<std::string>& counters) {
  for (const Expression::Name& n : f.expression.names()) {
    if (n.is_constant || std::find(counters.begin(), counters.end(), n.name) != counters.end()) continue;
    std::vector<std::string> known = counters;
    for (const auto& [name, value] : file.constants) known.push_back(name);
    file.fail(f.at(n.at), (what.empty() ? "no constant is called '" + n.name + "'"
                                        : "'" + n.name + "' is no constant, and " + what +
                                              " runs outside of a loop that counts it") +
                              base::suggestion(n.name, known));
  }
}

std::uint64_t value_in(const LaunchFile& file, const Formula& f, const Expression::Counters& counters,
                       const std::string& what, std::int64_t high) {
  const std::int64_t value = value_of(file, f, counters);
  if (value < 0 || value > high) {
    file.fail(f.where, what + " is " + std::to_string(value) + ", expected 0 to " + std::to_string(high) +
                           f.expression.values(counters));
  }
  return static_cast<std::uint64_t>(value);
}

std::int64_t value_of(const LaunchFile& file, const Formula& f, const Expression::Counters& counters) {
  try {
    return f.expression.evaluate(counters);
  } catch (const ExpressionError& e) {
    file.fail(f.at(e.at()), e.what() + f.expression.values(counters));
  }
}

void compute(const LaunchFile& file, Launch& launch, const Computed& c, const Expression::Counters& counters) {
  const std::int64_t value = value_of(file, c.formula, counters);
  const bool is_shared = c.what == Computed::What::dynamic_shared, is_grid = c.what == Computed::What::grid;
  const std::int64_t low = is_shared ? 0 : 1;
  const std::int64_t high = is_shared ? max_shared_bytes : (is_grid ? grid_limit : block_limit)[c.dimension];
  if (value < low || value > high) {
    const std::string number = std::to_string(value);
    const std::string what = is_shared ? "'dynamic_shared' is " + number
                                       : "'" + std::string(is_grid ? "grid" : "block") + "' has " + number +
                                             " in dimension " + "xyz"[c.dimension];
    file.fail(c.formula.where, what + ", expected " + std::to_string(low) + " to " + std::to_string(high) +
                                   c.formula.expression.values(counters));
  }
  const auto number = static_cast<std::uint32_t>(value);
  if (is_shared) {
    launch.dynamic_shared = number;
  } else {
    (is_grid ? launch.grid : launch.block)[c.dimension] = number;
  }
}

void check_threads(const LaunchFile& file, const Launch& launch, const Position& where, const std::string& values) {
  // Each dimension is in range: the product of three fits.
  const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads <= 1024) return;
  file.fail(where, "a block of " + std::to_string(launch.block[0]) + " x " + std::to_string(launch.block[1]) + " x " +
                       std::to_string(launch.block[2]) + " has " + std::to_string(threads) +
                       " threads, expected at most 1024" + values);
}

Launch computed_launch(const LaunchFile& file, const Launch& launch, const Expression::Counters& counters) {
  Launch now = launch;
  const Computed* block = nullptr;
  for (const Computed& c : launch.computed) {
    compute(file, now, c, counters);
    if (c.what == Computed::What::block && block == nullptr) block = &c;
  }
  if (block != nullptr) check_threads(file, now, block->formula.where, block->formula.expression.values(counters));
  return now;
}

std::uint64_t expression_bits(const LaunchFile& file, const Parameter& p, const Expression::Counters& counters) {
  const Formula& f = p.formula.front();
  const std::int64_t value = value_of(file, f, counters);
  std::uint64_t bits = 0;
  if (p.type == ir::Type::f64) {
    const auto v = static_cast<double>(value);
    std::memcpy(&bits, &v, sizeof v);
  } else if (p.type == ir::Type::f32) {
    const auto v = static_cast<float>(value);
    std::memcpy(&bits, &v, sizeof v);
  } else if (ir::is_small_float(p.type)) {
    bits = ir::double_to_small(p.type, static_cast<double>(value), ir::Rounding::rn);
    if (std::isinf(ir::small_to_double(p.type, static_cast<std::uint32_t>(bits)))) {
      file.fail(f.where, "the value " + std::to_string(value) + " is too large for type " + ir::to_string(p.type) +
                             f.expression.values(counters));
    }
  } else {
    const IntegerRange range = integer_range(p.type);
    if (value < range.low || value > range.high) {
      file.fail(f.where, "the value " + std::to_string(value) + " does not fit type " + ir::to_string(p.type) +
                             ", expected " + std::to_string(range.low) + " to " + std::to_string(range.high) +
                             f.expression.values(counters));
    }
    const unsigned width = 8 * ir::size_of(p.type);
    bits = static_cast<std::uint64_t>(value);
    if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  }
  return bits;
}

}  // namespace regatta::launch
