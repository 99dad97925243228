// SPDX-License-Identifier: Apache-2.0
//
// A warp's part of wgmma.mma_async: 16 rows, and eight columns of B. Matrices in shared memory are described as the PTX
// ISA says ("Asynchronous warpgroup level matrix instructions", matrix descriptor and layouts).
#include "cta.h"
#include "diagnostics.h"
#include "lane_memory.h"
#include "matrix_products.h"

#include <cstring>
#include <functional>

namespace regatta::emulator {

using ir::TensorFormat;
using trace::LaneMask;

namespace {

constexpr unsigned warps_of_group = 4, row_lanes = 4, tile = 8, unit_bytes = 16;

/// Where the elements of a matrix lie in shared memory. `mn` is the row of A or the column of B.
class SharedMatrix {
 public:
  SharedMatrix(std::uint64_t descriptor, bool across, unsigned bits) : across_(across), bits_(bits) {
    const auto field = [&](unsigned first, unsigned count) {
      return static_cast<std::uint32_t>(descriptor >> first) & ((1u << count) - 1);
    };
    start_ = field(0, 14) * unit_bytes;
    leading_ = field(16, 14) * unit_bytes;
    stride_ = field(32, 14) * unit_bytes;
    phase_ = field(49, 3);
    static constexpr unsigned row_bytes[] = {16, 128, 64, 32};
    row_bytes_ = row_bytes[field(62, 2)];
  }

  /// Byte offset in shared memory.
  std::uint64_t offset(unsigned mn, unsigned k) const {
    const unsigned far = across_ ? k : mn, near = (across_ ? mn : k) * bits_ / 8;
    std::uint64_t at = start_ + (far % tile) * std::uint64_t{row_bytes_} + near % row_bytes_;
    if (!across_) {
      at += std::uint64_t{far / tile} * stride_ + std::uint64_t{near / row_bytes_} * leading_;
    } else if (row_bytes_ == unit_bytes) {
      at += std::uint64_t{far / tile} * leading_ + std::uint64_t{near / row_bytes_} * stride_;
    } else {
      at += std::uint64_t{far / tile} * stride_ + std::uint64_t{near / row_bytes_} * leading_;
    }
    // Swizzled: the place of 16 bytes in a row of 32, 64 or 128 depends on the row.
    constexpr unsigned line_bits = 7, unit_bits = 4;
    const std::uint64_t places = row_bytes_ / unit_bytes - 1;
    return at ^ ((((at >> line_bits) - phase_) & places) << unit_bits);
  }

 private:
  bool across_;
  unsigned bits_;
  std::uint64_t start_ = 0, leading_ = 0, stride_ = 0, phase_ = 0;
  unsigned row_bytes_ = unit_bytes;
};

}  // namespace

std::uint32_t CtaRunner::shared_element(const Warp& w, const Op& op, unsigned lane, std::uint64_t offset,
                                        unsigned bits) const {
  const unsigned bytes = bits < 8 ? 1 : bits / 8;
  const std::string where = "read of a matrix at shared offset " + std::to_string(offset);
  if (offset >= shared_.size() || bytes > shared_.size() - offset) {
    fail(w, op, lane, "out-of-bounds " + where + ", the CTA has " + std::to_string(shared_.size()) + " bytes",
         FaultKind::address);
  }
  if (tracks_ && !all_written(shared_written_.data() + offset, bytes)) {
    fail(w, op, lane, where + ", which was never written");
  }
  std::uint32_t value = 0;
  std::memcpy(&value, shared_.data() + offset, bytes);
  return value;
}

void CtaRunner::group_product(Warp& w, const Op& op, LaneMask active) {
  require_warp(w, op, active);
  const ir::TensorModifiers& t = op.instruction->mod.tensor;
  const LaneMask adds = read_predicate(w, op, op.predicates[0], active) & active;
  const unsigned lanes = program_.lanes;
  for (unsigned n = 0; tracks_ && adds != 0 && n < op.write_count; ++n) {
    const unsigned reg = op.reads[op.accumulator_reads + n];
    if ((active & ~w.written[reg]) != 0) unwritten_register(w, op, reg, active);
  }
  for (unsigned half = 0; half < lanes; half += warp_lanes) {
    if ((active >> half & 1u) == 0) continue;
    const unsigned first_row =
        (w.first_thread() + half) / warp_lanes % warps_of_group * most_tensor_rows * (t.a_in_memory ? 1u : 0u);
    const SharedMatrix a(t.a_in_memory ? get(w, op.values[0], half, true) : 0, t.a_across, ir::bits_of(t.a));
    const SharedMatrix b(get(w, op.values[1], half, true), t.b_across, ir::bits_of(t.b));
    const auto word = [&](unsigned n, unsigned lane) {
      return w.regs.bank[0][std::size_t{op.reads[n]} * lanes + half + lane];
    };
    const auto element = [](std::uint32_t value, unsigned n, TensorFormat f) {
      constexpr unsigned unused = 13;
      if (f == TensorFormat::tf32) return value >> unused;
      const unsigned bits = ir::bits_of(f);
      return value >> (n * bits) & ((std::uint32_t{1} << bits) - 1);
    };
    struct Matrices {
      std::function<std::uint32_t(unsigned, unsigned)> a, b, c;
    };
    const auto from_memory = [&](const SharedMatrix& matrix, unsigned mn, unsigned k, TensorFormat f) {
      const unsigned bits = ir::bits_of(f), of_byte = bits < 8 ? 8 / bits : 1;
      return element(shared_element(w, op, half, matrix.offset(mn, k), bits), bits < 8 ? k % of_byte : 0, f);
    };
    const bool is_half = t.accumulator == TensorFormat::f16, has_c = (adds >> half & 1u) != 0;
    const Matrices f{
        [&](unsigned row, unsigned k) {
          if (t.a_in_memory) return from_memory(a, first_row + row, k, t.a);
          const unsigned each = 32 / ir::bits_of(t.a), step = row_lanes * each;
          return element(word(2 * (k / step) + row / 8, row_lanes * (row % 8) + k % step / each), k % each, t.a);
        },
        [&](unsigned k, unsigned column) { return from_memory(b, static_cast<unsigned>(op.offset) + column, k, t.b); },
        [&](unsigned row, unsigned column) -> std::uint32_t {
          if (!has_c) return 0;
          const unsigned lane = row_lanes * (row % 8) + column / 2, c = op.accumulator_reads;
          if (is_half) return word(c + row / 8, lane) >> (16 * (column % 2)) & 0xffffu;
          return word(c + 2 * (row / 8) + column % 2, lane);
        }};
    TensorResults d;
    multiply_matrices(*op.instruction, f, d);
    for (unsigned row = 0; row < most_tensor_rows; ++row) {
      for (unsigned column = 0; column < tensor_columns; column += 2) {
        const unsigned lane = row_lanes * (row % 8) + column / 2;
        const auto result = [&](unsigned n) -> std::uint32_t& {
          return w.regs.bank[0][std::size_t{op.writes[n]} * lanes + half + lane];
        };
        if (is_half) {
          result(row / 8) = d[row][column] | d[row][column + 1] << 16;
        } else {
          result(2 * (row / 8)) = d[row][column];
          result(2 * (row / 8) + 1) = d[row][column + 1];
        }
      }
    }
  }
}

}  // namespace regatta::emulator
