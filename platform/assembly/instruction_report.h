// SPDX-License-Identifier: Apache-2.0
//
// Cycles by instruction and by source line: what --cpi-lines writes and prints.
#pragma once

#include <regatta/assembly/simulation.h>
#include <nlohmann/json_fwd.hpp>

namespace regatta::assembly {

/// Per launch: {"launch", "kernel", "lines": [...], "instructions": [...], "no_instruction": {...}}, in
/// scheduler-cycles by reason ("issued" among them; reasons without a cycle are left out). Lines come in the order of
/// their first instruction, instructions in that of the code; those without a cycle are left out.
nlohmann::ordered_json cpi_lines_json(const SimulationResult& result, const trace::Reader& trace);

/// Prints the source lines with most scheduler-cycles, over all launches.
void print_cpi_lines(const SimulationResult& result, const trace::Reader& trace);

}  // namespace regatta::assembly
