// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace reference {

/// The matrix of best scores of aligning the first symbols of `down` (rows) with the first of `across` (columns), one
/// row and column more than symbols, row-major. `substitution` is what two symbols are worth, a square matrix; `gap` is
/// what a gap costs.
std::vector<std::int32_t> needleman_wunsch(const std::vector<std::uint8_t>& down,
                                           const std::vector<std::uint8_t>& across,
                                           const std::vector<std::int32_t>& substitution, std::int32_t gap);

}  // namespace reference
