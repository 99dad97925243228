// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "pending.h"

namespace regatta::passes {

/// Sets stall and yield of `bits`, whose counters and wait masks are final, so that the results of fixed latency are
/// there when they are read and none is overwritten by an older one. `latency`: as in ControlSection.
void place_stalls(const Hazards& hazards, const std::vector<std::uint8_t>& latency, unsigned control_stall,
                  std::vector<trace::ControlBits>& bits);

}  // namespace regatta::passes
