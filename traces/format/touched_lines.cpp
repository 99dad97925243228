// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/touched_lines.h>

#include <algorithm>

namespace regatta::trace {

void TouchedLines::take(WarpCursor& cursor) {
  count_ = 0;
  lanes_ = 0;
  const bool affine = cursor.addresses(addresses_.data());
  const StaticInstruction& instruction = cursor.instruction();
  LaneMask active = cursor.active_mask();
  if (instruction.space == MemorySpace::asynchronous) return add_copies(cursor);
  if (has_texels(instruction)) return add_texels(cursor);
  if (active == 0 || (instruction.space != MemorySpace::global && instruction.space != MemorySpace::generic)) return;
  if (instruction.space == MemorySpace::generic) {
    for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
      const std::uint64_t window = base::window_number(addresses_[static_cast<unsigned>(__builtin_ctzll(rest))]);
      if (window != static_cast<std::uint64_t>(base::Window::global)) active &= ~(rest & (0 - rest));
    }
    if (active == 0) return;
  }
  lanes_ = static_cast<unsigned>(__builtin_popcountll(active));
  const std::uint64_t bytes = std::max<std::uint64_t>(instruction.access_bytes, 1);
  const auto first_lane = static_cast<unsigned>(__builtin_ctzll(active));
  const auto last_lane = 63 - static_cast<unsigned>(__builtin_clzll(active));
  const std::uint64_t stride = addresses_[1] - addresses_[0];
  const bool no_gap = last_lane - first_lane + 1 == lanes_;
  const std::uint64_t last = addresses_[last_lane] + bytes - 1;
  if (affine && no_gap && stride != 0 && stride <= sector_bytes && addresses_[first_lane] <= last) {
    // All sectors between the ends; at most 64 lanes times 32 bytes, so that the lines fit.
    std::uint64_t at = addresses_[first_lane];
    for (; ((at ^ last) & line_mask_) != 0; at = (at | ~line_mask_) + 1) add_in_line(at, at | ~line_mask_);
    return add_in_line(at, last);
  }
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t first = addresses_[static_cast<unsigned>(__builtin_ctzll(rest))];
    add(first, first + bytes - 1);
  }
}

void TouchedLines::add_texels(WarpCursor& cursor) {
  if (cursor.active_mask() == 0) return;
  // A texel is aligned to its size, and lies in one sector whatever that is.
  const bool surface = cursor.instruction().space == MemorySpace::surface;
  const std::uint64_t bytes = surface ? std::max<std::uint64_t>(cursor.instruction().access_bytes, 1) : 1;
  LaneMask accessing = 0;
  for (unsigned texel = 0; texel <= cursor.further_texels(); ++texel) {
    const std::uint64_t* const addresses = texel == 0 ? addresses_.data() : cursor.further_texel(texel - 1);
    for (LaneMask rest = cursor.active_mask(); rest != 0; rest &= rest - 1) {
      const std::uint64_t first = addresses[static_cast<unsigned>(__builtin_ctzll(rest))];
      if (first == no_texel) continue;
      accessing |= rest & (0 - rest);
      add_in_line(first, std::min(first + bytes - 1, first | ~line_mask_));
    }
  }
  lanes_ = static_cast<unsigned>(__builtin_popcountll(accessing));
}

void TouchedLines::add_copies(WarpCursor& cursor) {
  if (cursor.instruction().async != AsyncKind::copy || cursor.active_mask() == 0) return;
  const std::uint64_t* const bytes = cursor.further_texel(1);
  for (LaneMask rest = cursor.active_mask(); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    if (bytes[lane] == 0) continue;
    ++lanes_;
    add(addresses_[lane], addresses_[lane] + bytes[lane] - 1);
  }
}

void TouchedLines::add(std::uint64_t first, std::uint64_t last) {
  if (((first ^ last) & line_mask_) == 0) return add_in_line(first, last);
  add_in_line(first, first | ~line_mask_);
  add_in_line(last & line_mask_, last);
}

void TouchedLines::add_in_line(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t line = first & line_mask_;
  const auto low = static_cast<unsigned>((first - line) / sector_bytes);
  const auto high = static_cast<unsigned>((last - line) / sector_bytes);
  const auto sectors = static_cast<std::uint8_t>((2u << high) - (1u << low));
  // The newest lines first: neighbouring lanes mostly share one.
  for (unsigned i = count_; i-- > 0;) {
    if (lines_[i].address == line) {
      lines_[i].sectors |= sectors;
      return;
    }
  }
  lines_[count_++] = Line{line, sectors};
}

}  // namespace regatta::trace
