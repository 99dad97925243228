// SPDX-License-Identifier: Apache-2.0
#include "whole_run.h"

#include <regatta/base/input_file.h>
#include <regatta/support/table.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench.h"

namespace regatta::bench {

WholeRun measure_whole_run(const std::string& kernel, unsigned rounds) {
  const std::string trace = trace_of(kernel);
  const std::string stats = scratch_file("stats.json");
  WholeRun m;
  m.kernel = kernel;
  // The time of all rounds together: shared hosts run at one of a few speeds, between which a median jumps.
  std::array<double, mode_count> seconds{};
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned mode = 0; mode < mode_count; ++mode) {
      std::vector<std::string> command{REGATTA_SIM, trace, "--machine", "gtx980", "--sms", "1", "--stats", stats};
      if (mode == replayed) command.emplace_back("--replay");
      if (mode == unchecked) command.emplace_back("--no-check");
      if (mode == regless) command.insert(command.end(), {"--scheme", "regless"});
      if (mode == wir) command.insert(command.end(), {"--scheme", "wir"});
      show_progress(kernel + " round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
      run(command);
      const auto document = nlohmann::json::parse(base::read_text(stats));
      const auto& host = document.at("host");
      seconds[mode] += host.at("seconds").get<double>();
      if (mode != checked) continue;
      m.warp_instructions = document.at("warp_instructions").get<std::uint64_t>();
      m.cycles = document.at("cycles").get<std::uint64_t>();
      m.peak_rss_mib = host.at("peak_rss_mib").get<double>();
    }
  }
  for (unsigned mode = 0; mode < mode_count; ++mode) {
    m.rate[mode] = static_cast<double>(m.warp_instructions) * rounds / seconds[mode];
  }
  show_progress("");
  return m;
}

void print(const std::vector<WholeRun>& all) {
  using support::fixed;
  using support::Table;
  using support::with_thousands;
  const auto right = Table::Align::right;
  Table table({{"kernel"},
               {"warp instructions", right},
               {"cycles", right},
               {"(a) replay", right},
               {"(b) checked", right},
               {"(c) unchecked", right},
               {"b/a", right},
               {"b/c", right},
               {"(d) regless", right},
               {"d/b", right},
               {"(e) wir", right},
               {"e/b", right},
               {"MiB", right}});
  for (const WholeRun& m : all) {
    table.row({m.kernel, with_thousands(m.warp_instructions), with_thousands(m.cycles),
               fixed(m.rate[replayed] / 1e6, 2), fixed(m.rate[checked] / 1e6, 2), fixed(m.rate[unchecked] / 1e6, 2),
               "1/" + fixed(1 / m.ratio(), 1), fixed(m.rate[checked] / m.rate[unchecked], 2),
               fixed(m.rate[regless] / 1e6, 2), fixed(m.over_checked(regless), 2), fixed(m.rate[wir] / 1e6, 2),
               fixed(m.over_checked(wir), 2), fixed(m.peak_rss_mib, 0)});
  }
  std::cout << "gtx980, one SM; (a) to (e) in million warp instructions per second\n\n" << table.str();
}

nlohmann::ordered_json document(const std::vector<WholeRun>& all) {
  auto kernels = nlohmann::ordered_json::array();
  for (const WholeRun& m : all) {
    kernels.push_back({{"kernel", m.kernel},
                       {"warp_instructions", m.warp_instructions},
                       {"cycles", m.cycles},
                       {"replay", m.rate[replayed]},
                       {"checked", m.rate[checked]},
                       {"unchecked", m.rate[unchecked]},
                       {"checked_over_replay", m.ratio()},
                       {"regless", m.rate[regless]},
                       {"regless_over_checked", m.over_checked(regless)},
                       {"wir", m.rate[wir]},
                       {"wir_over_checked", m.over_checked(wir)},
                       {"peak_rss_mib", m.peak_rss_mib}});
  }
  return kernels;
}

}  // namespace regatta::bench
