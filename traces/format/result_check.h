// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace regatta::trace {

/// Decodes the results of instructions, and finds an operation that has another result than an earlier one of the
/// launch with the same operands in the same lanes. Judges operations whose operands the trace names in full: no
/// memory, predicates, special registers or carry, and no register that the warp has not written.
class ResultCheck {
 public:
  void begin_launch() { known_.clear(); }
  void begin_warp(const Kernel& kernel);
  /// All results and predicates of the instruction that the cursor is at.
  void decode(WarpCursor& cursor);

 private:
  std::uint64_t key_of(const StaticInstruction& instruction, std::uint64_t operation, LaneMask active) const;

  const Kernel* kernel_ = nullptr;
  std::vector<std::uint64_t> operations_;  ///< by static index: a number for opcode and constants; 0: not judged
  std::vector<WarpValue> registers_;
  std::vector<LaneMask> written_;
  std::unordered_map<std::uint64_t, std::uint64_t> known_;  ///< results by operation and operands
};

}  // namespace regatta::trace
