// SPDX-License-Identifier: Apache-2.0
//
// Arrays and their layout, textures and surfaces: what is made, and what is refused in which words.
#include <regatta/emulator/texture_table.h>
#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

#include <numeric>
#include <set>
#include <vector>

using namespace regatta;
using namespace regatta::emulator;

namespace {

constexpr TexelFormat f32{ChannelKind::floating, 32, 1};
constexpr TexelFormat u8x4{ChannelKind::unsigned_integer, 8, 4};

template <class Do>
std::string refused(const Do& act) {
  try {
    act();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("texel formats have names and sizes") {
  CHECK(to_string(f32) == "f32");
  CHECK(to_string(u8x4) == "u8 x 4");
  CHECK(to_string(TexelFormat{ChannelKind::signed_integer, 16, 2}) == "s16 x 2");
  CHECK(f32.bytes() == 4);
  CHECK(TexelFormat{ChannelKind::floating, 16, 4}.bytes() == 8);
  CHECK(TexelFormat{ChannelKind::unsigned_integer, 32, 4}.bytes() == 16);
}

TEST_CASE("an array gives back what was copied into it, whole and in part") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayShape shapes[] = {{37, 0, 0, 0, u8x4},
                               {37, 19, 0, 0, u8x4},
                               {21, 9, 5, 0, f32},
                               {300, 0, 0, 3, f32},
                               {17, 18, 0, 4, u8x4},
                               {5, 3, 2, 0, {ChannelKind::floating, 32, 4}},
                               {129, 11, 0, 0, {ChannelKind::unsigned_integer, 8, 1}}};
  for (const ArrayShape& shape : shapes) {
    const ArrayId array = table.create_array("a", shape);
    const std::size_t texel = shape.format.bytes();
    const std::size_t row = shape.width * texel, slice = row * shape.rows();
    std::vector<std::uint8_t> bytes(slice * shape.slices());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 151 + i / 251);
    const ArrayBox all{0, 0, 0, shape.width, shape.rows(), shape.slices()};
    table.write_array(array, all, bytes.data());
    std::vector<std::uint8_t> back(bytes.size());
    table.read_array(array, all, back.data());
    CHECK(back == bytes);

    // A part, with rows and images further apart in host memory.
    const ArrayBox part{2, shape.rows() / 3, shape.slices() / 2, shape.width - 3, (shape.rows() + 1) / 2, 1};
    const std::size_t pitch = row + 13;
    std::vector<std::uint8_t> patch(pitch * part.height, 0xab);
    table.write_array(array, part, patch.data(), pitch, pitch * part.height);
    table.read_array(array, all, back.data());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t x = i % row / texel, y = i % slice / row, z = i / slice;
      const bool inside =
          x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height && z == part.z;
      REQUIRE(back[i] == (inside ? 0xab : bytes[i]));
    }
  }
}

TEST_CASE("the layout: blocks of 64 bytes by 8 rows, sectors of 16 bytes by 2 rows") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayId array = table.create_array("a", {64, 20, 2, 0, f32});
  const std::uint64_t base = table.array_address(array);
  const auto address = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    // A texel's place is where a byte of it appears.
    const std::uint32_t mark = 0x5a5a5a5a, none = 0;
    const ArrayBox at{x, y, z};
    table.write_array(array, at, &mark);
    const Allocation& a = *memory.find(base);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < a.bytes; ++i) {
      if (a.data[i] != 0) {
        found = i;
        break;
      }
    }
    table.write_array(array, at, &none);
    return found;
  };
  CHECK(memory.find(base)->bytes == 4 * 3 * 512 * 2);  // 256 bytes by 20 rows by 2
  CHECK(address(0, 0, 0) == 0);
  CHECK(address(3, 0, 0) == 12);
  CHECK(address(0, 1, 0) == 16);
  CHECK(address(4, 0, 0) == 32);
  CHECK(address(0, 2, 0) == 64);
  CHECK(address(0, 4, 0) == 128);
  CHECK(address(8, 0, 0) == 256);
  CHECK(address(16, 0, 0) == 512);
  CHECK(address(0, 8, 0) == 4 * 512);
  CHECK(address(0, 0, 1) == 3 * 4 * 512);
  // Four by two texels are a sector, eight by four a line.
  std::set<std::uint64_t> sectors, lines;
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 8; ++x) {
      if (x < 4 && y < 2) sectors.insert(address(x, y, 0) / 32);
      lines.insert(address(x, y, 0) / 128);
    }
  }
  CHECK(sectors.size() == 1);
  CHECK(lines.size() == 1);
  const ArrayId line = table.create_array("line", {100, 0, 0, 3, f32});
  CHECK(memory.find(table.array_address(line))->bytes == 2 * 512 + 400);
}

TEST_CASE("arrays that CUDA refuses") {
  DeviceMemory memory;
  TextureTable table(memory);
  const auto create = [&](const ArrayShape& shape) { return refused([&] { table.create_array("a", shape); }); };
  CHECK(create({0, 4, 0, 0, f32}) == "error: array 'a' of 0 x 4 texels has no width");
  CHECK(create({131073, 0, 0, 0, f32}) == "error: array 'a' of 131073 texels is too large, expected at most 131072");
  CHECK(create({8, 65537, 0, 0, f32}) ==
        "error: array 'a' of 8 x 65537 texels is too large, expected at most 131072 x 65536");
  CHECK(create({8, 8, 16385, 0, f32}) ==
        "error: array 'a' of 8 x 8 x 16385 texels is too large, expected at most 16384 x 16384 x 16384");
  CHECK(create({8, 8, 0, 2049, f32}) ==
        "error: array 'a' of 8 x 8 (2049 layers) texels is too large, expected at most 32768 x 32768 and 2048 layers");
  CHECK(create({8, 0, 8, 0, f32}) == "error: array 'a' of 8 x 8 texels has a depth and no height");
  CHECK(create({8, 8, 8, 2, f32}) ==
        "error: array 'a' of 8 x 8 x 8 (2 layers) texels has a depth and layers, expected one of them");
  CHECK(create({8, 8, 0, 0, {ChannelKind::floating, 8, 1}}) ==
        "error: texel format f8 is not one of 1, 2 or 4 channels of s8, u8, s16, u16, s32, u32, f16 or f32");
  CHECK(create({8, 8, 0, 0, {ChannelKind::unsigned_integer, 32, 3}}) ==
        "error: texel format u32 x 3 is not one of 1, 2 or 4 channels of s8, u8, s16, u16, s32, u32, f16 or f32");
  const ArrayId array = table.create_array("a", {8, 8, 0, 0, f32});
  float value = 0;
  CHECK(refused([&] {
          table.write_array(array, {4, 4, 0, 5, 1, 1}, &value);
        }) == "error: copy of 5 x 1 x 1 texels at (4,4,0) of array 'a', which has 8 x 8 x 1");
  CHECK(refused([&] { table.read_array(7, {}, &value); }) == "error: there is no array with id 7");
}

TEST_CASE("textures that CUDA refuses") {
  DeviceMemory memory;
  TextureTable table(memory);
  const std::uint64_t buffer = memory.allocate("b", 4096, true);
  const ArrayId integers = table.create_array("a", {8, 8, 0, 0, u8x4});
  const ArrayId words = table.create_array("w", {8, 8, 0, 0, {ChannelKind::unsigned_integer, 32, 1}});
  Sampler linear;
  linear.filter = FilterMode::linear;
  Sampler floats;
  floats.read = ReadMode::normalized_float;
  Sampler normalized;
  normalized.normalized_coordinates = true;
  const auto create = [&](const TextureResource& r, const Sampler& s = {}) {
    return refused([&] { table.create_texture(r, s); });
  };
  CHECK(create(TextureResource::of_array(integers), linear) ==
        "error: linear filtering of texels of u8 x 4 needs floats, expected a float format or read mode normalized "
        "float");
  CHECK(create(TextureResource::of_array(words), floats) ==
        "error: texels of u32 cannot be read as normalized floats, expected integers of 8 or 16 bits");
  CHECK(create(TextureResource::linear(buffer, 4096, f32), linear) ==
        "error: a texture of linear memory cannot be filtered, expected filter mode point");
  CHECK(create(TextureResource::linear(buffer, 4096, f32), normalized) ==
        "error: a texture of linear memory has normalized coordinates, expected texel numbers");
  CHECK(create(TextureResource::linear(buffer + 2, 64, f32)) ==
        "error: a texture of texels of 4 bytes lies at address 68719476738, expected a multiple of 4");
  CHECK(create(TextureResource::linear(buffer, 4100, f32)) ==
        "error: a texture of 4100 bytes does not lie within one buffer: it begins 0 bytes into 'b' (4096 bytes)");
  CHECK(create(TextureResource::linear(buffer, 3, f32)) == "error: a texture has no texels");
  CHECK(create(TextureResource::linear(buffer, std::uint64_t{1} << 33, f32)) ==
        "error: a texture of linear memory has 2147483648 texels, expected at most 268435456");
  CHECK(create(TextureResource::pitched(buffer, 8, 8, 24, f32)) ==
        "error: a texture of rows of 32 bytes has a pitch of 24 bytes, expected a multiple of 4 that is no smaller "
        "than a "
        "row");
  CHECK(create(TextureResource::pitched(buffer, 8, 0, 32, f32)) == "error: a texture of pitched memory has no rows");
  CHECK(create(TextureResource::of_array(99)) == "error: there is no array with id 99");
  CHECK(refused([&] { table.create_surface(99); }) == "error: there is no array with id 99");
}

TEST_CASE("handles name one thing, and nothing once it is gone") {
  DeviceMemory memory;
  TextureTable table(memory);
  const ArrayId array = table.create_array("a", {8, 8, 0, 0, f32});
  const TextureHandle texture = table.create_texture(TextureResource::of_array(array), {});
  const TextureHandle surface = table.create_surface(array);
  const TextureHandle reference = table.create_reference("t");
  CHECK(std::set<TextureHandle>{0, texture, surface, reference}.size() == 4);
  CHECK(table.texture(texture) != nullptr);
  CHECK(table.surface(texture) == nullptr);
  CHECK(table.texture(surface) == nullptr);
  CHECK(table.surface(surface) != nullptr);
  CHECK(table.texture(reference) == nullptr);
  CHECK(table.texture(0) == nullptr);
  CHECK(table.describe(reference) == "reference 't', to which nothing is bound");
  table.bind(reference, TextureResource::of_array(array), {});
  CHECK(table.texture(reference) != nullptr);
  CHECK(table.describe(reference) == "reference 't', a texture");
  table.bind_surface(reference, array);
  CHECK(table.texture(reference) == nullptr);
  CHECK(table.surface(reference) != nullptr);
  table.unbind(reference);
  CHECK(table.surface(reference) == nullptr);
  CHECK(refused([&] { table.bind(texture, TextureResource::of_array(array), {}); }) ==
        "error: handle 1, which is a texture object, expected a texture or surface reference");
  CHECK(refused([&] { table.destroy_surface(texture); }) ==
        "error: handle 1, which is a texture object, expected a surface object");
  CHECK(refused([&] { table.destroy_texture(12); }) ==
        "error: handle 12, which is neither a texture nor a surface object, expected a texture object");
  table.destroy_array(array);
  CHECK(!table.has_array(array));
  CHECK(table.texture(texture) == nullptr);
  CHECK(table.describe(texture) == "handle 1, which is a texture object of an array that was destroyed");
  table.destroy_texture(texture);
  table.destroy_surface(surface);
  CHECK(table.describe(texture) == "handle 1, which is neither a texture nor a surface object");
  CHECK_THROWS_AS(memory.release(12), std::out_of_range);
  CHECK(memory.allocations().empty());
}
