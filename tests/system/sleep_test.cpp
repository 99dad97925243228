// SPDX-License-Identifier: Apache-2.0
//
// An SM sleeps while nothing can happen, and whoever it waits for wakes it. A run whose SMs look in every cycle must
// come out the same: nothing depends on who sleeps.
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;
using test::Size;

namespace {

nlohmann::json run(const char* program, const Folder& folder, const std::string& trace,
                   const std::vector<std::string>& options) {
  std::vector<std::string> command{program, trace, "--stats", folder.file("stats.json")};
  command.insert(command.end(), options.begin(), options.end());
  const auto r = test::run_process(command);
  INFO(r.err);
  REQUIRE(r.status == 0);
  return nlohmann::json::parse(folder.read("stats.json"));
}

/// With what only one scheme minds.
std::string annotate_for(const Folder& folder, const std::string& kernel, const char* option, const char* value,
                         unsigned registers) {
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, Size::small);
  o.out = folder.file(std::string(option) + ".rgt");
  o.max_registers = registers;
  o.pass_options[option] = value;
  tool::annotate(o);
  return o.out;
}

/// The causes without their sentences, which name knobs of which the simulator that never sleeps has not heard.
nlohmann::json causes_of(const nlohmann::json& stats) {
  nlohmann::json causes = stats.at("why");
  REQUIRE(!causes.empty());
  for (nlohmann::json& cause : causes) cause.erase("sentence");
  return causes;
}

void check_kernel(const std::string& kernel) {
  const Folder folder;
  const std::string with_levels = annotate_for(folder, kernel, "rfh", "3", tool::AnnotateOptions{}.max_registers);
  const std::string with_releases = annotate_for(folder, kernel, "rfv", "on", 63);
  using Options = std::vector<std::string>;
  for (const Options& of :
       std::vector<Options>{{"baseline"},
                            {"baseline", "--scheduler", "two_level"},
                            {"regless"},
                            {"regless", "--osu.writeback_buffer", "4", "--osu.request_queue", "1"},
                            {"wir"},
                            {"greener"},
                            {"sleep_reg"},
                            {"rc_rar"},
                            {"wc"},
                            {"argo"},
                            {"register_sharing", "--scheduler", "owf"},
                            {"rfh", "--scheduler", "two_level", "--scheduler.active_warps", "2"},
                            {"rfh", "--rfh.wait", "needed", "--rfh.orf_cycles", "5"},
                            {"warp_level_divergence", "--register_file.registers", "640"},
                            {"scratchpad_multiplexing", "--shared.bytes", "16384"},
                            {"rfv"},
                            {"register_sharing", "--register_file.registers", "640", "--sms", "2",
                             "--register_sharing.dynamic", "true", "--register_sharing.dynamic_period", "200"}}) {
    for (const std::string machine : {"gtx980", "gtx480"}) {
      Options options{"--machine", machine, "--scheme"};
      options.insert(options.end(), of.begin(), of.end());
      const std::string& trace = of.front() == "rfv" ? with_releases : with_levels;
      const auto usual = run(REGATTA_SIM, folder, trace, options);
      const auto sleepless = run(REGATTA_SLEEPLESS_SIM, folder, trace, options);
      CAPTURE(kernel, machine, of);
      CHECK(sleepless.at("cycles") == usual.at("cycles"));
      CHECK(sleepless.at("stall_cycles") == usual.at("stall_cycles"));
      CHECK(causes_of(sleepless) == causes_of(usual));
    }
  }
}

}  // namespace

TEST_CASE("vector_add whoever sleeps", REGATTA_MORE) { check_kernel("vector_add"); }
TEST_CASE("sgemm whoever sleeps", REGATTA_MORE) { check_kernel("sgemm"); }
TEST_CASE("reduction whoever sleeps") { check_kernel("reduction"); }
TEST_CASE("histogram whoever sleeps") { check_kernel("histogram"); }
TEST_CASE("spmv whoever sleeps", REGATTA_MORE) { check_kernel("spmv"); }
TEST_CASE("stencil3d whoever sleeps", REGATTA_MORE) { check_kernel("stencil3d"); }
TEST_CASE("hotspot whoever sleeps", REGATTA_MORE) { check_kernel("hotspot"); }
TEST_CASE("pathfinder whoever sleeps", REGATTA_MORE) { check_kernel("pathfinder"); }
TEST_CASE("bfs whoever sleeps", REGATTA_MORE) { check_kernel("bfs"); }
TEST_CASE("black_scholes whoever sleeps", REGATTA_MORE) { check_kernel("black_scholes"); }
TEST_CASE("needleman_wunsch whoever sleeps", REGATTA_MORE) { check_kernel("needleman_wunsch"); }
TEST_CASE("srad whoever sleeps", REGATTA_MORE) { check_kernel("srad"); }
