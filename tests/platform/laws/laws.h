// SPDX-License-Identifier: Apache-2.0
//
// Timing laws: what a small kernel must take, derived from a machine's configuration alone. A law is a function of the
// machine; each is run on several presets, so that it holds for what it says and not for one set of numbers.
#pragma once

#include "recorder.h"

#include <cstdint>
#include <string>

namespace regatta::test {

/// The preset `name` as regatta-sim would load it, without the command line.
assembly::MachineConfig machine(const std::string& name);

/// Lanes of the machine's warps: what a kernel for it is traced with.
inline unsigned lanes(const assembly::MachineConfig& m) { return m.sm.lanes; }

/// How a machine runs an opcode class. `pipelines` is what one scheduler's instructions find: its own share when the
/// pipelines divide among the schedulers, all of them otherwise.
struct Pipelines {
  unsigned latency = 0;     ///< of a warp instruction
  unsigned initiation = 0;  ///< between two of one pipeline
  unsigned count = 0;       ///< of the SM
  unsigned reachable = 0;   ///< by one scheduler
};
Pipelines pipelines(const assembly::MachineConfig& m, trace::OpClass c);

/// Collector units that one scheduler's instructions of a kind find: generic ones, and those for the kind.
unsigned collectors(const assembly::MachineConfig& m, protocol::Unit kind);

/// A scheduler issues in every sm.issue_interval-th cycle: `cycles`, rounded up to that.
inline std::uint64_t to_slot(const assembly::MachineConfig& m, std::uint64_t cycles) {
  const std::uint64_t n = m.sm.issue_interval;
  return (cycles + n - 1) / n * n;
}

/// From an issue to that of an instruction which needs its result: operand read, execution, write-back.
inline std::uint64_t dependent_step(const assembly::MachineConfig& m, std::uint64_t latency) {
  return to_slot(m, read_cycles(m) + latency + write_cycles(m));
}

/// Registers of one warp that lie in one bank are this far apart.
unsigned bank_stride(const assembly::MachineConfig& m);

}  // namespace regatta::test

/// A law on one machine, as a test case of its own: a SystemC program elaborates once.
#define REGATTA_LAW(LAW, MACHINE) \
  TEST_CASE("law: " #LAW " on " MACHINE) { LAW(#LAW "_" MACHINE, regatta::test::machine(MACHINE)); }
