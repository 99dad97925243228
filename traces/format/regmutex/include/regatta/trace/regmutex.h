// SPDX-License-Identifier: Apache-2.0
//
// RegMutex (Khorasani et al., ISCA 2018; the comparator of FineReg, section VI): the compiler splits a thread's
// registers into a base set, which every warp has, and an extended set, for which a warp must hold a section of the
// shared register pool.
//
// The section "regmutex" of a kernel, version 1:
//
//   1 byte    registers of the base set
//   1 byte    registers of the extended set; both together are the kernel's registers per thread
//   then one byte for each register, R0 first: its index in the base set, or the size of the base set plus its index in
//   the extended set. No two registers have the same byte.
//
// The instructions "acquire" and "release" of the scheme "regmutex" issue (trace::Disposition::issue). They are about
// the whole warp, whichever of its lanes execute them:
//
//   - A warp starts without a section. It never acquires one while it holds one, nor releases one that it does not
//   hold.
//   - Whether the warp holds a section depends only on the next instruction.
//   - The warp holds a section while it executes an instruction that names a register of the extended set, and while
//   any
//     of its lanes, running or waiting on the SIMT stack, may still read such a register.
//   - The warp holds no section while it waits at a barrier. A barrier that only counts the warp is exempt.
//   - The warp may end while it holds a section, at an exit in divergent code or under a guard. Hardware then takes the
//     section back.
//
// A release follows the last instruction that names a register of the extended set in program order. That instruction
// may still be reading its operands or waiting for its result.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* regmutex_section = "regmutex";
inline constexpr std::uint32_t regmutex_section_version = 1;
/// Of the inserted instructions.
inline constexpr const char* regmutex_scheme = "regmutex";
inline constexpr const char* regmutex_acquire = "acquire";
inline constexpr const char* regmutex_release = "release";

/// Which set each register is in.
struct RegMutexRegisters {
  unsigned base = 0;                ///< registers of the base set
  unsigned extended = 0;            ///< registers of the extended set: the size of a section
  std::vector<std::uint8_t> place;  ///< per register: its index in the base set, or `base` + its index in a section

  unsigned registers() const { return base + extended; }
  bool is_extended(unsigned reg) const { return place[reg] >= base; }
  /// Within its set.
  unsigned index(unsigned reg) const { return is_extended(reg) ? place[reg] - base : place[reg]; }
};

/// Throws std::invalid_argument when `place` is not a permutation of 0 to base + extended - 1.
std::string encode(const RegMutexRegisters& registers);
/// Throws InputError, naming the kernel, for a section that does not fit it.
RegMutexRegisters decode_regmutex(const Kernel& kernel, const AnnotationSection& section);
/// Of the kernel's section of this version; nothing when it has none.
std::optional<RegMutexRegisters> find_regmutex(const Kernel& kernel);

/// Of an inserted instruction. What is neither belongs to another scheme.
inline bool is_regmutex_acquire(const StaticInstruction& i) {
  return i.scheme == regmutex_scheme && i.opcode == regmutex_acquire;
}
inline bool is_regmutex_release(const StaticInstruction& i) {
  return i.scheme == regmutex_scheme && i.opcode == regmutex_release;
}
/// An acquire or a release, of class `metadata`.
StaticInstruction regmutex_instruction(const char* opcode, std::uint32_t opcode_id);

}  // namespace regatta::trace
