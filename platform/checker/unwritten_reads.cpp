// SPDX-License-Identifier: Apache-2.0
#include "unwritten_reads.h"

#include <vector>

namespace regatta::checker {
namespace {

using Registers = std::bitset<256>;

/// Adds to `unwritten` what block [first, end) reads with `written` alone written, and to `written` what it writes.
void walk(const trace::Kernel& kernel, std::size_t first, std::size_t end, Registers& written, Registers& unwritten) {
  for (std::size_t i = first; i < end; ++i) {
    const trace::StaticInstruction& s = kernel.instructions[i];
    for (unsigned n = 0; n < s.source_count; ++n)
      unwritten[s.sources[n]] = unwritten[s.sources[n]] || !written[s.sources[n]];
    if (s.guard.predicate >= 0) continue;
    for (unsigned n = 0; n < s.destination_count; ++n) written.set(s.destinations[n]);
  }
}

}  // namespace

Registers unwritten_reads(const trace::Kernel& kernel) {
  const std::vector<trace::BasicBlock>& blocks = kernel.blocks;
  // What every path to a block has written: all, until a path is known.
  std::vector<Registers> before(blocks.size(), Registers().set());
  std::vector<bool> in_a_block(kernel.instructions.size());
  std::vector<std::size_t> work;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t i = blocks[b].first; i < blocks[b].first + std::size_t{blocks[b].count}; ++i) in_a_block[i] = true;
    if (blocks[b].first != 0) continue;
    before[b].reset();
    work.push_back(b);
  }
  Registers unwritten;
  while (!work.empty()) {
    const trace::BasicBlock& block = blocks[work.back()];
    Registers written = before[work.back()];
    work.pop_back();
    // Each visit knows fewer registers to be written than the one before: what it finds stays true.
    walk(kernel, block.first, block.first + std::size_t{block.count}, written, unwritten);
    for (const std::uint32_t successor : block.successors) {
      const Registers both = before[successor] & written;
      if (both == before[successor]) continue;
      before[successor] = both;
      work.push_back(successor);
    }
  }
  for (std::size_t i = 0; i < in_a_block.size(); ++i) {
    Registers none;
    if (!in_a_block[i]) walk(kernel, i, i + 1, none, unwritten);
  }
  return unwritten;
}

}  // namespace regatta::checker
