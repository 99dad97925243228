// SPDX-License-Identifier: Apache-2.0
//
// A tensor map: what a cp.async.bulk.tensor copies boxes of. CUDA's CUtensorMap is 128 opaque bytes that
// cuTensorMapEncodeTiled() makes of the same properties; the contents here are our own. Limits are those of that
// function (CUDA driver API, "Tensor Map Object Management").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace regatta::ir {

enum class TensorType : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
/// "bf16", and back; nothing if there is no such type.
const char* to_string(TensorType t);
std::optional<TensorType> tensor_type_named(const std::string& name);
unsigned size_of(TensorType t);  ///< bytes
bool is_float(TensorType t);

/// How the 16-byte chunks of a row change places in shared memory: bits of the address choose them.
enum class TensorSwizzle : std::uint8_t { none, b32, b64, b128 };

struct TensorMap {
  static constexpr unsigned most_dimensions = 5;
  static constexpr std::size_t bytes = 128;
  using Encoded = std::array<std::uint8_t, bytes>;

  TensorType type = TensorType::f32;
  unsigned dimensions = 1;
  std::uint64_t address = 0;                                         ///< of element 0, in global memory
  std::array<std::uint64_t, most_dimensions> size{1, 1, 1, 1, 1};    ///< elements, innermost dimension first
  std::array<std::uint64_t, most_dimensions> stride{0, 0, 0, 0, 0};  ///< bytes; of dimension 0 the element's size
  std::array<std::uint32_t, most_dimensions> box{1, 1, 1, 1, 1};     ///< elements
  std::array<std::uint32_t, most_dimensions> element_stride{1, 1, 1, 1, 1};
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fills_nan = false;  ///< what lies outside: else zeros

  /// What is wrong with it, as a sentence; empty: nothing.
  std::string refusal() const;
  Encoded encode() const;
  /// Nothing for bytes that encode() did not make.
  static std::optional<TensorMap> decode(const std::uint8_t* from);

  /// Elements that a copy moves in a dimension: those of the box, element_stride apart.
  std::uint32_t copied(unsigned dimension) const {
    return (box[dimension] + element_stride[dimension] - 1) / element_stride[dimension];
  }
  /// Bytes in shared memory, and what a copy counts on its mbarrier, places outside of the tensor included.
  std::uint32_t box_bytes() const;
};

/// Where byte `offset` of shared memory goes under a swizzle.
constexpr std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t offset) {
  switch (swizzle) {
    case TensorSwizzle::none:
      return offset;
    case TensorSwizzle::b32:
      return offset ^ (offset >> 3 & 0x10);
    case TensorSwizzle::b64:
      return offset ^ (offset >> 3 & 0x30);
    case TensorSwizzle::b128:
      return offset ^ (offset >> 3 & 0x70);
  }
  return offset;
}

}  // namespace regatta::ir
