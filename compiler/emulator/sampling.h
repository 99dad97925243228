// SPDX-License-Identifier: Apache-2.0
//
// What a texture fetch of one lane reads and returns (CUDA programming guide, texture fetching).
#pragma once

#include <regatta/emulator/texture_table.h>

#include <array>
#include <cstdint>

namespace regatta::emulator {

/// The allocation that a texture or surface lies in.
struct TexelMemory {
  const std::uint8_t* data = nullptr;
  const std::uint8_t* written = nullptr;  ///< nullptr: all of it is initialised
  std::uint64_t base = 0;
};

struct TextureCoordinates {
  bool is_integer = false;               ///< texel numbers: nothing is filtered
  std::array<std::uint32_t, 3> value{};  ///< x, y, z: bits of f32, or s32
  std::int32_t layer = 0;
  bool is_exact = false;  ///< x and y are `exact`, normalized, and not `value`
  std::array<double, 2> exact{};
};
/// The face of a cube that a direction meets, as the layer, and the place on it.
TextureCoordinates on_face(const TextureCoordinates& direction);

/// The texels of a fetch: one, or 2, 4 or 8 of a linear filter in one, two or three dimensions, x fastest. Those that
/// do not lie in memory (a border, a fetch beyond the end) have address 0.
struct Fetched {
  static constexpr std::uint64_t nowhere = 0;
  std::array<std::uint32_t, 4> result{};  ///< red, green, blue, alpha; channels that the format lacks are 0
  unsigned texels = 0;
  std::array<std::uint64_t, 8> address{};
  std::uint64_t uninitialised = nowhere;  ///< a texel that counts and was never written
};

/// tex: point and linear filtering. Only level 0 exists.
void fetch_texel(const TextureView& view, const TexelMemory& memory, const TextureCoordinates& at, Fetched& out);
/// tld4: channel `channel` of the four texels that a linear filter would use: at (i, j+1), (i+1, j+1), (i+1, j) and
/// (i, j).
void gather_texels(const TextureView& view, const TexelMemory& memory, const TextureCoordinates& at, unsigned channel,
                   Fetched& out);

}  // namespace regatta::emulator
