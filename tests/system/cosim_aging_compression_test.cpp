// SPDX-License-Identifier: Apache-2.0
//
// RTL in place of the aging-aware file's compression and decompression unit in whole runs: values, statistics, and bugs
// that are found.
#include <regatta/test/catch.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "twin_statistics.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;
using test::Size;

namespace {

using Options = std::vector<std::string>;

Options with_units(const char* machine, const std::string& scheme, const std::string& implementation) {
  return {"--machine", machine, "--scheme", scheme, "--compression.implementation", implementation};
}

double units_total(const nlohmann::json& run, const std::string& module, const std::string& counter) {
  return test::total_of(run, "." + module, counter);
}

/// All statistics but those of the twins, which a run with the model has none of.
nlohmann::json without_twins(const nlohmann::json& run) {
  return test::without(run, {"compression_unit_rtl", "decompressor_rtl"});
}

void check_units(const Folder& folder, const std::string& kernel, const char* machine, unsigned lanes) {
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small, lanes);
  const std::string scheme = lanes == 64 ? "rc_rar" : "rc";
  const auto run = [&](const char* implementation) {
    return test::statistics_of(folder, trace, with_units(machine, scheme, implementation));
  };
  CAPTURE(kernel, machine, scheme);
  const auto model = run("model"), lockstep = run("lockstep"), rtl = run("rtl");
  CHECK(without_twins(model) == model.at("stats"));
  // Within a cycle both answer the same, so no statistic differs, no matter whose result counts.
  CHECK(without_twins(lockstep) == model.at("stats"));
  CHECK(without_twins(rtl) == model.at("stats"));
  CHECK(rtl.at("cycles") == model.at("cycles"));
  const double compressed = units_total(model, "compression.unit", "registers");
  const double beats = units_total(model, "compression.unit", "beats");
  const double decompressed = units_total(model, "compression.decompressor", "registers");
  CHECK(compressed > 0);
  CHECK(decompressed > 0);
  CHECK(units_total(lockstep, "compression_unit_rtl", "lockstep_compared") == compressed);
  CHECK(units_total(lockstep, "decompressor_rtl", "lockstep_compared") == decompressed);
  CHECK(units_total(rtl, "compression_unit_rtl", "rtl_operations") == compressed);
  CHECK(units_total(rtl, "decompressor_rtl", "rtl_operations") == decompressed);
  CHECK(units_total(rtl, "compression_unit_rtl", "lockstep_compared") == 0);
  // An edge to take a register, one for each sub-wavefront.
  CHECK(units_total(rtl, "compression_unit_rtl", "rtl_clock_edges") == compressed + beats);
  CHECK(units_total(rtl, "decompressor_rtl", "rtl_clock_edges") == decompressed * (1 + lanes / 16));
  std::printf("%s, %s: %.0f registers through the compression unit in %.0f sub-wavefronts, %.0f decompressed\n",
              kernel.c_str(), machine, compressed, beats, decompressed);
}

void check_units(const std::string& kernel) {
  const Folder folder;
  check_units(folder, kernel, "hd7770", 64);
  check_units(folder, kernel, "k20x", 32);
}

test::ProcessResult buggy(const Folder& folder, const std::string& implementation, const Options& more = {}) {
  Options command{REGATTA_BUGGY_RTL_SIM, test::annotate_kernel(folder, "vector_add", Size::small, 64)};
  const Options options = with_units("hd7770", "rc", implementation);
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), more.begin(), more.end());
  return test::run_process(command);
}

}  // namespace

TEST_CASE("vector_add with the compression units in RTL") { check_units("vector_add"); }
TEST_CASE("sgemm with the compression units in RTL") { check_units("sgemm"); }
TEST_CASE("bfs with the compression units in RTL") { check_units("bfs"); }
TEST_CASE("reduction with the compression units in RTL") { check_units("reduction"); }
TEST_CASE("more kernels with the compression units in RTL, if REGATTA_COSIM_KERNELS is all") {
  if (!test::every_cosim_kernel()) return;
  for (const char* kernel :
       {"hotspot", "pathfinder", "needleman_wunsch", "srad", "stencil3d", "spmv", "black_scholes", "histogram"}) {
    check_units(kernel);
  }
}

TEST_CASE("a bug of the decompression unit's RTL: lockstep stops the run, with the operation and a waveform") {
  const Folder folder;
  const std::string waveform = folder.file("difference.fst");
  const auto run = buggy(folder, "buggy_lockstep", {"--compression.waveform", waveform});
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err, Contains("decompressor_rtl in cycle ") && Contains("another result of the RTL") &&
                          Contains("operation base ") && Contains("model     components 0-63:") &&
                          Contains("RTL       components 0-63:") && Contains(waveform));
  CHECK(folder.has("difference.fst"));
}

TEST_CASE("a bug of the decompression unit's RTL: the value checker finds it without lockstep") {
  const Folder folder;
  const auto run = buggy(folder, "buggy_rtl");
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err, Contains("value mismatch: kernel vector_add"));
}
