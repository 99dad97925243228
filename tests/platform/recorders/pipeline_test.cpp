// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/input_file.h>

#include "kanata_check.h"
#include "recorded.h"

using namespace regatta;

namespace {

test::KanataFacts facts_of(const std::string& file) {
  const test::KanataFacts facts = test::check_kanata(base::read_text(file));
  REQUIRE(facts.error.empty());
  return facts;
}

std::string damaged(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return test::check_kanata(text).error;
}

std::string refused(const std::string& window) {
  try {
    recorders::parse_window(window, "--w");
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("pipeline view: every instruction of a run, from fetch to retirement") {
  assembly::Recording recording;
  recording.pipeline_file = "whole.kanata";
  const auto r = test::record_run(test::mixed_trace("pipeline_whole"), recording);
  test::require_clean(r);
  const auto f = facts_of("whole.kanata");
  REQUIRE(f.instructions == r.warp_instructions);
  REQUIRE(f.retired == r.warp_instructions);
  REQUIRE(f.flushed == 0);
  for (const char* stage : {"F", "D", "I"}) REQUIRE(f.stages.at(stage) == r.warp_instructions);
  // Barriers and exits use no unit.
  const auto& execution = r.stats.at("sm0.pipeline.execution");
  const std::uint64_t memory = execution.at("lsu_instructions");
  REQUIRE(f.stages.at("O") == r.stats.at("sm0.pipeline.collectors").at("instructions").get<std::uint64_t>());
  REQUIRE(f.stages.at("M") == memory);
  REQUIRE(f.stages.at("X") == f.stages.at("O") - memory);
  // A fetch takes as long as the machine says.
  REQUIRE(f.cycles.at("F") == r.warp_instructions * assembly::MachineConfig{}.sm.fetch_latency);
  REQUIRE(f.cycles.at("I") >= f.stages.at("O"));
  REQUIRE(f.last_cycle <= r.cycles);
}

TEST_CASE("pipeline view: windows of cycles and CTAs") {
  assembly::Recording recording;
  recording.pipeline_file = "window.kanata";
  recording.pipeline_cycles = recorders::parse_window("5:500", "--w");
  recording.pipeline_ctas = recorders::parse_window("3:4", "--w");
  const auto r = test::record_run(test::mixed_trace("pipeline_window"), recording);
  test::require_clean(r);
  const auto f = facts_of("window.kanata");
  REQUIRE(f.instructions > 10);
  REQUIRE(f.instructions < r.warp_instructions / 4);
  REQUIRE(f.first_cycle >= 5);
  REQUIRE(f.retired == f.instructions);
  const std::string text = base::read_text("window.kanata");
  REQUIRE(text.find("CTA 3 warp") != std::string::npos);
  REQUIRE(text.find("CTA 5 warp") == std::string::npos);
}

TEST_CASE("pipeline view: a window without instructions is a sound file without instructions") {
  assembly::Recording recording;
  recording.pipeline_file = "nothing.kanata";
  recording.pipeline_cycles = recorders::parse_window("100000000:", "--w");
  test::require_clean(test::record_run(test::mixed_trace("pipeline_nothing"), recording));
  REQUIRE(facts_of("nothing.kanata").instructions == 0);
}

TEST_CASE("pipeline view: the checker sees what is wrong") {
  const std::string good =
      "Kanata\t0004\nC=\t5\nI\t0\t0\t1\nL\t0\t0\tadd\nS\t0\t0\tF\nC\t2\nE\t0\t0\tF\nS\t0\t0\tD\nC\t1\n"
      "E\t0\t0\tD\nR\t0\t0\t0\n";
  const auto f = test::check_kanata(good);
  REQUIRE(f.error.empty());
  REQUIRE(f.cycles.at("F") == 2);
  CHECK(damaged(good, "0004", "0003") == "line 1: not Kanata 0004");
  CHECK(damaged(good, "I\t0\t0\t1\n", "") == "line 3: id 0 is not declared");
  CHECK(damaged(good, "C\t2", "C\t0") == "line 6: the cycle stands still");
  CHECK(damaged(good, "E\t0\t0\tF\n", "") == "line 7: id 0: stage D opens in a lane where another is open");
  CHECK(damaged(good, "E\t0\t0\tD\n", "") == "line 10: id 0 ends with an open stage");
  CHECK(damaged(good, "R\t0\t0\t0\n", "") == "line 10: id 0 neither retired nor flushed");
  CHECK(damaged(good, "R\t0\t0\t0\n", "R\t0\t0\t0\nR\t0\t1\t0\n") == "line 12: id 0 has ended");
  CHECK(damaged(good, "L\t0\t0\tadd\n", "") == "line 4: id 0 has no label");
}

TEST_CASE("windows are FIRST:LAST") {
  const auto w = recorders::parse_window("7:9", "--w");
  CHECK(w.contains(7));
  CHECK(w.contains(9));
  CHECK_FALSE(w.contains(6));
  CHECK_FALSE(w.contains(10));
  CHECK(recorders::parse_window(":9", "--w").first == 0);
  CHECK(recorders::parse_window("7:", "--w").last == UINT64_MAX);
  CHECK(recorders::parse_window("7", "--w").last == 7);
  for (const char* bad : {"", ":", "9:7", "a:b", "1:2:3", "-1:3", "1:2x"}) {
    INFO(bad);
    CHECK(refused(bad) == "--w: found '" + std::string(bad) +
                              "', expected FIRST:LAST, FIRST: or :LAST with FIRST <= LAST, or one number");
  }
}
