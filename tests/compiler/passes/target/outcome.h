// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interpreter.h"

namespace regatta::test {

/// What a program does to memory. Passes that change control flow keep this, but not the path of blocks.
inline Run outcome(const ir::Function& f, std::size_t most_blocks = 100000) {
  Run run = interpret(f, most_blocks);
  run.path.clear();
  return run;
}

}  // namespace regatta::test
