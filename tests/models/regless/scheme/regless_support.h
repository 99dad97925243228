// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/test/trace_builder.h>
#include <regatta/trace/region_words.h>

namespace regatta::test {

/// Inserts the words of a region that begins at instruction `first`.
inline void add_region(TraceBuilder& b, std::uint32_t first, const trace::RegionWords& words) {
  for (const trace::PlacedWord& placed : trace::encode(words)) {
    trace::InsertedInstruction inserted;
    inserted.before = first + placed.before;
    inserted.instruction = trace::region_instruction(placed.word, 1000);
    inserted.instruction.opcode = "region";
    inserted.instruction.scheme = trace::region_scheme;
    b.kernel().inserted.push_back(inserted);
  }
}

}  // namespace regatta::test
