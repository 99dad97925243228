// SPDX-License-Identifier: Apache-2.0
//
// Functions built by hand or at random for the analysis tests.
#pragma once

#include <regatta/ir/ir.h>

#include <random>
#include <vector>

namespace regatta::test {

/// A function with given edges (they are set directly, without terminators) and `registers` virtual registers.
ir::Function make_function(const std::vector<std::vector<std::uint32_t>>& successors, unsigned registers);
/// Appends `definitions = op(uses)` to a block.
ir::Instruction& append(ir::Function& f, std::uint32_t block, const std::vector<std::uint32_t>& definitions,
                        const std::vector<std::uint32_t>& uses);
/// A random graph of up to `most` blocks, endless loops, unreachable blocks and self loops included.
std::vector<std::vector<std::uint32_t>> random_edges(std::mt19937& random, unsigned most);

}  // namespace regatta::test
