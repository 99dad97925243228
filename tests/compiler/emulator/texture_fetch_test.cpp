// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches against the guide's formulas, bit for bit: formats, read modes, address modes, filters, dimensions,
// layers, gathers, references, queries.
#include "textures.h"

#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <cstring>
#include <vector>

using namespace regatta;
using namespace regatta::emulator;
using regatta::test::Machine;

namespace {

constexpr unsigned threads = 512;
const char* const geometries[] = {"1d", "2d", "3d"};

std::uint32_t bits_of(float f) {
  std::uint32_t b = 0;
  std::memcpy(&b, &f, sizeof b);
  return b;
}
float float_of(std::uint32_t b) {
  float f = 0;
  std::memcpy(&f, &b, sizeof f);
  return f;
}

/// Coordinates for an axis of n texels: random ones around it, texel edges and centres, and some far away.
std::vector<float> coordinates(std::uint32_t n, bool normalized, std::uint64_t seed) {
  std::vector<float> v(threads);
  const float scale = normalized ? 1.0f / static_cast<float>(n) : 1.0f;
  for (unsigned i = 0; i < threads; ++i) {
    const std::uint64_t r = launch::random_word(seed, i);
    const double u = static_cast<double>(r >> 11) / 9007199254740992.0;
    switch (i % 8) {
      case 0:
        v[i] = static_cast<float>(static_cast<int>(r % (3 * n)) - static_cast<int>(n)) * scale;
        break;
      case 1:
        v[i] = (static_cast<float>(static_cast<int>(r % (3 * n)) - static_cast<int>(n)) + 0.5f) * scale;
        break;
      case 2:  // weights whose ninth bit decides
        v[i] = (static_cast<float>(r % n) + static_cast<float>(r / 977 % 512) / 512.0f) * scale;
        break;
      case 3:
        v[i] = static_cast<float>((u - 0.5) * 1e4);
        break;
      default:
        v[i] = static_cast<float>((u * 3 - 1) * n) * scale;
        break;
    }
  }
  v[7] = -0.0f;
  v[15] = 3e30f;
  v[23] = -3e30f;
  return v;
}

struct Case {
  ArrayShape shape;
  Sampler sampler;
};

/// The texel's bytes, by a hash of the place.
std::uint32_t raw(const TexelFormat& f, std::int64_t x, std::int64_t y, std::int64_t z, unsigned c) {
  const std::uint64_t r = launch::random_word(5, static_cast<std::uint64_t>(((z * 1031 + y) * 4099 + x) * 4 + c));
  if (f.kind == ChannelKind::floating && f.bits == 32) {
    return bits_of(static_cast<float>(static_cast<std::int32_t>(r & 0xffffff)) / 4096.0f - 1000.0f);
  }
  if (f.kind == ChannelKind::floating)
    return 0x2c00u + static_cast<std::uint32_t>(r % 0x2000) + (r >> 40 & 1) * 0x8000u;
  return static_cast<std::uint32_t>(f.bits == 32 ? r : r & ((1u << f.bits) - 1));
}

std::int64_t as_integer(const TexelFormat& f, std::uint32_t v) {
  if (f.kind == ChannelKind::unsigned_integer) return v;
  return f.bits == 8    ? static_cast<std::int8_t>(v)
         : f.bits == 16 ? static_cast<std::int16_t>(v)
                        : std::int64_t{static_cast<std::int32_t>(v)};
}

/// What the guide says a channel is worth as a float.
float as_float(const TexelFormat& f, std::uint32_t v) {
  if (f.kind == ChannelKind::floating && f.bits == 32) return float_of(v);
  if (f.kind == ChannelKind::floating) {
    const double fraction = (v & 0x3ffu) / 1024.0;
    const int exponent = static_cast<int>(v >> 10 & 31);
    return static_cast<float>(std::ldexp(1 + fraction, exponent - 15) * ((v & 0x8000u) != 0 ? -1 : 1));
  }
  const float most =
      f.kind == ChannelKind::unsigned_integer ? (f.bits == 8 ? 255.0f : 65535.0f) : (f.bits == 8 ? 127.0f : 32767.0f);
  const float value = static_cast<float>(as_integer(f, v)) / most;
  return value < -1 ? -1 : value;
}

std::vector<std::uint8_t> contents(const ArrayShape& s) {
  const std::size_t bytes = s.format.bits / 8u;
  std::vector<std::uint8_t> all;
  for (std::uint32_t z = 0; z < s.slices(); ++z)
    for (std::uint32_t y = 0; y < s.rows(); ++y)
      for (std::uint32_t x = 0; x < s.width; ++x)
        for (unsigned c = 0; c < s.format.channels; ++c) {
          const std::uint32_t v = raw(s.format, x, y, z, c);
          const auto* p = reinterpret_cast<const std::uint8_t*>(&v);
          all.insert(all.end(), p, p + bytes);
        }
  return all;
}

ArrayId make_array(Machine& m, const ArrayShape& shape) {
  const ArrayId array = m.textures.create_array("image", shape);
  m.textures.write_array(array, {0, 0, 0, shape.width, shape.rows(), shape.slices()}, contents(shape).data());
  return array;
}

using Axes = std::vector<std::vector<float>>;

std::vector<std::uint32_t> fetch(Machine& m, TextureHandle texture, const std::vector<std::vector<std::uint32_t>>& at) {
  m.parameter(texture);
  for (unsigned d = 0; d < 3; ++d) m.parameter(m.buffer(std::string(1, "xyz"[d]), at[d]));
  const std::uint64_t out = m.buffer("out", std::uint64_t{threads} * 16);
  m.parameter(out);
  m.request.block = {128, 1, 1};
  m.request.grid = {threads / 128, 1, 1};
  m.run();
  return m.read<std::uint32_t>(out, std::size_t{threads} * 4);
}

std::vector<std::vector<std::uint32_t>> as_bits(const Axes& axes) {
  std::vector<std::vector<std::uint32_t>> bits(3);
  for (unsigned d = 0; d < 3; ++d)
    for (const float f : axes[d]) bits[d].push_back(bits_of(f));
  return bits;
}

void check_fetches(const Case& k, unsigned warp_size = 32) {
  const bool layered = k.shape.layers != 0;
  const unsigned dimensions = k.shape.dimensions();
  const std::string geometry = (layered ? "a" : "") + std::string(geometries[dimensions - 1]);
  const bool integers = k.shape.format.kind != ChannelKind::floating && k.sampler.read == ReadMode::element;
  Machine m(test::fetch_kernel("tex." + geometry + (integers ? ".v4.u32.f32" : ".v4.f32.f32")), warp_size);
  const TextureHandle texture = m.textures.create_texture(TextureResource::of_array(make_array(m, k.shape)), k.sampler);
  const std::int64_t sizes[3] = {k.shape.width, k.shape.rows(), k.shape.depth != 0 ? k.shape.depth : 1};
  Axes axes;
  for (unsigned d = 0; d < 3; ++d)
    axes.push_back(coordinates(static_cast<std::uint32_t>(sizes[d]), k.sampler.normalized_coordinates, 11 + d));
  const std::vector<std::uint32_t> got = fetch(m, texture, as_bits(axes));
  unsigned wrong = 0;
  for (unsigned i = 0; i < threads; ++i) {
    test::Image image;
    image.dimensions = dimensions;
    std::copy_n(sizes, 3, image.size);
    const std::int64_t layer = layered ? std::min<std::int64_t>(i % 8, k.shape.layers - 1) : 0;
    image.texel = [&](std::int64_t x, std::int64_t y, std::int64_t z, unsigned c) -> double {
      const std::uint32_t v = raw(k.shape.format, x, y, layered ? layer : z, c);
      return integers ? static_cast<double>(v) : as_float(k.shape.format, v);
    };
    for (unsigned c = 0; c < 4; ++c) {
      const std::array<float, 3> at{axes[0][i], axes[1][i], axes[2][i]};
      std::uint32_t expected = 0;
      if (c < k.shape.format.channels) {
        if (integers) {
          // The reference is of floats: the place of the texel is what it finds.
          test::Image places = image;
          places.texel = [&](std::int64_t x, std::int64_t y, std::int64_t z, unsigned) {
            return static_cast<double>((z * 512 + y) * 512 + x);
          };
          const auto place = static_cast<std::int64_t>(reference_fetch(places, k.sampler, at, 0));
          const std::uint32_t v =
              raw(k.shape.format, place % 512, place / 512 % 512, layered ? layer : place / 262144, c);
          expected = static_cast<std::uint32_t>(as_integer(k.shape.format, v));
        } else {
          expected = bits_of(reference_fetch(image, k.sampler, at, c));
        }
      }
      if (got[4 * i + c] == expected) continue;
      if (wrong++ < 3) {
        UNSCOPED_INFO("thread " << i << ", channel " << c << " at " << at[0] << ", " << at[1] << ", " << at[2]
                                << ": expected " << float_of(expected) << ", got " << float_of(got[4 * i + c]));
      }
    }
  }
  INFO(geometry << " " << to_string(k.shape.format) << ", filter " << int(k.sampler.filter) << ", mode "
                << int(k.sampler.address[0]) << ", normalized " << k.sampler.normalized_coordinates);
  CHECK(wrong == 0);
}

constexpr TexelFormat formats[] = {{ChannelKind::floating, 32, 1},         {ChannelKind::floating, 32, 2},
                                   {ChannelKind::floating, 32, 4},         {ChannelKind::floating, 16, 1},
                                   {ChannelKind::floating, 16, 4},         {ChannelKind::unsigned_integer, 8, 1},
                                   {ChannelKind::unsigned_integer, 8, 4},  {ChannelKind::signed_integer, 8, 2},
                                   {ChannelKind::unsigned_integer, 16, 1}, {ChannelKind::signed_integer, 16, 4},
                                   {ChannelKind::unsigned_integer, 32, 2}, {ChannelKind::signed_integer, 32, 1},
                                   {ChannelKind::unsigned_integer, 16, 2}, {ChannelKind::signed_integer, 8, 1}};

ArrayShape shape_of(unsigned dimensions, unsigned layers, const TexelFormat& format) {
  ArrayShape s;
  s.width = 23;
  s.height = dimensions > 1 ? 14 : 0;
  s.depth = dimensions > 2 ? 9 : 0;
  s.layers = layers;
  s.format = format;
  return s;
}

}  // namespace

TEST_CASE("fetches equal the guide's formulas in every format, dimension, address mode and filter") {
  for (const TexelFormat& format : formats) {
    for (const ReadMode read : {ReadMode::element, ReadMode::normalized_float}) {
      const bool is_float = format.kind == ChannelKind::floating;
      if (read == ReadMode::normalized_float && (is_float || format.bits == 32)) continue;
      for (const FilterMode filter : {FilterMode::point, FilterMode::linear}) {
        if (filter == FilterMode::linear && !is_float && read == ReadMode::element) continue;
        for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
          for (const AddressMode mode :
               {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror, AddressMode::border}) {
            if (mode == AddressMode::border && !is_float) continue;  // tested below
            for (const bool normalized : {false, true}) {
              Case k;
              k.shape = shape_of(dimensions, 0, format);
              k.sampler = {{mode, mode, mode}, filter, read, normalized, {0.25f, -3.0f, 17.0f, 0.5f}};
              check_fetches(k);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("each axis has its own address mode") {
  Case k;
  k.shape = shape_of(3, 0, formats[2]);
  k.sampler = {{AddressMode::wrap, AddressMode::mirror, AddressMode::border},
               FilterMode::linear,
               ReadMode::element,
               true,
               {1, 2, 3, 4}};
  check_fetches(k);
  check_fetches(k, 64);
}

TEST_CASE("layers: the layer is clamped and nothing is filtered between layers") {
  for (unsigned dimensions = 1; dimensions <= 2; ++dimensions) {
    for (const FilterMode filter : {FilterMode::point, FilterMode::linear}) {
      Case k;
      k.shape = shape_of(dimensions, 5, formats[0]);
      k.sampler.filter = filter;
      check_fetches(k);
    }
  }
}

TEST_CASE("a border colour of integers, and of normalized ones") {
  for (const ReadMode read : {ReadMode::element, ReadMode::normalized_float}) {
    Machine m(test::fetch_kernel("tex.2d.v4.s32.f32"));
    Sampler s;
    s.address.fill(AddressMode::border);
    s.read = read;
    s.border = {-7.9f, 200.5f, 0, 0};
    const TexelFormat f{ChannelKind::signed_integer, 16, 2};
    const TextureHandle t = m.textures.create_texture(TextureResource::of_array(make_array(m, shape_of(2, 0, f))), s);
    std::vector<std::uint32_t> x(threads, bits_of(-1.0f));
    x[1] = bits_of(3.5f);
    const auto got = fetch(m, t, {x, std::vector<std::uint32_t>(threads, bits_of(2.0f)), x});
    const bool element = read == ReadMode::element;
    CHECK(got[0] == (element ? static_cast<std::uint32_t>(-7) : bits_of(-7.9f)));
    CHECK(got[1] == (element ? 200u : bits_of(200.5f)));
    const std::uint32_t inside = raw(f, 3, 2, 0, 0);
    CHECK(got[4] == (element ? static_cast<std::uint32_t>(as_integer(f, inside)) : bits_of(as_float(f, inside))));
  }
}

TEST_CASE("known answers: weights have eight bits of fraction, rounded half up") {
  Machine m(test::fetch_kernel("tex.1d.v4.f32.f32"));
  Sampler s;
  s.filter = FilterMode::linear;
  const ArrayId array = m.textures.create_array("a", {2, 0, 0, 0, {}});
  const float texels[2] = {0, 256};
  m.textures.write_array(array, {0, 0, 0, 2, 1, 1}, texels);
  const std::vector<float> x = {
      0.5f, 1.5f,    1.0f, 0.5f + 1.0f / 256, 0.5f + 1.0f / 512, 0.5f + 0.99f / 512, 0.75f, 1.499f, 0.0f,
      2.0f, 1.4999f, NAN};
  const std::vector<float> expected = {0, 256, 128, 1, 1, 0, 64, 256, 0, 256, 256, 0};
  std::vector<std::uint32_t> at(threads);
  for (std::size_t i = 0; i < x.size(); ++i) at[i] = bits_of(x[i]);
  const auto got = fetch(m, m.textures.create_texture(TextureResource::of_array(array), s), {at, at, at});
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO("x = " << x[i]);
    CHECK(float_of(got[4 * i]) == expected[i]);
  }
}

TEST_CASE("tex1Dfetch: texel numbers of linear memory, zero outside") {
  for (const TexelFormat& format : {formats[0], formats[2], formats[6], formats[11]}) {
    Machine m(test::fetch_kernel("tex.1d.v4.s32.s32"));
    const ArrayShape s{200, 0, 0, 0, format};
    const std::vector<std::uint8_t> bytes = contents(s);
    const std::uint64_t buffer = m.buffer("texels", bytes);
    // The first 100 alone.
    const TextureHandle t =
        m.textures.create_texture(TextureResource::linear(buffer, 100 * format.bytes(), format), {});
    std::vector<std::uint32_t> at(threads);
    for (unsigned i = 0; i < threads; ++i) at[i] = i - 50;
    const auto got = fetch(m, t, {at, at, at});
    unsigned wrong = 0;
    for (unsigned i = 0; i < threads; ++i) {
      const auto x = static_cast<std::int32_t>(at[i]);
      for (unsigned c = 0; c < 4; ++c) {
        const bool there = x >= 0 && x < 100 && c < format.channels;
        const std::uint32_t v = there ? raw(format, x, 0, 0, c) : 0;
        const bool small = format.kind == ChannelKind::signed_integer && format.bits < 32;
        if (got[4 * i + c] != (small ? static_cast<std::uint32_t>(as_integer(format, v)) : v)) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("pitched memory, integer coordinates, and two dimensions") {
  Machine m(test::fetch_kernel("tex.2d.v4.f32.s32"));
  std::vector<float> texels(64 * 10);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i) * 0.5f;
  const TextureHandle t =
      m.textures.create_texture(TextureResource::pitched(m.buffer("texels", texels), 40, 10, 256, {}), {});
  std::vector<std::uint32_t> x(threads), y(threads);
  for (unsigned i = 0; i < threads; ++i) {
    x[i] = i % 50 - 5;
    y[i] = i / 40 - 1;
  }
  const auto got = fetch(m, t, {x, y, y});
  unsigned wrong = 0;
  for (unsigned i = 0; i < threads; ++i) {
    const int u = std::clamp(static_cast<int>(x[i]), 0, 39), v = std::clamp(static_cast<int>(y[i]), 0, 9);
    wrong += float_of(got[4 * i]) != texels[static_cast<std::size_t>(v * 64 + u)] ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("levels and gradients of a texture without mipmaps have no effect") {
  for (const char* const form : {"tex.level.2d.v4.f32.f32", "tex.grad.2d.v4.f32.f32", "tex.base.2d.v4.f32.f32"}) {
    const std::string name = form;
    const std::string tail = name.find("level") != std::string::npos  ? ", %r7"
                             : name.find("grad") != std::string::npos ? ", {%r5, %r6}, {%r7, %r7}"
                                                                      : "";
    Machine with(test::fetch_kernel(form, tail)), without(test::fetch_kernel("tex.2d.v4.f32.f32"));
    Sampler s;
    s.filter = FilterMode::linear;
    Axes axes;
    for (unsigned d = 0; d < 3; ++d) axes.push_back(coordinates(14, false, 3 + d));
    std::vector<std::uint32_t> got[2];
    unsigned n = 0;
    for (Machine* m : {&with, &without}) {
      const ArrayId array = make_array(*m, shape_of(2, 0, formats[0]));
      got[n++] = fetch(*m, m->textures.create_texture(TextureResource::of_array(array), s), as_bits(axes));
    }
    CHECK(got[0] == got[1]);
  }
}

TEST_CASE("gathers: one channel of the four texels of the filter") {
  for (unsigned channel = 0; channel < 4; ++channel) {
    Machine m(test::fetch_kernel(std::string("tld4.") + "rgba"[channel] + ".2d.v4.f32.f32"));
    const TextureHandle t =
        m.textures.create_texture(TextureResource::of_array(make_array(m, shape_of(2, 0, formats[2]))), {});
    std::vector<std::uint32_t> x(threads), y(threads);
    for (unsigned i = 0; i < threads; ++i) {
      x[i] = bits_of(static_cast<float>(i % 22) + 1.0f);
      y[i] = bits_of(static_cast<float>(i / 22 % 13) + 1.0f);
    }
    const auto got = fetch(m, t, {x, y, y});
    unsigned wrong = 0;
    for (unsigned i = 0; i < threads; ++i) {
      const std::int64_t u = i % 22, v = i / 22 % 13;
      const std::int64_t places[4][2] = {{u, v + 1}, {u + 1, v + 1}, {u + 1, v}, {u, v}};
      for (unsigned n = 0; n < 4; ++n)
        wrong += got[4 * i + n] != raw(formats[2], places[n][0], places[n][1], 0, channel) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("texture references are bound by name, and bound again") {
  const std::string text = test::module_text(
      ".param .u64 out",
      ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"
      "mov.u32 %r1, %tid.x; ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2;\n"
      "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r1}]; st.global.f32 [%d1], %f1;\n"
      "mov.u64 %d3, image; tex.1d.v4.f32.s32 {%f1, _, _, _}, [%d3, %r1]; st.global.f32 [%d1+4], %f1;\nret;\n",
      ".global .texref image;\n");
  Machine m(text);
  const std::uint64_t out = m.buffer("out", 256);
  m.parameter(out);
  m.request.block = {32, 1, 1};
  CHECK(m.error() ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): tex accesses reference 'image', to which "
        "nothing is bound, expected a texture");
  for (const float first : {1.0f, 100.0f}) {
    std::vector<float> texels(32);
    for (unsigned i = 0; i < 32; ++i) texels[i] = first + static_cast<float>(i);
    m.textures.bind(m.image->reference("image"), TextureResource::linear(m.buffer("t", texels), 128, {}), {});
    m.run();
    const std::vector<float> got = m.read<float>(out, 64);
    for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == texels[i / 2]);
  }
}

TEST_CASE("queries") {
  struct Query {
    const char* name;
    std::uint32_t value;
  };
  const Query queries[] = {{"width", 23},
                           {"height", 14},
                           {"depth", 9},
                           {"channel_data_type", 0x10d3},
                           {"channel_order", 0x10b5},
                           {"normalized_coords", 1},
                           {"filter_mode", 1},
                           {"addr_mode_0", 0},
                           {"addr_mode_1", 2},
                           {"addr_mode_2", 3},
                           {"array_size", 0},
                           {"num_mipmap_levels", 1},
                           {"num_samples", 1}};
  for (const Query& q : queries) {
    Machine m(test::module_text(".param .u64 t, .param .u64 out",
                                ".reg .b64 %d<9>; .reg .b32 %r<9>; ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out];\n"
                                "txq." +
                                    std::string(q.name) + ".b32 %r1, [%d1]; st.global.u32 [%d2], %r1; ret;\n"));
    const Sampler s{{AddressMode::wrap, AddressMode::mirror, AddressMode::border},
                    FilterMode::linear,
                    ReadMode::normalized_float,
                    true,
                    {}};
    const ArrayId array = m.textures.create_array("a", shape_of(3, 0, {ChannelKind::unsigned_integer, 16, 4}));
    m.parameter(m.textures.create_texture(TextureResource::of_array(array), s));
    const std::uint64_t out = m.buffer("out", 4);
    m.parameter(out);
    m.run();
    INFO(q.name);
    CHECK(m.read<std::uint32_t>(out, 1)[0] == q.value);
  }
}

TEST_CASE("fetches that are refused") {
  const auto message = [](const std::string& form, const auto& make) {
    Machine m(test::fetch_kernel(form));
    m.parameter(make(m));
    for (unsigned n = 0; n < 4; ++n) m.parameter(m.buffer("b", 4096));
    m.request.block = {32, 1, 1};
    const std::string error = m.error();
    const std::string start = "k.ptx:13:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): ";
    CHECK(error.substr(0, start.size()) == start);
    return error.substr(std::min(start.size(), error.size()));
  };
  const auto of_shape = [](const ArrayShape& shape) {
    return [shape](Machine& m) {
      return m.textures.create_texture(TextureResource::of_array(m.textures.create_array("a", shape)), {});
    };
  };
  CHECK(message("tex.2d.v4.f32.f32", [](Machine&) { return std::uint64_t{0}; }) ==
        "tex accesses handle 0, which is neither a texture nor a surface object, expected a texture");
  CHECK(message("tex.2d.v4.f32.f32", [](Machine& m) {
          return m.textures.create_surface(m.textures.create_array("a", {8, 8, 0, 0, {}}));
        }) == "tex accesses handle 1, which is a surface object, expected a texture");
  CHECK(message("tex.2d.v4.f32.f32", of_shape({8, 0, 0, 0, {}})) == "tex .2d accesses a texture of 1 dimension");
  CHECK(message("tex.1d.v4.f32.f32", of_shape({8, 0, 0, 2, {}})) ==
        "tex .1d accesses a texture of layers of 1 dimension");
  CHECK(message("tex.a2d.v4.f32.f32", of_shape({8, 8, 2, 0, {}})) == "tex .a2d accesses a texture of 3 dimensions");
  CHECK(message("tex.1d.v4.f32.f32",
                [](Machine& m) {
                  return m.textures.create_texture(TextureResource::linear(m.buffer("t", 64), 64, {}), {});
                }) ==
        "tex .1d accesses a texture of linear memory with coordinates of floats, expected texel numbers (tex1Dfetch)");
  CHECK(message("tex.1d.v4.f32.s32", [](Machine& m) {
          const std::uint64_t b = m.buffer("t", 64);
          const TextureHandle t = m.textures.create_texture(TextureResource::linear(b, 64, {}), {});
          m.memory.release(b);
          return t;
        }) == "tex accesses a texture whose memory was released");
  CHECK(message("tex.2d.v4.f32.f32", [](Machine& m) {
          return m.textures.create_texture(
              TextureResource::of_array(m.textures.create_array("a", {8, 8, 0, 0, {}}, false)), {});
        }) == "read of a texel which was never written, 0 bytes into 'a' (512 bytes)");
}
