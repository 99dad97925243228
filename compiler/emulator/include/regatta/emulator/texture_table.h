// SPDX-License-Identifier: Apache-2.0
//
// The CUDA arrays, texture objects, surface objects and texture references of one device. A CUDA runtime calls it
// where cudaMallocArray, cudaMemcpy*Array, cudaCreateTextureObject, cudaCreateSurfaceObject and cudaBindTexture* end.
//
// Layout of an array in DeviceMemory (it decides the addresses in a trace): arrays of one dimension are linear. All
// others consist of blocks of 64 bytes by 8 rows, 512 bytes each, which lie row by row; images (depth, layers) follow
// one another. Within a block, 16 bytes by 2 rows are a sector of 32 bytes, and 2 by 2 sectors are 128 bytes, so that
// texels that are near in x or y share sectors and lines: byte x, row y of a block is at
// x/32*256 + y/2*64 + x%32/16*32 + y%2*16 + x%16.
#pragma once

#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/texture.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace regatta::emulator {

/// Where the texels of a resource lie.
struct TexelLayout {
  static constexpr unsigned block_bytes = 64;  ///< of a row within a block
  static constexpr unsigned block_rows = 8;

  std::uint64_t base = 0;
  std::uint64_t pitch = 0;  ///< bytes from row to row, or, in blocks, from row of blocks to row of blocks
  std::uint64_t slice = 0;  ///< bytes from image to image
  bool blocks = false;

  /// Address of a byte: `x` in bytes.
  std::uint64_t address(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    if (!blocks) return base + z * slice + y * pitch + x;
    return base + z * slice + y / block_rows * pitch + x / block_bytes * (block_bytes * block_rows) + (x & 32) * 8 +
           (y & 6) * 32 + (x & 16) * 2 + (y & 1) * 16 + (x & 15);
  }
};

/// A texture or surface as the emulator reads it: shape and format of an array or of plain memory, its layout, and the
/// sampler (textures).
struct TextureView {
  ArrayShape shape;
  TexelLayout layout;
  Sampler sampler;
  bool is_linear = false;  ///< plain memory of one dimension: tex1Dfetch alone reads it
};

/// Errors of the caller (a description that CUDA refuses, an id or handle that is none) throw trace::InputError with a
/// sentence that says what was given and what was expected. Handles are 1, 2, 3 ... in the order of creation, without
/// those that the caller chose, and are not used again. Lookups may run on several threads while nothing is created,
/// bound or destroyed.
class TextureTable {
 public:
  /// `memory` must outlive the table.
  explicit TextureTable(DeviceMemory& memory);
  ~TextureTable();
  TextureTable(const TextureTable&) = delete;
  TextureTable& operator=(const TextureTable&) = delete;

  /// `name` is that of the allocation, for messages. `initialised`: texels are zero; else one that is read has to be
  /// written before. At most 131072 texels wide in one dimension, 131072 x 65536 in two, 16384 in each of three, and
  /// 2048 layers (32768 wide and high).
  /// `address`: where its allocation lies; else the memory chooses.
  ArrayId create_array(const std::string& name, const ArrayShape& shape, bool initialised = true,
                       std::optional<std::uint64_t> address = std::nullopt);
  /// Bytes of such an array's allocation. Throws as create_array() does.
  static std::uint64_t array_bytes(const std::string& name, const ArrayShape& shape);
  /// Releases its memory. Textures and surfaces of it can no longer be read.
  void destroy_array(ArrayId array);
  bool has_array(ArrayId array) const;
  const ArrayShape& array_shape(ArrayId array) const;
  /// Address of its allocation, of all bytes that the layout takes.
  std::uint64_t array_address(ArrayId array) const;

  /// Copies between host memory and a part of an array. Rows are `row_pitch` bytes apart in host memory and images
  /// `slice_pitch`; 0: packed.
  void write_array(ArrayId array, const ArrayBox& box, const void* from, std::size_t row_pitch = 0,
                   std::size_t slice_pitch = 0);
  void read_array(ArrayId array, const ArrayBox& box, void* to, std::size_t row_pitch = 0,
                  std::size_t slice_pitch = 0) const;
  /// The same between DeviceMemory at an address and a part of an array. Throws std::out_of_range when a row is not
  /// inside one allocation. Bytes that were never written have not been written in their new place either.
  void copy_to_array(ArrayId array, const ArrayBox& box, std::uint64_t from, std::size_t row_pitch = 0,
                     std::size_t slice_pitch = 0);
  void copy_from_array(ArrayId array, const ArrayBox& box, std::uint64_t to, std::size_t row_pitch = 0,
                       std::size_t slice_pitch = 0) const;
  /// Copies a part of an array to the texel (x, y, z) of another one, whose texels have as many bytes.
  void copy_array(ArrayId to, std::uint32_t x, std::uint32_t y, std::uint32_t z, ArrayId from, const ArrayBox& box);

  /// Linear filtering needs texels that are read as floats: of a float format, or in ReadMode::normalized_float. That
  /// mode reads integers of 8 and 16 bits alone; floats are as they are. Linear memory has no filter but point, and
  /// coordinates that are not normalized. `handle`: the one that the object must have; 0: the next one.
  TextureHandle create_texture(const TextureResource& resource, const Sampler& sampler, TextureHandle handle = 0);
  TextureHandle create_surface(ArrayId array, TextureHandle handle = 0);
  void destroy_texture(TextureHandle texture);
  void destroy_surface(TextureHandle surface);

  /// A texture or surface reference of a module. Its handle stays the same whatever is bound to it; nothing is at
  /// first.
  TextureHandle create_reference(const std::string& name);
  void bind(TextureHandle reference, const TextureResource& resource, const Sampler& sampler);
  void bind_surface(TextureHandle reference, ArrayId array);
  void unbind(TextureHandle reference);

  /// nullptr: the handle is none of a texture (or of a reference), or nothing is bound to it.
  const TextureView* texture(TextureHandle handle) const;
  /// nullptr: the handle is none of a surface.
  const TextureView* surface(TextureHandle handle) const;
  /// What a handle is, for messages: "handle 0x5, which is a surface object".
  std::string describe(TextureHandle handle) const;

 private:
  struct Array;
  struct Object;
  const Array& array_of(ArrayId array) const;
  TextureView view(const TextureResource& resource, const Sampler& sampler) const;
  const Object* find(TextureHandle handle) const;
  Object& reference_of(TextureHandle reference);
  /// Throws if the handle is taken. 0: the next one.
  TextureHandle add(Object&& object, TextureHandle handle);
  void destroy(TextureHandle handle, bool surface);

  DeviceMemory& memory_;
  std::map<ArrayId, Array> arrays_;
  std::map<TextureHandle, Object> objects_;
  ArrayId last_array_ = 0;
  TextureHandle last_handle_ = 0;
};

}  // namespace regatta::emulator
