// SPDX-License-Identifier: Apache-2.0
//
// The reasons for the cycles of one run: what binds, the evidence, the line that causes it, and what its removal would
// save at most.
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/assembly/simulation.h>
#include <regatta/sm/causes.h>
#include <regatta/trace/file.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

/// What a run knows of its causes besides its result: sums over its SMs.
struct WhyFacts {
  sm::CauseSamples samples;
  std::vector<std::vector<sm::AccessCounts>> accesses;  ///< by kernel of the trace and static instruction
  std::vector<std::string> gates;                       ///< names, by sm::CauseKey::detail
  std::string knobs;  ///< that shorten the scheme's longest wait: "osu.entries, l1.mshrs"; empty: it counts none
  unsigned sms = 1;
};

/// The causes of the cycles of `result`, the one first whose removal would save most: at most the scheduler-cycles in
/// which it held, and what the resource leaves that limits the run next. Those that held in less than 1 % are left out.
std::vector<WhyCause> why(const SimulationResult& result, const WhyFacts& facts, const MachineConfig& machine,
                          const trace::Reader& trace);

/// "stencil.cu:41"; of code without source lines, its place in the PTX file.
std::string source_of(const trace::Kernel& kernel, const trace::StaticInstruction& instruction);

/// For stats.json.
nlohmann::ordered_json why_json(const std::vector<WhyCause>& causes);
/// The first cause, and the next two if they have at least 3 % of the cycles, a line each.
std::string why_text(const std::vector<WhyCause>& causes);

}  // namespace regatta::assembly
