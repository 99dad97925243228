// SPDX-License-Identifier: Apache-2.0
//
// For whole runs with a block in RTL: which statistics are the twin's, which kernels are run.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels.h"
#include "statistics.h"

namespace regatta::test {

/// The sum of a counter over the modules whose path has `module` in it.
inline double total_of(const nlohmann::json& run, const std::string& module, const std::string& counter) {
  double sum = 0;
  for (const auto& [path, group] : run.at("stats").items()) {
    if (path.find(module) != std::string::npos && group.contains(counter)) sum += group.at(counter).get<double>();
  }
  return sum;
}

/// Statistics of the modules whose path has none of the words in it.
inline nlohmann::json without(const nlohmann::json& run, const std::vector<std::string>& words) {
  nlohmann::json groups = run.at("stats");
  for (auto it = groups.begin(); it != groups.end();) {
    bool named = false;
    for (const std::string& word : words) named = named || it.key().find(word) != std::string::npos;
    it = named ? groups.erase(it) : std::next(it);
  }
  return groups;
}

/// REGATTA_COSIM_KERNELS=all: twelve kernels per block instead of four.
inline bool every_cosim_kernel() {
  const char* const which = std::getenv("REGATTA_COSIM_KERNELS");
  return which != nullptr && std::string(which) == "all";
}

/// A small kernel for RegLess with few lines in the staging units, so that registers leave them: regions to suit.
inline std::string annotate_for_small_staging(const Folder& folder, const std::string& kernel) {
  tool::AnnotateOptions o;
  o.launch = launch_path(kernel, Size::small);
  o.out = folder.file(kernel + ".rgt");
  o.pass_options["region-bank-lines"] = "4";
  o.pass_options["region-registers"] = "16";
  tool::annotate(o);
  return o.out;
}

}  // namespace regatta::test
