// SPDX-License-Identifier: Apache-2.0
#include "reuse_flags.h"

#include <array>

namespace regatta::passes {

namespace {

using trace::ControlBits;

constexpr unsigned banks = 2;
/// With a longer stall, or a wait, other warps issue, whose reads clear the entry.
constexpr unsigned longest_stall = 2;

/// Walks a block backwards: per entry of the register file cache, who reads it next.
class NextReaders {
 public:
  /// Whether the next read of the entry that operand `reg` in this position uses is of this register, which keeps its
  /// value until then, and soon enough.
  bool reads(unsigned position, unsigned reg) const {
    const Entry& e = entries_[reg % banks][position];
    return e.reg == static_cast<int>(reg) && e.is_soon && !e.is_written;
  }

  /// The walk passes an instruction. `stays`: no other warp is likely to issue behind it.
  void pass(const trace::StaticInstruction& i, const WarpAccess& access, bool waits, bool stays) {
    for (auto& bank : entries_)
      for (Entry& e : bank) {
        if (waits || !stays) e.is_soon = false;
        if (e.reg >= 0 && access.written.test(static_cast<std::size_t>(e.reg))) e.is_written = true;
      }
    if (!trace::uses_register_cache(i)) return;
    const auto positions = trace::source_positions(i);
    for (unsigned s = 0; s < i.source_count; ++s) {
      if (positions[s] < 0) continue;
      entries_[i.sources[s] % banks][static_cast<unsigned>(positions[s])] = {i.sources[s], !waits, false};
    }
  }

 private:
  struct Entry {
    int reg = -1;  ///< that the next reader reads; -1: there is none in the block
    bool is_soon = false;
    bool is_written = false;
  };
  std::array<std::array<Entry, trace::control_positions>, banks> entries_{};
};

/// The flags of one instruction.
unsigned flags_of(const trace::StaticInstruction& i, const WarpAccess& access, const NextReaders& readers) {
  if (!trace::uses_register_cache(i)) return 0;
  const auto positions = trace::source_positions(i);
  unsigned found = 0, lost = 0;
  for (unsigned s = 0; s < i.source_count; ++s) {
    if (positions[s] < 0) continue;
    const auto position = static_cast<unsigned>(positions[s]);
    const bool kept = readers.reads(position, i.sources[s]) && !access.written.test(i.sources[s]);
    (kept ? found : lost) |= 1u << position;
  }
  // Both words of a pair, or none: an entry must not outlive the block.
  return found & ~lost;
}

}  // namespace

void place_reuse_flags(const Hazards& hazards, std::vector<ControlBits>& bits) {
  const trace::Kernel& kernel = hazards.kernel();
  for (const trace::BasicBlock& block : kernel.blocks) {
    NextReaders readers;
    for (std::uint32_t i = block.first + block.count; i-- > block.first;) {
      const trace::StaticInstruction& instruction = kernel.instructions[i];
      const bool stays = bits[i].stall <= longest_stall && !bits[i].yield;
      // Its own stall lies between it and the next reader, and so do its writes.
      if (stays) bits[i].reuse = static_cast<std::uint8_t>(flags_of(instruction, hazards.access(i), readers));
      readers.pass(instruction, hazards.access(i), bits[i].wait_mask != 0, stays);
    }
  }
}

}  // namespace regatta::passes
