// SPDX-License-Identifier: Apache-2.0
//
// Every scheme of the registry on the machine that it is meant for, on a program that comes by every event.
#pragma once

#include <regatta/assembly/simulation.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "folder.h"

namespace regatta::test {

struct SchemeCase {
  std::string name;    ///< of the case: the scheme, and what is special
  std::string scheme;  ///< of the registry
  std::string machine;
  unsigned warp_size = 32;
  std::vector<std::pair<std::string, std::string>> knobs = {};
  unsigned lookup_delay = 0;  ///< SimulationOptions::lookup_delay
};

/// At least one case for every scheme.
const std::vector<SchemeCase>& scheme_cases();

/// A test case for each of them, "<what>: <name>", in the file where it is a variable: a SystemC program elaborates
/// once.
class ForEachScheme {
 public:
  /// `takes`: of which ones; null: all.
  ForEachScheme(const std::string& what, void (*check)(const SchemeCase&), bool (*takes)(const SchemeCase&) = nullptr);
};

struct SchemeRun {
  assembly::SimulationResult result;
  assembly::MachineConfig machine;
  unsigned sms = 2;
  unsigned warp_size = 32;
  nlohmann::ordered_json waits;  ///< as in stats.json
  /// The counter or derived value summed over the modules of that path; "sm*.osu.shard*" stands for all that have it.
  /// Fails the test when no module has it.
  double stat(const std::string& path, const std::string& name) const;
  bool has(const std::string& path) const;
};

/// What a test adds to the scheme's parts, for each SM.
using AddParts = std::function<void(assembly::SmParts&)>;

/// Simulates the program, with half of its rounds, on two SMs. A SystemC program elaborates once: a test case calls it
/// once.
SchemeRun run_scheme(const SchemeCase& c, const AddParts& add = {}, const assembly::Recording& recording = {});
/// The same of a trace of the program that stands at `path`.
SchemeRun run_scheme_on(const std::string& path, const SchemeCase& c, const AddParts& add = {},
                        const assembly::Recording& recording = {});
/// Path of the program's trace, annotated into the folder.
std::string annotate_events(const Folder& folder, unsigned warp_size, unsigned rounds = 12);
/// The energy report is what the case's counters and the table say.
void check_energy(const SchemeCase& c, const SchemeRun& run);

}  // namespace regatta::test
