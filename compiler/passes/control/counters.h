// SPDX-License-Identifier: Apache-2.0
//
// The counters that variable instructions raise, and the wait masks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "counter_requests.h"
#include "pending.h"

namespace regatta::passes {

/// Sets write_counter, read_counter and wait_mask of `bits`, which has an element per instruction.
void assign_counters(const Hazards& hazards, std::vector<trace::ControlBits>& bits);

}  // namespace regatta::passes
