// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace reference {

/// Levels of all nodes from `source`, -1 where it does not lead. Node i's edges are
/// edges[first_edge[i]] .. edges[first_edge[i] + degree[i] - 1], as distances to their other ends; one that leads out
/// of the graph does not count. `levels_run`, when given, receives the number of levels a host expands until one finds
/// nothing new.
std::vector<std::int32_t> bfs(const std::vector<std::int32_t>& first_edge, const std::vector<std::int32_t>& degree,
                              const std::vector<std::int32_t>& edges, std::int32_t source, int* levels_run = nullptr);

}  // namespace reference
