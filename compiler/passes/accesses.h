// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/ir/ir.h>

namespace regatta::passes {

/// Source 0 is the address of a memory access.
inline bool is_access(const ir::Instruction& i) {
  return i.op == ir::Opcode::ld || i.op == ir::Opcode::st || i.op == ir::Opcode::atom || i.op == ir::Opcode::red;
}

}  // namespace regatta::passes
