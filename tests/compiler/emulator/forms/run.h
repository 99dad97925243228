// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forms.h"

namespace regatta::test::forms {

/// A warp width and a register limit.
struct Configuration {
  unsigned warp_size, max_registers;
};

/// Compiles and runs a row. Returns "" if every thread gives what is expected, else what went wrong.
std::string run_row(const Row& row, const Configuration& configuration);

}  // namespace regatta::test::forms
