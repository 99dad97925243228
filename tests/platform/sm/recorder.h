// SPDX-License-Identifier: Apache-2.0
//
// When each instruction of a hand-made trace passed which stage, on the baseline machine.
#pragma once

#include <regatta/assembly/simulation.h>
#include <regatta/test/catch.h>
#include <regatta/test/trace_builder.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace regatta::test {

/// One instruction's way through the pipeline, in cycles.
struct Passage {
  unsigned warp = 0;        ///< slot
  unsigned scheduler = 0;   ///< that issued it
  std::uint32_t index = 0;  ///< static
  std::uint64_t sequence = 0;
  bool injected = false;  ///< not of the program; `index` is that of the instruction behind it
  trace::LaneMask active = 0;
  std::uint64_t issued = 0;
  std::uint64_t dispatched = 0;  ///< all operands there, taken by its unit; 0: uses none
  std::uint64_t retired = 0;     ///< results readable
};

struct Recording {
  std::vector<Passage> passages;  ///< in order of issue
  assembly::SimulationResult result;
  std::uint64_t slots = 0;  ///< scheduler-cycles that observers were told of

  /// The passage of instruction `index` in warp slot `warp`, the first time it ran.
  const Passage& of(unsigned warp, std::uint32_t index) const;
  /// Cycles between the issues of two instructions of warp slot 0.
  std::uint64_t gap(std::uint32_t from, std::uint32_t to) const { return of(0, to).issued - of(0, from).issued; }
};

/// Runs the trace on one SM, checked, and requires a clean end. `change` alters the baseline's parts.
Recording record(TraceBuilder& builder, const std::string& name, const assembly::MachineConfig& machine = {},
                 const std::function<void(assembly::SmParts&)>& change = {});

/// Cycles from an issue to its operands at the unit, and from a result to its being readable, without conflicts.
inline std::uint64_t read_cycles(const assembly::MachineConfig& m) {
  return m.register_file.arbitration + m.register_file.latency;
}
inline std::uint64_t write_cycles(const assembly::MachineConfig& m) {
  // Where one kind of access has priority at a port, a write is arbitrated as well.
  const bool arbitrated = m.register_file.ports == "1rw" && m.register_file.priority != "fcfs";
  return m.register_file.latency + (arbitrated ? 1 : 0);
}

/// A machine with one scheduler and one unit of each kind, which the front end keeps busy.
assembly::MachineConfig one_scheduler();

/// A statistic of the run.
std::uint64_t counter(const Recording& r, const char* group, const char* name);

/// Addresses of 32 lanes.
std::vector<std::uint64_t> strided(std::uint64_t base, std::uint64_t stride);

}  // namespace regatta::test
