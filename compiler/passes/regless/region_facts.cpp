// SPDX-License-Identifier: Apache-2.0
#include "region_facts.h"

namespace regatta::passes {

namespace {

Registers general(const analysis::BitSet& live) {
  Registers registers;
  live.for_each([&](std::uint32_t v) {
    if (v < trace::max_general_registers) registers.set(v);
  });
  return registers;
}

/// Whether the result comes from outside the SM; a region must not wait for such a load. Reads of shared memory,
/// parameters and constants are short.
bool is_long_load(const trace::StaticInstruction& i) {
  if (!i.reads_memory || i.destination_count == 0) return false;
  if (i.op_class == trace::OpClass::atomic) return i.space != trace::MemorySpace::shared;
  return i.space == trace::MemorySpace::global || i.space == trace::MemorySpace::local ||
         i.space >= trace::MemorySpace::generic;
}

void collect(const trace::StaticInstruction& i, InstructionFacts& facts) {
  for (unsigned s = 0; s < i.source_count; ++s) facts.reads.set(i.sources[s]);
  for (unsigned d = 0; d < i.destination_count; ++d) facts.writes.set(i.destinations[d]);
  const auto slots = trace::use_slots_of(i);
  for (unsigned s = 0; s < trace::use_slots; ++s)
    for (unsigned r = slots[s].first; r < unsigned{slots[s].first} + slots[s].count; ++r) {
      // Where slots overlap, the later one counts.
      for (unsigned earlier = 0; earlier < s; ++earlier) facts.slot[earlier].reset(r);
      facts.slot[s].set(r);
    }
  facts.ends_region = i.op_class == trace::OpClass::barrier;
}

}  // namespace

KernelFacts region_facts(const trace::Kernel& kernel, const analysis::WarpLiveness& liveness) {
  KernelFacts facts;
  facts.instructions.resize(kernel.instructions.size());
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) collect(kernel.instructions[i], facts.instructions[i]);
  const auto none = static_cast<std::uint32_t>(kernel.instructions.size());
  analysis::LivenessWalker walker(liveness.running());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const trace::BasicBlock& block = kernel.blocks[b];
    const Registers waiting = general(liveness.waiting(b));
    std::array<std::uint32_t, 256> next_access{};
    next_access.fill(none);
    for (walker.start(b); walker.more(); walker.step()) {
      const auto index = block.first + static_cast<std::uint32_t>(walker.index());
      InstructionFacts& i = facts.instructions[index];
      i.live_after = general(walker.live()) | waiting;
      i.first_use = none;
      if (is_long_load(kernel.instructions[index]))
        for_each(i.writes, [&](unsigned r) { i.first_use = std::min(i.first_use, next_access[r]); });
      for_each(i.accessed(), [&](unsigned r) { next_access[r] = index; });
    }
    facts.live_in.push_back(general(walker.live()) | waiting);
  }
  return facts;
}

}  // namespace regatta::passes
