// SPDX-License-Identifier: Apache-2.0
//
// What the timeline of a run that completed has in common with its statistics.
#pragma once

#include <nlohmann/json.hpp>

#include "perfetto_check.h"

namespace regatta::test {

/// Scheduler-cycles by reason, CTAs, warps, and every counter that has a track, for each SM. `stats` is the object of
/// that name in stats.json; the timeline has the whole run, and was sampled.
void check_timeline(const PerfettoFacts& timeline, const nlohmann::json& stats, unsigned sms, unsigned warp_size = 32);

}  // namespace regatta::test
