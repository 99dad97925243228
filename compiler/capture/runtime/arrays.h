// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays on the program's side. A cudaArray_t points to an Array.
#pragma once

#include "state.h"
#include "texture_abi.h"

#include <optional>

namespace regatta::capture {

struct Array {
  std::uint64_t id = 0;  ///< by which the server knows it
  ArrayDescription description;
  // As the program gave them.
  ChannelFormat format{};
  Extent extent{};
  unsigned flags = 0;

  std::uint64_t texel_bytes() const { return std::uint64_t{description.format.bits} / 8 * description.format.channels; }
};

/// nullptr: it is none, or was freed.
Array* array_of(const void* handle);
/// A format that textures and arrays can have; none: there is no such one. Others end the program with a sentence.
std::optional<TexelDescription> texel_description(const ChannelFormat& format);
/// cudaMalloc3DArray().
Error create_array(void** out, const ChannelFormat& format, Extent extent, unsigned flags);
Error free_array(const void* handle);

/// One side of a copy: texels of an array from a position on, or bytes at an address.
struct CopyPlace {
  Array* array = nullptr;
  std::uint32_t x = 0, y = 0, z = 0;  ///< of an array
  void* pointer = nullptr;            ///< the first byte
  std::size_t pitch = 0, slice_pitch = 0;

  static CopyPlace of(void* pointer, std::size_t pitch, std::size_t slice_pitch = 0) {
    CopyPlace p;
    p.pointer = pointer;
    p.pitch = pitch;
    p.slice_pitch = slice_pitch;
    return p;
  }
};

/// Copies `extent` texels; one side or both are arrays.
Error copy_with_array(const CopyPlace& to, const CopyPlace& from, Extent extent);
/// cudaMemcpy2DToArray() and its like: widths and x in bytes, of whole texels.
Error copy_2d_with_array(const CopyPlace& to, std::size_t to_x, std::size_t to_y, const CopyPlace& from,
                         std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height);

}  // namespace regatta::capture
