// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.h"

namespace regatta::test::differential {

enum class Instructions : std::uint8_t {
  plain,   ///< of sm_75
  modern,  ///< also products and moves of matrices, asynchronous copies and mbarriers, of sm_90
};

/// The same program for the same seed, on every machine.
Program generate(std::uint64_t seed, Instructions instructions = Instructions::plain);

}  // namespace regatta::test::differential
