// SPDX-License-Identifier: Apache-2.0
//
// How many registers a thread may have at each place of a kernel that changes that (setmaxnreg).
#pragma once

#include <regatta/ir/ir.h>

#include <vector>

namespace regatta::passes {

inline bool sets_registers(const ir::Function& f) { return f.entry_registers != 0; }

/// Of a function with entry_registers. Where ways with different limits meet, the least of them holds, as with ptxas;
/// general registers, at most trace::max_general_registers.
class RegisterLimits {
 public:
  /// The function's edges are built.
  explicit RegisterLimits(const ir::Function& f);

  /// At the start of a block.
  unsigned at_start(std::uint32_t block) const { return at_start_[block]; }
  /// Behind an instruction before which `limit` holds.
  static unsigned behind(const ir::Instruction& i, unsigned limit);
  /// The least within a block.
  unsigned least(std::uint32_t block) const { return least_[block]; }
  /// The most that some way leaves a warp before the instruction.
  unsigned most_before(std::uint32_t block, std::size_t instruction) const;

 private:
  const ir::Function& f_;
  std::vector<unsigned> at_start_, most_at_start_, least_;
};

/// Throws std::logic_error for an allocated function that uses a register above the limit of its place.
void verify_limits(const ir::Function& f);

}  // namespace regatta::passes
