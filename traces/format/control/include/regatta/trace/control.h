// SPDX-License-Identifier: Apache-2.0
//
// Control bits: what the compiler of a modern NVIDIA GPU writes into every instruction in place of a hardware
// scoreboard (Huerta et al., MICRO 2025, sections 4 and 5.3.1). A machine obeys them and checks nothing: wrong bits
// give wrong values. This header is the contract between the compiler's pass and such a machine.
//
// The section "control" of a kernel, version 1, has 4 bytes per instruction, little endian:
//
//   bits 0..3    stall count
//   bit 4        yield, inverted as in hardware: 0: the warp yields
//   bits 5..7    write counter, 0 to 5; 7: none
//   bits 8..10   read counter, 0 to 5; 7: none
//   bits 11..16  wait mask: bit n stands for counter n
//   bits 17..19  reuse flags of source positions A, B and C
//   bits 20..23  0
//   bits 24..31  the latency L that the compiler assumed, in cycles; 0: the instruction's latency is variable
//
// Kinds. Instructions are of fixed or of variable latency: has_fixed_latency(). The results of a fixed one are there
// after L cycles, for any machine whose latency is at most L; a machine with a larger one must refuse the kernel.
//
// What the bits mean, for a warp whose instruction issues in cycle t:
//
//   - Its next instruction, whatever the path, issues in cycle t + max(1, stall) at the earliest; after a yield, in
//     cycle t + 2 at the earliest.
//   - It issues only when all counters of its wait mask are zero. A counter that it raises reads so from cycle t + 2
//     on. So the next instruction, if it waits for this counter, must be at least two cycles behind.
//   - The write counter falls when all results are written: the instruction that waited for it finds them, and may
//     write the same registers. By then the instruction has also read its sources.
//   - The read counter falls when all source registers are read.
//   - A counter counts up to 63. Several instructions may use one; they may complete in any order.
//   - Only variable instructions raise counters: the write counter if they have a result (registers, predicates), the
//     read counter if they have source registers. An instruction whose guard is off in all lanes does so too.
//
// What a machine guarantees beyond that, so that the compiler needs no bits for it:
//
//   - A fixed result is found by instructions that issue in cycle t + L or later. Exception: a variable instruction
//     finds it in a general register from t + L + 1 on, because no bypass leads there (section 5.3).
//   - Guards, predicates and the carry flag are read at issue, by all instructions.
//   - A fixed instruction reads its registers before a younger instruction of its warp writes them.
//   - Fixed results are written in cycle t + L, variable ones after cycle t: of two writes to one register, the one
//   that
//     comes later stays. A machine with a smaller latency than L still leaves the value that stays by this rule.
//   - A warp keeps its registers until all of its instructions have read and written. An exit waits for nothing.
//   - Which side of a divergent branch runs first is known: the fall-through side. The taken side follows, then the
//     point where they meet. This is the order of the trace.
//
// Register file cache (section 5.3.1). It has an entry for each of two banks (register number mod 2) and three source
// positions. Fixed instructions alone use it: each source register in positions A to C looks at the entry of its bank
// and position, and clears it, unless the operand's reuse flag stores the register there. A register that is found
// there is read from there. Nothing else clears an entry: writes do not. A position is the place among the source
// operands as written, predicates not counted; a 64-bit operand has one position and an entry of each bank.
#pragma once

#include <regatta/trace/kernel.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* control_section = "control";
inline constexpr std::uint32_t control_section_version = 1;
inline constexpr unsigned control_counters = 6;
inline constexpr unsigned max_counter_value = 63;
inline constexpr unsigned no_counter = 7;
inline constexpr unsigned max_stall = 15;
/// Above this, a stall count needs yield: without it, hardware stalls for one or two cycles only (section 4).
inline constexpr unsigned max_stall_without_yield = 11;
inline constexpr unsigned control_positions = 3;
/// Cycles between an instruction that raises a counter and the first one that can see it.
inline constexpr unsigned counter_raise_delay = 2;

/// The control bits of one instruction.
struct ControlBits {
  std::uint8_t stall = 1;  ///< cycles, 0 to 15
  bool yield = false;      ///< the warp does not issue in the next cycle
  std::uint8_t write_counter = no_counter;
  std::uint8_t read_counter = no_counter;
  std::uint8_t wait_mask = 0;  ///< bit n: waits for counter n
  std::uint8_t reuse = 0;      ///< bit p: the operand in source position p stays in the register file cache

  bool waits_for(unsigned counter) const { return (wait_mask >> counter & 1u) != 0; }
  bool reuses(unsigned position) const { return (reuse >> position & 1u) != 0; }
  /// Cycles until the warp's next instruction can issue.
  unsigned issue_distance() const { return yield && stall < 2 ? 2 : stall < 1 ? 1 : stall; }
};

/// The bits of a kernel and the latencies that they count on, by static index.
struct ControlSection {
  std::vector<ControlBits> bits;
  std::vector<std::uint8_t> latency;  ///< cycles from issue to a fixed consumer's; 0: variable
};

/// Whether an instruction completes after a number of cycles that the compiler knows. Variable are accesses to memory,
/// constants by register or of more than 64 bits, special registers, special functions, divisions, f64, conversions
/// from or to floating point, lane exchanges, barriers and fences.
bool has_fixed_latency(const StaticInstruction& instruction);
/// Whether an instruction has a result to wait for: a register or a predicate.
inline bool has_result(const StaticInstruction& i) {
  return i.destination_count != 0 || i.destination_predicate_count != 0;
}
/// Whether its source registers pass the register file cache.
inline bool uses_register_cache(const StaticInstruction& i) { return i.source_count != 0 && has_fixed_latency(i); }

/// Per source register: its position, 0 (A) to 2 (C); -1: none. Without operands as written, each source register
/// counts as one.
std::array<std::int8_t, max_source_registers> source_positions(const StaticInstruction& instruction);

/// Throws std::invalid_argument, saying what is wrong, for bits that do not fit the kernel.
std::string encode(const Kernel& kernel, const ControlSection& control);
/// Likewise.
ControlSection decode_control(const Kernel& kernel, const std::string& payload);
/// Of the kernel's section of this version; nothing when it has none. Throws InputError, naming the kernel.
std::optional<ControlSection> find_control(const Kernel& kernel);

/// "B--1---:R-:W2:Y:S04": waits for counter 1; no read counter; write counter 2; yields; stall count 4. With reuse
/// flags: "B------:R-:W-:-:S01 reuse AC".
std::string to_string(const ControlBits& bits);

}  // namespace regatta::trace
