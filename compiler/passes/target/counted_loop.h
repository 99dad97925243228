// SPDX-License-Identifier: Apache-2.0
//
// Loops of one block that count by a number to a bound that stays.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <optional>

namespace regatta::passes {

/// `do body while (counter + step, compared with bound)`.
struct CountedLoop {
  std::uint32_t block = 0;
  std::uint32_t counter = 0;
  std::int32_t step = 0;
  ir::Compare stays = ir::Compare::none;  ///< of counter and bound, as signed or unsigned numbers
  ir::Type type = ir::Type::s32;
  ir::Operand bound;
  std::optional<std::uint64_t> trips;  ///< if known
  bool is_uniform = false;             ///< counter and bound are the same in all lanes
};

/// The loop that the block is, if it is one, has no barrier and no carry, and is not to be kept as it is
/// (ir::Block::keeps_loop). Edges are built.
std::optional<CountedLoop> counted_loop(const ir::Function& f, std::uint32_t block);

/// An addition of a number to a register itself.
bool is_step(const ir::Instruction& i);

}  // namespace regatta::passes
