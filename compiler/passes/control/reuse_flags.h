// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "pending.h"

namespace regatta::passes {

/// Sets reuse of `bits`, whose other fields are final.
void place_reuse_flags(const Hazards& hazards, std::vector<trace::ControlBits>& bits);

}  // namespace regatta::passes
