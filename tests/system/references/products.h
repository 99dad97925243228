// SPDX-License-Identifier: Apache-2.0
//
// Matrix products in double, for references of kernels that use tensor cores.
#pragma once

#include <cstddef>
#include <vector>

namespace reference {

struct Shape {
  std::size_t m, n, k;
};

/// a (m x k) times b, whose element of depth d and column j is b[d * deep + j * across].
inline std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, Shape s,
                                   std::size_t deep, std::size_t across) {
  std::vector<double> c(s.m * s.n, 0);
  for (std::size_t i = 0; i < s.m; ++i) {
    for (std::size_t d = 0; d < s.k; ++d) {
      const double left = a[i * s.k + d];
      for (std::size_t j = 0; j < s.n; ++j) c[i * s.n + j] += left * b[d * deep + j * across];
    }
  }
  return c;
}

/// b has a row for each depth.
inline std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, Shape s) {
  return product(a, b, s, s.n, 1);
}

/// b has a row for each column of the result.
inline std::vector<double> product_transposed(const std::vector<double>& a, const std::vector<double>& b, Shape s) {
  std::vector<double> by_depth(b.size());
  for (std::size_t j = 0; j < s.n; ++j) {
    for (std::size_t d = 0; d < s.k; ++d) by_depth[d * s.n + j] = b[j * s.k + d];
  }
  return product(a, by_depth, s);
}

}  // namespace reference
