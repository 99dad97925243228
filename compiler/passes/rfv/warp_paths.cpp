// SPDX-License-Identifier: Apache-2.0
#include "warp_paths.h"

#include <algorithm>

namespace regatta::passes {

namespace {

class WarpPaths {
 public:
  explicit WarpPaths(analysis::FunctionAnalyses& analyses)
      : f_(analyses.function()), cfg_(analyses.cfg()), post_dominators_(analyses.post_dominators()) {}

  std::vector<std::vector<std::uint32_t>> find() {
    for (std::uint32_t b = 0; b < cfg_.size(); ++b) next_.push_back(cfg_.successors(b));
    for (const std::uint32_t b : cfg_.reverse_post_order())
      if (cfg_.successors(b).size() > 1) add_branch(b);
    for (std::vector<std::uint32_t>& n : next_) {
      std::sort(n.begin(), n.end());
      n.erase(std::unique(n.begin(), n.end()), n.end());
    }
    return std::move(next_);
  }

 private:
  void add_branch(std::uint32_t branch) {
    const std::int32_t meet = post_dominators_.immediate(branch);
    const auto meets = [meet](std::uint32_t b) { return meet >= 0 && b == static_cast<std::uint32_t>(meet); };
    // Where lanes may wait: the sides, and the block where they meet.
    std::vector<std::uint32_t> waiting = cfg_.successors(branch);
    if (meet >= 0) waiting.push_back(static_cast<std::uint32_t>(meet));
    std::vector<bool> seen(cfg_.size(), false);
    std::vector<std::uint32_t> open;
    const auto visit = [&](std::uint32_t b) {
      if (meets(b) || seen[b]) return;
      seen[b] = true;
      open.push_back(b);
    };
    for (const std::uint32_t side : cfg_.successors(branch)) visit(side);
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      const std::vector<std::uint32_t>& successors = cfg_.successors(b);
      if (f_.blocks[b].instructions.back().op == ir::Opcode::exit ||
          std::any_of(successors.begin(), successors.end(), meets))
        next_[b].insert(next_[b].end(), waiting.begin(), waiting.end());
      for (const std::uint32_t s : successors) visit(s);
    }
  }

  const ir::Function& f_;
  const analysis::Cfg& cfg_;
  const analysis::PostDominators& post_dominators_;
  std::vector<std::vector<std::uint32_t>> next_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> warp_successors(analysis::FunctionAnalyses& analyses) {
  return WarpPaths(analyses).find();
}

}  // namespace regatta::passes
