// SPDX-License-Identifier: Apache-2.0
#include "min_cut.h"

#include <algorithm>

namespace regatta::passes {

void MinCut::add(std::size_t a, std::size_t b, std::uint64_t room, std::uint64_t back) {
  if (a == b || (room == 0 && back == 0)) return;
  arcs_of_[a].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({static_cast<std::uint32_t>(b), room});
  arcs_of_[b].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({static_cast<std::uint32_t>(a), back});
}

bool MinCut::find_levels() {
  level_.assign(arcs_of_.size(), 0);
  level_[yes()] = 1;
  std::vector<std::size_t> open{yes()};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const std::size_t node = open[next];
    for (const std::uint32_t a : arcs_of_[node]) {
      const Arc& arc = arcs_[a];
      if (arc.room == 0 || level_[arc.to] != 0) continue;
      level_[arc.to] = level_[node] + 1;
      open.push_back(arc.to);
    }
  }
  return level_[no()] != 0;
}

/// One augmenting path through the levels, without recursion: paths are as long as the code.
std::uint64_t MinCut::push() {
  std::vector<std::uint32_t> path;
  std::size_t node = yes();
  while (node != no()) {
    const std::vector<std::uint32_t>& arcs = arcs_of_[node];
    std::size_t& next = tried_[node];
    while (next < arcs.size() && (arcs_[arcs[next]].room == 0 || level_[arcs_[arcs[next]].to] != level_[node] + 1))
      ++next;
    if (next < arcs.size()) {
      path.push_back(arcs[next]);
      node = arcs_[arcs[next]].to;
      continue;
    }
    if (path.empty()) return 0;
    node = arcs_[path.back() ^ 1].to;
    path.pop_back();
    ++tried_[node];
  }
  std::uint64_t flow = UINT64_MAX;
  for (const std::uint32_t a : path) flow = std::min(flow, arcs_[a].room);
  for (const std::uint32_t a : path) {
    arcs_[a].room -= flow;
    arcs_[a ^ 1].room += flow;
  }
  return flow;
}

std::vector<bool> MinCut::solve() {
  while (find_levels()) {
    tried_.assign(arcs_of_.size(), 0);
    while (push() != 0) {
    }
  }
  // What yes() still reaches.
  std::vector<bool> answer(arcs_of_.size() - 2);
  for (std::size_t node = 0; node < answer.size(); ++node) answer[node] = level_[node] != 0;
  return answer;
}

}  // namespace regatta::passes
