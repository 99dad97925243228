// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/trace/warp_stream.h>

namespace regatta::sm {

/// Fills in the trace's data for the cursor's current instruction: lanes, results, predicates, addresses. The caller
/// has advanced the cursor; `traits` are those of the current instruction. With `stored_values` also what the
/// instruction leaves in shared memory, if the trace holds it.
inline void decode(trace::WarpCursor& cursor, const protocol::InstructionTraits& traits,
                   protocol::DynamicInstruction& d, bool stored_values = false) {
  const trace::StaticInstruction& info = *traits.info;
  d.traits = &traits;
  d.info = &info;
  d.bypassed = false;
  d.injected = false;
  d.simt_mask = cursor.simt_mask();
  d.active = cursor.active_mask();
  d.operands_pending = 0;
  d.accesses_pending = 0;
  d.writes_pending = 0;
  for (unsigned i = 0; i < traits.write_count; ++i) cursor.result(d.results[i]);
  for (unsigned i = 0; i < info.destination_predicate_count; ++i) d.predicate_results[i] = cursor.predicate();
  if (!traits.has_addresses) return;
  d.affine_addresses = cursor.addresses(d.addresses.data());
  if (__builtin_expect(static_cast<int>(trace::has_texels(info)), 0) != 0) {
    d.further_texels = d.active != 0 ? cursor.further_texels() : 0;
    if (d.further_texels != 0) {
      const std::uint64_t* const first = cursor.further_texel(0);
      d.texels.assign(first, first + std::size_t{d.further_texels} * trace::max_lanes);
    }
  }
  if (__builtin_expect(static_cast<int>(stored_values), 0) != 0) {
    const unsigned words = cursor.stored_words();
    for (unsigned i = 0; i < words; ++i) cursor.stored(d.stored[i]);
  }
}

/// An instruction that is not of the program, in lanes `lanes`: the trace has no data for it.
inline void outside_program(protocol::DynamicInstruction& d, const protocol::InstructionTraits& traits,
                            protocol::LaneMask lanes) {
  d.traits = &traits;
  d.info = traits.info;
  d.injected = true;
  d.bypassed = false;
  d.active = d.simt_mask = lanes;
  d.operands_pending = 0;
  d.accesses_pending = 0;
  d.writes_pending = 0;
}

}  // namespace regatta::sm
