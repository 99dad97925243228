// SPDX-License-Identifier: Apache-2.0
//
// RegLess's compiler (MICRO 2017, section 4): cuts every basic block into regions, finds out what each of them reads,
// leaves behind and keeps to itself, and writes it down as the instruction words that the hardware decodes
// (regatta/trace/region_words.h). compiler/passes/README.md has the argument why a region never holds more lines than
// its words say.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/warp_liveness.h>
#include <regatta/trace/kernel.h>
#include <regatta/trace/region_words.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::passes {

struct RegionOptions {
  /// Most registers that a region may hold at a time. The paper names no number; half of a scheduler's share of a
  /// staging unit of 512 entries, so that two regions fit. 1..248.
  unsigned max_registers = 64;
  /// Most of them in one bank: lines of a staging unit's bank (16 for 512 entries per SM in 4 units of 8 banks). 1..31.
  unsigned lines_per_bank = 16;
  /// A region that is cut off has at least so many instructions where the limits allow it (section 4.2: 48 bytes).
  unsigned min_instructions = 6;
  /// Most words that a warp must have before a region starts (capacity_manager.metadata_words). Preloads, and registers
  /// that die with the region, end it earlier; dropping copies of dead registers is left to the block's later regions.
  /// A region of one instruction may need more. 2..64.
  unsigned head_words = 16;
  analysis::LaneRule lanes = analysis::LaneRule::every_path;
};

/// A region is a part of one basic block: instructions [begin, end), static indices.
struct Region {
  std::uint32_t block = 0;
  std::uint32_t begin = 0, end = 0;
  /// Registers that must be there before it starts: live into the region and accessed in it. A register that it only
  /// writes is among them when lanes that do not write still need the old value.
  std::vector<std::uint8_t> inputs;
  std::vector<std::uint8_t> outputs;    ///< written, and live at the end
  std::vector<std::uint8_t> interiors;  ///< accessed, neither of the above
  unsigned live = 0;                    ///< most registers held at a time, all banks
  trace::RegionWords words;             ///< bank usage, entries, marks

  std::uint32_t size() const { return end - begin; }
  /// All that it accesses, ascending.
  std::vector<std::uint8_t> registers() const;
};

struct RegionPlan {
  RegionOptions options;
  std::vector<Region> regions;  ///< ascending `begin`; together they are the kernel's instructions
  /// Regions of a single instruction that exceeds a limit all the same. Hardware of that size refuses the kernel.
  std::uint32_t oversized = 0;
};

/// Throws trace::InputError, in the words of regatta-annotate's options, for a limit out of range.
void check(const RegionOptions& options);

/// Plans the regions of a kernel. `kernel` is the function's static form (ir::to_trace). Throws as check()
/// does.
RegionPlan plan_regions(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                        const RegionOptions& options = {});

/// Adds the words of every region to kernel.inserted, and the plan as the annotation section "regions", for reports and
/// tools; hardware has the words only. Returns the number of words.
std::size_t insert_region_words(trace::Kernel& kernel, const RegionPlan& plan);

/// The section's payload: JSON, an object with "options" and a list "regions" of objects with begin, end (static
/// indices), inputs, outputs, interiors (register numbers), lines (per bank) and live.
std::string regions_json(const RegionPlan& plan);

}  // namespace regatta::passes
