// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/liveness.h>
#include <regatta/passes/cleanup.h>

#include <algorithm>

namespace regatta::passes {

bool is_removable(const ir::Instruction& i) {
  using ir::Opcode;
  if (ir::has_other_effects(i.op)) return false;
  switch (i.op) {
    case Opcode::ld:
      return !i.mod.is_volatile;
    case Opcode::nop:
      return true;
    default:
      return !i.destinations.empty();
  }
}

namespace {

using analysis::Variables;

/// A copy whose source may stand for its destination.
bool is_plain_copy(const ir::Function& f, const ir::Instruction& i) {
  if (i.op != ir::Opcode::mov || i.guarded || i.destinations.size() != 1 || i.sources.size() != 1) return false;
  const ir::Operand &d = i.destinations[0], &s = i.sources[0];
  if (d.is_predicate()) return s.is_predicate() && !s.negated && d.id != s.id;
  return d.is_reg() && s.is_reg() && d.id != s.id && f.registers[d.id].words == f.registers[s.id].words;
}

std::uint32_t propagate_copies(ir::Function& f) {
  constexpr std::uint32_t none = ~0u;
  std::uint32_t replaced = 0;
  std::vector<std::uint32_t> source_of(f.registers.size(), none);
  std::vector<std::uint32_t> active;  // destinations with a live entry in source_of
  for (ir::Block& block : f.blocks) {
    for (std::uint32_t v : active) source_of[v] = none;
    active.clear();
    const auto forget = [&](std::uint32_t v) {
      active.erase(std::remove_if(active.begin(), active.end(),
                                  [&](std::uint32_t d) {
                                    if (d != v && source_of[d] != v) return false;
                                    source_of[d] = none;
                                    return true;
                                  }),
                   active.end());
    };
    for (ir::Instruction& i : block.instructions) {
      if (i.guarded && source_of[i.guard] != none) {
        i.guard = source_of[i.guard];
        ++replaced;
      }
      for (ir::Operand& o : i.sources)
        if ((o.is_reg() || o.is_predicate()) && source_of[o.id] != none) {
          o.id = source_of[o.id];
          ++replaced;
        }
      for (const ir::Operand& d : i.destinations)
        if ((d.is_reg() || d.is_predicate()) && !active.empty()) forget(d.id);
      if (is_plain_copy(f, i)) {
        source_of[i.destinations[0].id] = i.sources[0].id;
        active.push_back(i.destinations[0].id);
      }
    }
  }
  return replaced;
}

/// Leaves out the elements of a texture fetch that nobody reads: they take no registers.
void drop_elements(ir::Instruction& i, const analysis::BitSet& live) {
  if (i.op != ir::Opcode::tex && i.op != ir::Opcode::tld4) return;
  std::vector<ir::Operand> kept;
  std::uint8_t channels = 0;
  std::size_t next = 0;
  for (unsigned c = 0; c < 4; ++c) {
    if ((i.mod.texture.channels >> c & 1) == 0) continue;
    const ir::Operand& d = i.destinations[next++];
    if (!live.test(d.id)) continue;
    kept.push_back(d);
    channels = static_cast<std::uint8_t>(channels | 1u << c);
  }
  i.destinations = std::move(kept);
  i.mod.texture.channels = channels;
}

/// Drops instructions whose results are dead, from the end of each block up, until none is left: uses of a dead
/// instruction die with it in the same walk within a block, across blocks in the next round.
std::uint32_t remove_dead_code(ir::Function& f) {
  const Variables variables(f);
  std::uint32_t removed = 0;
  for (bool again = true; again;) {
    again = false;
    const analysis::Cfg cfg(f);
    const analysis::Liveness liveness(f, cfg);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      auto& code = f.blocks[b].instructions;
      analysis::BitSet live = liveness.live_out(b);
      std::vector<ir::Instruction> kept;
      for (std::size_t n = code.size(); n-- > 0;) {
        ir::Instruction& i = code[n];
        bool needed = !is_removable(i);
        variables.for_each_write(i, [&](std::uint32_t v) { needed |= live.test(v); });
        if (!needed) continue;
        drop_elements(i, live);
        if (!i.guarded) variables.for_each_write(i, [&](std::uint32_t v) { live.reset(v); });
        variables.for_each_read(i, [&](std::uint32_t v) { live.set(v); });
        kept.push_back(std::move(i));
      }
      if (kept.size() == code.size()) {
        std::reverse(kept.begin(), kept.end());
        code = std::move(kept);
        continue;
      }
      removed += static_cast<std::uint32_t>(code.size() - kept.size());
      std::reverse(kept.begin(), kept.end());
      code = std::move(kept);
      again = true;
    }
  }
  return removed;
}

}  // namespace

CleanupResult cleanup(ir::Function& f) {
  CleanupResult result;
  result.propagated_uses = propagate_copies(f);
  result.removed_instructions = remove_dead_code(f);
  return result;
}

}  // namespace regatta::passes
