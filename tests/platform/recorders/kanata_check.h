// SPDX-License-Identifier: Apache-2.0
//
// A checker of pipeline view files in Konata's format, Kanata 0004.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace regatta::test {

struct KanataFacts {
  std::string error;  ///< "line 7: ...", empty when the file is sound
  std::uint64_t instructions = 0, retired = 0, flushed = 0;
  std::uint64_t first_cycle = 0, last_cycle = 0;
  std::map<std::string, std::uint64_t> stages;  ///< instructions that passed each
  std::map<std::string, std::uint64_t> cycles;  ///< spent in each, over all instructions
};

/// Every id is declared once and before it is used, with a label; stages of a lane open and close in turn; an
/// instruction ends once, with all stages closed, and nothing of it follows; cycles move forward; every instruction
/// ends.
KanataFacts check_kanata(const std::string& text);

}  // namespace regatta::test
