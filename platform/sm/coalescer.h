// SPDX-License-Identifier: Apache-2.0
//
// Address arithmetic of the load-store unit, free of time and sockets.
#pragma once

#include <regatta/protocol/ids.h>

#include <array>
#include <cstdint>

namespace regatta::sm {

/// The lines a warp memory instruction touches, in order of first touch, with the 32-byte sectors wanted.
struct LineList {
  struct Line {
    std::uint64_t address = 0;  ///< first byte of the line
    std::uint8_t sectors = 0;
    std::uint8_t pass = 0;  ///< of the address stage that makes the last address in it, by address_passes()
  };
  unsigned count = 0;
  /// Room for a local access of four words a lane, or a fetch of eight texels, every one in a line of its own.
  std::array<Line, trace::max_texels * trace::max_lanes> lines;
};

/// Merges the accesses of the active lanes into lines. `line_bytes` is a power of two, at most 256. An access
/// may cross a line when `bytes` is not aligned; it then touches both.
void coalesce(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes, LineList& out);

/// The same for addresses one stride apart in all lanes: at once where the active lanes leave no sector out, lane by
/// lane otherwise.
void coalesce_affine(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                     LineList& out);

/// Adds the texels of the active lanes to the lines, each in one sector of `bytes`-aligned memory; those at
/// trace::no_texel are in none. `lanes` of them have theirs made in a cycle, lane 0 first, after `first_pass`.
void coalesce_texels(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                     unsigned lanes, unsigned first_pass, LineList& lines);

/// Where addresses are made for `lanes` lanes in a pass, lane 0 first: the last pass that each line waits for. The
/// lines are those that the same accesses were merged into.
void address_passes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                    unsigned lanes, LineList& lines);

/// Whether the accesses leave bytes of the line's sectors out.
bool leaves_bytes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned line_bytes,
                  const LineList::Line& line);

/// Cycles that a shared-memory access occupies the banks: an access of more than 4 bytes a lane goes in
/// groups of lanes that move at most one word per bank; within a group, lanes that want different words of one
/// bank take turns, lanes that want the same word share it (`atomic`: they take turns too).
unsigned shared_passes(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned warp_size,
                       unsigned banks, bool atomic);

/// The same for addresses one stride apart in all lanes: at once for the strides that never conflict.
unsigned shared_passes_affine(const std::uint64_t* address, trace::LaneMask active, unsigned bytes, unsigned warp_size,
                              unsigned banks);

}  // namespace regatta::sm
