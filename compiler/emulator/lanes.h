// SPDX-License-Identifier: Apache-2.0
//
// Lane functions: one arithmetic instruction on all lanes of a warp, structure of arrays. A function computes
// every lane and blends the result by the lane mask, so the loop has no branch and the compiler vectorises it.
// The sources behind `select_*` are compiled once per instruction set (namespaces baseline and avx2); the
// choice is made at run time. All of them are exact IEEE, so the results do not depend on that choice.
#pragma once

#include <regatta/emulator/approximations.h>
#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::emulator {

/// What the addresses of one memory instruction have in common, over the lanes that execute.
struct AddressSummary {
  alignas(64) std::uint64_t lane[64] = {};
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::uint64_t low_bits = 0;  ///< OR of all of them: alignment
  bool consecutive = false;    ///< every lane executes, and lane i is at the first one's plus i times the size
};

/// The arrays one warp computes on. A register is `lanes` consecutive words; a 64-bit value is two registers,
/// low words first. The banks let a source operand be a register, a broadcast constant or a special alike.
struct WarpRegs {
  std::uint32_t* bank[3] = {nullptr, nullptr, nullptr};  ///< registers, constants, specials
  std::uint64_t compare = 0;                             ///< result of a compare function, one bit per lane, all lanes
  std::uint64_t active = 0;                              ///< lanes that execute, as bits; `mask` is the same expanded
  AddressSummary addresses;                              ///< of the lanes in `active`, by LaneHelpers::addresses
  alignas(64) std::uint32_t mask[64] = {};               ///< all ones in lanes that execute
  alignas(64) std::uint32_t select[64] = {};             ///< a predicate operand, expanded like `mask`
  alignas(64) std::uint32_t carry[64] = {};              ///< of the last carry-chain instruction, 0 or 1; 0: a borrow
};

enum class Bank : std::uint8_t { registers, constants, specials };

/// A source operand: words from the start of its bank.
struct LaneSource {
  Bank bank = Bank::constants;
  std::uint32_t offset = 0;
};

struct LaneOp;
using LaneFunction = void (*)(const LaneOp&, WarpRegs&);

/// What a lane function needs to know of its instruction.
struct LaneOp {
  LaneFunction function = nullptr;
  LaneSource source[4];
  std::uint32_t destination = 0;  ///< word offset of the first destination register
  ir::Type type = ir::Type::none;
  ir::Type source_type = ir::Type::none;
  ir::Rounding rounding = ir::Rounding::none;
  bool ftz = false;
  bool saturate = false;
  bool relu = false;
  bool satfinite = false;
  bool carry_out = false;  ///< carry chains: write WarpRegs::carry
};

/// How a division is approximated.
enum class Quotient : std::uint8_t { exact, approximate, full };

/// Which lane function an instruction wants.
struct LaneKey {
  ir::Opcode op = ir::Opcode::nop;
  ir::Type type = ir::Type::none;
  ir::Type source_type = ir::Type::none;
  ir::Rounding rounding = ir::Rounding::none;
  ir::Compare compare = ir::Compare::none;  ///< eq, lt, le, ne (ordered) or num: the rest by swap and complement
  bool ftz = false;
  bool saturate = false;
  bool wrap = false;
  bool left = false;
  bool shift_amount = false;
  bool nan = false;
  bool relu = false;
  bool satfinite = false;
  bool xorsign = false;
  unsigned sources = 0;
  Approximations approximations = Approximations::rounded;
  Quotient quotient = Quotient::exact;  ///< div with an approximation other than `rounded`
};

/// The function for `key` on warps of `lanes` (32 or 64), the best this processor can run; nullptr if there is none.
LaneFunction select_lane_function(const LaneKey& key, unsigned lanes);

/// Warp-wide helpers that are not instructions.
struct LaneHelpers {
  /// out[lane] = all ones where the bit is set.
  void (*expand)(std::uint64_t bits, std::uint32_t* out);
  /// WarpRegs::addresses from source[0] plus `offset`, for accesses of `bytes`; at least one lane is active.
  void (*addresses)(const LaneOp& op, WarpRegs& w, bool wide, std::int64_t offset, std::uint32_t bytes);
};
const LaneHelpers& lane_helpers(unsigned lanes);

/// Whether the instruction gives an approximation of f32. Operations that have no other form need not say so.
bool is_approximate(const ir::Instruction& i);

/// The approximate functions of an H100; nullptr: the key asks for another result, or for one not known.
LaneFunction select_approximate(const LaneKey& key, unsigned lanes);

#define REGATTA_DECLARE_LANES(isa)                                 \
  namespace isa {                                                  \
  LaneFunction select_integer(const LaneKey& key, unsigned lanes); \
  LaneFunction select_bits(const LaneKey& key, unsigned lanes);    \
  const LaneHelpers& helpers(unsigned lanes);                      \
  LaneFunction select_float(const LaneKey& key, unsigned lanes);   \
  LaneFunction select_convert(const LaneKey& key, unsigned lanes); \
  LaneFunction select_packed(const LaneKey& key, unsigned lanes);  \
  }
REGATTA_DECLARE_LANES(baseline)
REGATTA_DECLARE_LANES(avx2)
#undef REGATTA_DECLARE_LANES

}  // namespace regatta::emulator
