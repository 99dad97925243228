// SPDX-License-Identifier: Apache-2.0
//
// What an instruction of class tensor multiplies, read off its opcode.
#pragma once

#include <optional>
#include <string>

namespace regatta::trace {

/// D = A * B + C of matrices of m x k, k x n and m x n elements.
struct TensorShape {
  unsigned m = 0, n = 0, k = 0;
  unsigned bits = 0;         ///< of an element of A; of tf32 32
  bool of_group = false;     ///< wgmma: a part of a product of four warps, whose B lies in shared memory
  bool a_in_memory = false;  ///< and A too
};

/// Of "mma.m16n8k16.f32.f16.f16", "wgmma.m16n8k16.f32.f16.f16.shared_a". Nothing if the opcode does not say it that
/// way.
std::optional<TensorShape> tensor_shape(const std::string& opcode);

}  // namespace regatta::trace
