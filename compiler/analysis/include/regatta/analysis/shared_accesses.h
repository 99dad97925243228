// SPDX-License-Identifier: Apache-2.0
//
// Which shared variables a memory access may touch: what the layout of scratchpad memory is chosen by (thesis of
// V. Jatala, section 3.2.1).
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::analysis {

/// Variables as a set: bit v is variable v. Variables from `most_shared_bits - 1` on share the last bit.
using VariableSet = std::uint64_t;
inline constexpr std::uint32_t most_shared_bits = 64;
constexpr VariableSet variable_bit(std::size_t variable) {
  return VariableSet{1} << (variable < most_shared_bits ? variable : most_shared_bits - 1);
}
/// Of variables 0 to `count` - 1.
constexpr VariableSet all_variables(std::size_t count) {
  return count >= most_shared_bits ? ~VariableSet{0} : (VariableSet{1} << count) - 1;
}

/// Fills Instruction::shared_accesses of a function that is not allocated yet. The addresses of shared variables are
/// followed through registers, whatever the path. An access through an address of unknown origin counts as one to every
/// variable: in shared space also where only some paths lead to a number without an address in it; in generic space if
/// the address may be a shared one, because it was computed from a number in the shared window, or loaded after the
/// kernel stored the address of a shared variable somewhere.
void mark_shared_accesses(ir::Function& f);

}  // namespace regatta::analysis
