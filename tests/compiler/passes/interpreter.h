// SPDX-License-Identifier: Apache-2.0
//
// One thread, the few opcodes that the random programs use, before and after allocation: the oracle for passes
// that must not change what a program does.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <vector>

namespace regatta::test {

struct Run {
  std::vector<std::uint64_t> events;  ///< address and value of every store to global memory, in order
  bool finished = false;              ///< reached exit within the step limit
  std::size_t steps = 0;
};

/// Stops after `most_steps` instructions or `most_events` events. Loads from global memory and parameters give a
/// value that depends on the address alone. Throws std::runtime_error on an opcode it does not know and on a
/// register outside the file.
Run interpret(const ir::Function& f, std::size_t most_steps, std::size_t most_events);

}  // namespace regatta::test
