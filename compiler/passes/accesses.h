// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/ir/ir.h>

namespace regatta::passes {

/// Source 0 is the address of a memory access.
inline bool is_access(const ir::Instruction& i) { return ir::accesses_memory(i.op); }

}  // namespace regatta::passes
