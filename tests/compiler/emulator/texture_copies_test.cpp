// SPDX-License-Identifier: Apache-2.0
//
// Copies between arrays and device memory against copies of single bytes, and handles and addresses that the caller
// chooses.
#include <regatta/emulator/texture_table.h>
#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

#include <functional>
#include <random>
#include <vector>

using namespace regatta;
using namespace regatta::emulator;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr TexelFormat words_format{};
constexpr TexelFormat bytes_format{ChannelKind::unsigned_integer, 8, 1};
constexpr TexelFormat long_format{ChannelKind::signed_integer, 16, 4};

std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

ArrayBox all_of(const ArrayShape& s) { return {0, 0, 0, s.width, s.rows(), s.slices()}; }

/// An array, and what must be in it: row by row, image by image.
struct Model {
  ArrayShape shape;
  ArrayId id = 0;
  Bytes bytes;

  Model(TextureTable& table, const ArrayShape& s, std::mt19937& random) : shape(s), id(table.create_array("a", s)) {
    bytes.resize(std::size_t{s.width} * s.rows() * s.slices() * s.format.bytes());
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
    table.write_array(id, all_of(s), bytes.data());
  }
  std::uint8_t& at(std::size_t byte, std::size_t y, std::size_t z) {
    return bytes[(z * shape.rows() + y) * shape.width * shape.format.bytes() + byte];
  }
  Bytes now(const TextureTable& table) const {
    Bytes got(bytes.size());
    table.read_array(id, all_of(shape), got.data());
    return got;
  }
  ArrayBox any_box(std::mt19937& random) const {
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    ArrayBox b;
    b.x = below(shape.width);
    b.y = below(shape.rows());
    b.z = below(shape.slices());
    b.width = 1 + below(shape.width - b.x);
    b.height = 1 + below(shape.rows() - b.y);
    b.depth = 1 + below(shape.slices() - b.z);
    return b;
  }
};

}  // namespace

TEST_CASE("copies between arrays and device memory move the bytes that single copies would") {
  std::mt19937 random(7);
  DeviceMemory memory;
  TextureTable table(memory);
  const std::size_t space = 1 << 16;
  const std::uint64_t address = memory.allocate("plain", space, true);
  const ArrayShape shapes[] = {{57, 0, 0, 0, bytes_format},  {23, 11, 0, 0, long_format}, {19, 7, 5, 0, long_format},
                               {40, 21, 0, 3, long_format},  {33, 0, 0, 4, words_format}, {18, 9, 3, 0, words_format},
                               {70, 13, 2, 0, bytes_format}, {31, 10, 0, 2, bytes_format}};
  std::vector<Model> models;
  for (const ArrayShape& s : shapes) models.emplace_back(table, s, random);
  Bytes plain(space);
  for (std::uint8_t& b : plain) b = static_cast<std::uint8_t>(random());
  memory.write(address, plain.data(), plain.size());
  for (unsigned round = 0; round < 600; ++round) {
    Model& m = models[random() % models.size()];
    const ArrayBox b = m.any_box(random);
    const std::size_t texel = m.shape.format.bytes(), row = b.width * texel, pitch = row + random() % 9;
    const std::size_t slice = pitch * (b.height + random() % 2), offset = random() % 64;
    const unsigned kind = random() % 3;
    if (kind == 2) {
      Model& other = models[random() % models.size()];
      if (&other == &m || other.shape.format.bytes() != texel) continue;
      ArrayBox to = other.any_box(random);
      ArrayBox from = b;
      from.width = to.width = std::min(from.width, to.width);
      from.height = to.height = std::min(from.height, to.height);
      from.depth = to.depth = std::min(from.depth, to.depth);
      table.copy_array(other.id, to.x, to.y, to.z, m.id, from);
      for (std::size_t z = 0; z < from.depth; ++z)
        for (std::size_t y = 0; y < from.height; ++y)
          for (std::size_t x = 0; x < from.width * texel; ++x)
            other.at(to.x * texel + x, to.y + y, to.z + z) = m.at(from.x * texel + x, from.y + y, from.z + z);
      REQUIRE(other.now(table) == other.bytes);
      continue;
    }
    if (kind == 0) {
      table.copy_to_array(m.id, b, address + offset, pitch, slice);
    } else {
      table.copy_from_array(m.id, b, address + offset, pitch, slice);
    }
    for (std::size_t z = 0; z < b.depth; ++z) {
      for (std::size_t y = 0; y < b.height; ++y) {
        for (std::size_t x = 0; x < row; ++x) {
          std::uint8_t &a = m.at(b.x * texel + x, b.y + y, b.z + z), &p = plain[offset + z * slice + y * pitch + x];
          (kind == 0 ? a : p) = kind == 0 ? p : a;
        }
      }
    }
    REQUIRE(m.now(table) == m.bytes);
    Bytes got(space);
    memory.read(address, got.data(), got.size());
    REQUIRE(got == plain);
  }
}

TEST_CASE("texels that were never written have not been written in their new place either") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayId from = table.create_array("from", {8, 4, 0, 0, words_format}, false);
  const ArrayId to = table.create_array("to", {8, 4, 0, 0, words_format});
  const std::uint64_t plain = memory.allocate("plain", 64, true);
  const float one = 1;
  table.write_array(from, {2, 0, 0, 1, 1, 1}, &one);
  table.copy_array(to, 0, 1, 0, from, {1, 0, 0, 3, 1, 1});
  table.copy_from_array(from, {1, 0, 0, 3, 1, 1}, plain);
  const Allocation& array = *memory.find(table.array_address(to));
  const TexelLayout& layout = table.texture(table.create_texture(TextureResource::of_array(to), {}))->layout;
  const auto written = [](const Allocation& a, std::uint64_t address) { return a.written.at(address - a.base) != 0; };
  for (unsigned x = 0; x < 3; ++x) {
    CHECK(written(array, layout.address(std::uint64_t{x} * 4, 1, 0)) == (x == 1));
    CHECK(written(*memory.find(plain), plain + std::uint64_t{x} * 4) == (x == 1));
  }
  CHECK(written(array, layout.address(0, 0, 0)));
}

TEST_CASE("handles and addresses that the caller chooses") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayShape shape{8, 8, 0, 0, words_format};
  const ArrayId array = table.create_array("a", shape, true, 0x5000'0000);
  CHECK(table.array_address(array) == 0x5000'0000);
  CHECK(TextureTable::array_bytes("a", shape) == memory.find(0x5000'0000)->bytes);
  CHECK(table.create_texture(TextureResource::of_array(array), {}, 2) == 2);
  CHECK(table.create_reference("t") == 1);
  CHECK(table.create_surface(array) == 3);
  CHECK(table.create_surface(array, 1 << 20) == 1 << 20);
  CHECK(table.create_surface(array) == 4);
  CHECK(refusal_of([&] { table.create_surface(array, 2); }) == "error: handle 2, which is a texture object, is taken");
  CHECK(refusal_of([&] { table.create_array("b", shape, true, 0x5000'0100); }) ==
        "error: buffer 'b' of 512 bytes at address 1342177536 lies over 'a'");
}

TEST_CASE("errors of copies, word for word") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayId words = table.create_array("words", {8, 4, 0, 0, words_format});
  const ArrayId bytes = table.create_array("bytes", {8, 4, 0, 0, bytes_format});
  const std::uint64_t plain = memory.allocate("plain", 64, true);
  CHECK(refusal_of([&] {
          table.copy_array(bytes, 0, 0, 0, words, {0, 0, 0, 1, 1, 1});
        }) == "error: copy of texels of 4 bytes into array 'bytes', whose texels have 1 bytes");
  CHECK(refusal_of([&] {
          table.copy_array(words, 6, 0, 0, words, {0, 0, 0, 4, 1, 1});
        }) == "error: copy of 4 x 1 x 1 texels at (6,0,0) of array 'words', which has 8 x 4 x 1");
  CHECK(refusal_of([&] {
          table.copy_array(words, 0, 0, 0, words, {0, 3, 0, 4, 2, 1});
        }) == "error: copy of 4 x 2 x 1 texels at (0,3,0) of array 'words', which has 8 x 4 x 1");
  CHECK(refusal_of([&] { table.copy_to_array(7, {}, plain); }) == "error: there is no array with id 7");
  CHECK_THROWS_AS(table.copy_to_array(words, {0, 0, 0, 8, 4, 1}, plain), std::out_of_range);
}

TEST_CASE("arrays of cubes have squares, and 6 layers a cube") {
  DeviceMemory memory;
  TextureTable table(memory);
  CHECK(refusal_of([&] {
          table.create_array("c", {8, 8, 0, 7, words_format, true});
        }) == "error: array 'c' of 8 x 8 (7 layers) texels is no cube, expected squares, and 6 layers a cube");
  CHECK(refusal_of([&] {
          table.create_array("c", {8, 4, 0, 6, words_format, true});
        }) == "error: array 'c' of 8 x 4 (6 layers) texels is no cube, expected squares, and 6 layers a cube");
  CHECK(table.create_array("c", {8, 8, 0, 12, words_format, true}) != 0);
}
