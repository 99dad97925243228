// SPDX-License-Identifier: Apache-2.0
//
// FineReg with its register management unit in RTL, in whole runs: values, statistics, and a bug that is found.
// REGATTA_COSIM_KERNELS=all runs twelve kernels instead of four.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "twin_statistics.h"

using namespace regatta;
using Catch::Matchers::Contains;

namespace {

/// FineReg on a trace of a small kernel: place for one active CTA's registers, and for those of three that wait.
struct FineRegRun {
  explicit FineRegRun(const std::string& kernel) : trace(folder.file("k.rgt")) {
    tool::AnnotateOptions o;
    o.launch = test::launch_path(kernel, test::Size::small);
    o.out = trace;
    o.max_registers = 63;
    tool::annotate(o);
    const trace::Reader reader(trace);
    for (const trace::Launch& l : reader.launches()) {
      const unsigned registers = (reader.kernels()[l.kernel].registers_per_thread + 7) / 8 * 8;
      rows = std::max(rows, registers * l.warps_per_cta(32));
    }
  }
  std::vector<std::string> options(const std::string& implementation) const {
    return {"--machine",
            "finereg",
            "--scheme",
            "finereg",
            "--finereg.active_registers",
            std::to_string(std::max(16u, rows)),
            "--finereg.pending_registers",
            std::to_string(std::min(1024u, 3 * rows)),
            "--rmu.implementation",
            implementation};
  }
  nlohmann::json run(const std::string& implementation) const {
    INFO(implementation);
    return test::statistics_of(folder, trace, options(implementation));
  }
  /// That fails, with what it prints.
  test::ProcessResult run_buggy(const std::string& implementation, const std::string& waveform) const {
    std::vector<std::string> words = options(implementation);
    words.insert(words.begin(), {REGATTA_BUGGY_RTL_SIM, trace});
    words.insert(words.end(), {"--rmu.waveform", waveform});
    return test::run_process(words);
  }

  const test::Folder folder;
  const std::string trace;
  unsigned rows = 0;  ///< warp registers of a CTA, of the launch that has the most
};

/// Statistics without those of the twin.
nlohmann::json without_twin(const nlohmann::json& stats) { return test::without(stats, {"rmu_twin"}); }

double of_twins(const nlohmann::json& stats, const std::string& name) {
  return test::total_of(stats, "rmu_twin", name);
}

void check_rmu(const std::string& kernel) {
  const FineRegRun f(kernel);
  const auto model = f.run("model"), lockstep = f.run("lockstep"), rtl = f.run("rtl");
  CHECK(without_twin(model) == model.at("stats"));
  CHECK(without_twin(lockstep) == model.at("stats"));
  CHECK(without_twin(rtl) == model.at("stats"));
  CHECK(lockstep.at("cycles") == model.at("cycles"));
  CHECK(rtl.at("cycles") == model.at("cycles"));
  const double operations = of_twins(rtl, "rtl_operations");
  CHECK(of_twins(lockstep, "lockstep_compared") == operations);
  CHECK(of_twins(rtl, "lockstep_compared") == 0);
  CHECK(of_twins(rtl, "rtl_clock_edges") >= operations);
  const double moved = model.at("stats").at("finereg").at("moved_out").get<double>();
  CHECK(operations >= 4 * moved);  // taken, decoded, appended, stepped over
  std::printf("%s: %.0f operations, %.0f registers moved out\n", kernel.c_str(), operations, moved);
}

void check_rmu_of_twelve(const std::string& kernel) {
  if (!test::every_cosim_kernel()) return;
  check_rmu(kernel);
}

}  // namespace

TEST_CASE("hotspot with FineReg's register management in RTL") { check_rmu("hotspot"); }
TEST_CASE("bfs with FineReg's register management in RTL") { check_rmu("bfs"); }
TEST_CASE("srad with FineReg's register management in RTL") { check_rmu("srad"); }
TEST_CASE("spmv with FineReg's register management in RTL") { check_rmu("spmv"); }
#define REGATTA_RMU_OF_TWELVE(kernel) \
  TEST_CASE(#kernel " with FineReg's register management in RTL, of twelve") { check_rmu_of_twelve(#kernel); }
REGATTA_RMU_OF_TWELVE(vector_add)
REGATTA_RMU_OF_TWELVE(sgemm)
REGATTA_RMU_OF_TWELVE(pathfinder)
REGATTA_RMU_OF_TWELVE(needleman_wunsch)
REGATTA_RMU_OF_TWELVE(stencil3d)
REGATTA_RMU_OF_TWELVE(black_scholes)
REGATTA_RMU_OF_TWELVE(histogram)
REGATTA_RMU_OF_TWELVE(reduction)

TEST_CASE("a bug of the register management's RTL: lockstep stops the run, with the operation and a waveform") {
  const FineRegRun f("srad");
  const auto run = f.run_buggy("buggy_lockstep", f.folder.file("difference.fst"));
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err, Contains("rmu_twin in cycle ") && Contains("another result of the RTL, after ") &&
                          (Contains("operation peek entry ") || Contains("operation step")) &&
                          Contains("state of the model behind it: ") && Contains(" entries are free") &&
                          Contains("difference.fst"));
  CHECK(f.folder.has("difference.fst"));
}

TEST_CASE("a bug of the register management's RTL: found without lockstep") {
  const FineRegRun f("srad");
  const auto run = f.run_buggy("buggy_rtl", "unused.fst");
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK_THAT(run.err, Contains("leads to entry "));
}

TEST_CASE("the register management's RTL: sizes that it is not built for are refused") {
  const FineRegRun f("vector_add");
  const auto refused = [&](const std::string& knob, const std::string& value, const std::string& message) {
    const auto run = test::run_process({REGATTA_SIM, f.trace, "--machine", "finereg", "--scheme", "finereg",
                                        "--rmu.implementation", "lockstep", knob, value});
    INFO(run.err);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(message));
  };
  refused("--rmu.vector_entries", "64", "rmu.vector_entries = 64; expected 32, as it is built for");
  refused("--finereg.pending_registers", "1536",
          "the entries of the pending file (finereg.pending_registers, or what um.bytes leaves) are 1536; expected at "
          "most 1024");
}
