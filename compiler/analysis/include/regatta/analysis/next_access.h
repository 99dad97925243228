// SPDX-License-Identifier: Apache-2.0
//
// How far away the next access to each variable is, read or write, counted in instructions: Dist of GREENER (Jatala,
// thesis, section 4.2.1).
#pragma once

#include <regatta/analysis/cfg.h>
#include <regatta/analysis/variables.h>

#include <cstdint>
#include <vector>

namespace regatta::analysis {

/// Dist with a bound. An instruction that accesses the variable is at distance 1 from the place in front of it; over
/// several paths the longest counts, and a path that leaves the kernel or goes on for `bound` instructions without an
/// access counts as infinite. The equations have one solution: a cycle either has an access or saturates.
/// For a bound w below this one, Dist is `beyond` where it is above w, and the same elsewhere.
class NextAccess {
 public:
  static constexpr std::uint8_t beyond = 0xff;  ///< infinite

  /// `bound`: 1..254.
  NextAccess(const ir::Function& f, const Cfg& cfg, unsigned bound);

  unsigned bound() const { return bound_; }
  const Variables& variables() const { return variables_; }
  /// From behind the block's last instruction.
  const std::vector<std::uint8_t>& out(std::uint32_t block) const { return out_[block]; }
  /// Moves `distances` from behind an instruction to in front of it.
  void step(const ir::Instruction& instruction, std::vector<std::uint8_t>& distances) const;

 private:
  void merge_successors(const Cfg& cfg, std::uint32_t block, std::vector<std::uint8_t>& distances) const;

  Variables variables_;
  unsigned bound_;
  std::vector<std::vector<std::uint8_t>> in_, out_;  ///< per block, by variable
};

}  // namespace regatta::analysis
