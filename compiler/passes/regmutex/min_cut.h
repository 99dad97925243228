// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Gives each node one of two values, yes or no, at the least total cost: a minimum cut (Dinic's algorithm).
class MinCut {
 public:
  static constexpr std::uint64_t never = std::uint64_t{1} << 60;  ///< a cost that is not to be paid

  explicit MinCut(std::size_t nodes) : arcs_of_(nodes + 2) {}

  /// The cost when the node is yes.
  void cost_of_yes(std::size_t node, std::uint64_t cost) { add(node, no(), cost, 0); }
  void cost_of_no(std::size_t node, std::uint64_t cost) { add(yes(), node, cost, 0); }
  /// The cost when the two nodes differ.
  void cost_of_difference(std::size_t a, std::size_t b, std::uint64_t cost) { add(a, b, cost, cost); }

  /// Of all cheapest answers, the one with the fewest yes.
  std::vector<bool> solve();

 private:
  struct Arc {
    std::uint32_t to = 0;
    std::uint64_t room = 0;
  };

  std::size_t yes() const { return arcs_of_.size() - 2; }
  std::size_t no() const { return arcs_of_.size() - 1; }
  void add(std::size_t a, std::size_t b, std::uint64_t room, std::uint64_t back);
  bool find_levels();
  std::uint64_t push();

  std::vector<Arc> arcs_;  ///< an arc and its opposite are neighbours
  std::vector<std::vector<std::uint32_t>> arcs_of_;
  std::vector<std::uint32_t> level_;  ///< distance from yes(), counted from 1; 0: not reached
  std::vector<std::size_t> tried_;
};

}  // namespace regatta::passes
