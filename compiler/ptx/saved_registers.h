// SPDX-License-Identifier: Apache-2.0
//
// What a recursive function has to save around calls that may come back to it, and how instructions get into a line
// that has labels.
#pragma once

#include "draft.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::ptx {

/// A call in a recursive function, by positions in the draft.
struct BodyCall {
  std::size_t before = 0;                  ///< of its first instruction
  std::size_t jump = 0;                    ///< of the branch to the callee
  std::uint32_t label = 0;                 ///< where the callee comes back to ...
  std::size_t behind = 0;                  ///< ... and its position
  std::size_t after = 0;                   ///< behind the instructions that take the results
  std::vector<std::size_t> handing_over;   ///< instructions before the jump that write registers of the callee ...
  std::vector<std::uint32_t> handed_back;  ///< ... which has these written when it comes back
  std::vector<std::uint32_t> results;      ///< registers that the instructions behind write
  bool may_come_back = false;              ///< into the function that calls, before it returns
  ir::Location where;
};

/// The code of a recursive function, without the jumps by which it returns.
struct CodeRange {
  std::size_t begin = 0, end = 0;
  std::vector<std::uint32_t> live_at_end;  ///< registers
  std::vector<BodyCall> calls;
};

/// For each call of the range, the registers, by ascending number, whose values before the call are read behind it.
/// A call counts as code that leaves all registers alone, and the jumps back as the end.
std::vector<std::vector<std::uint32_t>> live_across_calls(const Draft& draft, const CodeRange& range,
                                                          std::size_t registers);

struct Insertion {
  std::size_t at = 0;                             ///< a position before any insertion
  bool behind_labels = false;                     ///< which stand there; otherwise in front of them ...
  std::uint32_t first_label = ~std::uint32_t{0};  ///< ... but for this one
  std::vector<ir::Instruction> code;
};
/// Of several insertions at one place and side, the order is that of the list.
void insert(Draft& draft, std::vector<Insertion> insertions);

}  // namespace regatta::ptx
