// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/test/catch.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"
#include "process.h"

namespace regatta::test {

/// The statistics of a run of regatta-sim, which must complete with operands checked and none wrong. It is on gtx980 if
/// the options name no machine: a scheme alone would be on that of its paper.
inline nlohmann::json statistics_of(const Folder& folder, const std::string& trace,
                                    const std::vector<std::string>& options) {
  std::vector<std::string> command{REGATTA_SIM, trace, "--stats", folder.file("stats.json")};
  command.insert(command.end(), options.begin(), options.end());
  if (std::find(options.begin(), options.end(), "--machine") == options.end())
    command.insert(command.end(), {"--machine", "gtx980"});
  const auto r = run_process(command);
  std::string line;
  for (const std::string& word : command) line += word + " ";
  INFO(line << "\n" << r.err);
  REQUIRE(r.status == 0);
  auto stats = nlohmann::json::parse(folder.read("stats.json"));
  REQUIRE(stats.at("ending") == "completed");
  REQUIRE(stats.at("checks").at("mismatches") == 0);
  REQUIRE(stats.at("checks").at("operands_checked") > 0);
  return stats;
}

}  // namespace regatta::test
