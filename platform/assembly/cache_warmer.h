// SPDX-License-Identifier: Apache-2.0
//
// What launches that are not simulated leave behind in the L2 and in the rows of DRAM.
#pragma once

#include <regatta/assembly/simulation.h>
#include <regatta/memory/memory_system.h>
#include <regatta/trace/file.h>
#include <regatta/trace/touched_lines.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace regatta::assembly {

/// Passes skipped launches through the tags of the L2, in program order, CTA after CTA and warp after warp, and their
/// code through the instruction caches. Of data, global memory only: lines of local memory, registers and constants
/// that these launches would have left are missing.
class CacheWarmer {
 public:
  /// Called for a launch that ran before, with its static instructions: true for those that it executed.
  using Code = std::function<void(const trace::Launch&, const std::vector<bool>& executed)>;

  /// `depth`: SimulationOptions::warm. `code`: warms the instruction caches.
  CacheWarmer(const trace::Reader& trace, memory::MemorySystem& memory, unsigned line_bytes, unsigned depth, Code code)
      : trace_(trace), memory_(memory), depth_(depth), touched_(line_bytes), code_(std::move(code)) {}

  /// Warms with launches of [first, last), the latest ones whose lines together are `depth` times the L2's capacity. Of
  /// earlier ones only the code counts, all of it, as if they had executed every instruction.
  /// Adds what it did to `done`. False: interrupted.
  bool warm(std::uint32_t first, std::uint32_t last, SkippedLaunches& done);

 private:
  bool pass(std::uint32_t launch, SkippedLaunches& done);

  const trace::Reader& trace_;
  memory::MemorySystem& memory_;
  unsigned depth_;
  trace::TouchedLines touched_;
  Code code_;
};

}  // namespace regatta::assembly
