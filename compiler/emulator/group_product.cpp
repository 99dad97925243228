// SPDX-License-Identifier: Apache-2.0
//
// A warp's part of wgmma.mma_async: 16 rows, and eight columns of B. Matrices in shared memory are described as the PTX
// ISA says ("Asynchronous warpgroup level matrix instructions", matrix descriptor and layouts).
#include "cta.h"
#include "diagnostics.h"
#include "fragments.h"
#include "lane_memory.h"

#include <cstring>

namespace regatta::emulator {

using ir::TensorFormat;
using trace::LaneMask;

namespace {

constexpr unsigned warps_of_group = 4, tile = 8, unit_bytes = 16, byte_bits = 8;

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

/// Where the elements of the three matrices come from.
template <class A, class B, class C>
struct Elements {
  const A& a;
  const B& b;
  const C& c;
};
template <class A, class B, class C>
Elements(const A&, const B&, const C&) -> Elements<A, B, C>;

}  // namespace

std::uint32_t CtaRunner::shared_element(const Warp& w, const Op& op, unsigned lane, std::uint64_t offset,
                                        unsigned bits) const {
  const unsigned bytes = bits < byte_bits ? 1 : bits / byte_bits;
  // Text for a message only: this runs for every element.
  const auto where = [&] { return "read of a matrix at shared offset " + std::to_string(offset); };
  if (offset >= shared_.size() || bytes > shared_.size() - offset) {
    fail(w, op, lane, "out-of-bounds " + where() + ", the CTA has " + std::to_string(shared_.size()) + " bytes",
         FaultKind::address);
  }
  if (tracks_ && !all_written(shared_written_.data() + offset, bytes)) {
    fail(w, op, lane, where() + ", which was never written");
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
    const Fragments fragments(op, w.regs.bank[0], lanes, half, op.accumulator_reads);
    const auto from_memory = [&](const SharedMatrix& matrix, unsigned mn, unsigned k, TensorFormat f) {
      const unsigned bits = ir::bits_of(f), of_byte = bits < byte_bits ? byte_bits / bits : 1;
      return Fragments::element(shared_element(w, op, half, matrix.offset(mn, k), bits), k % of_byte, f);
    };
    const auto element_of_a = [&](unsigned row, unsigned k) {
      return t.a_in_memory ? from_memory(a, first_row + row, k, t.a) : fragments.a(row, k);
    };
    const auto element_of_b = [&](unsigned k, unsigned column) {
      return from_memory(b, static_cast<unsigned>(op.offset) + column, k, t.b);
    };
    const auto element_of_c = [&, adds_c = (adds >> half & 1u) != 0](unsigned row, unsigned column) {
      return adds_c ? fragments.c(row, column) : 0u;
    };
    TensorResults d;
    multiply_matrices(*op.instruction, Elements{element_of_a, element_of_b, element_of_c}, d);
    fragments.store(d);
  }
}

}  // namespace regatta::emulator
