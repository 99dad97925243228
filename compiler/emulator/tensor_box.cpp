// SPDX-License-Identifier: Apache-2.0
#include "tensor_box.h"

#include <algorithm>

namespace regatta::emulator {
namespace {

constexpr std::uint32_t chunk = 16;

/// Appends bytes that lie together in global memory, cut where the swizzle sends chunks elsewhere.
void append(std::vector<TensorRun>& runs, ir::TensorSwizzle swizzle, TensorRun run) {
  while (run.bytes != 0) {
    TensorRun part = run;
    if (swizzle != ir::TensorSwizzle::none) part.bytes = std::min(run.bytes, chunk - run.shared % chunk);
    part.shared = ir::swizzled(swizzle, run.shared);
    const bool joins = !runs.empty() && runs.back().inside == part.inside &&
                       runs.back().shared + runs.back().bytes == part.shared &&
                       (!part.inside || runs.back().address + runs.back().bytes == part.address);
    if (joins) {
      runs.back().bytes += part.bytes;
    } else {
      runs.push_back(part);
    }
    run.shared += part.bytes;
    run.address += part.bytes;
    run.bytes -= part.bytes;
  }
}

}  // namespace

TensorRows box_rows(const ir::TensorMap& map, const std::array<std::int32_t, 5>& coordinates) {
  TensorRows rows;
  rows.address = map.address;
  for (unsigned d = 0; d < map.dimensions; ++d) {
    // The first and the number of the copied places that lie inside.
    const std::int64_t step = map.element_stride[d], at = coordinates[d], size = static_cast<std::int64_t>(map.size[d]);
    const std::int64_t first = at >= 0 ? 0 : (step - 1 - at) / step;
    const std::int64_t behind = std::min<std::int64_t>(map.copied(d), at >= size ? 0 : (size - at + step - 1) / step);
    if (behind <= first) return {};
    const auto count = static_cast<std::uint64_t>(behind - first);
    rows.address += static_cast<std::uint64_t>(at + first * step) * map.stride[d];
    if (d == 0) {
      rows.bytes = ((count - 1) * static_cast<std::uint64_t>(step) + 1) * map.stride[0];
    } else {
      rows.count[d - 1] = count;
      rows.stride[d - 1] = map.stride[d] * static_cast<std::uint64_t>(step);
    }
  }
  return rows;
}

std::vector<TensorRun> box_runs(const ir::TensorMap& map, const std::array<std::int32_t, 5>& coordinates,
                                std::uint32_t shared) {
  std::vector<TensorRun> runs;
  const unsigned element = ir::size_of(map.type);
  std::array<std::uint32_t, ir::TensorMap::most_dimensions> at{};
  std::uint32_t place = shared;
  const auto coordinate = [&](unsigned d, std::uint32_t n) {
    return std::int64_t{coordinates[d]} + std::int64_t{n} * map.element_stride[d];
  };
  const auto is_inside = [&](unsigned d, std::int64_t c) {
    return c >= 0 && static_cast<std::uint64_t>(c) < map.size[d];
  };
  for (;;) {
    bool row_inside = true;
    std::uint64_t row = map.address;
    for (unsigned d = 1; d < map.dimensions; ++d) {
      const std::int64_t c = coordinate(d, at[d]);
      row_inside = row_inside && is_inside(d, c);
      row += static_cast<std::uint64_t>(c) * map.stride[d];
    }
    for (std::uint32_t n = 0; n < map.copied(0); ++n) {
      const std::int64_t c = coordinate(0, n);
      append(runs, map.swizzle,
             {row_inside && is_inside(0, c), row + static_cast<std::uint64_t>(c) * element, place, element});
      place += element;
    }
    unsigned d = 1;
    while (d < map.dimensions && ++at[d] == map.copied(d)) at[d++] = 0;
    if (d >= map.dimensions) return runs;
  }
}

}  // namespace regatta::emulator
