// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.h"

namespace regatta::test::differential {

/// The same program for the same seed, on every machine.
Program generate(std::uint64_t seed);

}  // namespace regatta::test::differential
