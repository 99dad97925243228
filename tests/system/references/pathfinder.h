// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace reference {

/// What the cheapest ways to the cells of the last row cost. `cost` is that of the row above the first of `weights`,
/// which holds whole rows; a step leads to the cell below or to one beside that.
std::vector<std::int32_t> pathfinder(std::vector<std::int32_t> cost, const std::vector<std::uint8_t>& weights);

}  // namespace reference
