// SPDX-License-Identifier: Apache-2.0
//
// What textures and surfaces are made of: texel formats, CUDA arrays, resources and samplers. Meanings and limits are
// those of the CUDA programming guide (texture and surface memory) and of the runtime's structures with the same fields
// (cudaChannelFormatDesc, cudaExtent, cudaResourceDesc, cudaTextureDesc).
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace regatta::emulator {

/// As cudaChannelFormatKind, in its order.
enum class ChannelKind : std::uint8_t { signed_integer, unsigned_integer, floating };

/// What a texel consists of. All of its channels are alike.
struct TexelFormat {
  ChannelKind kind = ChannelKind::floating;
  std::uint8_t bits = 32;     ///< of a channel: 8, 16 or 32; floating: 16 or 32
  std::uint8_t channels = 1;  ///< 1, 2 or 4

  /// Size of a texel.
  unsigned bytes() const { return unsigned{bits} / 8 * channels; }
  bool operator==(const TexelFormat& o) const { return kind == o.kind && bits == o.bits && channels == o.channels; }
};
/// "f32", "u8 x 4".
std::string to_string(const TexelFormat& format);

/// A CUDA array, in texels. As in cudaMalloc3DArray, height 0 makes it one-dimensional and depth 0 two-dimensional. A
/// layered array has `layers` images of one or two dimensions. Of cubes, layers are the faces: x, -x, y, -y, z, -z.
struct ArrayShape {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t depth = 0;
  std::uint32_t layers = 0;  ///< 0: not layered
  TexelFormat format;
  bool cubes = false;

  unsigned dimensions() const { return depth != 0 ? 3 : height != 0 ? 2 : 1; }
  std::uint32_t rows() const { return height != 0 ? height : 1; }
  /// Images: those of the depth, or the layers.
  std::uint32_t slices() const { return depth != 0 ? depth : layers != 0 ? layers : 1; }
};

/// A part of an array: origin and size, in texels. `z` counts layers of a layered array. A size of 0 counts as 1.
struct ArrayBox {
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint32_t width = 1, height = 1, depth = 1;
};

/// Names an array of a TextureTable; 0 names none.
using ArrayId = std::uint64_t;
/// Value of a cudaTextureObject_t or cudaSurfaceObject_t. 0 is none. Texture and surface handles differ.
using TextureHandle = std::uint64_t;

/// The memory that a texture reads.
struct TextureResource {
  enum class Kind : std::uint8_t { linear, pitched, array };
  Kind kind = Kind::linear;
  std::uint64_t address = 0;  ///< linear and pitched: in DeviceMemory, a multiple of the texel's size
  std::uint64_t bytes = 0;    ///< linear
  std::uint32_t width = 0;    ///< pitched: texels
  std::uint32_t height = 0;   ///< pitched: rows
  std::uint64_t pitch = 0;    ///< pitched: bytes from row to row
  TexelFormat format;         ///< linear and pitched
  ArrayId array = 0;

  static TextureResource linear(std::uint64_t address, std::uint64_t bytes, const TexelFormat& format) {
    TextureResource r;
    r.address = address;
    r.bytes = bytes;
    r.format = format;
    return r;
  }
  static TextureResource pitched(std::uint64_t address, std::uint32_t width, std::uint32_t height, std::uint64_t pitch,
                                 const TexelFormat& format) {
    TextureResource r;
    r.kind = Kind::pitched;
    r.address = address;
    r.width = width;
    r.height = height;
    r.pitch = pitch;
    r.format = format;
    return r;
  }
  static TextureResource of_array(ArrayId array) {
    TextureResource r;
    r.kind = Kind::array;
    r.array = array;
    return r;
  }
};

/// As cudaTextureAddressMode, cudaTextureFilterMode and cudaTextureReadMode, in their order.
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class FilterMode : std::uint8_t { point, linear };
enum class ReadMode : std::uint8_t { element, normalized_float };

/// How a texture is read. wrap and mirror need normalized coordinates: without them they are clamp, as in CUDA.
struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};  ///< x, y, z
  FilterMode filter = FilterMode::point;
  ReadMode read = ReadMode::element;
  bool normalized_coordinates = false;
  std::array<float, 4> border{};  ///< colour outside, for AddressMode::border; integers: rounded towards zero
};

}  // namespace regatta::emulator
