// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/soft_definitions.h>
#include <regatta/analysis/warp_liveness.h>

#include <algorithm>
#include <utility>

namespace regatta::analysis {

WarpLiveness::WarpLiveness(const ir::Function& f, const Cfg& cfg, const Dominators& dominators,
                           const PostDominators& post_dominators, LaneRule rule)
    : running_(std::make_unique<Liveness>(f, cfg)) {
  waiting_.assign(cfg.size(), BitSet(running_->variables().count()));
  follow_paths(cfg, post_dominators);
  if (rule == LaneRule::every_path) return;
  const WaitingLanes lanes = rule == LaneRule::printed ? WaitingLanes::printed : WaitingLanes::at_siblings;
  const SoftDefinitions soft(f, cfg, dominators, post_dominators, lanes);
  running_ = std::make_unique<Liveness>(f, cfg, &soft.soft());
  for (std::uint32_t b = 0; b < cfg.size(); ++b) waiting_[b] = soft.needed_by_waiting(b);
}

void WarpLiveness::add_waits(const SeenFlow& seen) {
  // By the place where lanes wait: what they need there is looked up once.
  std::vector<SeenFlow::Wait> waits = seen.waits;
  const auto place = [](const SeenFlow::Wait& w) { return std::make_pair(w.place, w.position); };
  std::sort(waits.begin(), waits.end(),
            [&](const SeenFlow::Wait& a, const SeenFlow::Wait& b) { return place(a) < place(b); });
  LivenessWalker walker(*running_);
  BitSet needed;
  for (std::size_t n = 0; n < waits.size(); ++n) {
    if (n == 0 || place(waits[n]) != place(waits[n - 1])) {
      walker.start(waits[n].place);
      const std::size_t after = running_->function().blocks[waits[n].place].instructions.size() - waits[n].position;
      for (std::size_t step = 0; step < after; ++step) walker.step();
      needed = walker.live();
    }
    waiting_[waits[n].running].merge(needed);
  }
}

void WarpLiveness::follow_paths(const Cfg& cfg, const PostDominators& post_dominators) {
  std::vector<std::uint32_t> stamp(cfg.size(), 0), stack;
  std::uint32_t round = 0;
  for (std::uint32_t d : cfg.reverse_post_order()) {
    const auto& sides = cfg.successors(d);
    if (sides.size() < 2) continue;
    const std::int32_t join = post_dominators.immediate(d);
    const auto is_join = [join](std::uint32_t b) { return join >= 0 && b == static_cast<std::uint32_t>(join); };
    for (std::uint32_t side : sides) {
      if (is_join(side)) continue;
      BitSet needed(running_->variables().count());
      if (join >= 0) needed.merge(running_->live_in(static_cast<std::uint32_t>(join)));
      for (std::uint32_t other : sides)
        if (other != side) needed.merge(running_->live_in(other));
      ++round;
      stack.assign(1, side);
      stamp[side] = round;
      while (!stack.empty()) {
        const std::uint32_t b = stack.back();
        stack.pop_back();
        waiting_[b].merge(needed);
        for (const std::uint32_t s : cfg.successors(b)) {
          if (is_join(s) || stamp[s] == round) continue;
          stamp[s] = round;
          stack.push_back(s);
        }
      }
    }
  }
}

}  // namespace regatta::analysis
