// SPDX-License-Identifier: Apache-2.0
//
// Surface loads and stores: bytes of an array as they are, whatever its format.
#include "cta.h"

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

using ir::SurfaceBounds;
using trace::LaneMask;

namespace {

constexpr std::uint64_t nowhere = trace::no_texel;

}  // namespace

std::uint64_t CtaRunner::surface_address(Warp& w, const Op& op, unsigned lane, const TextureView& view) {
  const ir::TextureModifiers& t = op.instruction->mod.texture;
  const unsigned first = ir::has_layer(t.geometry) ? 2 : 1;
  std::int64_t at[3] = {0, 0, 0};  // x in bytes, y, and z or the layer
  for (unsigned s = first; s <= ir::coordinates_of(t.geometry); ++s) {
    at[s - first] = static_cast<std::int32_t>(get(w, op.lane.source[s], lane, false));
  }
  if (first == 2) at[2] = static_cast<std::int32_t>(get(w, op.lane.source[1], lane, false));
  if (at[0] % t.access_bytes != 0) {
    fail(w, op, lane,
         "misaligned surface access of " + std::to_string(t.access_bytes) + " bytes at byte " + std::to_string(at[0]) +
             " of a row, expected a multiple of " + std::to_string(t.access_bytes),
         FaultKind::misaligned);
  }
  const std::int64_t row = std::int64_t{view.shape.width} * view.shape.format.bytes();
  // The last place that a coordinate can have.
  const std::int64_t last[3] = {row - t.access_bytes, std::int64_t{view.shape.rows()} - 1,
                                std::int64_t{view.shape.slices()} - 1};
  for (unsigned d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= last[d]) continue;
    if (t.bounds == SurfaceBounds::zero || last[d] < 0) return nowhere;
    if (t.bounds == SurfaceBounds::trap) {
      static constexpr const char* names[] = {"byte ", "row ", "image "};
      const std::string end = std::to_string(d == 0 ? row : last[d] + 1);
      fail(w, op, lane,
           "surface access of " + std::to_string(t.access_bytes) + " bytes at " + names[d] + std::to_string(at[d]) +
               ", which is outside of the surface, expected one of 0 to " + end,
           FaultKind::address);
    }
    at[d] = std::clamp<std::int64_t>(at[d], 0, last[d]);
  }
  return view.layout.address(static_cast<std::uint64_t>(at[0] + op.offset), static_cast<std::uint64_t>(at[1]),
                             static_cast<std::uint64_t>(at[2]));
}

void CtaRunner::surface(Warp& w, const Op& op) {
  const bool stores = op.kind == Kind::surface_store;
  const std::size_t bytes = std::size_t{op.element_bytes} * op.vector;
  texels_.resize(std::size_t{trace::max_texels} * trace::max_lanes);
  texel_count_ = 1;
  if (stores && spins_.watching()) spins_.changed();
  TextureUse use;
  for (LaneMask rest = w.regs.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    look_up(w, op, lane, use);
    const std::uint64_t address = texels_[lane] = surface_address(w, op, lane, *use.view);
    Allocation& a = *use.memory;
    if (stores) Allocation::set(a.changed);
    const std::uint64_t at = address - a.base;
    if (!stores && address != nowhere && !a.written.empty() &&
        std::memchr(a.written.data() + at, 1, bytes) == nullptr) {
      fail(w, op, lane, "surface read of what was never written, " + memory_.describe(address));
    }
    for (unsigned v = 0; v < op.vector; ++v) {
      const std::size_t element = at + std::size_t{v} * op.element_bytes;
      std::uint64_t value = 0;
      if (!stores) {
        if (address != nowhere) std::memcpy(&value, a.data.data() + element, op.element_bytes);
        put(w, op.destinations[v], op.destination_words[v], lane, value);
      } else if (address != nowhere) {
        value = get(w, op.values[v], lane, op.element_bytes == 8);
        std::memcpy(a.data.data() + element, &value, op.element_bytes);
        if (!a.written.empty()) std::memset(a.written.data() + element, 1, op.element_bytes);
      }
    }
  }
}

}  // namespace regatta::emulator
