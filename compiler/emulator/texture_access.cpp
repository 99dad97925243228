// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches and queries of a warp.
#include "access_log.h"
#include "cta.h"
#include "sampling.h"

#include <algorithm>

namespace regatta::emulator {

using ir::TextureGeometry;
using trace::LaneMask;

namespace {

unsigned dimensions_of(TextureGeometry g) { return ir::coordinates_of(g) - (ir::has_layer(g) ? 1 : 0); }

std::string shape_text(const TextureView& v) {
  if (v.is_linear) return "linear memory";
  if (v.shape.cubes) return "the faces of cubes";
  const unsigned d = v.shape.dimensions();
  return (v.shape.layers != 0 ? "layers of " : "") + std::to_string(d) + (d == 1 ? " dimension" : " dimensions");
}

/// Why an instruction cannot read this texture or surface; empty: it can.
std::string mismatch(const ir::Instruction& i, const TextureView& v) {
  const TextureGeometry g = i.mod.texture.geometry;
  const bool is_cube = g == TextureGeometry::cube;
  const bool fits =
      is_cube ? v.shape.cubes : dimensions_of(g) == v.shape.dimensions() && ir::has_layer(g) == (v.shape.layers != 0);
  const std::string access = std::string(ir::to_string(i.op)) + " ." + ir::to_string(g);
  if (!fits)
    return access + " accesses a " + (i.mod.space == trace::MemorySpace::surface ? "surface" : "texture") + " of " +
           shape_text(v);
  if (v.is_linear && i.source_type == ir::Type::f32)
    return access +
           " accesses a texture of linear memory with coordinates of floats, expected texel numbers "
           "(tex1Dfetch)";
  return "";
}

/// Values of the PTX ISA, which are OpenCL's.
std::uint32_t data_type(const TextureView& v) {
  const TexelFormat& f = v.shape.format;
  const unsigned size = f.bits == 8 ? 0 : f.bits == 16 ? 1 : 2;
  if (f.kind == ChannelKind::floating) return f.bits == 16 ? 0x10dd : 0x10de;
  const bool is_signed = f.kind == ChannelKind::signed_integer;
  if (v.sampler.read == ReadMode::normalized_float) return (is_signed ? 0x10d0 : 0x10d2) + size;
  return (is_signed ? 0x10d7 : 0x10da) + size;
}

std::uint32_t channel_order(const TexelFormat& f) {
  return f.channels == 1 ? 0x10b0 : f.channels == 2 ? 0x10b2 : 0x10b5;
}

std::uint32_t property(const TextureView& v, ir::TextureQuery query) {
  using ir::TextureQuery;
  switch (query) {
    case TextureQuery::width:
      return v.shape.width;
    case TextureQuery::height:
      return v.shape.height;
    case TextureQuery::depth:
      return v.shape.depth;
    case TextureQuery::channel_data_type:
      return data_type(v);
    case TextureQuery::channel_order:
      return channel_order(v.shape.format);
    case TextureQuery::normalized_coords:
      return v.sampler.normalized_coordinates ? 1 : 0;
    case TextureQuery::filter_mode:
      return static_cast<std::uint32_t>(v.sampler.filter);
    case TextureQuery::addr_mode_0:
    case TextureQuery::addr_mode_1:
    case TextureQuery::addr_mode_2:
      return static_cast<std::uint32_t>(
          v.sampler.address[static_cast<unsigned>(query) - static_cast<unsigned>(TextureQuery::addr_mode_0)]);
    case TextureQuery::array_size:
      return v.shape.layers;
    case TextureQuery::num_mipmap_levels:
    case TextureQuery::num_samples:
      return 1;
    case TextureQuery::memory_layout:
      return v.layout.blocks ? 1 : 0;
    case TextureQuery::none:
      break;
  }
  return 0;
}

}  // namespace

void CtaRunner::look_up(Warp& w, const Op& op, unsigned lane, TextureUse& use) {
  const TextureHandle handle = get(w, op.lane.source[0], lane, false);
  if (use.known && use.handle == handle) return;
  const ir::Instruction& i = *op.instruction;
  const bool surface = i.op == ir::Opcode::suld || i.op == ir::Opcode::sust || i.op == ir::Opcode::suq;
  const char* const expected = surface ? "surface" : "texture";
  use = {true, handle, nullptr, nullptr};
  if (options_.textures != nullptr) {
    use.view = surface ? options_.textures->surface(handle) : options_.textures->texture(handle);
  }
  if (use.view == nullptr) {
    const std::string found = options_.textures != nullptr ? options_.textures->describe(handle)
                                                           : "handle " + std::to_string(handle) + ", without textures";
    fail(w, op, lane, std::string(ir::to_string(i.op)) + " accesses " + found + ", expected a " + expected);
  }
  if (op.kind == Kind::texture_query) return;
  const std::string wrong = mismatch(i, *use.view);
  if (!wrong.empty()) fail(w, op, lane, wrong);
  use.memory = memory_.find(use.view->layout.base, last_hit_);
  if (use.memory == nullptr) {
    fail(w, op, lane, std::string(ir::to_string(i.op)) + " accesses a " + expected + " whose memory was released");
  }
  if (log_ != nullptr) log_->read_all(*use.memory);
}

void CtaRunner::texture(Warp& w, const Op& op) {
  const ir::TextureModifiers& t = op.instruction->mod.texture;
  const unsigned first = ir::has_layer(t.geometry) ? 2 : 1;
  texels_.resize(std::size_t{trace::max_texels} * trace::max_lanes);
  texel_count_ = 1;
  TextureUse use;
  TextureCoordinates at;
  const bool is_cube = t.geometry == TextureGeometry::cube;
  at.is_integer = op.instruction->source_type != ir::Type::f32;
  Fetched fetched;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    look_up(w, op, lane, use);
    if (first == 2) at.layer = static_cast<std::int32_t>(get(w, op.lane.source[1], lane, false));
    for (unsigned d = 0; d < dimensions_of(t.geometry); ++d) {
      at.value[d] = static_cast<std::uint32_t>(get(w, op.lane.source[first + d], lane, false));
    }
    const Allocation& a = *use.memory;
    const TexelMemory memory{a.data.data(), a.written.empty() ? nullptr : a.written.data(), a.base};
    if (op.op == ir::Opcode::tld4) {
      gather_texels(*use.view, memory, at, t.gathered, fetched);
    } else {
      fetch_texel(*use.view, memory, is_cube ? on_face(at) : at, fetched);
    }
    if (fetched.uninitialised != Fetched::nowhere) {
      fail(w, op, lane, "read of a texel which was never written, " + memory_.describe(fetched.uninitialised));
    }
    unsigned next = 0;
    for (unsigned c = 0; c < 4; ++c) {
      if ((t.channels >> c & 1) == 0) continue;
      put(w, op.destinations[next], op.destination_words[next], lane, fetched.result[c]);
      ++next;
    }
    if (w.encoder == nullptr) continue;
    for (; texel_count_ < fetched.texels; ++texel_count_) {
      std::fill_n(texels_.data() + std::size_t{texel_count_} * trace::max_lanes, trace::max_lanes, trace::no_texel);
    }
    for (unsigned n = 0; n < texel_count_; ++n) {
      texels_[std::size_t{n} * trace::max_lanes + lane] = n < fetched.texels ? fetched.address[n] : trace::no_texel;
    }
  }
}

void CtaRunner::texture_query(Warp& w, const Op& op) {
  TextureUse use;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    look_up(w, op, lane, use);
    put(w, op.destinations[0], 1, lane, property(*use.view, op.instruction->mod.texture.query));
  }
}

}  // namespace regatta::emulator
