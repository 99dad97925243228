// SPDX-License-Identifier: Apache-2.0
//
// Register file virtualisation (RFV: Jeon, Ravi, Kim, Annavaram, MICRO 2015): the compiler says where the value of a
// register is read for the last time, so that hardware can give the physical register to another warp.
//
// The section "rfv" of a kernel, version 1, 18 bytes:
//
//   1 byte    most registers that a warp has at once
//   1 byte    entries of the renaming table per warp; 0: one for each register
//   8 bytes   a bit per register, R0 lowest, little endian: exempt from renaming
//   8 bytes   likewise: needed at the start of a warp, because some path reads the register before it writes it
//
// The instructions "pir" and "pbr" of the scheme "rfv" are removed at decode (trace::Disposition::decode). Each holds
// one word of 64 bits, the upper 10 of them the opcode:
//
//   pir   0x3e0   18 x 3 bits, the first instruction lowest: per operand slot of the next 18 instructions of the block,
//                 whether the instruction releases the registers of the slot (use_slots_of() of region_words.h)
//   pbr   0x3e1   9 x 6 bits, the first number lowest: registers that are released where the block starts; 63: none
//
// The pbr words of a block precede its first instruction. A pir word precedes the first instruction of a block and
// every 18th after it; one without a flag is left out. Numbers of 6 bits, one of which means none, serve kernels of at
// most 63 registers.
//
// What hardware may rely on, if all releases are obeyed for the whole warp, whichever lanes execute the instruction:
//
//   - No lane, running or waiting on the SIMT stack, reads a released value.
//   - A flagged slot is a source, and the instruction writes none of its registers.
//   - A warp has the exempt registers and those of the start bits from its start on. A write of a register that it does
//     not have, under whatever lanes, gives it one. A write of a register that it has goes to the same place, because
//     lanes that do not write keep their value.
//   - Counted so, and with the destinations of an instruction beside its sources, a warp has never more registers than
//     the section's first byte.
//   - No word names an exempt register.
//
// A register may be released that the warp does not have: its block is also reached on a path without the value. An
// instruction that is older than the release may still read its operands or, if nothing reads its result, wait for it.
// Hardware has to let it finish first.
#pragma once

#include <regatta/trace/kernel.h>
#include <regatta/trace/region_words.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* rfv_section = "rfv";
inline constexpr std::uint32_t rfv_section_version = 1;
/// Of the inserted instructions.
inline constexpr const char* rfv_scheme = "rfv";
inline constexpr const char* rfv_pir = "pir";
inline constexpr const char* rfv_pbr = "pbr";
inline constexpr unsigned max_rfv_registers = 63;
inline constexpr unsigned rfv_flags_per_word = 18;   ///< instructions of a pir word
inline constexpr unsigned rfv_numbers_per_word = 9;  ///< registers of a pbr word

/// A set of registers, R0 the lowest bit.
using RfvRegisters = std::uint64_t;

struct RfvSection {
  unsigned most = 0;           ///< registers of a warp at once
  unsigned table_entries = 0;  ///< per warp; 0: one for each register
  RfvRegisters exempt = 0;     ///< mapped directly
  RfvRegisters at_start = 0;   ///< needed at the start of a warp
};

/// Where registers are released.
struct RfvReleases {
  std::vector<std::uint8_t> flags;       ///< per instruction: bit s for operand slot s
  std::vector<RfvRegisters> at_block;    ///< per block, at its start
  std::vector<RfvRegisters> at_operand;  ///< per instruction: the registers of the flagged slots
};

std::string encode(const RfvSection& section);
/// Throws InputError, naming the kernel, for a section that does not fit it.
RfvSection decode_rfv(const Kernel& kernel, const AnnotationSection& section);
/// Of the kernel's section of this version; nothing when it has none.
std::optional<RfvSection> find_rfv(const Kernel& kernel);

/// Whether it is a slot of a source, and with all its registers below 64.
inline bool is_source(const UseSlot& slot) {
  return slot.count != 0 && !slot.is_destination && slot.first + slot.count <= 64u;
}
inline RfvRegisters registers_of(const UseSlot& slot) { return ((RfvRegisters{1} << slot.count) - 1) << slot.first; }
/// The registers that an instruction writes, or reads.
RfvRegisters written_by(const StaticInstruction& instruction);
RfvRegisters read_by(const StaticInstruction& instruction);

/// The words of flags and releases, in the order of the stream. `flags` and `at_block` count.
std::vector<InsertedInstruction> rfv_words(const Kernel& kernel, const RfvReleases& releases,
                                           std::uint32_t first_opcode_id);
/// Reads the words of a kernel. Throws std::invalid_argument for a word that is malformed, out of its place, without a
/// flag or a number, or that releases what must not be released there.
RfvReleases read_rfv_words(const Kernel& kernel, const RfvSection& section);

/// "R1 R4"; "" for none.
std::string rfv_text(RfvRegisters registers);
/// "flags --- 1-- -2-" up to the last flag, or "release R1 R4", of a word.
std::string rfv_word_text(std::uint64_t word);

}  // namespace regatta::trace
