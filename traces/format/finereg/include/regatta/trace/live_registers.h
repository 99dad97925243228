// SPDX-License-Identifier: Apache-2.0
//
// The registers that are live before each static instruction: the live-register list of FineReg (MICRO 2018), sections
// IV-B and V-A. A scheme that moves the registers of a stalled warp moves these.
//
// The section "liveness" of a kernel, version 1:
//
//   1 byte    the kernel's registers per thread, 0 to 255
//   then, for each static instruction in order, max(1, ceil(registers / 64)) words of 64 bits, little endian:
//             bit r % 64 of word r / 64 is set if register Rr is live before the instruction
//
// "Live" is about a lane whose next instruction is this one: on some path from here, the lane reads the register before
// it redefines the whole register. A definition under a guard does not end the life of the old value, unless all later
// reads are under the same guard. Each half of a 64-bit value has its own bit. Predicates are not listed.
//
// Lanes of a warp that wait on the SIMT stack have next instructions of their own. The warp needs the union of the
// vectors of all stack entries.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* liveness_section = "liveness";
inline constexpr std::uint32_t liveness_section_version = 1;

/// Registers live before each static instruction.
struct LiveRegisters {
  unsigned registers = 0;              ///< general registers of a thread
  unsigned words = 1;                  ///< 64-bit words per vector
  std::vector<std::uint64_t> vectors;  ///< instructions x words

  /// Without a live register.
  LiveRegisters() = default;
  LiveRegisters(unsigned registers, std::size_t instructions);

  std::size_t instructions() const { return vectors.size() / words; }
  void set(std::uint32_t instruction, unsigned reg) { vectors[place(instruction, reg)] |= bit(reg); }
  /// No register is live at the kernel's exit, whose index is the number of instructions.
  bool live(std::uint32_t instruction, unsigned reg) const {
    return instruction < instructions() && reg < registers && (vectors[place(instruction, reg)] & bit(reg)) != 0;
  }
  /// First word: the whole vector in kernels of at most 64 registers. 0 at the kernel's exit.
  std::uint64_t vector(std::uint32_t instruction) const { return vector(instruction, 0); }
  std::uint64_t vector(std::uint32_t instruction, unsigned word) const {
    return instruction < instructions() ? vectors[std::size_t{instruction} * words + word] : 0;
  }
  /// Number of live registers.
  unsigned count(std::uint32_t instruction) const;

 private:
  std::size_t place(std::uint32_t instruction, unsigned reg) const {
    return std::size_t{instruction} * words + reg / 64;
  }
  static std::uint64_t bit(unsigned reg) { return std::uint64_t{1} << (reg % 64); }
};

/// Throws std::invalid_argument when the members do not fit together.
std::string encode(const LiveRegisters& live);
/// Throws InputError, naming the kernel, for a section that does not fit it: version, size, number of registers, or a
/// bit beyond the last register.
LiveRegisters decode_live_registers(const Kernel& kernel, const AnnotationSection& section);
/// Of the kernel's section of this version; nothing when it has none.
std::optional<LiveRegisters> find_live_registers(const Kernel& kernel);

/// For a listing: "live R0 R4-R5", "live none".
std::string live_text(const LiveRegisters& live, std::uint32_t instruction);

}  // namespace regatta::trace
