// SPDX-License-Identifier: Apache-2.0
//
// What a kernel must leave in its buffers. Each kernel's file in references/ defines
//   std::vector<Expected> regatta::test::expected_<kernel>(const LaunchData&);
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels.h"

namespace regatta::test {

/// Of floating elements that are compared with a tolerance.
enum class Float { f32, f16, bf16 };

/// What one buffer must hold after the run: 32-bit words bit for bit, or floating elements with a tolerance.
struct Expected {
  std::string buffer;
  std::vector<std::uint32_t> words;  ///< exact; empty when `values` counts
  std::vector<double> values;
  Float type = Float::f32;  ///< of the elements that `values` are for
  double tolerance = 0;     ///< |got - expected| <= tolerance * |expected| + absolute
  double absolute = 0;
};

/// Bit for bit. Elements of 1, 2, 4 or 8 bytes that fill whole words.
template <class T>
Expected exact(const std::string& buffer, const std::vector<T>& values) {
  Expected e;
  e.buffer = buffer;
  e.words.resize(values.size() * sizeof(T) / sizeof(std::uint32_t));
  std::memcpy(e.words.data(), values.data(), e.words.size() * sizeof(std::uint32_t));
  return e;
}

/// exp, log and others, in f32 on a GPU and in double here: a few units in the last place, which what follows makes
/// larger.
constexpr double f32_functions = 1e-5;
Expected near(const std::string& buffer, std::vector<double> values, double tolerance = f32_functions);
/// The same for elements of any floating type, with an absolute part for sums that nearly cancel.
Expected near(const std::string& buffer, Float type, std::vector<double> values, double tolerance, double absolute);

/// Empty when `bytes` is what it must be, else the first element that differs.
std::string compare(const Expected& expected, const std::string& bytes);

}  // namespace regatta::test
