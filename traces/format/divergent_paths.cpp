// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/divergent_paths.h>

#include <algorithm>

namespace regatta::trace {

namespace {

void sort_and_name_once(std::vector<std::uint32_t>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

bool is_block(std::int32_t join, std::uint32_t block) { return join >= 0 && block == static_cast<std::uint32_t>(join); }

bool goes_to(const BasicBlock& block, std::int32_t join) {
  return std::any_of(block.successors.begin(), block.successors.end(),
                     [join](std::uint32_t b) { return is_block(join, b); });
}

}  // namespace

std::vector<DivergentBranch> divergent_branches(const Kernel& kernel) {
  std::vector<DivergentBranch> branches;
  std::vector<std::uint32_t> stamp(kernel.blocks.size(), 0);  // of the last side that a block was found on
  std::uint32_t side = 0;
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    DivergentBranch branch{b, kernel.blocks[b].reconvergence, kernel.blocks[b].successors, {}};
    sort_and_name_once(branch.sides);
    if (branch.sides.size() < 2) continue;
    for (const std::uint32_t start : branch.sides) {
      std::vector<std::uint32_t> run;
      ++side;
      const auto visit = [&](std::uint32_t block) {
        if (is_block(branch.join, block) || stamp[block] == side) return;
        stamp[block] = side;
        run.push_back(block);
      };
      visit(start);
      // The list grows meanwhile.
      for (std::size_t next = 0; next < run.size();) {
        for (const std::uint32_t successor : kernel.blocks[run[next++]].successors) visit(successor);
      }
      std::sort(run.begin(), run.end());
      branch.run.push_back(std::move(run));
    }
    branches.push_back(std::move(branch));
  }
  return branches;
}

DivergentPaths::DivergentPaths(const Kernel& kernel) : at_block_(kernel.blocks.size()) {
  const auto add = [&](Wait wait) {
    if (wait.from.empty() || wait.others.empty()) return;
    at_block_[wait.to].push_back(static_cast<std::uint32_t>(waits_.size()));
    waits_.push_back(std::move(wait));
  };
  for (const DivergentBranch& branch : divergent_branches(kernel)) {
    for (std::size_t s = 0; s < branch.sides.size(); ++s) {
      std::vector<std::uint32_t> others;
      for (std::size_t o = 0; o < branch.sides.size(); ++o)
        if (o != s) others.insert(others.end(), branch.run[o].begin(), branch.run[o].end());
      sort_and_name_once(others);
      add({branch.sides[s], {branch.block}, others});
      if (branch.join < 0) continue;
      Wait at_join{static_cast<std::uint32_t>(branch.join), {}, std::move(others)};
      for (const std::uint32_t b : branch.run[s])
        if (goes_to(kernel.blocks[b], branch.join)) at_join.from.push_back(b);
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

std::vector<std::vector<std::uint32_t>> warp_successors(const Kernel& kernel) {
  const auto exits = [&](const BasicBlock& b) {
    return b.count != 0 && kernel.instructions[b.first + b.count - 1].op_class == OpClass::exit;
  };
  std::vector<std::vector<std::uint32_t>> next;
  for (const BasicBlock& b : kernel.blocks) next.push_back(b.successors);
  for (const DivergentBranch& branch : divergent_branches(kernel)) {
    std::vector<std::uint32_t> waiting = branch.sides;
    if (branch.join >= 0) waiting.push_back(static_cast<std::uint32_t>(branch.join));
    for (const std::vector<std::uint32_t>& run : branch.run)
      for (const std::uint32_t b : run)
        if (exits(kernel.blocks[b]) || goes_to(kernel.blocks[b], branch.join))
          next[b].insert(next[b].end(), waiting.begin(), waiting.end());
  }
  for (std::vector<std::uint32_t>& n : next) sort_and_name_once(n);
  return next;
}

std::vector<std::vector<std::uint32_t>> predecessors_of(const Kernel& kernel) {
  std::vector<std::vector<std::uint32_t>> predecessors(kernel.blocks.size());
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b)
    for (const std::uint32_t s : kernel.blocks[b].successors)
      if (predecessors[s].empty() || predecessors[s].back() != b) predecessors[s].push_back(b);
  return predecessors;
}

}  // namespace regatta::trace
