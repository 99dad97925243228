// SPDX-License-Identifier: Apache-2.0
//
// One thread, the few opcodes that the random programs use, before and after allocation: the oracle for passes
// that must not change what a program does.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <map>
#include <vector>

namespace regatta::test {

struct Run {
  std::map<std::uint64_t, std::uint8_t> memory;  ///< bytes of global memory that were written
  std::vector<std::uint64_t> events;             ///< address and value of every volatile access and atomic, in order
  std::vector<std::uint32_t> path;               ///< blocks entered, in order
  bool finished = false;                         ///< reached exit within the limit

  friend bool operator==(const Run& a, const Run& b) {
    return a.memory == b.memory && a.events == b.events && a.path == b.path && a.finished == b.finished;
  }
};

/// Stops after `most_blocks` blocks, so that runs can be compared whatever a pass does within blocks. Global memory
/// and parameters hold, where nothing was written, bytes that depend on the address alone; the two share nothing.
/// Throws std::runtime_error on an opcode it does not know and on a register outside the file.
Run interpret(const ir::Function& f, std::size_t most_blocks);

}  // namespace regatta::test
