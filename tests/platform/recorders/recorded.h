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
