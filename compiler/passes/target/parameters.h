// SPDX-License-Identifier: Apache-2.0
//
// Constants as a machine without constant operands has them.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Loads each parameter and launch dimension that is an operand of other instructions once, in the block that leads to
/// all its uses and is in the fewest loops: into a general register, or into a uniform one (uldc) where that is the
/// only operand that is no general register. Uniform registers are not modelled: they take no general register, and
/// their readers do not wait for them. Puts the load of the stack pointer at the kernel's start, and that of the
/// descriptor of global memory, if there are accesses, where the first are. Returns the number of loads. Edges are
/// built before and after.
std::uint32_t load_parameters(ir::Function& f);

}  // namespace regatta::passes
