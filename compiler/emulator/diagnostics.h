// SPDX-License-Identifier: Apache-2.0
//
// How errors of an emulated program are worded.
#pragma once

#include <regatta/emulator/program_fault.h>
#include <regatta/ir/ir.h>

#include <array>
#include <cstdint>
#include <string>

namespace regatta::emulator {

/// "k.ptx:12:3: ", or "k.ptx: " when the position is not known.
std::string location_text(const ir::Function& f, const ir::Instruction& i);
/// " (k.cu:9)" when the PTX carried the source line, else ""; " (k.cu:3, inlined in k.cu:9)" in an inlined function.
std::string source_text(const ir::Function& f, const ir::Instruction& i);
/// "(1,2,3)"
std::string triple_text(const std::array<std::uint32_t, 3>& v);
/// "0x1f"
std::string hex_text(std::uint64_t v);

/// Coordinates of a linear index in a box, x fastest.
std::array<std::uint32_t, 3> unflatten(std::uint64_t index, const std::array<std::uint32_t, 3>& box);

/// Location, "error: " or what else `kind` is, kernel, CTA, thread (if `thread` is not null), what, source line.
std::string message_at(const ir::Function& f, const ir::Instruction& i, const std::array<std::uint32_t, 3>& cta,
                       const std::array<std::uint32_t, 3>* thread, const std::string& what, const char* kind = "error");
/// Throws ProgramFault of message_at().
[[noreturn]] void fail_at(const ir::Function& f, const ir::Instruction& i, const std::array<std::uint32_t, 3>& cta,
                          const std::array<std::uint32_t, 3>* thread, const std::string& what,
                          FaultKind kind = FaultKind::other);

}  // namespace regatta::emulator
