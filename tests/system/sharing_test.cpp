// SPDX-License-Identifier: Apache-2.0
//
// Register sharing on the suite's programs: the baseline's cycles when nothing is shared, more CTAs and right values
// when something is, the same results however far SMs run ahead. And random machines.
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

namespace register_sharing_kernels {
namespace {

using Options = std::vector<std::string>;

/// Warp registers of a CTA on fermi_sharing, of the launch that has the most.
unsigned rows_of_cta(const std::string& path) {
  const trace::Reader reader(path);
  unsigned most = 0;
  for (const trace::Launch& l : reader.launches()) {
    const unsigned registers = (reader.kernels()[l.kernel].registers_per_thread + 1) / 2 * 2;
    most = std::max(most, registers * l.warps_per_cta(32));
  }
  return most;
}

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options = {}) {
  options.insert(options.end(), {"--scheme", scheme, "--machine", "fermi_sharing", "--shared.bytes", "49152"});
  return test::statistics_of(folder, trace, options);
}

double cycles(const nlohmann::json& stats) { return stats.at("cycles").get<double>(); }
double of(const nlohmann::json& stats, const std::string& name) {
  return stats.at("stats").at("register_sharing").at(name).get<double>();
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !test::every_sharing_kernel()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path(kernel, test::Size::small));
  // Two CTAs and a half.
  const std::string rows = std::to_string(rows_of_cta(trace) * 5 / 2 / 2 * 2);
  const Options small{"--register_file.registers", rows, "--check-protocol"};
  const auto with = [&small](const Options& more) {
    Options all = small;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* scheduler : {"lrr", "owf"}) {
    const auto baseline = run(folder, trace, "baseline", with({"--scheduler", scheduler}));
    const auto unshared =
        run(folder, trace, "register_sharing", with({"--scheduler", scheduler, "--register_sharing.t", "1"}));
    CHECK(cycles(unshared) == cycles(baseline));
    CHECK(unshared.at("stall_cycles") == baseline.at("stall_cycles"));
    CHECK(of(unshared, "acquires") == 0);
    const auto shared =
        run(folder, trace, "register_sharing", with({"--scheduler", scheduler, "--register_sharing.t", "0.1"}));
    CHECK(of(shared, "paired_ctas") > 0);
    CHECK(of(shared, "acquires") > 0);
  }
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  const Folder folder;
  const std::string trace = test::random_register_trace(dice, folder);
  test::RandomMachine m(dice, {"--scheme", "register_sharing", "--machine", "fermi_sharing", "--check-protocol"});
  m.set("register_sharing.t", dice.any({"0.01", "0.1", "0.1", "0.25", "0.3", "0.5", "0.777", "0.9", "1"}));
  if (dice.one_in(2)) {
    m.set("register_sharing.dynamic", "true");
    m.set("register_sharing.dynamic_period", dice.any({"1", "50", "1000"}));
    m.maybe("register_sharing.dynamic_steps", {"1", "3", "10"});
    m.maybe("register_sharing.dynamic_seed", {"0", "7"});
  }
  test::vary_register_machine(m, dice, rows_of_cta(trace));
  return m.run(folder, trace, {"not one CTA fits on this machine"}).has_value();
}

}  // namespace

#define REGATTA_SHARING(kernel, usually, tag) \
  TEST_CASE("register sharing: " #kernel, tag) { check_kernel(#kernel, usually); }
REGATTA_SHARING(hotspot, true, "")
REGATTA_SHARING(sgemm, true, REGATTA_MORE)
REGATTA_SHARING(stencil3d, true, REGATTA_MORE)
REGATTA_SHARING(srad2, true, REGATTA_MORE)
REGATTA_SHARING(bfs, false, "")
REGATTA_SHARING(bicg, false, REGATTA_MORE)
REGATTA_SHARING(convolution_separable, false, REGATTA_MORE)
REGATTA_SHARING(fdtd2d, false, REGATTA_MORE)
REGATTA_SHARING(kmeans, false, REGATTA_MORE)
REGATTA_SHARING(monte_carlo, false, REGATTA_MORE)
REGATTA_SHARING(needleman_wunsch, false, REGATTA_MORE)
REGATTA_SHARING(syr2k, false, REGATTA_MORE)
REGATTA_SHARING(atax, false, REGATTA_MORE)
REGATTA_SHARING(cfd, false, REGATTA_MORE)
REGATTA_SHARING(libor, false, REGATTA_MORE)
REGATTA_SHARING(lbm, false, REGATTA_MORE)
REGATTA_SHARING(reduction, false, REGATTA_MORE)
REGATTA_SHARING(histogram, false, "")

TEST_CASE("register sharing: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path("hotspot", test::Size::small));
  const std::string rows = std::to_string(rows_of_cta(trace) * 3 / 2 / 2 * 2);
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "256", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace, "register_sharing",
                 {"--quantum", quantum, "--sms", "3", "--scheduler", "owf", "--register_file.registers", rows,
                  "--register_sharing.t", "0.5", "--register_sharing.dynamic", "true",
                  "--register_sharing.dynamic_period", "100"});
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
}

TEST_CASE("register sharing: refused configurations") {
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path("hotspot", test::Size::small));
  const auto refused = [&](const Options& options) {
    Options command{REGATTA_SIM, trace, "--machine", "fermi_sharing"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(refused({"--scheme", "register_sharing", "--register_sharing.t", "0.1.1"}) ==
        "regatta-sim: configuration: register_sharing.t = 0.1.1, expected a decimal number above 0 and at most 1, with "
        "at most 6 places, as in 0.1\n");
  CHECK(refused({"--scheme", "register_sharing", "--register_sharing.dynamic", "true",
                 "--register_sharing.deadlock_rule", "false"}) ==
        "regatta-sim: configuration: register_sharing.dynamic = true needs register_sharing.deadlock_rule = true: a "
        "non-owner that holds locks and may not access memory would keep its owner waiting\n");
  CHECK(refused({"--scheme", "finereg+register_sharing"}) ==
        "regatta-sim: --scheme: found 'finereg+register_sharing', and both 'finereg' and 'register_sharing' take the "
        "windows of warps: expected schemes that take different parts of an SM\n");
  CHECK(refused({"--scheme", "register_sharing", "--register_file.registers", "64"})
            .find("not one CTA fits on this machine, bound by registers") != std::string::npos);
}

TEST_CASE("register sharing: random machines") { test::run_random_machines("REGATTA_SHARING_RUNS", 15, 2, run_random); }

}  // namespace register_sharing_kernels
