// SPDX-License-Identifier: Apache-2.0
#include "bfs.h"

#include "expected.h"

namespace reference {

std::vector<std::int32_t> bfs(const std::vector<std::int32_t>& first_edge, const std::vector<std::int32_t>& degree,
                              const std::vector<std::int32_t>& edges, std::int32_t source, int* levels_run) {
  std::vector<std::int32_t> level(first_edge.size(), -1);
  std::vector<std::int32_t> frontier{source};
  level.at(static_cast<std::size_t>(source)) = 0;
  int levels = 0;
  while (!frontier.empty()) {
    std::vector<std::int32_t> reached;
    for (const std::int32_t node : frontier) {
      const auto from = static_cast<std::size_t>(node);
      for (std::int32_t i = 0; i < degree.at(from); ++i) {
        const std::int32_t neighbour = node + edges.at(static_cast<std::size_t>(first_edge[from] + i));
        if (neighbour < 0 || neighbour >= static_cast<std::int32_t>(level.size())) continue;
        std::int32_t& neighbour_level = level.at(static_cast<std::size_t>(neighbour));
        if (neighbour_level < 0) {
          neighbour_level = levels + 1;
          reached.push_back(neighbour);
        }
      }
    }
    frontier.swap(reached);
    ++levels;
  }
  if (levels_run != nullptr) *levels_run = levels;
  return level;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_bfs(const LaunchData& data) {
  return {exact("level", reference::bfs(data.buffer<std::int32_t>("first_edge"), data.buffer<std::int32_t>("degree"),
                                        data.buffer<std::int32_t>("edges"), data.scalar<std::int32_t>(1, "init")))};
}

}  // namespace regatta::test
