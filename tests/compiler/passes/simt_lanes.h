// SPDX-License-Identifier: Apache-2.0
//
// The SIMT stack of a few explicit lanes at the granularity of blocks: the states that a warp can be in.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace regatta::test {

class SimtLanes {
 public:
  struct Entry {
    std::int32_t block = 0;  ///< where its lanes go on
    std::int32_t meet = -1;  ///< where they wait for the lanes below; -1: the kernel's exit
    std::uint32_t lanes = 0;
    bool operator<(const Entry& o) const {
      if (block != o.block) return block < o.block;
      return meet != o.meet ? meet < o.meet : lanes < o.lanes;
    }
  };

  explicit SimtLanes(std::uint32_t lanes) { stack_.push_back({0, -1, lanes}); }

  bool done() const { return stack_.empty(); }
  std::uint32_t block() const { return static_cast<std::uint32_t>(stack_.back().block); }
  std::uint32_t lanes() const { return stack_.back().lanes; }
  const std::vector<Entry>& stack() const { return stack_; }
  bool operator<(const SimtLanes& o) const { return stack_ < o.stack_; }

  /// Blocks where lanes wait: those of an entry that no entry above still runs.
  std::vector<std::uint32_t> waiting() const {
    std::vector<std::uint32_t> blocks;
    std::uint32_t above = lanes();
    for (std::size_t n = stack_.size() - 1; n-- > 0;) {
      if ((stack_[n].lanes & ~above) != 0) blocks.push_back(static_cast<std::uint32_t>(stack_[n].block));
      above |= stack_[n].lanes;
    }
    return blocks;
  }

  /// Leaves the block: `taken` go to the target of its branch, or leave the kernel if it ends in an exit, the others go
  /// on with the next block. `target_first`: the order of the sides.
  void leave(const trace::Kernel& kernel, std::uint32_t taken, bool target_first) {
    const trace::BasicBlock& b = kernel.blocks[block()];
    const trace::StaticInstruction& last = kernel.instructions[b.first + b.count - 1];
    const auto next = static_cast<std::int32_t>(block() + 1);
    const std::uint32_t stay = lanes() & ~taken;
    if (last.op_class == trace::OpClass::exit) {
      for (Entry& e : stack_) e.lanes &= ~taken;
      stack_.back().block = next;
    } else if (taken == 0) {
      stack_.back().block = next;
    } else {
      const std::int32_t target = block_of(kernel, static_cast<std::uint32_t>(last.branch_target));
      if (stay == 0 || target == next) {
        stack_.back().block = stay == 0 ? target : next;
      } else {
        split({target, b.reconvergence, taken}, {next, b.reconvergence, stay}, target_first);
      }
    }
    settle();
  }

 private:
  static std::int32_t block_of(const trace::Kernel& kernel, std::uint32_t index) {
    for (std::size_t b = 0; b < kernel.blocks.size(); ++b)
      if (kernel.blocks[b].first == index) return static_cast<std::int32_t>(b);
    return -1;
  }

  void split(Entry target, Entry other, bool target_first) {
    stack_.back().block = target.meet;
    if (target_first) std::swap(target, other);
    for (const Entry& side : {target, other})
      if (side.block != side.meet) stack_.push_back(side);
  }

  /// Takes off entries whose lanes have come to the place where they wait, or have left.
  void settle() {
    while (!stack_.empty() && (stack_.back().lanes == 0 || stack_.back().block == stack_.back().meet))
      stack_.pop_back();
  }

  std::vector<Entry> stack_;  ///< the last one runs
};

}  // namespace regatta::test
