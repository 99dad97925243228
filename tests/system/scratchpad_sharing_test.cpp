// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad sharing on the suite's programs: the baseline's cycles when nothing is shared; more CTAs, and right values
// in registers and in shared memory, when something is; the compiler's release; random machines.
//
// REGATTA_SHARING=all runs every kernel. REGATTA_SHARING_RUNS says how many random runs, REGATTA_SEED which.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels.h"
#include "process.h"
#include "sharing_programs.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace scratchpad_sharing_kernels {
namespace {

using Options = std::vector<std::string>;

/// Shared memory for two CTAs and a half.
unsigned bytes_for(const std::string& path) { return test::shared_of_cta(path) * 5 / 2; }

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options = {}) {
  options.insert(options.end(), {"--scheme", scheme, "--machine", "fermi_sharing"});
  return test::statistics_of(folder, trace, options);
}

double of(const nlohmann::json& stats, const std::string& name) {
  return stats.at("stats").at("scratchpad_sharing").at(name).get<double>();
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !test::every_sharing_kernel()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path(kernel, test::Size::small), "0.1");
  const std::string bytes = std::to_string(bytes_for(trace));
  const auto with = [&bytes](const Options& more) {
    Options all{"--shared.bytes", bytes, "--check-protocol"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* scheduler : {"lrr", "owf"}) {
    const auto baseline = run(folder, trace, "baseline", with({"--scheduler", scheduler}));
    const auto unshared =
        run(folder, trace, "scratchpad_sharing", with({"--scheduler", scheduler, "--scratchpad_sharing.t", "1"}));
    CHECK(unshared.at("cycles") == baseline.at("cycles"));
    CHECK(unshared.at("stall_cycles") == baseline.at("stall_cycles"));
    CHECK(of(unshared, "acquires") == 0);
    for (const char* relssp : {"none", "postdom", "optimal"}) {
      CAPTURE(scheduler, relssp);
      const auto shared = run(folder, trace, "scratchpad_sharing",
                              with({"--scheduler", scheduler, "--scratchpad_sharing.relssp", relssp}));
      CHECK(of(shared, "paired_ctas") > 0);
      CHECK(shared.at("checks").at("shared_words_checked") == unshared.at("checks").at("shared_words_checked"));
      CHECK(shared.at("checks").at("shared_words_checked") > 0);
    }
  }
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  const Folder folder;
  const std::string kernel = test::random_scratchpad_kernel(dice);
  const std::string t = dice.any({"0.01", "0.1", "0.1", "0.25", "0.5", "0.777", "1"});
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path(kernel, test::Size::small), t);
  test::RandomMachine m(dice, {"--scheme", "scratchpad_sharing", "--machine", "fermi_sharing", "--check-protocol"});
  m.set("scratchpad_sharing.t", t);
  m.set("scratchpad_sharing.relssp", dice.any({"none", "postdom", "optimal", "optimal"}));
  test::vary_scratchpad_machine(m, dice, test::shared_of_cta(trace));
  CAPTURE(kernel, t);
  const auto stats = m.run(folder, trace, {"not one CTA fits on this machine"});
  if (!stats) return false;
  REQUIRE(stats->at("checks").at("shared_words_checked") > 0);
  return true;
}

}  // namespace

#define REGATTA_SCRATCHPAD(kernel, usually, tag) \
  TEST_CASE("scratchpad sharing: " #kernel, tag) { check_kernel(#kernel, usually); }
REGATTA_SCRATCHPAD(needleman_wunsch, true, "")
REGATTA_SCRATCHPAD(convolution_separable, true, REGATTA_MORE)
REGATTA_SCRATCHPAD(histogram, true, REGATTA_MORE)
REGATTA_SCRATCHPAD(srad2, true, REGATTA_MORE)
REGATTA_SCRATCHPAD(reduction, true, "")
REGATTA_SCRATCHPAD(lavamd, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(backprop, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(bitonic_sort, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(dct8x8, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(dwt2d, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(fast_walsh, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(hotspot, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(lud, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(scan, false, "")
REGATTA_SCRATCHPAD(sgemm, false, REGATTA_MORE)
REGATTA_SCRATCHPAD(transpose, false, REGATTA_MORE)

TEST_CASE("scratchpad sharing: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path("srad2", test::Size::small), "0.1");
  const std::string bytes = std::to_string(bytes_for(trace));
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace, "scratchpad_sharing",
                 {"--quantum", quantum, "--sms", "2", "--scheduler", "owf", "--shared.bytes", bytes,
                  "--scratchpad_sharing.relssp", "optimal"});
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
}

TEST_CASE("scratchpad sharing: a warp that is closed leaves its place to one that can go on") {
  // The last ready warp of its scheduler is closed in the one place of the active set, and another one is ready.
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path("hotspot", test::Size::small), "0.25");
  run(folder, trace, "scratchpad_sharing",
      {"--shared.bytes", "2688", "--scratchpad_sharing.t", "0.25", "--scheduler", "two_level",
       "--scheduler.active_warps", "1", "--sm.sub_cores", "1", "--register_file.latency", "1", "--collector.units", "8",
       "--writeback.width", "1"});
}

TEST_CASE("scratchpad sharing: refused configurations") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "srad2", test::Size::small);
  const auto refused = [&](const Options& options) {
    Options command{REGATTA_SIM, trace, "--machine", "fermi_sharing", "--scheme", "scratchpad_sharing"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(
      refused({"--scratchpad_sharing.t", "0"}) ==
      "regatta-sim: configuration: scratchpad_sharing.t = 0, expected a decimal number above 0 and at most 1, with at "
      "most 6 places, as in 0.1\n");
  CHECK(refused({"--scratchpad_sharing.relssp", "early"}) ==
        "regatta-sim: configuration: scratchpad_sharing.relssp = early, expected none, postdom or optimal\n");
  const std::string bytes = std::to_string(bytes_for(trace));
  const std::string unannotated = refused({"--scratchpad_sharing.relssp", "optimal", "--shared.bytes", bytes});
  CHECK(unannotated.find("has no section 'sharing', which relssp_optimal needs: annotate it with --scratchpad-layout "
                         "0.1") != std::string::npos);
}

TEST_CASE("scratchpad sharing: random machines") {
  test::run_random_machines("REGATTA_SHARING_RUNS", 15, 2, run_random);
}

}  // namespace scratchpad_sharing_kernels
