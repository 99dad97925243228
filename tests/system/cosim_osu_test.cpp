// SPDX-License-Identifier: Apache-2.0
//
// RTL in place of tags and lists of RegLess's staging units in whole runs: values, equal statistics, a bug that is
// found. REGATTA_COSIM_KERNELS=all in the environment runs all twelve kernels instead of four.
#include <regatta/test/catch.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "twin_statistics.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

std::vector<std::string> bank_command(const char* sim, const std::string& trace, const std::string& entries,
                                      const std::string& implementation) {
  return {sim, trace, "--scheme", "regless", "--osu.entries", entries, "--osu.implementation", implementation};
}

nlohmann::json run_banks(const Folder& folder, const std::string& trace, const std::string& entries,
                         const std::string& implementation) {
  const auto words = bank_command(REGATTA_SIM, trace, entries, implementation);
  return test::statistics_of(folder, trace, {words.begin() + 2, words.end()});
}

double of_twins(const nlohmann::json& stats, const std::string& name) {
  return test::total_of(stats, "osu_twin", name);
}

/// Statistics of everything but the twins.
nlohmann::json without_twins(const nlohmann::json& stats) { return test::without(stats, {"osu_twin"}); }

void check_banks(const std::string& kernel, const std::string& entries) {
  const Folder folder;
  const std::string trace = test::annotate_for_small_staging(folder, kernel);
  const auto model = run_banks(folder, trace, entries, "model");
  CHECK(of_twins(model, "rtl_operations") == 0);
  const auto lockstep = run_banks(folder, trace, entries, "lockstep");
  const auto rtl = run_banks(folder, trace, entries, "rtl");
  CHECK(model.at("stats") == without_twins(lockstep));
  CHECK(model.at("stats") == without_twins(rtl));
  CHECK(model.at("cycles") == rtl.at("cycles"));
  CHECK(of_twins(lockstep, "rtl_operations") > 0);
  CHECK(of_twins(lockstep, "lockstep_compared") == of_twins(lockstep, "rtl_operations"));
  CHECK(of_twins(rtl, "rtl_operations") == of_twins(lockstep, "rtl_operations"));
  CHECK(of_twins(rtl, "lockstep_compared") == 0);
  std::printf("%s, %s entries: %.0f operations in %s cycles\n", kernel.c_str(), entries.c_str(),
              of_twins(rtl, "rtl_operations"), rtl.at("cycles").dump().c_str());
}

/// Kernels beyond the four that always run.
void check_more_banks(const std::string& kernel) {
  if (!test::every_cosim_kernel()) return;
  check_banks(kernel, "128");
}

}  // namespace

TEST_CASE("sgemm with the staging banks in RTL") { check_banks("sgemm", "128"); }
TEST_CASE("hotspot with the staging banks in RTL") { check_banks("hotspot", "256"); }
TEST_CASE("srad with the staging banks in RTL") { check_banks("srad", "512"); }
TEST_CASE("bfs with the staging banks in RTL") { check_banks("bfs", "128"); }
TEST_CASE("further kernels with the staging banks in RTL, if asked for") {
  for (const char* kernel : {"vector_add", "pathfinder", "needleman_wunsch", "stencil3d", "spmv", "black_scholes",
                             "histogram", "reduction"}) {
    check_more_banks(kernel);
  }
}

TEST_CASE("a bug of the staging banks' RTL: lockstep stops the run, with the operation, the lists and a waveform") {
  const Folder folder;
  const std::string trace = test::annotate_for_small_staging(folder, "sgemm");
  const std::string waveform = folder.file("difference.fst");
  auto command = bank_command(REGATTA_BUGGY_BANK_SIM, trace, "128", "buggy_lockstep");
  command.insert(command.end(), {"--osu.waveform", waveform, "--osu.waveform_cycles", "50"});
  const auto run = test::run_process(command);
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err, Contains("another result of the RTL") && Contains("\n  operation ") &&
                          Contains("clean, oldest first:") && Contains(waveform));
  CHECK(folder.has("difference.fst"));
}

TEST_CASE("a bug of the staging banks' RTL: the run finds it without lockstep") {
  const Folder folder;
  const auto run = test::run_process(
      bank_command(REGATTA_BUGGY_BANK_SIM, test::annotate_for_small_staging(folder, "sgemm"), "128", "buggy_rtl"));
  INFO(run.err);
  CHECK(run.status != 0);
  std::printf("%.400s\n", run.err.c_str());
}

TEST_CASE("the staging banks' RTL: sizes that it is not built for are refused") {
  const Folder folder;
  const auto run = test::run_process(
      bank_command(REGATTA_SIM, test::annotate_for_small_staging(folder, "vector_add"), "384", "rtl"));
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("a bank has 12 lines") && Contains("expected 4, 8 or 16"));
}
