// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/divergent_paths.h>

#include <algorithm>

namespace regatta::trace {

DivergentPaths::DivergentPaths(const Kernel& kernel) : at_block_(kernel.blocks.size()) {
  const std::size_t blocks = kernel.blocks.size();
  std::vector<std::uint32_t> stamp(blocks, 0);
  std::uint32_t round = 0;
  const auto add = [&](Wait wait) {
    if (wait.from.empty() || wait.others.empty()) return;
    at_block_[wait.to].push_back(static_cast<std::uint32_t>(waits_.size()));
    waits_.push_back(std::move(wait));
  };
  for (std::uint32_t d = 0; d < blocks; ++d) {
    std::vector<std::uint32_t> sides = kernel.blocks[d].successors;
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
    if (sides.size() < 2) continue;
    const std::int32_t join = kernel.blocks[d].immediate_post_dominator;
    const auto is_join = [join](std::uint32_t b) { return join >= 0 && b == static_cast<std::uint32_t>(join); };
    // Per side: what its lanes run before they meet the others.
    std::vector<std::vector<std::uint32_t>> run(sides.size());
    for (std::size_t s = 0; s < sides.size(); ++s) {
      if (is_join(sides[s])) continue;
      stamp[sides[s]] = ++round;
      run[s].push_back(sides[s]);
      for (std::size_t next = 0; next < run[s].size(); ++next) {
        for (const std::uint32_t b : kernel.blocks[run[s][next]].successors) {
          if (is_join(b) || stamp[b] == round) continue;
          stamp[b] = round;
          run[s].push_back(b);
        }
      }
      std::sort(run[s].begin(), run[s].end());
    }
    for (std::size_t s = 0; s < sides.size(); ++s) {
      std::vector<std::uint32_t> others;
      for (std::size_t o = 0; o < sides.size(); ++o)
        if (o != s) others.insert(others.end(), run[o].begin(), run[o].end());
      std::sort(others.begin(), others.end());
      others.erase(std::unique(others.begin(), others.end()), others.end());
      add({sides[s], {d}, others});
      if (join < 0) continue;
      Wait at_join{static_cast<std::uint32_t>(join), {}, others};
      for (const std::uint32_t b : run[s]) {
        const std::vector<std::uint32_t>& to = kernel.blocks[b].successors;
        if (std::find(to.begin(), to.end(), at_join.to) != to.end()) at_join.from.push_back(b);
      }
      add(std::move(at_join));
    }
  }
}

std::vector<std::uint32_t> DivergentPaths::of_edge(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t w : at_block_[to])
    if (std::find(waits_[w].from.begin(), waits_[w].from.end(), from) != waits_[w].from.end()) found.push_back(w);
  return found;
}

std::vector<std::vector<std::uint32_t>> predecessors_of(const Kernel& kernel) {
  std::vector<std::vector<std::uint32_t>> predecessors(kernel.blocks.size());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b)
    for (const std::uint32_t s : kernel.blocks[b].successors)
      if (predecessors[s].empty() || predecessors[s].back() != b) predecessors[s].push_back(b);
  return predecessors;
}

}  // namespace regatta::trace
