// SPDX-License-Identifier: Apache-2.0
//
// RFH, the compile-time managed register hierarchy (Gebhart, Keckler, Krashinsky, Dally, MICRO 2011): the compiler says
// of every register operand at which level of the hierarchy its value is read or written. Hardware has no tags.
//
// The levels are the main register file (MRF: all registers of all warps), the operand register file (ORF: N entries
// per thread) and the last-result file (LRF: one entry per thread, which only the private ALUs read and write). The LRF
// may be split into three banks, A, B and C, with an entry per thread each: a bank can be read by the operand slot of
// its name and by no other.
//
// The section "rfh" of a kernel, version 1, is a row of bytes:
//
//   1 byte       N, entries of the ORF (1 to 8); with bit 7 set if the LRF is split
//   then per instruction, in order:
//     0 or 1     1: a strand begins here
//     one byte for each destination register, then one for each source register (as StaticInstruction lists them,
//     duplicates kept):
//       bit 7      MRF
//       bit 6      LRF
//       bit 5      ORF, at the entry in bits 2..0
//       bits 4..3  the bank with bit 6, if the LRF is split: 1 (A), 2 (B) or 3 (C); else 0
//       bits 2..0 are 0 without bit 5
//
// A destination is written to all levels named, at least one. A source names the level from which it is read; if it
// names the MRF and another level, it is read from the MRF and copied to the other level.
//
// The operand slot of a source is its place among the source operands as written, predicates not counted: A, B or C. A
// 64-bit operand has one slot. A fourth operand has none, and cannot be read from a split LRF.
//
// What hardware may rely on, and has to respect:
//
//   - The LRF and the ORF of a warp lose their contents where a strand begins. So a warp may leave the active set there
//     and nowhere else. A strand begins at the kernel's start, at the target of a backward branch and behind a backward
//     branch, behind a barrier at which the warp waits, at a fence (where the warp waits), and at every instruction
//     that reads or writes a register which a long-latency operation of the same strand loads.
//   - A lane that executes a read from the LRF or the ORF finds there the value that the register has in this lane.
//     Likewise in the MRF.
//   - A write or a copy changes the entry in those lanes only that execute the instruction. Lanes that wait on the SIMT
//     stack keep theirs. Still an entry stands for one register in all lanes of a warp: no lane writes another register
//     to an entry that a waiting lane needs.
//   - Within an instruction all reads come before copies and copies before writes. No two of its copies and writes go
//     to one entry, and all its sources that name one register name the same levels.
//   - A source that is read from a split LRF names the bank of its operand slot. Copies and results may go to any bank.
#pragma once

#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* rfh_section = "rfh";
inline constexpr std::uint32_t rfh_section_version = 1;
inline constexpr unsigned max_orf_entries = 8;
inline constexpr unsigned default_orf_entries = 3;
/// Of a split LRF: one for each operand slot.
inline constexpr unsigned lrf_banks = 3;

/// The levels of one operand.
struct RfhLevels {
  bool main = true;
  bool last = false;
  std::int8_t orf = -1;   ///< entry of the ORF; -1: none
  std::uint8_t bank = 0;  ///< of a split LRF: 1 (A), 2 (B) or 3 (C); 0: the LRF is not split, or not named

  bool uses_entry() const { return last || orf >= 0; }
  /// Sources: read from the MRF and copied.
  bool copies() const { return main && uses_entry(); }
  friend bool operator==(const RfhLevels& a, const RfhLevels& b) {
    return a.main == b.main && a.last == b.last && a.orf == b.orf && a.bank == b.bank;
  }
  friend bool operator!=(const RfhLevels& a, const RfhLevels& b) { return !(a == b); }
};

struct RfhInstruction {
  bool strand_begins = false;
  std::array<RfhLevels, max_destination_registers> destinations{};
  std::array<RfhLevels, max_source_registers> sources{};
};

struct RfhPlan {
  unsigned entries = default_orf_entries;  ///< of the ORF
  bool split = false;                      ///< the LRF has a bank for each operand slot
  std::vector<RfhInstruction> instructions;
};

/// Whether the private ALUs execute the class: only they reach the LRF. The SFU, the memory units and what all lanes
/// share (shuffles, constants, barriers) do not. Divisions use the SFU.
bool is_private_alu(OpClass op_class);
/// Whether the results come from global or local memory, so that the warp does not wait for them in its strand.
bool is_long_latency(const StaticInstruction& instruction);
/// Whether a barrier stops the warp.
inline bool waits_at_barrier(const StaticInstruction& i) {
  return i.op_class == OpClass::barrier && !i.barrier_arrives;
}

/// Per source register: the bank of a split LRF that its operand slot reads, 1 (A), 2 (B) or 3 (C); 0: none. Without
/// operands as written, each source register counts as one.
std::array<std::uint8_t, max_source_registers> lrf_banks_of(const StaticInstruction& instruction);
/// The entry of the LRF that the levels name, which must name one: 0 to 2 of a split LRF, else 0.
inline unsigned lrf_entry_of(const RfhLevels& levels) { return levels.bank == 0 ? 0 : levels.bank - 1u; }

/// Accesses of each level, over the static instructions.
struct RfhAccesses {
  std::uint64_t main_reads = 0, last_reads = 0, orf_reads = 0;
  std::uint64_t main_writes = 0, last_writes = 0, orf_writes = 0;  ///< copies included
};
RfhAccesses count_accesses(const Kernel& kernel, const RfhPlan& plan);

/// Throws std::invalid_argument, saying what is wrong, for levels that do not fit the kernel.
std::string encode(const Kernel& kernel, const RfhPlan& plan);
/// Likewise.
RfhPlan decode_rfh(const Kernel& kernel, const std::string& payload);
/// Of the kernel's section of this version; nothing when it has none. Throws InputError, naming the kernel.
std::optional<RfhPlan> find_rfh(const Kernel& kernel);

/// Follows all paths, of waiting lanes too. Throws std::invalid_argument for a strand that has to begin and does not,
/// and for a read whose value may not be at its level.
void verify_rfh(const Kernel& kernel, const RfhPlan& plan);

/// "MRF", "LRF", "LRF B", "ORF 1", "MRF+ORF 1".
std::string to_string(const RfhLevels& levels);
/// For a listing: "R2 MRF+ORF 1 <- R0 LRF, R4 MRF"; "" if no operand uses an entry and no strand begins.
std::string rfh_text(const StaticInstruction& instruction, const RfhInstruction& levels);

}  // namespace regatta::trace
