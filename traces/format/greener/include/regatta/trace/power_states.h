// SPDX-License-Identifier: Apache-2.0
//
// What the compiler says about each register after each instruction that accesses it, from which its power state
// follows: the contract between compiler/passes and GREENER's hardware. Jatala, thesis, sections 4.2.1 and 4.2.2.
//
// The section "power" of a kernel, version 1, is a row of bytes:
//
//   bound        1..127: distances up to it are told apart
//   threshold    1..bound: W, below which a register is worth keeping on
//   then per instruction, in order, one byte for each of its destination registers and each of its source registers
//                (as StaticInstruction lists them, duplicates kept), about the place behind the instruction:
//     bits 6..0  instructions from here to the next access, the longest of all paths; 0: some path has none within
//     bound bit 7      some lane of the warp may still read the value
//
// A distance above a smaller threshold counts as none, so that any threshold up to the bound can be had from one
// section. What the hardware sees is less: two bits each for one destination and two source registers of an
// instruction (power_field_states()).
#pragma once

#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* power_section = "power";
inline constexpr std::uint32_t power_section_version = 1;
inline constexpr unsigned max_power_bound = 127;
/// What regatta-annotate writes.
inline constexpr unsigned power_bound = 31;
inline constexpr unsigned default_power_threshold = 3;  ///< section 4.3

/// A field's two bits. The thesis does not number the states.
enum class RegisterPower : std::uint8_t { on = 0, sleep = 1, off = 2 };
/// "ON", "SLEEP", "OFF", as the thesis writes them.
const char* to_string(RegisterPower state);

/// A register at the place behind an instruction.
struct NextAccess {
  std::uint8_t distance = 0;  ///< instructions, 1..bound; 0: on some path none within the bound
  bool live = false;          ///< some lane, running or waiting, may still read it
};

/// Table 4.1, at a threshold of at most the bound.
constexpr RegisterPower power_of(NextAccess next, unsigned threshold) {
  const bool near = next.distance != 0 && next.distance <= threshold;
  if (near) return RegisterPower::on;
  return next.live ? RegisterPower::sleep : RegisterPower::off;
}

struct PowerStates {
  unsigned bound = power_bound;
  unsigned threshold = default_power_threshold;
  /// Per instruction: its destinations, then its sources.
  std::vector<std::vector<NextAccess>> next;
};

/// Throws std::invalid_argument for a bound or threshold out of range, or a distance above the bound.
std::string encode(const PowerStates& states);
/// Throws std::invalid_argument, saying what is wrong, for a payload that does not fit the kernel: lengths, ranges, or
/// a register with two distances at one instruction.
PowerStates decode_power_states(const Kernel& kernel, const std::string& payload);
/// The kernel's section of this version, null when it has none.
const AnnotationSection* find_power_section(const Kernel& kernel);

/// An instruction has fields for so many registers (section 4.2.2): 6 bits.
inline constexpr unsigned power_destination_fields = 1;
inline constexpr unsigned power_source_fields = 2;
inline constexpr unsigned power_fields = power_destination_fields + power_source_fields;

/// Which register a field is about: destination first.
using PowerFields = std::array<std::int16_t, power_fields>;  ///< register; -1: field not used
/// The first destination and the first two sources that are no address (in figure 4.3 registers in brackets have no
/// field). A 64-bit value is two registers.
PowerFields power_fields_of(const StaticInstruction& instruction);
/// The fields' contents, two bits each, the destination's lowest; unused ones are 0.
std::uint8_t power_bits(const StaticInstruction& instruction, const std::vector<NextAccess>& next, unsigned threshold);
inline RegisterPower power_field(std::uint8_t bits, unsigned field) {
  return static_cast<RegisterPower>((bits >> (2 * field)) & 3);
}
/// Of a register that the instruction accesses, as the hardware has it: its field's, or SLEEP, which loses nothing.
RegisterPower power_state(const PowerFields& fields, std::uint8_t bits, unsigned reg);
/// For a listing: "R2 ON, R8 SLEEP, R0 ON", fields in order; "" without any.
std::string power_text(const StaticInstruction& instruction, std::uint8_t bits);

}  // namespace regatta::trace
