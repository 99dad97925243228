// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::protocol {

/// A table of warp registers, as dense as the warp size allows: 128 bytes a row at 32 lanes, 256 at 64, in whole cache
/// lines. Storage that holds many values is read faster so than as an array of WarpValue, which is as wide as the
/// widest warp.
class WarpRegisters {
 public:
  /// `rows` registers of `warp_size` lanes (32 or 64). What was there stays, unless the warp size changes.
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
  /// Row `i` will be wanted in a cycle or a few: into the host's first cache with it.
  void prefetch(std::size_t i) const {
    const Line* const row = &lines_[i * lines_per_row_];
    __builtin_prefetch(row);
    __builtin_prefetch(row + 1);  // further ones follow by themselves
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
