// SPDX-License-Identifier: Apache-2.0
//
// The static part of a trace: what is known about a kernel before it runs. One `Kernel` per distinct
// allocated kernel, one `Launch` per run of it, in the order the host ran them.
#pragma once

#include <regatta/trace/launch_signature.h>
#include <regatta/trace/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

/// An operand as written, in machine order; what WIR's reuse buffer tags and a listing prints.
struct Operand {
  enum class Kind : std::uint8_t { reg, predicate, immediate, special, constant_bank };
  Kind kind = Kind::reg;
  std::uint8_t words = 1;   ///< registers: 1 or 2 consecutive 32-bit registers
  bool negated = false;     ///< predicates only
  std::uint64_t value = 0;  ///< register or predicate number, immediate bits, special id, bank offset
};

/// The half of the barrier of a cluster that an instruction is. That barrier has no number: each thread arrives, and
/// later waits until all that have not exited have arrived.
enum class BarrierHalf : std::uint8_t { none, arrive, wait };

struct Guard {
  std::int8_t predicate = -1;  ///< -1: unconditional
  bool negated = false;
};

/// One machine instruction of the allocated kernel. Its PC is its index times bytes_per_instruction, under a scheme
/// with inserted instructions the number of all instructions before it in that scheme's stream times as much.
struct StaticInstruction {
  std::string opcode;           ///< full machine opcode with modifiers, e.g. "ld.global.f32"
  std::uint32_t opcode_id = 0;  ///< interned `opcode`; equal ids mean equal operation (WIR section V-C)
  OpClass op_class = OpClass::nop;
  Guard guard;

  /// 32-bit general registers read, in operand order, duplicates kept. 64-bit values list both halves, low first.
  std::uint8_t source_count = 0;
  std::array<std::uint8_t, max_source_registers> sources{};
  /// 32-bit general registers written, low half first.
  std::uint8_t destination_count = 0;
  std::array<std::uint8_t, max_destination_registers> destinations{};
  /// Predicates read besides the guard, and predicates written.
  std::uint8_t source_predicate_count = 0;
  std::array<std::uint8_t, max_source_predicates> source_predicates{};
  std::uint8_t destination_predicate_count = 0;
  std::array<std::uint8_t, max_destination_predicates> destination_predicates{};

  MemorySpace space = MemorySpace::none;
  std::uint8_t access_bytes = 0;  ///< bytes each lane moves (vector accesses: all elements), 0 if none
  bool is_volatile = false;       ///< volatile or otherwise not to be cached or reused
  bool bypasses_l1 = false;       ///< not answered by an L1, nor left in it: .cg, .wt, .cv, volatile beyond a CTA
  bool reads_memory = false;
  bool writes_memory = false;
  std::int64_t address_offset = 0;  ///< memory accesses: bytes added to the address register
  bool reads_carry = false;         ///< the carry flag, which no register or predicate names, is an operand
  bool writes_carry = false;

  std::int32_t branch_target = -1;  ///< static index, for branches
  /// Barriers: what is static of them. Where the first or second source of `operands` is a register, that register
  /// holds the number or the threads.
  std::uint8_t barrier_id = 0;
  std::uint32_t barrier_threads = 0;  ///< 0 = all threads of the CTA
  bool barrier_arrives = false;       ///< counts the warp there and does not have it wait (bar.arrive)
  BarrierHalf barrier_half = BarrierHalf::none;
  /// setmaxnreg: registers that a thread may use from here on, a multiple of 8 from 24 to 256; 0: another instruction.
  std::uint16_t register_budget = 0;
  bool raises_budget = false;  ///< setmaxnreg.inc: waits until the CTA has these registers free

  AsyncKind async = AsyncKind::none;  ///< of class `async`
  std::uint32_t async_value = 0;      ///< a wait for groups: how many may be on their way

  std::vector<Operand> operands;  ///< as written, destinations first
  std::uint8_t operand_destinations = 0;
  std::uint32_t ptx_line = 0;     ///< 1-based, 0 unknown
  std::uint32_t source_file = 0;  ///< index into Kernel::source_files, when source_line != 0
  std::uint32_t source_line = 0;  ///< 1-based, 0 unknown
  std::string scheme;             ///< of an inserted instruction: the scheme that it is for; empty otherwise
};

/// How far an inserted instruction goes through the pipeline of its scheme.
enum class Disposition : std::uint8_t {
  decode,  ///< removed at decode: no issue slot, no lanes
  issue,   ///< issues like an instruction of the program, with the lanes that reach it
};

/// An instruction that is in the instruction stream of one scheme only, in front of instruction `before`, which is in
/// the stream of every scheme. It occupies bytes_per_instruction of that scheme's code. Static indices and the dynamic
/// columns do not count it.
///
/// Without an edge, every path to instruction `before`, also through a branch, passes it. On an edge, only the lanes
/// that go from instruction `after` to instruction `before` execute it, immediately after `after`.
///
/// One that issues is of class `metadata`, `branch` (a jump that a split edge costs) or `fence`: a fence of space
/// `shared` issues when the older accesses of its warp have left the address stage, a fence without a space when they
/// are complete. It has no guard and names no register or predicate: the dynamic columns hold nothing for it.
struct InsertedInstruction {
  std::uint32_t before = 0;  ///< static index of the instruction that it precedes
  StaticInstruction instruction;
  Disposition disposition = Disposition::decode;
  std::int32_t after = -1;  ///< on an edge: static index of the instruction that it follows; -1: not on an edge
};

/// The lanes that go from `instruction`, at static index `index`, to static index `next`, of those on the path
/// (`simt_mask`) and those that execute it (`active`).
inline LaneMask lanes_to(const StaticInstruction& instruction, std::uint32_t index, std::uint32_t next,
                         LaneMask simt_mask, LaneMask active) {
  const bool branches = instruction.op_class == OpClass::branch;
  const bool leaves = branches || instruction.op_class == OpClass::exit;
  LaneMask lanes = 0;
  if (branches && instruction.branch_target == static_cast<std::int32_t>(next)) lanes |= active;
  if (next == index + 1) lanes |= leaves ? simt_mask & ~active : simt_mask;
  return lanes;
}

struct BasicBlock {
  std::uint32_t first = 0;  ///< static index of the first instruction
  std::uint32_t count = 0;
  std::vector<std::uint32_t> successors;  ///< block indices
  /// Block where the lanes meet again that the block's branch splits; -1: the kernel's exit.
  std::int32_t reconvergence = -1;
};

struct SharedVariable {
  std::string name;
  std::uint32_t offset = 0;  ///< bytes from the CTA's shared base
  std::uint32_t bytes = 0;   ///< 0: dynamic shared memory, sized by the launch
};

/// One pass's annotations: an opaque payload under the pass's name, versioned by the pass itself.
struct AnnotationSection {
  std::string name;
  std::uint32_t version = 1;
  std::string payload;
};

inline constexpr unsigned current_static_revision = 1;

struct Kernel {
  std::string name;
  std::string ptx_file;                   ///< as given, for messages
  std::vector<std::string> source_files;  ///< from .file directives
  unsigned warp_size = 32;
  unsigned registers_per_thread = 0;  ///< general registers, highest used + 1
  /// Of a kernel that changes the registers of its warps (StaticInstruction::register_budget): those that a thread has
  /// when it begins, which may be fewer than `registers_per_thread`. 0: of any other kernel.
  unsigned launch_registers = 0;
  unsigned predicates = 0;
  unsigned static_shared_bytes = 0;
  unsigned local_bytes_per_thread = 0;
  unsigned spilled_registers = 0;
  std::vector<StaticInstruction> instructions;
  std::vector<BasicBlock> blocks;
  std::vector<SharedVariable> shared_variables;
  std::vector<AnnotationSection> annotations;
  std::vector<InsertedInstruction> inserted;  ///< ascending `before`; those of one place stand in this order
  /// What the writer said of each instruction. 0, of older traces: carry flags, address offsets and the addresses of
  /// module variables among the operands are missing.
  unsigned static_revision = current_static_revision;
  /// The columns of the kernel's warps hold what each write of shared memory left there (regatta-annotate
  /// --shared-values).
  bool shared_values = false;
  /// The results in the columns are version tags: numbers that are different for every lane and every write of a
  /// register, and not what the program computed, which the writer did not know. A lost, stale or swapped register is
  /// found by them; nothing else follows from them (Scheme::reads_values()). Only in files of version 4.
  bool version_tags = false;
};

/// Registers that a thread has when the kernel begins.
inline unsigned registers_at_launch(const Kernel& k) {
  return k.launch_registers != 0 ? k.launch_registers : k.registers_per_thread;
}

/// The most registers that a thread has at any time.
inline unsigned most_registers(const Kernel& k) {
  if (k.launch_registers == 0) return k.registers_per_thread;
  unsigned most = k.launch_registers;
  for (const StaticInstruction& i : k.instructions) most = i.register_budget > most ? i.register_budget : most;
  return most;
}

/// Whether the kernel has what only files of version 5 have: register budgets, or the barrier of a cluster.
inline bool has_warp_roles(const Kernel& k) {
  if (k.launch_registers != 0) return true;
  for (const StaticInstruction& i : k.instructions) {
    if (i.barrier_half != BarrierHalf::none) return true;
  }
  return false;
}

/// Empty sections of a kernel that was run under the race detector: it found data races, or none.
inline constexpr const char* races_section = "races";
inline constexpr const char* race_free_section = "race_free";
enum class RaceCheck : std::uint8_t { unchecked, race_free, racy };

inline RaceCheck race_check(const Kernel& kernel) {
  RaceCheck found = RaceCheck::unchecked;
  for (const AnnotationSection& s : kernel.annotations) {
    if (s.name == races_section) return RaceCheck::racy;
    if (s.name == race_free_section) found = RaceCheck::race_free;
  }
  return found;
}

/// Empty section of a kernel whose lanes of a warp went in an order that a SIMT stack does not have (regatta-annotate
/// --divergence barriers).
inline constexpr const char* lanes_apart_section = "lanes_apart";

inline bool lanes_apart(const Kernel& kernel) {
  for (const AnnotationSection& s : kernel.annotations) {
    if (s.name == lanes_apart_section) return true;
  }
  return false;
}

struct Launch {
  std::uint32_t kernel = 0;  ///< index into the trace's kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes_per_cta = 0;  ///< static and dynamic together
  std::uint64_t first_cta = 0;             ///< of the traced range, linear CTA index
  std::uint64_t cta_count = 0;             ///< traced CTAs (the whole grid unless --ctas cut it)
  std::uint64_t warp_instructions = 0;     ///< dynamic, over the traced CTAs
  std::uint64_t thread_instructions = 0;
  std::optional<LaunchSignature> signature;  ///< of the traced CTAs; older traces have none

  std::uint32_t threads_per_cta() const { return block[0] * block[1] * block[2]; }
  std::uint32_t warps_per_cta(unsigned warp_size) const { return (threads_per_cta() + warp_size - 1) / warp_size; }
};

}  // namespace regatta::trace
