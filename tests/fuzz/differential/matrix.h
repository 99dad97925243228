// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices in the registers of a warp: the forms of mma.sync and wmma.mma that random programs use, and
// what they compute. Written from the layouts of the PTX ISA and from the rule in compiler/emulator/docs/matrices.md,
// in doubles, where the emulator has integers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test::differential {

enum class MatrixElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, b1, f64, f32, s32 };
unsigned bits_of(MatrixElement e);

struct MatrixForm {
  unsigned m = 16, n = 8, k = 16;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16, c = MatrixElement::f32;
  bool saturates = false;
  char product = '*';  ///< '*', '^' (exclusive or), '&'

  unsigned a_words() const { return m * k * bits_of(a) / 1024; }
  unsigned b_words() const { return n * k * bits_of(b) / 1024; }
  unsigned c_words() const { return m * n * bits_of(c) / 1024; }
  /// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  std::string text() const;
};
/// All of mma.sync that the front end knows.
const std::vector<MatrixForm>& matrix_forms();
/// Some of wmma: 16 x 16 elements, k = 16.
const std::vector<MatrixForm>& wmma_forms();

/// D's element: `a` a row of A and `b` a column of B, bits of k elements each, `c` the bits of C's.
std::uint64_t product_element(const MatrixForm& form, const std::vector<std::uint64_t>& a,
                              const std::vector<std::uint64_t>& b, std::uint64_t c);

/// Words of the registers of 32 lanes, by lane and register.
using Fragment = std::array<std::vector<std::uint32_t>, 32>;
/// D of an mma.sync.
Fragment product(const MatrixForm& form, const Fragment& a, const Fragment& b, const Fragment& c);

}  // namespace regatta::test::differential
