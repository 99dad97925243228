// SPDX-License-Identifier: Apache-2.0
//
// The memory lines that a warp's instructions touch, without time and without a cache: what a footprint counts and what
// warms a cache.
#pragma once

#include <regatta/trace/warp_stream.h>

#include <array>
#include <cstdint>

namespace regatta::trace {

/// Lines of global memory of one instruction, those of texels and surfaces included, each once. Lines of shared memory
/// are none. Local memory counts in no line either: where a thread's frame lies is up to the machine.
class TouchedLines {
 public:
  static constexpr unsigned sector_bytes = 32;
  struct Line {
    std::uint64_t address = 0;  ///< of the line's first byte
    std::uint8_t sectors = 0;   ///< of 32 bytes, bit 0 is the first
  };

  /// `line_bytes`: a power of two from 32 to 256.
  explicit TouchedLines(unsigned line_bytes) : line_mask_(~std::uint64_t{line_bytes - 1}) {}

  /// Takes the addresses of the cursor's instruction, for which has_addresses() holds. The cursor's addresses() must
  /// not have been called.
  void take(WarpCursor& cursor);

  const Line* begin() const { return lines_.data(); }
  const Line* end() const { return lines_.data() + count_; }
  unsigned count() const { return count_; }
  /// Lanes of the instruction that accessed global memory.
  unsigned lanes() const { return lanes_; }

 private:
  void add_texels(WarpCursor& cursor);
  /// Of cp.async. Bulk copies have none: they do not come by way of the load-store unit.
  void add_copies(WarpCursor& cursor);
  void add(std::uint64_t first, std::uint64_t last);
  void add_in_line(std::uint64_t first, std::uint64_t last);

  std::uint64_t line_mask_;
  unsigned count_ = 0, lanes_ = 0;
  std::array<std::uint64_t, max_lanes> addresses_;
  /// An access that is not aligned touches two, one of a texture its texels.
  std::array<Line, max_texels * max_lanes> lines_;
};

}  // namespace regatta::trace
