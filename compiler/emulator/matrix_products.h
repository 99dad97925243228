// SPDX-License-Identifier: Apache-2.0
//
// D = A * B + C of up to 16 x 8 elements, wherever the elements come from.
#pragma once

#include "tensor_product.h"

#include <regatta/ir/ir.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace regatta::emulator {

inline constexpr unsigned tensor_columns = 8, most_tensor_rows = 16, most_tensor_k = 256;
/// Bits of D, by row and column.
using TensorResults = std::array<std::array<std::uint32_t, tensor_columns>, most_tensor_rows>;

inline bool is_float_of_tensor(ir::TensorFormat f) {
  return f == TensorFormat::f16 || f == TensorFormat::bf16 || f == TensorFormat::tf32 || f == TensorFormat::e4m3 ||
         f == TensorFormat::e5m2;
}

inline std::int32_t tensor_integer(std::uint32_t bits, ir::TensorFormat f) {
  if (f == TensorFormat::s8) return static_cast<std::int8_t>(bits);
  if (f == TensorFormat::s4) return static_cast<std::int32_t>(bits ^ 8u) - 8;
  return static_cast<std::int32_t>(bits);
}

template <class Matrices>
void multiply_floats(const ir::TensorModifiers& t, const Matrices& f, TensorResults& d) {
  std::array<std::array<TensorElement, most_tensor_k>, tensor_columns> column;
  for (unsigned n = 0; n < tensor_columns; ++n)
    for (unsigned k = 0; k < t.k; ++k) {
      column[n][k] = tensor_element(t.b, f.b(k, n));
      column[n][k].is_negative = column[n][k].is_negative != t.negates_b;
    }
  std::array<TensorElement, most_tensor_k> row;
  for (unsigned m = 0; m < t.m; ++m) {
    for (unsigned k = 0; k < t.k; ++k) {
      row[k] = tensor_element(t.a, f.a(m, k));
      row[k].is_negative = row[k].is_negative != t.negates_a;
    }
    for (unsigned n = 0; n < tensor_columns; ++n) {
      const TensorOperands o{t.a, t.b, row.data(), column[n].data(), t.k};
      d[m][n] = t.accumulator == TensorFormat::f16 ? tensor_dot_f16(o, f.c(m, n)) : tensor_dot_f32(o, f.c(m, n));
    }
  }
}

template <class Matrices>
void multiply_integers(const ir::TensorModifiers& t, bool saturates, const Matrices& f, TensorResults& d) {
  std::array<std::array<std::int32_t, most_tensor_k>, tensor_columns> column;
  for (unsigned n = 0; n < tensor_columns; ++n)
    for (unsigned k = 0; k < t.k; ++k) column[n][k] = tensor_integer(f.b(k, n), t.b);
  std::array<std::int32_t, most_tensor_k> row;
  for (unsigned m = 0; m < t.m; ++m) {
    for (unsigned k = 0; k < t.k; ++k) row[k] = tensor_integer(f.a(m, k), t.a);
    for (unsigned n = 0; n < tensor_columns; ++n) {
      const std::array<std::int32_t, most_tensor_k>& b = column[n];
      std::int32_t products = 0;  // at most 32 of 16 bits
      switch (t.product) {
        case ir::TensorProduct::xor_popc:
          for (unsigned k = 0; k < t.k; ++k) products += row[k] ^ b[k];
          break;
        case ir::TensorProduct::and_popc:
          for (unsigned k = 0; k < t.k; ++k) products += row[k] & b[k];
          break;
        case ir::TensorProduct::multiply:
          for (unsigned k = 0; k < t.k; ++k) products += row[k] * b[k];
          break;
      }
      std::int64_t sum = std::int64_t{static_cast<std::int32_t>(f.c(m, n))} + products;
      if (saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[m][n] = static_cast<std::uint32_t>(sum);
    }
  }
}

/// Matrices: has a(row, k), b(k, column) and c(row, column), bits of elements. Not for f64.
template <class Matrices>
void multiply_matrices(const ir::Instruction& i, const Matrices& f, TensorResults& d) {
  if (is_float_of_tensor(i.mod.tensor.a)) {
    multiply_floats(i.mod.tensor, f, d);
  } else {
    multiply_integers(i.mod.tensor, i.mod.saturate, f, d);
  }
}

}  // namespace regatta::emulator
