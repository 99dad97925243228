// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches, gathers and queries; surface loads, stores and queries. Textures and surfaces are references, which
// a row binds before its kernel runs.
#include "forms.h"

#include "../textures.h"

#include <algorithm>

namespace regatta::test::forms {
namespace {

using emulator::ArrayId;
using emulator::ArrayShape;
using emulator::ChannelKind;
using emulator::TextureResource;

constexpr u64 hash_factor = 0x9e3779b97f4a7c15u;

struct Geometry {
  const char* name;
  unsigned dimensions;
  bool layered;
};
constexpr Geometry geometries[] = {
    {"1d", 1, false}, {"2d", 2, false}, {"3d", 3, false}, {"a1d", 1, true}, {"a2d", 2, true}};

ArrayShape shape_of(const Geometry& g, ChannelKind kind) {
  return {16, g.dimensions > 1 ? 8u : 0u, g.dimensions > 2 ? 4u : 0u, g.layered ? 4u : 0u, {kind, 32, 4}};
}

/// Small whole numbers, so that filtered sums are exact.
s32 texel(s64 x, s64 y, s64 z, unsigned c) {
  return static_cast<s32>((x * 7 + y * 131 + z * 1009 + c * 37) % 4001) - (c == 3 ? 3000 : 0);
}

ArrayId make_image(Machine& m, const ArrayShape& s) {
  std::vector<u32> words;
  for (u32 z = 0; z < s.slices(); ++z)
    for (u32 y = 0; y < s.rows(); ++y)
      for (u32 x = 0; x < s.width; ++x)
        for (unsigned c = 0; c < 4; ++c) {
          const s32 t = texel(x, y, z, c);
          words.push_back(s.format.kind == ChannelKind::floating ? static_cast<u32>(to_bits(static_cast<float>(t)))
                                                                 : static_cast<u32>(t));
        }
  const ArrayId array = m.textures.create_array("image", s);
  m.textures.write_array(array, {0, 0, 0, s.width, s.rows(), s.slices()}, words.data());
  return array;
}

/// Coordinates in eighths of bits: %ra, %rb and %rc over the image, as texel numbers or with eight bits of fraction.
std::string prologue(bool floats) {
  std::string text;
  const char* const masks[] = {"0xfff", "0x7ff", "0x3ff"};
  for (unsigned d = 0; d < 3; ++d) {
    const std::string r = "%r" + std::to_string(d + 1), f = "%f" + std::to_string(d + 1);
    text += "and.b32 " + r + ", " + reg('r', "abc"[d]) + ", " + masks[d] + "; ";
    text += floats ? "cvt.rn.f32.u32 " + f + ", " + r + "; mul.f32 " + f + ", " + f + ", 0f3b800000; "
                   : "shr.u32 " + r + ", " + r + ", 8; ";
  }
  return text + "and.b32 %r4, %rc, 3; ";
}

std::string place_of(const Geometry& g, bool floats) {
  const std::string k = floats ? "%f" : "%r";
  if (g.dimensions == 1) return std::string("{") + (g.layered ? "%r4, " : "") + k + "1}";
  if (g.layered) return "{%r4, " + k + "1, " + k + "2, " + k + "2}";
  return "{" + k + "1, " + k + "2" + (g.dimensions == 3 ? ", " + k + "3, " + k + "3}" : "}");
}

void fetch(Rows& rows, const std::string& name, const Geometry& g, const std::string& type,
           const std::string& coordinates, const std::string& tail) {
  const std::string form = name + "." + g.name + ".v4." + type + "." + coordinates;
  const bool floats = coordinates == "f32", filtered = type == "f32" && floats;
  const std::string r = type == "f32" ? "%fa" : "%ra";
  // The operands are in these registers until the coordinates are made.
  std::string body = prologue(floats) + form + " {" + r + ", " + reg(r[1], 'b') + ", " + reg(r[1], 'c') + ", " +
                     reg(r[1], '8') + "}, [image, " + place_of(g, floats) + "]" + tail + "; mov.u64 %d9, 0;";
  for (const char c : {'a', 'b', 'c', '8'}) {
    if (type == "f32") body += std::string(" mov.b32 %r8, %f") + c + "; cvt.u64.u32 %d8, %r8;";
    if (type != "f32") body += std::string(" cvt.u64.u32 %d8, %r") + c + ";";
    body += " mad.lo.u64 %d9, %d9, 0x9e3779b97f4a7c15, %d8;";
  }
  const ChannelKind kind = type == "f32"   ? ChannelKind::floating
                           : type == "s32" ? ChannelKind::signed_integer
                                           : ChannelKind::unsigned_integer;
  emulator::Sampler sampler;
  if (filtered) sampler.filter = emulator::FilterMode::linear;
  Row row{form, 'd', body, Values::integers, [=](const Threads& x, std::size_t t) {
            const u64 words[3] = {x.a[t] & 0xfff, x.b[t] & 0x7ff, x.c[t] & 0x3ff};
            const s64 layer = g.layered ? static_cast<s64>(x.c[t] & 3) : 0;
            Image image;
            image.dimensions = g.dimensions;
            image.size[0] = 16;
            image.size[1] = 8;
            image.size[2] = 4;
            image.texel = [layer](s64 u, s64 v, s64 w, unsigned c) { return texel(u, v, w + layer, c); };
            std::array<float, 3> at{};
            for (unsigned d = 0; d < g.dimensions; ++d) {
              at[d] = floats ? static_cast<float>(words[d]) / 256 : static_cast<float>(words[d] / 256);
            }
            u64 out = 0;
            for (unsigned c = 0; c < 4; ++c) {
              const float value = reference_fetch(image, sampler, at, c);
              out = out * hash_factor +
                    (type == "f32" ? static_cast<u32>(to_bits(value)) : static_cast<u32>(static_cast<s32>(value)));
            }
            return out;
          }};
  row.before = ".global .texref image;\n";
  row.prepare = [=](Machine& m) {
    m.textures.bind(m.image->reference("image"), TextureResource::of_array(make_image(m, shape_of(g, kind))), sampler);
  };
  rows.push_back(std::move(row));
}

/// A direction's largest component is 8 or -8 along x, y or z; the others are odd numbers of -7 to 7, so that places
/// lie in the middle of texels of a face of 8 x 8.
void fetch_cube(Rows& rows, const std::string& name, const std::string& type, const std::string& tail) {
  const std::string form = name + ".cube.v4." + type + ".f32";
  const std::string r = type == "f32" ? "%fa" : "%ra";
  const auto component = [](const std::string& to, const std::string& from) {
    return "and.b32 " + to + ", " + from + ", 7; shl.b32 " + to + ", " + to + ", 1; sub.s32 " + to + ", " + to +
           ", 7; ";
  };
  // %r1 and %r2: of -7 to 7, the place; %r3: 8 or -8; %r4: the axis.
  std::string body = component("%r1", "%ra") + component("%r2", "%rb") +
                     "and.b32 %r3, %rc, 1; shl.b32 %r3, %r3, 4; sub.s32 %r3, 8, %r3; shr.u32 %r4, %rc, 1; "
                     "rem.u32 %r4, %r4, 3; setp.eq.s32 %q1, %r4, 0; setp.eq.s32 %q2, %r4, 1; "
                     "selp.b32 %r5, %r3, %r1, %q1; selp.b32 %r6, %r1, %r2, %q1; selp.b32 %r6, %r3, %r6, %q2; "
                     "selp.b32 %r7, %r2, %r3, %q1; selp.b32 %r7, %r2, %r7, %q2; "
                     "cvt.rn.f32.s32 %f1, %r5; cvt.rn.f32.s32 %f2, %r6; cvt.rn.f32.s32 %f3, %r7; " +
                     form + " {" + r + ", " + reg(r[1], 'b') + ", " + reg(r[1], 'c') + ", " + reg(r[1], '8') +
                     "}, [image, {%f1, %f2, %f3, %f3}]" + tail + ";";
  if (type == "f32") body += " cvt.rzi.s32.f32 %r9, %fa;";
  if (type != "f32") body += " mov.b32 %r9, %ra;";
  Row row{
      form, 'r', body, Values::integers, [](const Threads& x, std::size_t t) {
        const s64 a = 2 * static_cast<s64>(x.a[t] & 7) - 7, b = 2 * static_cast<s64>(x.b[t] & 7) - 7;
        const bool negative = (x.c[t] & 1) != 0;
        const u32 axis = (static_cast<u32>(x.c[t]) >> 1) % 3;
        s64 u = 0, v = 0;  // of -7 to 7 on the face
        if (axis == 0) u = negative ? b : -b, v = -a;
        if (axis == 1) u = a, v = negative ? -b : b;
        if (axis == 2) u = negative ? -a : a, v = -b;
        return static_cast<u64>(static_cast<u32>(texel((u + 7) / 2, (v + 7) / 2, 2 * axis + (negative ? 1 : 0), 0)));
      }};
  row.before = ".global .texref image;\n";
  const ChannelKind kind = type == "f32"   ? ChannelKind::floating
                           : type == "s32" ? ChannelKind::signed_integer
                                           : ChannelKind::unsigned_integer;
  row.prepare = [=](Machine& m) {
    const ArrayId array = make_image(m, {8, 8, 0, 6, {kind, 32, 4}, true});
    m.textures.bind(m.image->reference("image"), TextureResource::of_array(array), {});
  };
  rows.push_back(std::move(row));
}

void gather(Rows& rows, const Geometry& g, unsigned channel) {
  const std::string form = std::string("tld4.") + "rgba"[channel] + "." + g.name + ".v4.f32.f32";
  // Away from the edges: one texel to the left of and above the coordinate's own.
  const std::string body =
      prologue(true) + form + " {%fa, %fb, %fc, %f8}, [image, " + place_of(g, true) +
      "]; fma.rn.f32 %f9, %fb, 0f40000000, %fa; fma.rn.f32 %f9, %fc, 0f40800000, %f9; fma.rn.f32 %f9, "
      "%f8, 0f41000000, %f9;";
  Row row{form, 'f', body, Values::integers, [=](const Threads& x, std::size_t t) {
            const auto corner = [](u64 word) { return static_cast<s64>((word + 128) / 256) - 1; };
            const s64 u = corner(x.a[t] & 0xfff), v = corner(x.b[t] & 0x7ff);
            const s64 layer = g.layered ? static_cast<s64>(x.c[t] & 3) : 0;
            const auto at = [&](s64 du, s64 dv) {
              return static_cast<float>(
                  texel(std::clamp<s64>(u + du, 0, 15), std::clamp<s64>(v + dv, 0, 7), layer, channel));
            };
            return to_bits(at(0, 1) + 2 * at(1, 1) + 4 * at(1, 0) + 8 * at(0, 0));
          }};
  row.before = ".global .texref image;\n";
  row.prepare = [=](Machine& m) {
    m.textures.bind(m.image->reference("image"),
                    TextureResource::of_array(make_image(m, shape_of(g, ChannelKind::floating))), {});
  };
  rows.push_back(std::move(row));
}

/// A thread's place: 64 columns of `bytes`, 64 rows and images for the rest; one row for all in one dimension.
std::string surface_place(const Geometry& g, unsigned bytes) {
  const std::string n = std::to_string(bytes);
  std::string text = g.dimensions == 1 ? "mul.lo.u32 %r1, %t, " + n + "; mov.u32 %r4, 2; "
                                       : "and.b32 %r1, %t, 63; mul.lo.u32 %r1, %r1, " + n + "; ";
  if (g.dimensions > 1) text += "shr.u32 %r2, %t, 6; and.b32 %r2, %r2, 63; shr.u32 %r3, %t, 12; mov.u32 %r4, %r3; ";
  if (g.dimensions == 2 && !g.layered) text += "shr.u32 %r2, %t, 6; ";
  return text;
}
ArrayShape surface_shape(const Geometry& g, unsigned bytes) {
  const u32 words = bytes < 4 ? 1 : bytes / 4;  // of a texel
  const unsigned channels = words == 1 ? 1 : words == 2 ? 2 : 4;
  const emulator::TexelFormat format{ChannelKind::unsigned_integer, 32, static_cast<u8>(channels)};
  if (g.dimensions == 1) return {8192, 0, 0, g.layered ? 3u : 0u, format};
  return {64, g.dimensions == 2 && !g.layered ? 256u : 64u, g.dimensions == 3 ? 4u : 0u, g.layered ? 4u : 0u, format};
}

std::string vector_text(const std::string& type, unsigned vector) {
  return (vector > 1 ? ".v" + std::to_string(vector) : "") + "." + type;
}

void surface(Rows& rows, const Geometry& g, const std::string& type, unsigned vector, const std::string& bounds) {
  const unsigned size = static_cast<unsigned>(std::stoul(type.substr(1))) / 8;
  const std::string suffix = std::string(".b.") + g.name + vector_text(type, vector) + "." + bounds;
  const char kind = letter(type);
  std::string sources, destinations;
  for (unsigned v = 0; v < vector; ++v) {
    sources += (v == 0 ? "" : ", ") + reg(kind, "abca"[v]);
    destinations += (v == 0 ? "" : ", ") + reg(kind, "5678"[v]);
  }
  const std::string place = "[plane, " + place_of(g, false) + "]";
  const std::string store = "sust" + suffix, load = "suld" + suffix;
  std::string body = surface_place(g, size * vector) + store + " " + place + ", {" + sources + "}; " + load + " {" +
                     destinations + "}, " + place + "; mov.u64 %d9, 0;";
  for (unsigned v = 0; v < vector; ++v) {
    const std::string r = reg(kind, "5678"[v]);
    if (kind == 'h') body += " cvt.u64.u16 %d4, " + r + ";";
    if (kind == 'r') body += " cvt.u64.u32 %d4, " + r + ";";
    if (kind == 'd') body += " mov.b64 %d4, " + r + ";";
    body += " mad.lo.u64 %d9, %d9, 0x9e3779b97f4a7c15, %d4;";
  }
  const Expected expected = [=](const Threads& x, std::size_t t) {
    const u64 values[4] = {x.a[t], x.b[t], x.c[t], x.a[t]};
    u64 out = 0;
    for (unsigned v = 0; v < vector; ++v)
      out = out * hash_factor + (size == 8 ? values[v] : values[v] & ((u64{1} << 8 * size) - 1));
    return out;
  };
  for (const std::string& form : {store, load}) {
    Row row{form, 'd', body, Values::integers, expected};
    row.before = ".global .surfref plane;\n";
    row.prepare = [=](Machine& m) {
      m.textures.bind_surface(m.image->reference("plane"),
                              m.textures.create_array("plane", surface_shape(g, size * vector)));
    };
    rows.push_back(std::move(row));
  }
}

void query(Rows& rows, const std::string& form, u32 value) {
  const bool is_surface = form[0] == 's';
  Row row{form, 'r', form + " %r9, [image];", Values::integers,
          [value](const Threads&, std::size_t) { return u64{value}; }};
  row.before = is_surface ? ".global .surfref image;\n" : ".global .texref image;\n";
  row.prepare = [is_surface](Machine& m) {
    const ArrayId array = m.textures.create_array("image", {23, 14, 9, 0, {ChannelKind::signed_integer, 8, 2}});
    emulator::Sampler s;
    s.address = {emulator::AddressMode::mirror, emulator::AddressMode::wrap, emulator::AddressMode::border};
    s.normalized_coordinates = true;
    if (is_surface) {
      m.textures.bind_surface(m.image->reference("image"), array);
    } else {
      m.textures.bind(m.image->reference("image"), TextureResource::of_array(array), s);
    }
  };
  rows.push_back(std::move(row));
}

}  // namespace

Rows texture_rows() {
  Rows rows;
  for (const char* const type : {"f32", "s32", "u32"}) {
    fetch_cube(rows, "tex", type, "");
    fetch_cube(rows, "tex.base", type, "");
    fetch_cube(rows, "tex.level", type, ", %f1");
  }
  for (const Geometry& g : geometries) {
    for (const char* const type : {"f32", "s32", "u32"}) {
      for (const char* const coordinates : {"f32", "s32"}) {
        const bool floats = std::string(coordinates) == "f32";
        fetch(rows, "tex", g, type, coordinates, "");
        fetch(rows, "tex.base", g, type, coordinates, "");
        fetch(rows, "tex.level", g, type, coordinates, floats ? ", %f1" : ", %r1");
        if (!floats) continue;
        const char* const gradients[] = {", {%f1}, {%f2}", ", {%f1, %f2}, {%f2, %f1}",
                                         ", {%f1, %f2, %f3, %f3}, {%f1, %f2, %f3, %f3}"};
        fetch(rows, "tex.grad", g, type, coordinates, gradients[g.dimensions - 1]);
      }
    }
    if (g.dimensions == 2) {
      for (unsigned channel = 0; channel < 4; ++channel) gather(rows, g, channel);
    }
    for (const char* const type : {"b8", "b16", "b32", "b64"}) {
      for (const unsigned vector : {1u, 2u, 4u}) {
        if (std::string(type) == "b64" && vector == 4) continue;
        for (const char* const bounds : {"trap", "clamp", "zero"}) surface(rows, g, type, vector, bounds);
      }
    }
  }
  for (const char* const family : {"txq", "suq"}) {
    const std::string name = family;
    query(rows, name + ".width.b32", 23);
    query(rows, name + ".height.b32", 14);
    query(rows, name + ".depth.b32", 9);
    query(rows, name + ".channel_data_type.b32", 0x10d7);
    query(rows, name + ".channel_order.b32", 0x10b2);
    query(rows, name + ".array_size.b32", 0);
  }
  query(rows, "suq.memory_layout.b32", 1);
  query(rows, "txq.normalized_coords.b32", 1);
  query(rows, "txq.filter_mode.b32", 0);
  query(rows, "txq.addr_mode_0.b32", 2);
  query(rows, "txq.addr_mode_1.b32", 0);
  query(rows, "txq.addr_mode_2.b32", 3);
  query(rows, "txq.num_mipmap_levels.b32", 1);
  query(rows, "txq.num_samples.b32", 1);
  return rows;
}

}  // namespace regatta::test::forms
