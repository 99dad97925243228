// SPDX-License-Identifier: Apache-2.0
//
// Copies between host memory, DeviceMemory and arrays.
#include "texture_array.h"

#include <regatta/trace/types.h>

#include <algorithm>

namespace regatta::emulator {

namespace {

/// An origin and a size that an array must have. A size of 0 counts as 1.
struct Part {
  std::uint64_t x, y, z, width, height, depth;
  explicit Part(const ArrayBox& b)
      : x(b.x),
        y(b.y),
        z(b.z),
        width(std::max(b.width, 1u)),
        height(std::max(b.height, 1u)),
        depth(std::max(b.depth, 1u)) {}
};

void check(const std::string& name, const ArrayShape& s, const Part& p) {
  if (p.x + p.width <= s.width && p.y + p.height <= s.rows() && p.z + p.depth <= s.slices()) return;
  const auto triple = [](std::uint64_t x, std::uint64_t y, std::uint64_t z, const char* between) {
    return std::to_string(x) + between + std::to_string(y) + between + std::to_string(z);
  };
  throw trace::InputError("error: copy of " + triple(p.width, p.height, p.depth, " x ") + " texels at (" +
                          triple(p.x, p.y, p.z, ",") + ") of array '" + name + "', which has " +
                          triple(s.width, s.rows(), s.slices(), " x "));
}

/// Bytes from byte `x` of a row on that lie one after another.
std::uint64_t run_of(const TexelLayout& l, std::uint64_t x, std::uint64_t most) {
  constexpr std::uint64_t in_a_row = 16;
  return l.blocks ? std::min(most, in_a_row - x % in_a_row) : most;
}

/// Calls piece(address, row, slice, done, bytes) for the contiguous parts of a box.
template <class Piece>
void for_each_piece(const std::string& name, const ArrayShape& s, const TexelLayout& l, const ArrayBox& box,
                    const Piece& piece) {
  const Part p(box);
  check(name, s, p);
  const unsigned texel = s.format.bytes();
  const std::uint64_t first = p.x * texel, end = first + p.width * texel;
  for (std::uint64_t z = 0; z < p.depth; ++z) {
    for (std::uint64_t y = 0; y < p.height; ++y) {
      for (std::uint64_t x = first; x < end;) {
        const std::uint64_t bytes = run_of(l, x, end - x);
        piece(l.address(x, p.y + y, p.z + z), y, z, x - first, bytes);
        x += bytes;
      }
    }
  }
}

struct Pitches {
  std::size_t row, slice;
  Pitches(const ArrayBox& box, const TexelFormat& format, std::size_t row_pitch, std::size_t slice_pitch)
      : row(row_pitch != 0 ? row_pitch : std::size_t{std::max(box.width, 1u)} * format.bytes()),
        slice(slice_pitch != 0 ? slice_pitch : row * std::max(box.height, 1u)) {}
  std::size_t at(std::size_t z, std::size_t y, std::size_t x) const { return z * slice + y * row + x; }
};

}  // namespace

void TextureTable::write_array(ArrayId array, const ArrayBox& box, const void* from, std::size_t row_pitch,
                               std::size_t slice_pitch) {
  const Array& a = array_of(array);
  const Pitches pitch(box, a.shape.format, row_pitch, slice_pitch);
  const auto* const bytes = static_cast<const std::uint8_t*>(from);
  for_each_piece(a.name, a.shape, a.layout, box,
                 [&](std::uint64_t address, std::size_t row, std::size_t slice, std::size_t done, std::size_t count) {
                   memory_.write(address, bytes + pitch.at(slice, row, done), count);
                 });
}

void TextureTable::read_array(ArrayId array, const ArrayBox& box, void* to, std::size_t row_pitch,
                              std::size_t slice_pitch) const {
  const Array& a = array_of(array);
  const Pitches pitch(box, a.shape.format, row_pitch, slice_pitch);
  auto* const bytes = static_cast<std::uint8_t*>(to);
  for_each_piece(a.name, a.shape, a.layout, box,
                 [&](std::uint64_t address, std::size_t row, std::size_t slice, std::size_t done, std::size_t count) {
                   memory_.read(address, bytes + pitch.at(slice, row, done), count);
                 });
}

void TextureTable::copy_to_array(ArrayId array, const ArrayBox& box, std::uint64_t from, std::size_t row_pitch,
                                 std::size_t slice_pitch) {
  const Array& a = array_of(array);
  const Pitches pitch(box, a.shape.format, row_pitch, slice_pitch);
  for_each_piece(a.name, a.shape, a.layout, box,
                 [&](std::uint64_t address, std::size_t row, std::size_t slice, std::size_t done, std::size_t count) {
                   memory_.copy(address, from + pitch.at(slice, row, done), count);
                 });
}

void TextureTable::copy_from_array(ArrayId array, const ArrayBox& box, std::uint64_t to, std::size_t row_pitch,
                                   std::size_t slice_pitch) const {
  const Array& a = array_of(array);
  const Pitches pitch(box, a.shape.format, row_pitch, slice_pitch);
  for_each_piece(a.name, a.shape, a.layout, box,
                 [&](std::uint64_t address, std::size_t row, std::size_t slice, std::size_t done, std::size_t count) {
                   memory_.copy(to + pitch.at(slice, row, done), address, count);
                 });
}

void TextureTable::copy_array(ArrayId to, std::uint32_t x, std::uint32_t y, std::uint32_t z, ArrayId from,
                              const ArrayBox& box) {
  const Array &a = array_of(from), &b = array_of(to);
  const unsigned texel = a.shape.format.bytes();
  if (texel != b.shape.format.bytes()) {
    throw trace::InputError("error: copy of texels of " + std::to_string(texel) + " bytes into array '" + b.name +
                            "', whose texels have " + std::to_string(b.shape.format.bytes()) + " bytes");
  }
  ArrayBox target = box;
  target.x = x;
  target.y = y;
  target.z = z;
  const Part source(box);
  check(a.name, a.shape, source);
  for_each_piece(b.name, b.shape, b.layout, target,
                 [&](std::uint64_t address, std::size_t row, std::size_t slice, std::size_t done, std::size_t count) {
                   while (count != 0) {
                     const std::uint64_t at = source.x * texel + done, bytes = run_of(a.layout, at, count);
                     memory_.copy(address, a.layout.address(at, source.y + row, source.z + slice), bytes);
                     address += bytes;
                     done += bytes;
                     count -= bytes;
                   }
                 });
}

}  // namespace regatta::emulator
