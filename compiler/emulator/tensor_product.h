// SPDX-License-Identifier: Apache-2.0
//
// What a tensor core computes for one element of D = A * B + C, bit for bit as an NVIDIA H100. The rule was found from
// results of twelve forms of mma.sync on such a GPU, 8,192 elements each; all are equal:
//
// - Products are exact. Each has the exponent of its two factors' sum, whatever its significand is; subnormal factors
//   have the least exponent and are not normalised.
// - All products of an instruction and C are aligned to the largest of their exponents, zeros left out. Of each term
//   25 bits behind that exponent are kept; the rest is cut off from its magnitude.
// - Their sum, which is exact, becomes an f32 by cutting off (subnormals stay, beyond the largest number is infinity),
// or
//   an f16 by rounding to nearest even.
// - 8-bit floats are converted to f16 and take two such steps, without C: first all k with k % 4 < 2, then, on its f32
//   result, the others. C is added last, as an ordinary f32 addition.
// - A NaN, an infinity times zero and infinities of both signs give the NaN 0x7fffffff (f16: 0x7fff).
#pragma once

#include <regatta/ir/modifiers.h>

#include <cstddef>
#include <cstdint>

namespace regatta::emulator {

using ir::TensorFormat;

/// (-1)^is_negative * significand * 2^(exponent - fraction), where `fraction` is the format's.
struct TensorElement {
  enum class Kind : std::uint8_t { finite, infinite, nan };
  Kind kind = Kind::finite;
  bool is_negative = false;
  std::uint32_t significand = 0;
  std::int32_t exponent = 0;
};

/// `bits`: of the element's width, from bit 0; of tf32 the 19 upper ones. Only f16, bf16, tf32, e4m3 and e5m2.
TensorElement tensor_element(TensorFormat format, std::uint32_t bits);

/// Elements of a row of A and a column of B, in order of k.
struct TensorOperands {
  TensorFormat format = TensorFormat::f16;    ///< of A
  TensorFormat b_format = TensorFormat::f16;  ///< the same, but for 8-bit floats
  const TensorElement* a = nullptr;
  const TensorElement* b = nullptr;
  std::size_t count = 0;  ///< k of the instruction; a multiple of 4 for 8-bit floats
};

/// With C and D in f32.
std::uint32_t tensor_dot_f32(const TensorOperands& operands, std::uint32_t c);
/// With C and D in f16. Of 8-bit floats this was not measured: as in f32, the last addition rounds to f16.
std::uint32_t tensor_dot_f16(const TensorOperands& operands, std::uint32_t c);

}  // namespace regatta::emulator
