// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.h"

#include <regatta/base/input_file.h>

#include <sstream>
#include <string>
#include <vector>

namespace regatta::test {

inline assembly::SimulationResult record_run(const std::string& path, const assembly::Recording& recording,
                                             const assembly::MachineConfig& machine = {}, unsigned sms = 1,
                                             std::uint64_t quantum = 256) {
  const trace::Reader reader(path);
  assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_baseline();
  assembly::SimulationOptions options;
  options.sms = sms;
  options.quantum = quantum;
  options.recording = recording;
  assembly::Simulation simulation(machine, registry.get("baseline"), options, reader);
  return simulation.run();
}

/// A trace of one warp: an addition, a load at its result, an addition of what was loaded, the end.
inline std::string one_warp_trace(const std::string& name) {
  TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {0});
  b.load(trace::MemorySpace::global, 2, 1);
  b.op(trace::OpClass::int_add, {3}, {2});
  b.exit();
  b.launch(1, 32);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(lane * 4);
  b.run_all(addresses);
  return b.write(name);
}

/// A machine that issues from one scheduler.
inline assembly::MachineConfig one_scheduler() {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.sp_units = m.sm.sfu_units = m.sm.dp_units = 1;
  m.sm.fetch_width = 4;
  return m;
}

/// A CSV file: the header first.
inline std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(base::read_text(path));
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    auto& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

}  // namespace regatta::test
