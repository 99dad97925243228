// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices in the registers of a warp, and the transposition of one. PTX ISA, "Matrix Fragments": a group
// of four lanes has a row of A, C and D and a column of B; a register has elements beside each other in k.
#include "cta.h"
#include "fragments.h"
#include "matrix_products.h"

#include <array>
#include <cmath>
#include <cstring>

namespace regatta::emulator {

using ir::TensorFormat;
using trace::LaneMask;

namespace {

constexpr unsigned columns = tensor_columns, row_lanes = 4, word_bits = 32;

}  // namespace

void CtaRunner::require_warp(const Warp& w, const Op& op, LaneMask active) const {
  for (unsigned half = 0; half < program_.lanes; half += warp_lanes) {
    const auto here = static_cast<std::uint32_t>(active >> half);
    if (here == 0 || here == UINT32_MAX) continue;
    const unsigned absent = half + static_cast<unsigned>(__builtin_ctz(~here));
    const bool is_gone = (w.live() >> absent & 1u) == 0;
    fail(w, op, half + static_cast<unsigned>(__builtin_ctz(here)),
         "'" + ir::opcode_text(*op.instruction) + "' needs all 32 lanes of its warp, and lane " +
             std::to_string(absent - half) + (is_gone ? " is not there" : " is on another path or switched off"));
  }
}

void CtaRunner::matrix_product(Warp& w, const Op& op, LaneMask active) {
  require_warp(w, op, active);
  const ir::TensorModifiers& t = op.instruction->mod.tensor;
  for (unsigned half = 0; half < program_.lanes; half += warp_lanes) {
    if ((active >> half & 1u) == 0) continue;
    const Fragments f(op, w.regs.bank[0], program_.lanes, half, ir::a_words(t) + ir::b_words(t));
    if (t.a == TensorFormat::f64) {
      // m8n8k4: lane 4 row + k has an element of A, lane 4 column + k one of B.
      std::array<std::array<double, columns>, columns> d{};
      for (unsigned m = 0; m < columns; ++m) {
        for (unsigned n = 0; n < columns; ++n) {
          d[m][n] = f.f64(4 + 2 * (n % 2), row_lanes * m + n / 2);
          for (unsigned k = 0; k < t.k; ++k)
            d[m][n] = std::fma(f.f64(0, row_lanes * m + k), f.f64(2, row_lanes * n + k), d[m][n]);
        }
      }
      for (unsigned m = 0; m < columns; ++m) {
        for (unsigned n = 0; n < columns; ++n) {
          std::uint64_t bits = 0xfff8000000000000;  // the NaN of all operations on f64
          if (!std::isnan(d[m][n])) std::memcpy(&bits, &d[m][n], sizeof bits);
          f.result(2 * (n % 2), row_lanes * m + n / 2) = static_cast<std::uint32_t>(bits);
          f.result(2 * (n % 2) + 1, row_lanes * m + n / 2) = static_cast<std::uint32_t>(bits >> word_bits);
        }
      }
      continue;
    }
    TensorResults d;
    multiply_matrices(*op.instruction, f, d);
    f.store(d);
  }
}

void CtaRunner::matrix_move(Warp& w, const Op& op, LaneMask active) {
  require_warp(w, op, active);
  std::array<std::uint32_t, trace::max_lanes> from{};
  for (unsigned i = 0; i < program_.lanes; ++i) from[i] = static_cast<std::uint32_t>(get(w, op.values[0], i, false));
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
    const unsigned half = i / warp_lanes * warp_lanes, row = i % warp_lanes / row_lanes, pair = i % row_lanes;
    std::uint32_t value = 0;
    for (unsigned e = 0; e < 2; ++e) {
      const std::uint32_t word = from[half + row_lanes * (2 * pair + e) + row / 2];
      value |= (word >> (16 * (row % 2)) & 0xffffu) << (16 * e);
    }
    put(w, op.destinations[0], 1, i, value);
  }
}

}  // namespace regatta::emulator
