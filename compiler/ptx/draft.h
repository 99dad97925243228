// SPDX-License-Identifier: Apache-2.0
//
// A function while it is lowered: instructions in line, with labels between them.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::ptx {

/// Instructions in line; `bra` targets are label numbers, and label i stands before instruction labels[i].position.
struct Draft {
  static constexpr std::uint32_t unplaced = ~std::uint32_t{0};
  struct Label {
    std::string name;
    std::uint32_t position = unplaced;
    bool keeps_loop = false;  ///< ir::Block::keeps_loop
  };
  std::vector<ir::Instruction> instructions;
  std::vector<Label> labels;
};

/// Cuts a draft into blocks, drops code that cannot be reached or whose results nobody reads, fills the edges.
void make_blocks(Draft&& draft, ir::Function& f);

}  // namespace regatta::ptx
