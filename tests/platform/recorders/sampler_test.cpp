// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/sampler.h>

#include <map>

#include "recorded.h"

using namespace regatta;

TEST_CASE("counters over time: rows add up to the statistics, SM by SM and in total") {
  assembly::Recording recording;
  recording.sample_file = "samples.csv";
  recording.sample_cycles = 100;
  const auto r = test::record_run(test::mixed_trace("sampled"), recording, {}, 2);
  test::require_clean(r);
  const auto rows = test::read_csv("samples.csv");
  const auto& names = rows[0];
  REQUIRE(names[0] == "cycle");
  REQUIRE(names[1] == "launch");
  REQUIRE(rows.size() - 1 == (r.cycles + 99) / 100);
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == names.size());
    REQUIRE(std::stoull(rows[i][0]) == std::min<std::uint64_t>(i * 100, r.cycles));
    std::uint64_t slots = 0;
    for (std::size_t c = 2; c < names.size(); ++c) {
      sums[names[c]] += std::stoull(rows[i][c]);
      const bool reason = names[c].find("total.pipeline.stall_") == 0 || names[c] == "total.pipeline.issue_cycles";
      if (reason) slots += std::stoull(rows[i][c]);
    }
    // Every row: one reason for each of four schedulers of two SMs in each of its cycles.
    REQUIRE(slots == (std::stoull(rows[i][0]) - (i - 1) * 100) * 4 * 2);
  }
  for (const char* name : {"pipeline.warp_instructions", "pipeline.collectors.reads", "register_file.writes",
                           "l1.reads", "pipeline.execution.integer_lanes", "pipeline.stall_memory_cycles"}) {
    INFO(name);
    const std::string module = std::string(name).substr(0, std::string(name).rfind('.'));
    const std::string stat = std::string(name).substr(module.size() + 1);
    std::uint64_t total = 0;
    for (const std::string sm : {"sm0.", "sm1."}) {
      REQUIRE(sums.at(sm + name) == r.stats.at(sm + module).at(stat).get<std::uint64_t>());
      total += sums.at(sm + name);
    }
    REQUIRE(sums.at(std::string("total.") + name) == total);
    REQUIRE(total > 0);
  }
  REQUIRE(sums.at("memory.interconnect.request_packets") ==
          r.stats.at("memory.interconnect").at("request_packets").get<std::uint64_t>());
}

TEST_CASE("counters over time: maxima are given as they are") {
  std::uint64_t a = 3, b = 5, depth = 9;
  std::vector<support::StatGroup> groups;
  groups.emplace_back("sm0.x").counter("n", a, "", "");
  groups.back().counter("q_max", depth, "", "");
  groups.emplace_back("sm1.x").counter("n", b, "", "");
  groups.emplace_back("memory").counter("n", b, "", "");
  {
    support::Sampler sampler("direct.csv", groups);
    a += 2;
    b += 10;
    sampler.row(50, 0);
    b += 1;
    depth = 12;
    sampler.row(60, 1);
    sampler.finish();
  }
  REQUIRE(base::read_text("direct.csv") ==
          "cycle,launch,sm0.x.n,sm0.x.q_max,sm1.x.n,memory.n,total.x.n,total.x.q_max\n"
          "50,0,2,9,10,10,12,9\n"
          "60,1,0,12,1,1,1,12\n");
}
