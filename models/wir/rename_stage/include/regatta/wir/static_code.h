// SPDX-License-Identifier: Apache-2.0
//
// The static part of the reuse buffer's tag: which instructions may be reused at all, and a number for opcode,
// modifiers and immediates (WIR section V-C, figure 9). Derived once per kernel.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/wir/reuse_entries.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::models::wir {

/// The kind of an instruction for the reuse buffer.
enum class ReuseKind : std::uint8_t { none, arithmetic, read_only_load, shared_load, global_load };

/// The effect of an instruction on later loads (section VI-A). `atomic`: one in a kernel with fences, which counts as a
/// store to both memories: its warp may go on by what another warp has stored in either.
enum class MemoryEffect : std::uint8_t { none, shared_store, global_store, atomic, fence };

struct StaticCode {
  ReuseKind kind = ReuseKind::none;
  MemoryEffect effect = MemoryEffect::none;
  bool is_barrier = false;
  bool wide_immediate = false;  ///< its immediates need more bits than the tag's unused operand fields have
  std::uint8_t sources = 0;     ///< registers of the tag, in operand order
  std::array<std::uint8_t, pair_operands> source{};  ///< index into traits->reads
  std::uint32_t signature = 0;                       ///< opcode, modifiers, immediates and constant-bank places
};

/// One per static instruction. Not reusable are instructions that read or write a predicate other than their guard,
/// have a special register as source, use the carry as operand or result, have a number of destination registers other
/// than one or more than three source registers, and volatile, local, generic and atomic accesses (sections V-B, V-C
/// and VI-A, and README.md). With `pairs` an entry has room for two results and for all sources.
///
/// Throws support::ConfigError for a kernel of an older trace, which does not name carries and address offsets.
std::vector<StaticCode> static_code(const protocol::KernelContext& context, bool pairs);

}  // namespace regatta::models::wir
