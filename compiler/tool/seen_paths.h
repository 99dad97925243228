// SPDX-License-Identifier: Apache-2.0
//
// The control flow of a kernel as the warps of a trace show it.
#pragma once

#include <regatta/analysis/seen_flow.h>
#include <regatta/trace/kernel.h>
#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

namespace regatta::tool {

/// Collects over all warps of one kernel. The kernel's blocks have to be its instructions in order, each once.
class SeenPaths {
 public:
  /// `kernel` must outlive this object.
  explicit SeenPaths(const trace::Kernel& kernel);

  /// Throws trace::InputError if lanes go from one place to another that no edge of the kernel leads to.
  void add(const trace::WarpColumns& warp);

  analysis::SeenFlow flow() const;
  /// Whether warps turned to other lanes between blocks only.
  bool is_by_block() const { return by_block_; }
  /// Whether they also went and waited as after branches whose lanes meet again at `joins`, by block, and where the
  /// kernel itself says that they meet (BasicBlock::reconvergence).
  bool is_nested(const std::vector<std::int32_t>& joins) const;

 private:
  using Pairs = std::unordered_set<std::uint64_t>;
  static std::uint64_t pair(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }
  static std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted(const Pairs& pairs);
  bool is_first(std::uint32_t index) const { return kernel_.blocks[block_of_[index]].first == index; }
  bool is_last(std::uint32_t index) const { return index + 1 == block_of_.size() || is_first(index + 1); }
  void check_edge(const trace::PathCursor& path, std::uint32_t from, std::uint32_t to) const;
  bool meet_at(const std::vector<std::int32_t>& joins) const;

  const trace::Kernel& kernel_;
  std::vector<std::uint32_t> block_of_;  ///< by static index
  Pairs next_;                           ///< blocks: a warp ran one behind the other
  Pairs waits_;                          ///< block that ran, static index in front of which lanes waited
  bool by_block_ = true;
};

}  // namespace regatta::tool
