// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/kernel.h>

#include <string>

namespace regatta::checker {

/// What a matrix product reads from a register: "A1" (register 1 of A's fragment), "C0", "A0 and B0", "descriptor of
/// B". Empty for other instructions.
std::string operand_name(const trace::StaticInstruction& instruction, unsigned reg);

}  // namespace regatta::checker
