// SPDX-License-Identifier: Apache-2.0
//
// Which values could live in an entry of the ORF or the LRF, and which instructions they keep it occupied for.
#pragma once

#include <regatta/analysis/bit_set.h>
#include <regatta/trace/rfh_strands.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace regatta::passes {

/// A value of a register within a strand: all definitions that reach its reads, or one read from the main file that
/// copies it for the reads behind. On every path to a read, a write of the range comes last.
struct RfhRange {
  std::uint8_t reg = 0;
  bool copies = false;                ///< written by a read
  std::vector<std::uint32_t> writes;  ///< instructions, ascending
  std::vector<std::uint32_t> reads;   ///< ascending
};

/// What the first reads of a range need of an entry.
struct RfhOccupation {
  std::vector<std::uint32_t> writes;  ///< those that reach the reads, ascending
  /// Instructions at which a write to the entry would be the end of the value: also those that run while lanes wait
  /// which need it.
  analysis::BitSet held;
};

class RfhRanges {
 public:
  explicit RfhRanges(const trace::Kernel& kernel);

  const std::vector<bool>& strand_begins() const { return begins_; }
  /// Each read is in at most one range.
  const std::vector<RfhRange>& ranges() const { return ranges_; }
  RfhOccupation occupation(const RfhRange& range, std::size_t reads) const;
  /// The writes of the range that reach one of its reads.
  std::vector<std::uint32_t> reaching(const RfhRange& range, std::uint32_t read) const;
  /// Whether a read of the register at the instruction is in a range that definitions write.
  bool in_strand(std::uint32_t index, std::uint8_t reg) const;

 private:
  template <typename Step, typename Cross>
  void walk_back(const RfhRange& range, std::uint32_t read, std::vector<bool>& seen, Step&& step, Cross&& cross) const;
  void find_edges();
  void find_values();
  void find_copies(std::uint8_t reg, const std::vector<std::uint32_t>& reads);

  const trace::Kernel& kernel_;
  trace::DivergentPaths paths_;
  std::vector<bool> begins_;
  std::vector<std::uint32_t> block_of_;
  /// Per block: the blocks before it from which values come, without those whose lanes wait while a strand begins.
  /// `whole_` says whether that is all of them.
  std::vector<std::vector<std::uint32_t>> from_;
  std::vector<bool> whole_;
  std::vector<analysis::BitSet> in_strand_;  ///< per instruction: registers whose value was written in the strand
  std::vector<RfhRange> ranges_;
};

bool reads_register(const trace::StaticInstruction& i, unsigned reg);
bool writes_register(const trace::StaticInstruction& i, unsigned reg);

/// Per instruction: registers that a lane may still read from the main file behind it. `reads_main(index, source)`.
template <typename ReadsMain>
std::vector<analysis::BitSet> main_live(const trace::Kernel& kernel, ReadsMain&& reads_main) {
  const std::size_t blocks = kernel.blocks.size();
  std::vector<analysis::BitSet> live_in(blocks, analysis::BitSet(256));
  std::vector<analysis::BitSet> after(kernel.instructions.size(), analysis::BitSet(256));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      const trace::BasicBlock& block = kernel.blocks[b];
      analysis::BitSet live(256);
      for (const std::uint32_t s : block.successors) live.merge(live_in[s]);
      for (std::uint32_t index = block.first + block.count; index-- > block.first;) {
        const trace::StaticInstruction& i = kernel.instructions[index];
        after[index] = live;
        for (unsigned d = 0; d < i.destination_count && i.guard.predicate < 0; ++d) live.reset(i.destinations[d]);
        for (unsigned s = 0; s < i.source_count; ++s)
          if (reads_main(index, s)) live.set(i.sources[s]);
      }
      changed |= live_in[b].merge(live);
    }
  }
  return after;
}

}  // namespace regatta::passes
