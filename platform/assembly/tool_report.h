// SPDX-License-Identifier: Apache-2.0
//
// What regatta-sim prints at the end of a run.
#pragma once

#include <regatta/assembly/simulation.h>

#include <nlohmann/json_fwd.hpp>

#include "tool_options.h"

namespace regatta::assembly {

void print_summary(const SimulationResult& result, const ToolOptions& options, const MachineConfig& machine,
                   const trace::Reader& trace);
/// Cycles per warp instruction by reason, a column per launch.
void print_cpi(const SimulationResult& result);
/// The breakdown by structure and by event, with the basis of each number.
void print_energy(const SimulationResult& result);
/// Unit and meaning of every statistic; of those that count waits, the knobs.
void print_stat_descriptions(const nlohmann::ordered_json& descriptions, const Waits& waits);
void print_stats(const nlohmann::ordered_json& stats, const nlohmann::ordered_json& descriptions, bool describe,
                 const Waits& waits);

}  // namespace regatta::assembly
