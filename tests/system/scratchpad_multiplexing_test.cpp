// SPDX-License-Identifier: Apache-2.0
//
// Shared memory multiplexing on the suite's programs: the baseline's cycles when there is a place for every CTA; more
// CTAs, and right values in registers and in shared memory, when there is not; the compiler's release; random machines.
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

namespace multiplexing_kernels {
namespace {

using Options = std::vector<std::string>;

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options = {}) {
  options.insert(options.end(), {"--scheme", scheme, "--machine", "fermi_sharing"});
  return test::statistics_of(folder, trace, options);
}

double of(const nlohmann::json& stats, const std::string& name) {
  return stats.at("stats").at("scratchpad_multiplexing").at(name).get<double>();
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !test::every_sharing_kernel()) return;
  CAPTURE(kernel);
  for (const std::string t : {"0", "0.1"}) {
    CAPTURE(t);
    const Folder folder;
    const std::string trace = test::annotate_scratchpad(folder, test::launch_path(kernel, test::Size::small), t);
    // Two CTAs and a half.
    const std::string bytes = std::to_string(test::shared_of_cta(trace) * 5 / 2);
    const auto with = [&](const Options& more) {
      Options all{"--shared.bytes", bytes, "--check-protocol"};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const auto baseline = run(folder, trace, "baseline", with({}));
    const auto alone = run(folder, trace, "scratchpad_multiplexing", with({"--scratchpad_multiplexing.t", "1"}));
    CHECK(alone.at("cycles") == baseline.at("cycles"));
    CHECK(alone.at("stall_cycles") == baseline.at("stall_cycles"));
    CHECK(of(alone, "allocations") == 0);
    const auto few = run(folder, trace, "scratchpad_multiplexing",
                         with({"--scratchpad_multiplexing.t", t, "--scratchpad_multiplexing.ctas", "1"}));
    CHECK(few.at("cycles") == baseline.at("cycles"));
    for (const char* relssp : {"none", "postdom", "optimal"}) {
      CAPTURE(relssp);
      const auto turns = run(folder, trace, "scratchpad_multiplexing",
                             with({"--scratchpad_multiplexing.t", t, "--scratchpad_multiplexing.relssp", relssp}));
      CHECK(of(turns, "multiplexed_ctas") > 0);
      CHECK(of(turns, "allocations") > 0);
      CHECK(turns.at("checks").at("shared_words_checked") == alone.at("checks").at("shared_words_checked"));
      CHECK(turns.at("checks").at("shared_words_checked") > 0);
    }
  }
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  const Folder folder;
  const std::string kernel = test::random_scratchpad_kernel(dice);
  const std::string t = dice.any({"0", "0", "0.01", "0.1", "0.25", "0.5", "0.777", "1"});
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path(kernel, test::Size::small), t);
  test::RandomMachine m(dice,
                        {"--scheme", "scratchpad_multiplexing", "--machine", "fermi_sharing", "--check-protocol"});
  m.set("scratchpad_multiplexing.t", t);
  m.set("scratchpad_multiplexing.relssp", dice.any({"none", "postdom", "optimal", "optimal"}));
  m.maybe("scratchpad_multiplexing.ctas", {"1", "4", "100"});
  test::vary_scratchpad_machine(m, dice, test::shared_of_cta(trace));
  CAPTURE(kernel, t);
  const auto stats = m.run(folder, trace, {"not one CTA fits on this machine"});
  if (!stats) return false;
  REQUIRE(stats->at("checks").at("shared_words_checked") > 0);
  return true;
}

}  // namespace

#define REGATTA_MULTIPLEXING(kernel, usually, tag) \
  TEST_CASE("scratchpad multiplexing: " #kernel, tag) { check_kernel(#kernel, usually); }
REGATTA_MULTIPLEXING(needleman_wunsch, true, REGATTA_MORE)
REGATTA_MULTIPLEXING(convolution_separable, true, REGATTA_MORE)
REGATTA_MULTIPLEXING(histogram, true, "")
REGATTA_MULTIPLEXING(reduction, true, "")
REGATTA_MULTIPLEXING(srad2, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(lavamd, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(backprop, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(bitonic_sort, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(dct8x8, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(dwt2d, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(fast_walsh, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(hotspot, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(lud, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(scan, false, "")
REGATTA_MULTIPLEXING(sgemm, false, REGATTA_MORE)
REGATTA_MULTIPLEXING(transpose, false, REGATTA_MORE)

TEST_CASE("scratchpad multiplexing: one place for many CTAs") {
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path("histogram", test::Size::small), "0");
  const auto s = run(folder, trace, "scratchpad_multiplexing",
                     {"--shared.bytes", std::to_string(test::shared_of_cta(trace)), "--scratchpad_multiplexing.ctas",
                      "100", "--scratchpad_multiplexing.relssp", "optimal"});
  CHECK(of(s, "queued") > 0);
  CHECK(s.at("stats").at("sm0.allocation_table").at("held_max") == 1);
  CHECK(s.at("stats").at("sm0.pipeline").at("resident_ctas_mean").get<double>() > 2);
}

TEST_CASE("scratchpad multiplexing: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path("srad2", test::Size::small), "0.1");
  const std::string bytes = std::to_string(test::shared_of_cta(trace) * 5 / 2);
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace, "scratchpad_multiplexing",
                 {"--quantum", quantum, "--sms", "2", "--shared.bytes", bytes, "--scratchpad_multiplexing.t", "0.1",
                  "--scratchpad_multiplexing.relssp", "optimal"});
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
}

TEST_CASE("scratchpad multiplexing: refused configurations") {
  const Folder folder;
  const std::string trace = test::annotate_scratchpad(folder, test::launch_path("srad2", test::Size::small), "0.1");
  const auto refused = [&](const Options& options) {
    Options command{REGATTA_SIM, trace, "--machine", "fermi_sharing", "--scheme", "scratchpad_multiplexing"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(refused({"--scratchpad_multiplexing.t", "1.5"}) ==
        "regatta-sim: configuration: scratchpad_multiplexing.t = 1.5, expected a decimal number from 0 to 1, with at "
        "most 6 places, as in 0.1\n");
  CHECK(refused({"--scratchpad_multiplexing.relssp", "early"})
            .find("scratchpad_multiplexing.relssp: expected one of none, postdom, optimal, found 'early'") !=
        std::string::npos);
  CHECK(refused({"--scratchpad_multiplexing.ctas", "1025"}).find("scratchpad_multiplexing.ctas: expected") !=
        std::string::npos);
  const std::string bytes = std::to_string(test::shared_of_cta(trace));
  CHECK(refused({"--scratchpad_multiplexing.relssp", "optimal", "--shared.bytes", bytes})
            .find("is annotated for --scratchpad-layout 1/10, and scratchpad_multiplexing.t is 0: expected a share of "
                  "less than a word") != std::string::npos);
  CHECK(refused({"--scratchpad_multiplexing.t", "0.2", "--scratchpad_multiplexing.relssp", "optimal", "--shared.bytes",
                 std::to_string(test::shared_of_cta(trace) * 3 / 2)})
            .find("scratchpad_multiplexing.t is 0.2: expected the same share") != std::string::npos);
  const std::string bare = test::annotate_kernel(folder, "srad2", test::Size::small);
  Options command{REGATTA_SIM,
                  bare,
                  "--machine",
                  "fermi_sharing",
                  "--scheme",
                  "scratchpad_multiplexing",
                  "--scratchpad_multiplexing.relssp",
                  "optimal",
                  "--shared.bytes",
                  bytes};
  CHECK(test::run_process(command).err.find("has no section 'sharing', which relssp_optimal needs: annotate it with "
                                            "--scratchpad-layout 0.000001") != std::string::npos);
  const auto switched = test::run_process(
      {REGATTA_SIM, trace, "--machine", "fermi_sharing", "--scheme", "finereg+scratchpad_multiplexing"});
  CHECK(switched.status == 2);
  CHECK(switched.err.find("both 'finereg' and 'scratchpad_multiplexing' take the residency of CTAs") !=
        std::string::npos);
}

TEST_CASE("scratchpad multiplexing: random machines") {
  test::run_random_machines("REGATTA_SHARING_RUNS", 20, 2, run_random);
}

}  // namespace multiplexing_kernels
