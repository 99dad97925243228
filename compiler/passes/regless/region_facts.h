// SPDX-License-Identifier: Apache-2.0
//
// What the passes over regions know of each instruction, in sets of general registers.
#pragma once

#include <regatta/analysis/warp_liveness.h>
#include <regatta/passes/regions.h>
#include <regatta/trace/kernel.h>
#include <regatta/trace/region_words.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

namespace regatta::passes {

using Registers = std::bitset<256>;

/// Calls visit(register) in ascending order.
template <typename Visit>
void for_each(const Registers& set, Visit&& visit) {
  for (std::size_t r = set._Find_first(); r < set.size(); r = set._Find_next(r)) visit(static_cast<unsigned>(r));
}

/// One instruction of the kernel.
struct InstructionFacts {
  Registers reads, writes;
  Registers live_after;  ///< of the warp, lanes that wait elsewhere included
  /// Registers that a mark on the slot is about.
  std::array<Registers, trace::use_slots> slot;
  /// Index of the first instruction of the block that reads, or writes, the result of this long load; the number of
  /// instructions when there is none, or this is no such load.
  std::uint32_t first_use = 0;
  bool ends_region = false;  ///< a barrier

  Registers accessed() const { return reads | writes; }
};

struct KernelFacts {
  std::vector<InstructionFacts> instructions;  ///< by static index
  std::vector<Registers> live_in;              ///< per block, likewise of the warp
};

KernelFacts region_facts(const trace::Kernel& kernel, const analysis::WarpLiveness& liveness);

/// Registers live before the instruction at `index` of a block that begins at `first`.
inline const Registers& live_before(const KernelFacts& facts, std::uint32_t block, std::uint32_t first,
                                    std::uint32_t index) {
  return index == first ? facts.live_in[block] : facts.instructions[index - 1].live_after;
}

/// Fills inputs, outputs, interiors, live, words.lines, words.uses and all entries but the invalidations of a region
/// whose block, begin and end are set. `first` is the block's first instruction.
void annotate(const KernelFacts& facts, std::uint32_t first, Region& region);

/// Whether the words before a region's first instruction are at most so many.
bool fits_head(const trace::RegionWords& words, unsigned head_words);

/// region_creation.cpp: the regions of a block, not annotated (algorithm 1).
std::vector<Region> cut_block(const KernelFacts& facts, std::uint32_t block, std::uint32_t first, std::uint32_t end,
                              const RegionOptions& options);

/// region_annotations.cpp: where copies of dead registers are dropped. Heads of regions get at most `head_words` words
/// by that.
void add_invalidations(const analysis::Cfg& cfg, const analysis::PostDominators& post_dominators,
                       const KernelFacts& facts, unsigned head_words, std::vector<Region>& regions);

}  // namespace regatta::passes
