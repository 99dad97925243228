// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>

#include <memory>

namespace regatta::assembly {

/// RegLess (MICRO 2017): operand staging units under capacity managers in place of the register file.
std::unique_ptr<Scheme> make_regless();

}  // namespace regatta::assembly
