// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.h"

namespace regatta::test::differential {

/// What memory must hold after the program: result_bytes() for each thread of the grid, in order. Each thread walks the
/// tree by itself; only the statements that threads do together are done for all of a CTA at once.
std::vector<std::uint8_t> expected_memory(const Program& program);

}  // namespace regatta::test::differential
