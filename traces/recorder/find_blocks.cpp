// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/kernel_builder.h>

#include <algorithm>

namespace regatta::trace {
namespace {

/// Immediate post-dominators by the algorithm of Cooper, Harvey and Kennedy on the reversed graph, in which node `n` is
/// the exit that all blocks without a successor lead to. Blocks from which no path leads there are given to it.
class PostDominators {
 public:
  explicit PostDominators(const std::vector<BasicBlock>& blocks)
      : size_(blocks.size()), successors_(size_), order_(size_ + 1, unreached), parent_(size_ + 1, unreached) {
    std::vector<std::vector<std::size_t>> predecessors(size_ + 1);
    for (std::size_t b = 0; b < size_; ++b) {
      successors_[b].assign(blocks[b].successors.begin(), blocks[b].successors.end());
      if (successors_[b].empty()) successors_[b].push_back(size_);
      for (const std::size_t s : successors_[b]) predecessors[s].push_back(b);
    }
    number(predecessors, size_);
    // Blocks of endless loops: the last of each, until all are reached.
    for (std::size_t b = size_; b-- > 0;) {
      if (order_[b] != unreached) continue;
      successors_[b].push_back(size_);
      number(predecessors, b);
    }
    solve();
  }

  std::int32_t of(std::size_t block) const {
    return parent_[block] == size_ ? -1 : static_cast<std::int32_t>(parent_[block]);
  }

 private:
  static constexpr std::size_t unreached = ~std::size_t{0};

  /// Post-order of a depth-first walk, without recursion: kernels can have a million blocks.
  void number(const std::vector<std::vector<std::size_t>>& predecessors, std::size_t from) {
    std::vector<std::pair<std::size_t, std::size_t>> stack{{from, 0}};
    order_[from] = 0;  // seen; the number follows
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == predecessors[node].size()) {
        order_[node] = by_order_.size();
        by_order_.push_back(node);
        stack.pop_back();
        continue;
      }
      const std::size_t p = predecessors[node][next++];
      if (order_[p] != unreached) continue;
      order_[p] = 0;
      stack.emplace_back(p, 0);
    }
    if (from == size_) return;
    // The exit is the root of all, and so has the highest number.
    by_order_.erase(std::find(by_order_.begin(), by_order_.end(), size_));
    by_order_.push_back(size_);
    for (std::size_t n = 0; n < by_order_.size(); ++n) order_[by_order_[n]] = n;
  }

  std::size_t meet(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (order_[a] < order_[b]) a = parent_[a];
      while (order_[b] < order_[a]) b = parent_[b];
    }
    return a;
  }

  void solve() {
    parent_[size_] = size_;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t n = by_order_.size() - 1; n-- > 0;) {
        const std::size_t b = by_order_[n];
        std::size_t found = unreached;
        for (const std::size_t s : successors_[b]) {
          if (parent_[s] == unreached) continue;
          found = found == unreached ? s : meet(found, s);
        }
        if (found == unreached || found == parent_[b]) continue;
        parent_[b] = found;
        changed = true;
      }
    }
  }

  std::size_t size_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::size_t> order_, parent_, by_order_;
};

}  // namespace

void find_blocks(Kernel& kernel, const ExtraEdges& extra) {
  const std::vector<StaticInstruction>& code = kernel.instructions;
  const auto size = static_cast<std::uint32_t>(code.size());
  kernel.blocks.clear();
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  for (std::uint32_t i = 0; i < size; ++i) {
    const bool branches = code[i].op_class == OpClass::branch;
    if (branches) leads[static_cast<std::uint32_t>(code[i].branch_target)] = true;
    if (branches || code[i].op_class == OpClass::exit) leads[i + 1] = true;
  }
  for (const auto& [from, to] : extra) leads[from + 1] = leads[to] = true;
  std::vector<std::uint32_t> block_of(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (leads[i]) kernel.blocks.push_back({i, 0, {}, -1});
    ++kernel.blocks.back().count;
    block_of[i] = static_cast<std::uint32_t>(kernel.blocks.size() - 1);
  }
  const auto connect = [&](BasicBlock& block, std::uint32_t to) {
    const std::uint32_t successor = block_of[to];
    if (std::find(block.successors.begin(), block.successors.end(), successor) == block.successors.end()) {
      block.successors.push_back(successor);
    }
  };
  for (BasicBlock& block : kernel.blocks) {
    const std::uint32_t last = block.first + block.count - 1;
    const StaticInstruction& i = code[last];
    if (i.op_class == OpClass::branch) connect(block, static_cast<std::uint32_t>(i.branch_target));
    const bool always_leaves = (i.op_class == OpClass::branch || i.op_class == OpClass::exit) && i.guard.predicate < 0;
    if (!always_leaves && last + 1 < size) connect(block, last + 1);
  }
  for (const auto& [from, to] : extra) connect(kernel.blocks[block_of[from]], to);
  const PostDominators post(kernel.blocks);
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b) kernel.blocks[b].reconvergence = post.of(b);
}

}  // namespace regatta::trace
