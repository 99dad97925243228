// SPDX-License-Identifier: Apache-2.0
//
// What the machine instructions of NVIDIA's GPUs, compute capability 3.x to 12.x, mean for a trace: the class of an
// opcode, its memory space, and the registers behind the numbers that a tracer writes.
#pragma once

#include <regatta/trace/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::import {

/// The register that always reads zero.
inline constexpr unsigned zero_register = 255;

/// Where lanes go behind an instruction.
enum class Control : std::uint8_t {
  none,      ///< to the next instruction
  target,    ///< to the target of a branch or call, lanes that do not take it to the next instruction
  anywhere,  ///< where a register, or a stack of the hardware, says: BRX, RET, SYNC, BRK
  meets,     ///< to the next instruction, where they may find lanes that waited: BSYNC, WARPSYNC
  exit,      ///< nowhere
};

/// An instruction as the tracer has it.
struct TracedInstruction {
  std::string opcode;  ///< with modifiers: "LDG.E.128.CONSTANT"
  std::vector<std::uint8_t> destinations, sources;
  unsigned memory_width = 0;  ///< as written by the tracer; 0: it has no addresses
};

/// The same for a trace of regatta.
struct Meaning {
  trace::OpClass op_class = trace::OpClass::int_add;
  Control control = Control::none;
  trace::MemorySpace space = trace::MemorySpace::none;
  unsigned access_bytes = 0;  ///< per lane
  bool reads_memory = false, writes_memory = false;
  bool bypasses_l1 = false;
  bool is_volatile = false;
  bool barrier_arrives = false;
  std::vector<unsigned> destinations, sources;  ///< 32-bit registers, without the zero register
  std::vector<std::string> remarks;             ///< what is not as on the machine, in words
};

/// Throws std::invalid_argument, with a reason, for an instruction that cannot be in a trace.
Meaning meaning_of(const TracedInstruction& instruction);

/// Whether the table has the opcode, given without modifiers.
bool is_known_opcode(std::string_view base);
/// All opcodes of the table, in alphabetical order.
std::vector<std::string> known_opcodes();

/// Bytes from an instruction to the next one: 16 from compute capability 7.0 on, before that 8, with a word of control
/// information before every 3 instructions (5.x, 6.x) or 7 (3.x).
bool follows(std::uint64_t pc, std::uint64_t next, unsigned binary_version);

}  // namespace regatta::import
