// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::protocol {

/// A table of warp registers, as dense as the warp size allows: 128 bytes per row at 32 lanes, 256 at 64, in whole
/// cache lines. A large storage is faster to read this way than as an array of WarpValue, which is as wide as the
/// widest warp.
class WarpRegisters {
 public:
  /// `rows` registers of `warp_size` lanes (32 or 64). Contents are kept unless the warp size changes.
  void resize(std::size_t rows, unsigned warp_size) {
    const std::size_t lines = (warp_size * trace::bytes_per_lane + sizeof(Line) - 1) / sizeof(Line);
    if (lines != lines_per_row_) lines_.clear();
    lines_per_row_ = lines;
    rows_ = rows;
    lines_.resize(rows * lines);
  }
  std::size_t size() const { return rows_; }
  /// The lanes of row `i`.
  std::uint32_t* operator[](std::size_t i) { return lines_[i * lines_per_row_].lane.data(); }
  const std::uint32_t* operator[](std::size_t i) const { return lines_[i * lines_per_row_].lane.data(); }
  /// Row `i` will be accessed within a few cycles: prefetch it into the host's first-level cache.
  void prefetch(std::size_t i) const {
    const Line* const row = &lines_[i * lines_per_row_];
    __builtin_prefetch(row);
    __builtin_prefetch(row + 1);  // of 32 lanes, nearly always
    for (std::size_t line = 2; line < lines_per_row_; ++line) __builtin_prefetch(row + line);
  }

 private:
  struct alignas(64) Line {
    std::array<std::uint32_t, 64 / trace::bytes_per_lane> lane{};
  };
  std::vector<Line> lines_;
  std::size_t lines_per_row_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace regatta::protocol
