// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/liveness.h>

namespace regatta::analysis {

Liveness::Liveness(const ir::Function& f, const Cfg& cfg, const std::vector<BitSet>* soft, const BitSet* certain)
    : function_(&f), variables_(f) {
  const std::size_t count = variables_.count();
  if (soft) soft_ = *soft;
  if (certain) certain_ = *certain;
  live_in_.assign(cfg.size(), BitSet(count));
  live_out_.assign(cfg.size(), BitSet(count));

  // What a block needs when nothing is live at its end, and what it defines for certain. A definition under a
  // guard that satisfies only uses under the same guard drops out of the first set and stays out of the second:
  // that is the wanted answer both when the variable leaves the block and when it does not.
  std::vector<BitSet> needed(cfg.size()), kills(cfg.size(), BitSet(count));
  const BitSet nothing(count);
  LivenessWalker walker(*this);
  for (std::uint32_t b = 0; b < cfg.size(); ++b) {
    for (const ir::Instruction& i : f.blocks[b].instructions)
      variables_.for_each_write(i, [&](std::uint32_t v) {
        if ((!i.guarded || is_certain(v)) && !is_soft(b, v)) kills[b].set(v);
      });
    for (walker.start(b, &nothing); walker.more();) walker.step();
    needed[b] = walker.live();
  }

  std::vector<std::uint32_t> order = cfg.reverse_post_order();
  for (std::uint32_t b = 0; b < cfg.size(); ++b)
    if (!cfg.reachable(b)) order.push_back(b);
  std::vector<bool> queued(cfg.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const std::uint32_t b = *it;
      if (!queued[b]) continue;
      queued[b] = false;
      for (std::uint32_t s : cfg.successors(b)) live_out_[b].merge(live_in_[s]);
      BitSet in = live_out_[b];
      in.subtract(kills[b]);
      in.merge(needed[b]);
      if (live_in_[b].merge(in)) {
        for (std::uint32_t p : cfg.predecessors(b)) queued[p] = true;
        changed = true;
      }
    }
  }
}

LivenessWalker::LivenessWalker(const Liveness& liveness)
    : liveness_(&liveness),
      guard_of_uses_(liveness.variables().count()),
      writes_seen_(liveness.variables().count(), 0) {}

void LivenessWalker::start(std::uint32_t block, const BitSet* live_at_end) {
  block_ = block;
  position_ = liveness_->function().blocks[block].instructions.size();
  live_ = live_at_end ? *live_at_end : liveness_->live_out(block);
  live_.for_each([&](std::uint32_t v) { guard_of_uses_[v].single = false; });
}

void LivenessWalker::step() {
  const ir::Instruction& i = liveness_->function().blocks[block_].instructions[--position_];
  const Variables& variables = liveness_->variables();
  const std::uint32_t guard = i.guarded ? variables.predicate(i.guard) : 0;

  // Reads happen before writes, so an instruction that writes its own guard ran under the older version: it
  // must not kill for uses under the newer one.
  variables.for_each_write(i, [&](std::uint32_t v) { ++writes_seen_[v]; });
  variables.for_each_write(i, [&](std::uint32_t v) {
    if (!live_.test(v) || liveness_->is_soft(block_, v)) return;
    const GuardState& uses = guard_of_uses_[v];
    if (!i.guarded || liveness_->is_certain(v) ||
        (uses.single && uses.predicate == guard && uses.negated == i.guard_negated &&
         uses.version == writes_seen_[guard]))
      live_.reset(v);
  });
  bool reading_guard = i.guarded;  // the guard itself is read whatever its value
  variables.for_each_read(i, [&](std::uint32_t v) {
    GuardState& uses = guard_of_uses_[v];
    const bool under_guard = i.guarded && !reading_guard;
    reading_guard = false;
    const std::uint32_t version = under_guard ? writes_seen_[guard] : 0;
    if (!live_.test(v)) {
      live_.set(v);
      uses = {guard, version, i.guard_negated, under_guard};
    } else if (!under_guard || uses.predicate != guard || uses.negated != i.guard_negated || uses.version != version) {
      uses.single = false;
    }
  });
}

}  // namespace regatta::analysis
