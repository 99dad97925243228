// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad sharing with the compiler's help (thesis of V. Jatala, chapter 3): where the shared variables of a kernel
// lie, which of them are in the part that two CTAs have in common, and where a thread has done with that part.
//
// Bytes 0 to `boundary` - 1 of a CTA's shared memory are private, the bytes behind them common. Variables that are
// needed for a short time lie behind the others (section 3.2.1). Kernel::shared_variables holds their offsets.
//
// The instruction `relssp` (section 3.2.2) says that the thread will not access the common part any more. It is in the
// streams of two schemes, of which hardware takes one:
//
//   relssp_optimal   as early as possible on each path (section 3.2.3), with a jump `bra` behind it where the edge of a
//                    taken branch had to be split. The jump is an instruction too, and costs what one costs.
//   relssp_postdom   in one block that every thread passes (section 3.2.2)
//
// It issues as a fence of shared memory: when the older accesses of its warp have left the address stage. A thread
// executes at most one on its way; the exit of a thread releases like a relssp. Threads without one:
//
//   both             those that leave at a guarded exit with common accesses behind it
//   relssp_optimal   all, if the kernel has no common access and a loop around its first instruction
//   relssp_postdom   those that never leave, and those that leave at a guarded exit where no block is passed by all
//
// The section "sharing" of a kernel, version 1, little endian:
//
//   1 byte     1: the registers are in the order of their first use, 0: they are not
//   4 bytes    numerator of t, the share that is private, in lowest terms
//   4 bytes    denominator of t
//   4 bytes    shared memory of a CTA that the layout is for, in bytes: of the launch that needs the least
//   4 bytes    boundary, in bytes: t times the above, rounded down to a multiple of 4
//   4 bytes    relssp of scheme relssp_optimal
//   4 bytes    jumps of scheme relssp_optimal
//   4 bytes    relssp of scheme relssp_postdom
//   then one bit per shared variable, eight to a byte, lowest first: whether it reaches into the common part
//   then one bit per instruction: whether it may access such a variable
//
// A launch with more dynamic shared memory may use this boundary or the larger one of its own size (private_bytes()):
// dynamic shared memory lies behind all other variables, so both marks stay valid.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::trace {

inline constexpr const char* sharing_section = "sharing";
inline constexpr std::uint32_t sharing_section_version = 1;
/// Of the inserted instructions.
inline constexpr const char* relssp_optimal_scheme = "relssp_optimal";
inline constexpr const char* relssp_postdom_scheme = "relssp_postdom";
inline constexpr const char* relssp_opcode = "relssp";
inline constexpr const char* relssp_jump_opcode = "bra";

/// The share t of a resource that each CTA of a pair has for itself: a fraction in lowest terms, above 0 and at most 1.
struct Share {
  std::uint32_t numerator = 1, denominator = 1;
};
/// Of a decimal number with at most 9 decimals, "0.1"; nothing for any other text and for a number out of range.
std::optional<Share> parse_share(const std::string& text);
/// "1/10"
std::string to_string(const Share& t);
/// Bytes of a CTA's `shared_bytes` that are private: t * shared_bytes, rounded down to a multiple of 4.
std::uint32_t private_bytes(const Share& t, std::uint64_t shared_bytes);
/// Whether some byte of the variable lies at `boundary` or behind it. Dynamic shared memory always counts.
bool reaches_common_part(const SharedVariable& variable, std::uint32_t boundary);

struct SharingLayout {
  bool registers_reordered = false;
  Share t;
  std::uint32_t shared_bytes = 0;                             ///< of a CTA
  std::uint32_t boundary = 0;                                 ///< bytes
  std::uint32_t optimal = 0, optimal_jumps = 0, postdom = 0;  ///< inserted instructions
  std::vector<bool> common_variables;                         ///< by index in Kernel::shared_variables
  std::vector<bool> common_accesses;                          ///< per instruction: may access the common part
};

/// Payload of the section.
std::string encode(const SharingLayout& layout);
/// Throws InputError, naming the kernel, for a section that does not fit it.
SharingLayout decode_sharing(const Kernel& kernel, const AnnotationSection& section);
/// Of the kernel's section of this version; nothing when it has none.
std::optional<SharingLayout> find_sharing(const Kernel& kernel);

/// A place of a relssp.
struct RelsspPoint {
  std::uint32_t before = 0;  ///< static index of the instruction behind it
  std::int32_t after = -1;   ///< on an edge, the instruction that the edge leaves; -1: not on an edge
  bool jump = false;         ///< a jump follows it
};
/// The places of one scheme, ascending `before`.
std::vector<RelsspPoint> relssp_points(const Kernel& kernel, const std::string& scheme);

/// Of an inserted instruction, in either scheme.
inline bool is_relssp(const StaticInstruction& i) {
  return i.opcode == relssp_opcode && (i.scheme == relssp_optimal_scheme || i.scheme == relssp_postdom_scheme);
}
/// A relssp, of class `fence` and space `shared`.
StaticInstruction relssp_instruction(const std::string& scheme, std::uint32_t opcode_id);
/// The jump behind it to instruction `target`, of class `branch`.
StaticInstruction relssp_jump(const std::string& scheme, std::uint32_t opcode_id, std::uint32_t target);

}  // namespace regatta::trace
