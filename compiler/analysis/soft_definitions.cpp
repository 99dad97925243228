// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/soft_definitions.h>

#include <algorithm>

namespace regatta::analysis {

namespace {

/// The printed test for reconvergence between D and B (lines 5 to 8 of the algorithm).
bool reconverged_as_printed(const Dominators& dominators, const PostDominators& post_dominators, std::uint32_t d,
                            std::uint32_t b) {
  for (auto x = static_cast<std::int32_t>(b); x >= 0; x = dominators.immediate(static_cast<std::uint32_t>(x)))
    if (post_dominators.strictly_post_dominates(static_cast<std::uint32_t>(x), d)) return true;
  return false;
}

/// Per block B: the successors S of B's strict dominators D such that lanes may wait at S while B runs.
std::vector<std::vector<std::uint32_t>> waiting_blocks(const Cfg& cfg, const Dominators& dominators,
                                                       const PostDominators& post_dominators, WaitingLanes rule) {
  std::vector<std::vector<std::uint32_t>> waiting(cfg.size());
  // Strict dominators of B from which control has not reconverged on the way down the tree: what its immediate
  // dominator had, and that dominator itself, without those that B post-dominates.
  std::vector<std::vector<std::uint32_t>> open(cfg.size());
  for (std::uint32_t b : cfg.reverse_post_order()) {
    if (dominators.immediate(b) < 0) continue;
    const auto parent = static_cast<std::uint32_t>(dominators.immediate(b));
    open[b] = open[parent];
    open[b].push_back(parent);
    if (rule != WaitingLanes::printed)
      open[b].erase(std::remove_if(open[b].begin(), open[b].end(),
                                   [&](std::uint32_t d) { return post_dominators.strictly_post_dominates(b, d); }),
                    open[b].end());
    for (std::uint32_t d : open[b]) {
      if (rule == WaitingLanes::printed && reconverged_as_printed(dominators, post_dominators, d, b)) continue;
      bool has_sibling = false;
      for (std::uint32_t s : cfg.successors(d))
        if (!dominators.dominates(s, b)) {
          waiting[b].push_back(s);
          has_sibling = true;
        }
      const std::int32_t reconvergence = post_dominators.immediate(d);
      if (rule == WaitingLanes::at_siblings_and_reconvergence && has_sibling && reconvergence >= 0)
        waiting[b].push_back(static_cast<std::uint32_t>(reconvergence));
    }
    std::sort(waiting[b].begin(), waiting[b].end());
    waiting[b].erase(std::unique(waiting[b].begin(), waiting[b].end()), waiting[b].end());
  }
  return waiting;
}

}  // namespace

SoftDefinitions::SoftDefinitions(const ir::Function& f, const Cfg& cfg, const Dominators& dominators,
                                 const PostDominators& post_dominators, WaitingLanes rule)
    : function_(&f) {
  const Variables variables(f);
  soft_.assign(cfg.size(), BitSet(variables.count()));
  std::vector<BitSet> defined(cfg.size(), BitSet(variables.count()));
  for (std::uint32_t b = 0; b < cfg.size(); ++b)
    for (const ir::Instruction& i : f.blocks[b].instructions)
      variables.for_each_write(i, [&](std::uint32_t v) { defined[b].set(v); });
  const auto waiting = waiting_blocks(cfg, dominators, post_dominators, rule);
  needed_.assign(cfg.size(), BitSet(variables.count()));

  for (bool grown = true; grown;) {
    liveness_ = std::make_unique<Liveness>(f, cfg, &soft_);
    grown = false;
    for (std::uint32_t b : cfg.reverse_post_order()) {
      if (waiting[b].empty()) continue;
      for (std::uint32_t s : waiting[b]) needed_[b].merge(liveness_->live_in(s));
      BitSet needed = needed_[b];
      needed.intersect(defined[b]);
      grown |= soft_[b].merge(needed);
    }
  }
}

bool SoftDefinitions::is_soft(std::uint32_t block, std::size_t index, std::uint32_t variable) const {
  return function_->blocks[block].instructions[index].guarded || soft_[block].test(variable);
}

}  // namespace regatta::analysis
