// SPDX-License-Identifier: Apache-2.0
//
// Arrays, textures and surfaces of a launch file. Limits are those of the device that makes them.
#pragma once

#include <regatta/ir/ir.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace regatta::launch {

/// What a texel is: `channels` (1, 2 or 4) numbers of s8, u8, s16, u16, s32, u32, f16 or f32.
struct TexelType {
  ir::Type channel = ir::Type::f32;
  unsigned channels = 1;
  unsigned bytes() const { return ir::size_of(channel) * channels; }
};

/// Sizes of an array in texels; 0: the array does not have that dimension, or no layers.
struct ArraySize {
  std::uint32_t width = 0, height = 0, depth = 0, layers = 0;
  bool cubes = false;  ///< layers are faces of cubes
  std::uint64_t texels() const {
    const auto at_least_one = [](std::uint64_t n) { return n != 0 ? n : 1; };
    return width * at_least_one(height) * at_least_one(depth) * at_least_one(layers);
  }
  /// Texels, rows and images, each at least 1.
  std::array<std::uint32_t, 3> whole() const {
    return {width, height != 0 ? height : 1, depth != 0 ? depth : layers != 0 ? layers : 1};
  }
};

/// A part of an array: origin and size, in texels. z counts images: of the depth, or layers.
struct ArrayPart {
  std::array<std::uint32_t, 3> at{0, 0, 0};
  std::array<std::uint32_t, 3> size{1, 1, 1};
  std::uint64_t texels() const { return std::uint64_t{size[0]} * size[1] * size[2]; }
};

/// Outside of a texture, per axis; clamp is the default.
enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };

/// A reference of the PTX (.texref, .surfref) that a texture or surface is bound to.
struct TextureReference {
  std::string name;                   ///< empty: none, an object that a parameter passes
  std::optional<std::size_t> module;  ///< index into LaunchFile::ptx; none: the only file that has it
};

}  // namespace regatta::launch
