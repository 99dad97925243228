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

/// What one buffer must hold after the run: 32-bit elements, either bit for bit or as numbers with a tolerance.
struct Expected {
  std::string buffer;
  std::vector<std::uint32_t> words;  ///< exact; empty when `values` counts
  std::vector<double> values;        ///< of f32 elements
  double tolerance = 0;              ///< |got - expected| <= tolerance * |expected|
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

/// Empty when `bytes` is what it must be, else the first element that differs.
std::string compare(const Expected& expected, const std::string& bytes);

}  // namespace regatta::test
