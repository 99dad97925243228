// SPDX-License-Identifier: Apache-2.0
//
// What every kernel of traces/kernels must leave in its buffers, from its launch file and its C++ reference.
#pragma once

#include <cstdint>
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

/// All kernels that have a reference, in the order of the README.
const std::vector<std::string>& kernel_names();

std::vector<Expected> expected_results(const std::string& kernel, Size size);

/// Empty when `bytes` is what it must be, else the first element that differs.
std::string compare(const Expected& expected, const std::string& bytes);

}  // namespace regatta::test
