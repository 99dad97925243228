// SPDX-License-Identifier: Apache-2.0
//
// Matrices in the registers of a warp. PTX ISA, "Matrix Fragments": four lanes have a row of A, C and D and a column of
// B; a register has elements beside each other in k.
#pragma once

#include "decode.h"
#include "matrix_products.h"

#include <cstring>

namespace regatta::emulator {

/// Of one half of a wavefront, or of the warp. A's registers are the first of Op::reads, B's follow, C's begin at
/// `first_c`; D's are Op::writes.
class Fragments {
 public:
  Fragments(const Op& op, std::uint32_t* registers, unsigned lanes, unsigned first_lane, unsigned first_c)
      : t_(op.instruction->mod.tensor),
        op_(op),
        registers_(registers),
        lanes_(lanes),
        first_lane_(first_lane),
        first_c_(first_c) {}

  /// Element `n` of a word.
  static std::uint32_t element(std::uint32_t word, unsigned n, ir::TensorFormat f) {
    constexpr unsigned unused = 13;
    if (f == ir::TensorFormat::tf32) return word >> unused;
    const unsigned bits = ir::bits_of(f);
    return word >> (n * bits) & ((std::uint32_t{1} << bits) - 1);
  }

  std::uint32_t a(unsigned row, unsigned k) const {
    const unsigned each = word_bits / ir::bits_of(t_.a), step = row_lanes * each, rows = t_.m / group_rows;
    const unsigned reg = rows * (k / step) + row / group_rows;
    return element(word(reg, row_lanes * (row % group_rows) + k % step / each), k % each, t_.a);
  }
  std::uint32_t b(unsigned k, unsigned column) const {
    const unsigned each = word_bits / ir::bits_of(t_.b), step = row_lanes * each;
    return element(word(ir::a_words(t_) + k / step, row_lanes * column + k % step / each), k % each, t_.b);
  }
  std::uint32_t c(unsigned row, unsigned column) const {
    const unsigned lane = lane_of(row, column);
    if (has_half_results()) return element(word(first_c_ + row / group_rows, lane), column % 2, t_.accumulator);
    return word(first_c_ + 2 * (row / group_rows) + column % 2, lane);
  }
  /// Of the pair of registers that begins at Op::reads[first].
  double f64(unsigned first, unsigned lane) const {
    const std::uint64_t bits = word(first, lane) | std::uint64_t{word(first + 1, lane)} << word_bits;
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::uint32_t& result(unsigned n, unsigned lane) const {
    return registers_[std::size_t{op_.writes[n]} * lanes_ + first_lane_ + lane];
  }
  void store(const TensorResults& d) const {
    for (unsigned row = 0; row < t_.m; ++row) {
      for (unsigned column = 0; column < tensor_columns; column += 2) {
        const unsigned lane = lane_of(row, column), half = row / group_rows;
        if (has_half_results()) {
          result(half, lane) = d[row][column] | d[row][column + 1] << (word_bits / 2);
        } else {
          result(2 * half, lane) = d[row][column];
          result(2 * half + 1, lane) = d[row][column + 1];
        }
      }
    }
  }

 private:
  static constexpr unsigned row_lanes = 4, word_bits = 32, group_rows = 8;
  static unsigned lane_of(unsigned row, unsigned column) { return row_lanes * (row % group_rows) + column / 2; }
  bool has_half_results() const { return t_.accumulator == ir::TensorFormat::f16; }
  std::uint32_t word(unsigned n, unsigned lane) const {
    return registers_[std::size_t{op_.reads[n]} * lanes_ + first_lane_ + lane];
  }

  const ir::TensorModifiers& t_;
  const Op& op_;
  std::uint32_t* registers_;
  unsigned lanes_, first_lane_, first_c_;
};

}  // namespace regatta::emulator
