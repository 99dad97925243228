// SPDX-License-Identifier: Apache-2.0
//
// A run of regatta-sim with options that dice choose.
#pragma once

#include <regatta/test/catch.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dice.h"
#include "folder.h"
#include "process.h"

namespace regatta::test {

class RandomMachine {
 public:
  RandomMachine(Dice& dice, std::vector<std::string> options) : dice_(dice), options_(std::move(options)) {}

  /// Replaces an earlier value.
  void set(const std::string& name, const std::string& value) {
    const auto given = std::find(options_.begin(), options_.end(), "--" + name);
    if (given != options_.end()) {
      *std::next(given) = value;
      return;
    }
    options_.push_back("--" + name);
    options_.push_back(value);
  }
  void maybe(const char* name, std::initializer_list<const char*> values) {
    if (dice_.one_in(2)) set(name, dice_.any(values));
  }
  /// The parts of an SM that every scheme works with.
  void vary_pipeline() {
    maybe("register_file.banks", {"2", "4", "12", "32"});
    maybe("register_file.ports", {"1rw", "1r1w", "2r1w"});
    maybe("register_file.latency", {"1", "3", "10"});
    maybe("register_file.write_queue", {"1", "2", "8"});
    maybe("collector.units", {"1", "2", "8"});
    maybe("writeback.width", {"1", "2"});
    maybe("sm.issue_width", {"1", "2"});
    maybe("l1.miss_queue", {"2", "16"});
    maybe("quantum", {"1", "100"});
  }

  /// Statistics of the run, which must complete without mismatch; none if it is refused with one of the `refusals`.
  std::optional<nlohmann::json> run(const Folder& folder, const std::string& trace,
                                    std::initializer_list<const char*> refusals) const {
    std::vector<std::string> command{REGATTA_SIM, trace, "--stats", folder.file("s.json")};
    command.insert(command.end(), options_.begin(), options_.end());
    std::string line;
    for (const std::string& o : options_) line += o + " ";
    const auto r = run_process(command);
    INFO(line << "\n" << r.err);
    if (r.status == 2) {
      REQUIRE(std::any_of(refusals.begin(), refusals.end(),
                          [&r](const char* text) { return r.err.find(text) != std::string::npos; }));
      return std::nullopt;
    }
    REQUIRE(r.status == 0);
    auto stats = nlohmann::json::parse(folder.read("s.json"));
    REQUIRE(stats.at("ending") == "completed");
    REQUIRE(stats.at("checks").at("mismatches") == 0);
    REQUIRE(stats.at("checks").at("operands_checked") > 0);
    return stats;
  }

 private:
  Dice& dice_;
  std::vector<std::string> options_;
};

/// Calls `run(dice)` `usual` times in test-all, half as often in the default tests, or as often as the environment
/// variable says, with the dice of REGATTA_SEED. It returns false where the machine is refused; one in `part` machines
/// must not be.
template <class Run>
void run_random_machines(const char* variable, std::uint64_t usual, unsigned part, Run run) {
  const std::uint64_t runs = from_environment(variable, times(usual / 2, usual));
  const std::uint64_t seed = from_environment("REGATTA_SEED", 1);
  std::uint64_t completed = 0;
  for (std::uint64_t n = 0; n < runs; ++n) {
    Dice dice(seed * 1000003 + n);
    INFO("seed " << seed << " run " << n);
    completed += run(dice) ? 1 : 0;
  }
  CHECK(part * completed > runs);
}

}  // namespace regatta::test
