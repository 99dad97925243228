// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/loops.h>

namespace regatta::analysis {

Loops::Loops(const Cfg& cfg, const Dominators& dominators) : depth_(cfg.size(), 0), innermost_(cfg.size(), -1) {
  // Headers in reverse post-order: an enclosing loop's header dominates and so precedes the inner one's.
  for (std::uint32_t header : cfg.reverse_post_order()) {
    Loop loop;
    loop.header = header;
    std::vector<std::uint32_t> work;
    for (std::uint32_t p : cfg.predecessors(header)) {
      if (!dominators.dominates(header, p)) continue;
      if (loop.blocks.size() == 0) {
        loop.blocks = BitSet(cfg.size());
        loop.blocks.set(header);
      }
      if (!loop.blocks.test(p)) {
        loop.blocks.set(p);
        work.push_back(p);
      }
    }
    if (loop.blocks.size() == 0) continue;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      for (std::uint32_t p : cfg.predecessors(b))
        if (cfg.reachable(p) && !loop.blocks.test(p)) {
          loop.blocks.set(p);
          work.push_back(p);
        }
    }
    loop.parent = innermost_[header];
    loop.depth = loop.parent < 0 ? 1 : loops_[static_cast<std::size_t>(loop.parent)].depth + 1;
    const auto index = static_cast<std::int32_t>(loops_.size());
    loop.blocks.for_each([&](std::uint32_t b) {
      ++depth_[b];
      innermost_[b] = index;
    });
    loops_.push_back(std::move(loop));
  }
}

}  // namespace regatta::analysis
