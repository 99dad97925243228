// SPDX-License-Identifier: Apache-2.0
//
// RTL in place of the compressor's units in whole runs: values, cycles, and a bug that is found.
#include <regatta/test/catch.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "twin_statistics.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

std::vector<std::string> command(const char* sim, const std::string& trace, const std::string& implementation,
                                 const std::vector<std::string>& knobs) {
  std::vector<std::string> words{
      sim, trace, "--scheme", "regless", "--osu.entries", "128", "--compressor.implementation", implementation};
  words.insert(words.end(), knobs.begin(), knobs.end());
  return words;
}

nlohmann::json run_with(const Folder& folder, const std::string& trace, const std::string& implementation,
                        const std::vector<std::string>& knobs = {}) {
  const auto words = command(REGATTA_SIM, trace, implementation, knobs);
  return test::statistics_of(folder, trace, {words.begin() + 2, words.end()});
}

double total(const nlohmann::json& stats, const std::string& module, const std::string& name) {
  return test::total_of(stats, module, name);
}

/// Statistics of the parts that all implementations have.
nlohmann::json shared(const nlohmann::json& stats) { return test::without(stats, {"matcher", "expander"}); }

void check_kernel(const std::string& kernel) {
  const Folder folder;
  const std::string trace = test::annotate_for_small_staging(folder, kernel);
  const auto model = run_with(folder, trace, "model");
  const auto lockstep = run_with(folder, trace, "lockstep");
  // The platform sees the models' answers.
  CHECK(shared(model) == shared(lockstep));
  const double matched = total(model, "compressor", "incompressible") + total(model, "compressor", "slot_writes");
  CHECK(total(lockstep, "matcher", "rtl_requests") >= matched);
  CHECK(total(lockstep, "expander", "rtl_requests") == total(model, "compressor", "expanded"));
  // needleman_wunsch is so small that no register leaves the staging units.
  CHECK((total(lockstep, "matcher", "lockstep_compared") > 0) == (matched > 0));
  const auto rtl = run_with(folder, trace, "rtl");
  CHECK((total(rtl, "matcher", "rtl_answers") > 0) == (matched > 0));
  // With a matcher of one cycle, a write's pattern is known when its turn comes: no cycle differs.
  const auto model1 = run_with(folder, trace, "model", {"--compressor.match_latency", "1"});
  const auto rtl1 = run_with(folder, trace, "rtl", {"--compressor.match_latency", "1"});
  CHECK(shared(model1) == shared(rtl1));
  std::printf("%s: %.0f matched, %.0f expanded; cycles model %s, rtl %s\n", kernel.c_str(), matched,
              total(model, "compressor", "expanded"), model.at("cycles").dump().c_str(),
              rtl.at("cycles").dump().c_str());
}

}  // namespace

TEST_CASE("vector_add with the compressor in RTL") { check_kernel("vector_add"); }
TEST_CASE("sgemm with the compressor in RTL") { check_kernel("sgemm"); }
TEST_CASE("hotspot with the compressor in RTL") { check_kernel("hotspot"); }
TEST_CASE("bfs with the compressor in RTL") { check_kernel("bfs"); }
TEST_CASE("pathfinder with the compressor in RTL") { check_kernel("pathfinder"); }
TEST_CASE("needleman_wunsch with the compressor in RTL") { check_kernel("needleman_wunsch"); }
TEST_CASE("srad with the compressor in RTL") { check_kernel("srad"); }
TEST_CASE("stencil3d with the compressor in RTL") { check_kernel("stencil3d"); }
TEST_CASE("spmv with the compressor in RTL") { check_kernel("spmv"); }
TEST_CASE("black_scholes with the compressor in RTL") { check_kernel("black_scholes"); }
TEST_CASE("histogram with the compressor in RTL") { check_kernel("histogram"); }
TEST_CASE("reduction with the compressor in RTL") { check_kernel("reduction"); }

TEST_CASE("a bug of the compressor's RTL: lockstep stops the run, with the transaction and a waveform") {
  const Folder folder;
  const std::string trace = test::annotate_for_small_staging(folder, "sgemm");
  const std::string waveform = folder.file("difference.fst");
  const auto run =
      test::run_process(command(REGATTA_BUGGY_RTL_SIM, trace, "buggy_lockstep",
                                {"--compressor.waveform", waveform, "--compressor.waveform_cycles", "50"}));
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err,
             Contains("another answer of the RTL") &&
                 (Contains("request stride4, slot bytes 0-7:") || Contains("request half4, slot bytes 0-7:")) &&
                 Contains("model   lanes 0-31:") && Contains("RTL     lanes 0-31:") && Contains(waveform));
  CHECK(folder.has("difference.fst"));
}

TEST_CASE("a bug of the compressor's RTL: the value checker finds it without lockstep") {
  const Folder folder;
  const auto run = test::run_process(
      command(REGATTA_BUGGY_RTL_SIM, test::annotate_for_small_staging(folder, "sgemm"), "buggy_rtl", {}));
  INFO(run.err);
  CHECK(run.status != 0);
}

TEST_CASE("the compressor's RTL: latencies that it is not built for are refused") {
  const Folder folder;
  const auto run = test::run_process(command(REGATTA_SIM, test::annotate_for_small_staging(folder, "vector_add"), "rtl",
                                             {"--compressor.expand_latency", "9"}));
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("compressor.expand_latency = 9; expected 1 to 3"));
}
