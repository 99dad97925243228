// SPDX-License-Identifier: Apache-2.0
//
// Warp-level divergence on the suite's programs: the baseline's cycles when no register is left over, more CTAs and
// right values when some are, the same results however far SMs run ahead. And random machines.
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

namespace divergence_kernels {
namespace {

using Options = std::vector<std::string>;

struct OfCta {
  unsigned warps = 0, registers = 0;  ///< registers of a warp
  std::uint64_t ctas = 0;             ///< of the launch
  bool one_size = true;               ///< of all launches
  unsigned rows() const { return warps * registers; }
};

/// On fermi_sharing, of the launch with the most warp registers in a CTA.
OfCta of_cta(const std::string& path) {
  const trace::Reader reader(path);
  OfCta most;
  for (const trace::Launch& l : reader.launches()) {
    OfCta c;
    c.registers = (reader.kernels()[l.kernel].registers_per_thread + 1) / 2 * 2;
    c.warps = l.warps_per_cta(32);
    c.ctas = l.cta_count;
    most.one_size = most.one_size && (most.rows() == 0 || (c.warps == most.warps && c.registers == most.registers));
    c.one_size = most.one_size;
    if (c.rows() > most.rows()) {
      most = c;
    } else {
      most.one_size = c.one_size;
    }
  }
  return most;
}

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options = {}) {
  options.insert(options.end(), {"--scheme", scheme, "--machine", "fermi_sharing", "--shared.bytes", "49152"});
  return test::statistics_of(folder, trace, options);
}

double of(const nlohmann::json& stats, const std::string& name) {
  return stats.at("stats").at("warp_level_divergence").at(name).get<double>();
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !test::every_sharing_kernel()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path(kernel, test::Size::small));
  const OfCta cta = of_cta(trace);
  const auto with = [](unsigned rows, const Options& more) {
    Options all{"--register_file.registers", std::to_string(rows), "--check-protocol"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* scheduler : {"lrr", "gto"}) {
    CAPTURE(scheduler);
    if (cta.one_size) {
      // Two CTAs, and nothing is left over in either half. What is left is the same for all launches.
      const auto exact = with(2 * cta.rows(), {"--scheduler", scheduler});
      const auto baseline = run(folder, trace, "baseline", exact);
      auto by_cta = exact;
      by_cta.insert(by_cta.end(), {"--warp_level_divergence.release", "cta"});
      const auto whole = run(folder, trace, "warp_level_divergence", by_cta);
      CHECK(whole.at("cycles") == baseline.at("cycles"));
      CHECK(whole.at("stall_cycles") == baseline.at("stall_cycles"));
      CHECK(of(whole, "partial_ctas") == 0);
    }
    // Two CTAs and a half.
    const auto more = with(cta.rows() * 5 / 2 / 2 * 2, {"--scheduler", scheduler});
    const auto baseline = run(folder, trace, "baseline", more);
    for (const char* release : {"cta", "warp"}) {
      CAPTURE(release);
      auto options = more;
      options.insert(options.end(), {"--warp_level_divergence.release", release});
      const auto partial = run(folder, trace, "warp_level_divergence", options);
      // Warps for which rows are left over, of half the file each, and a CTA that they can be of.
      const unsigned windows = 2 * (cta.rows() * 5 / 2 / 2 / cta.registers);
      if (windows % cta.warps != 0 && cta.ctas > windows / cta.warps) CHECK(of(partial, "partial_ctas") > 0);
      CHECK(of(partial, "rows_mean") > 0);
      CHECK(of(partial, "rows_max") <= cta.rows() * 5.0 / 2);
      CHECK(partial.at("checks").at("operands_checked") == baseline.at("checks").at("operands_checked"));
    }
  }
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  const Folder folder;
  const std::string trace = test::random_register_trace(dice, folder);
  test::RandomMachine m(dice, {"--scheme", "warp_level_divergence", "--machine", "fermi_sharing", "--check-protocol"});
  m.set("warp_level_divergence.release", dice.any({"cta", "warp", "warp"}));
  test::vary_register_machine(m, dice, of_cta(trace).rows());
  return m.run(folder, trace, {"not one CTA fits on this machine"}).has_value();
}

}  // namespace

#define REGATTA_DIVERGENCE(kernel, usually, tag) \
  TEST_CASE("warp-level divergence: " #kernel, tag) { check_kernel(#kernel, usually); }
REGATTA_DIVERGENCE(hotspot, true, REGATTA_MORE)
REGATTA_DIVERGENCE(sgemm, true, "")
REGATTA_DIVERGENCE(stencil3d, true, REGATTA_MORE)
REGATTA_DIVERGENCE(srad2, true, REGATTA_MORE)
REGATTA_DIVERGENCE(needleman_wunsch, false, REGATTA_MORE)
REGATTA_DIVERGENCE(bfs, false, "")
REGATTA_DIVERGENCE(bicg, false, REGATTA_MORE)
REGATTA_DIVERGENCE(convolution_separable, false, REGATTA_MORE)
REGATTA_DIVERGENCE(fdtd2d, false, REGATTA_MORE)
REGATTA_DIVERGENCE(kmeans, false, REGATTA_MORE)
REGATTA_DIVERGENCE(monte_carlo, false, REGATTA_MORE)
REGATTA_DIVERGENCE(syr2k, false, REGATTA_MORE)
REGATTA_DIVERGENCE(atax, false, REGATTA_MORE)
REGATTA_DIVERGENCE(cfd, false, REGATTA_MORE)
REGATTA_DIVERGENCE(libor, false, REGATTA_MORE)
REGATTA_DIVERGENCE(lbm, false, REGATTA_MORE)
REGATTA_DIVERGENCE(reduction, false, "")
REGATTA_DIVERGENCE(histogram, false, REGATTA_MORE)

TEST_CASE("warp-level divergence: a program that another resource limits has no partial CTA") {
  // Registers for every CTA that shared memory has room for, and for half a CTA more (thesis, figure 2.21(b)).
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path("hotspot", test::Size::small));
  const trace::Reader reader(trace);
  const unsigned bytes = (reader.launches().front().shared_bytes_per_cta + 127) / 128 * 128;
  const Options options{"--register_file.registers", std::to_string(of_cta(trace).rows() * 7 / 2 / 2 * 2),
                        "--shared.bytes", std::to_string(bytes * 3)};
  const auto of_scheme = [&](const char* scheme) {
    Options all{"--scheme", scheme, "--machine", "fermi_sharing"};
    all.insert(all.end(), options.begin(), options.end());
    return test::statistics_of(folder, trace, all);
  };
  const auto baseline = of_scheme("baseline"), limited = of_scheme("warp_level_divergence");
  CHECK(of(limited, "partial_ctas") == 0);
  CHECK(limited.at("cycles") == baseline.at("cycles"));
  CHECK(limited.at("stall_cycles") == baseline.at("stall_cycles"));
}

TEST_CASE("warp-level divergence: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path("hotspot", test::Size::small));
  const std::string rows = std::to_string(of_cta(trace).rows() * 3 / 2 / 2 * 2);
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "256", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace, "warp_level_divergence",
                 {"--quantum", quantum, "--sms", "3", "--register_file.registers", rows});
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
  CHECK(of(first, "partial_ctas") > 0);
}

TEST_CASE("warp-level divergence: refused configurations") {
  const Folder folder;
  const std::string trace = test::annotate_registers(folder, test::launch_path("hotspot", test::Size::small));
  const auto refused = [&](const Options& options) {
    Options command{REGATTA_SIM, trace, "--machine", "fermi_sharing"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(refused({"--scheme", "warp_level_divergence", "--warp_level_divergence.release", "early"})
            .find("warp_level_divergence.release: expected one of warp, cta, found 'early'") != std::string::npos);
  CHECK(refused({"--scheme", "finereg+warp_level_divergence"}) ==
        "regatta-sim: --scheme: found 'finereg+warp_level_divergence', and both 'finereg' and 'warp_level_divergence' "
        "take the windows of warps: expected schemes that take different parts of an SM\n");
  CHECK(refused({"--scheme", "warp_level_divergence", "--register_file.registers", "64"})
            .find("not one CTA fits on this machine, bound by registers") != std::string::npos);
}

TEST_CASE("warp-level divergence: random machines") {
  test::run_random_machines("REGATTA_SHARING_RUNS", 20, 2, run_random);
}

}  // namespace divergence_kernels
