// SPDX-License-Identifier: Apache-2.0
//
// Obeys RFV's releases while a warp's path is replayed.
#pragma once

#include <regatta/trace/rfv.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

/// The registers of one warp. A release loses the value in all lanes.
class RfvWarp {
 public:
  RfvWarp(const trace::Kernel& kernel, const trace::RfvSection& section, const trace::RfvReleases& releases)
      : kernel_(kernel), section_(section), releases_(releases), block_at_(kernel.instructions.size(), -1) {
    for (std::size_t b = 0; b < kernel.blocks.size(); ++b)
      block_at_[kernel.blocks[b].first] = static_cast<std::int32_t>(b);
    owned_ = section.exempt | section.at_start;
    for (unsigned r = 0; r < 64; ++r)
      if ((owned_ >> r & 1) != 0) intact_[r] = ~trace::LaneMask{0};
    most_ = static_cast<unsigned>(__builtin_popcountll(owned_));
  }

  void step(std::uint32_t index, trace::LaneMask active) {
    if (block_at_[index] >= 0) release(releases_.at_block[static_cast<std::size_t>(block_at_[index])]);
    const trace::StaticInstruction& i = kernel_.instructions[index];
    for (unsigned s = 0; s < i.source_count; ++s)
      if ((active & ~intact_[i.sources[s]]) != 0)
        fail("instruction " + std::to_string(index) + " reads a released R" + std::to_string(i.sources[s]));
    for (unsigned d = 0; d < i.destination_count; ++d) intact_[i.destinations[d]] |= active;
    owned_ |= trace::written_by(i);
    const auto now = static_cast<unsigned>(__builtin_popcountll(owned_));
    most_ = std::max(most_, now);
    if (now > section_.most)
      fail("instruction " + std::to_string(index) + " has " + std::to_string(now) + " registers, expected at most " +
           std::to_string(section_.most));
    owned_steps_ += now;
    ++steps_;
    release(releases_.at_operand[index]);
  }

  std::string replay(const trace::WarpColumns& columns) {
    trace::WarpCursor cursor(kernel_, columns);
    while (wrong_.empty() && cursor.next()) step(cursor.index(), cursor.active_mask());
    return wrong_;
  }

  /// The first wrong, "" if there is none.
  const std::string& wrong() const { return wrong_; }
  unsigned most() const { return most_; }
  std::uint64_t released() const { return released_; }
  std::uint64_t steps() const { return steps_; }
  /// Registers of the warp, summed over the instructions.
  std::uint64_t owned_steps() const { return owned_steps_; }

 private:
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void release(trace::RfvRegisters registers) {
    registers &= owned_;
    owned_ &= ~registers;
    for (; registers != 0; registers &= registers - 1) {
      intact_[static_cast<unsigned>(__builtin_ctzll(registers))] = 0;
      ++released_;
    }
  }

  const trace::Kernel& kernel_;
  const trace::RfvSection& section_;
  const trace::RfvReleases& releases_;
  std::vector<std::int32_t> block_at_;
  trace::RfvRegisters owned_ = 0;
  std::array<trace::LaneMask, 256> intact_{};
  unsigned most_ = 0;
  std::uint64_t released_ = 0, steps_ = 0, owned_steps_ = 0;
  std::string wrong_;
};

}  // namespace regatta::test
