// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t rotary_pairs = 64;  // of a head

double rotary_angle(std::size_t position, std::size_t pair) {
  return static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(pair) / rotary_pairs);
}

std::vector<double> turned(const std::vector<double>& in, const std::vector<std::int32_t>& position) {
  std::vector<double> out(in.size());
  const std::size_t of_token = in.size() / position.size();
  for (std::size_t token = 0; token < position.size(); ++token) {
    for (std::size_t head = token * of_token; head < (token + 1) * of_token; head += 2 * rotary_pairs) {
      for (std::size_t i = 0; i < rotary_pairs; ++i) {
        const double a = rotary_angle(static_cast<std::size_t>(position[token]), i), x = in[head + i];
        const double y = in[head + rotary_pairs + i];
        out[head + i] = x * std::cos(a) - y * std::sin(a);
        out[head + rotary_pairs + i] = y * std::cos(a) + x * std::sin(a);
      }
    }
  }
  return out;
}

}  // namespace

std::vector<Expected> expected_rotary(const LaunchData& data) {
  const auto position = data.buffer<std::int32_t>("position");
  std::vector<double> table;
  const auto positions = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "table"));
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t i = 0; i < rotary_pairs; ++i) {
      table.push_back(std::cos(rotary_angle(p, i)));
      table.push_back(std::sin(rotary_angle(p, i)));
    }
  }
  const auto halves = [&](const char* name) { return reference::half.decoded(data.buffer<std::uint16_t>(name)); };
  // The kernel's frequency is an f32: its rotary_angle of some thousand is off by 2^-11 of a radian at most.
  return {near("table", Float::f32, table, 0, 5e-4), near("q", Float::f16, turned(halves("q"), position), 1e-3, 3e-3),
          near("k", Float::f16, turned(halves("k"), position), 1e-3, 3e-3)};
}

}  // namespace regatta::test
