// SPDX-License-Identifier: Apache-2.0
//
// Convergence barriers: where the lanes of a warp may part and where they meet again.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Which virtual registers may differ between the lanes of a warp. Lanes differ by their thread numbers, by what they
/// load from addresses that differ, by what atomics give, and by the way they came.
std::vector<bool> divergent_registers(const ir::Function& f);

/// Puts bssy where lanes may part, and bsync where they meet: a pair for each place to meet, in front of the first of
/// the branches that lead there and outside of the loops that these are in. Branches whose lanes agree have none, nor
/// those that have one already. Returns the number of pairs. Edges are built before and after.
std::uint32_t add_convergence_barriers(ir::Function& f);

}  // namespace regatta::passes
