// SPDX-License-Identifier: Apache-2.0
//
// Compression, rotation and gating of registers on whole programs: every kernel of traces/kernels with every wake-up
// latency, on the machine of the aging-aware register file and on one of 32 lanes, every operand checked.
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"
#include "statistics.h"

#include <sstream>

using namespace regatta;
using test::Folder;
using test::Size;

namespace {

double aging(const nlohmann::json& document, const char* key) {
  return document.at("stats").at("aging").at(key).get<double>();
}

void check_kernel(const std::string& kernel) {
  const Folder folder;
  for (const auto& [machine, lanes] : {std::pair{"hd7770", 64u}, std::pair{"k20x", 32u}}) {
    const std::string trace = test::annotate_kernel(folder, kernel, Size::small, lanes);
    for (const char* scheme : {"rar", "rc", "rc_rar", "wc", "argo"}) {
      for (const unsigned latency : {1u, 2u, 4u, 10u}) {
        CAPTURE(kernel, machine, scheme, latency);
        const auto r = test::statistics_of(
            folder, trace,
            {"--machine", machine, "--scheme", scheme, "--sleep_transistors.wake_off", std::to_string(latency),
             "--sleep_transistors.wake_sleep", std::to_string((latency + 1) / 2)});
        CHECK(r.at("checks").at("mismatches") == 0);
        CHECK(r.at("checks").at("operands_checked").get<std::uint64_t>() > 0);
        const double all = aging(r, "duty.zero.mean") + aging(r, "duty.one.mean") + aging(r, "duty.off.mean");
        CHECK(all == Approx(1));
        CHECK(aging(r, "duty.zero.longest") >= aging(r, "duty.zero.mean"));
        CHECK(aging(r, "vth.t0") <= 1);
        if (r.at("stats").count("sm0.compression") == 0) continue;
        CHECK(aging(r, "movs_inserted") == r.at("stats").at("sm0.compression").at("moves").get<double>());
      }
    }
  }
}

}  // namespace

TEST_CASE("vector_add ages", REGATTA_MORE) { check_kernel("vector_add"); }
TEST_CASE("sgemm ages", REGATTA_MORE) { check_kernel("sgemm"); }
TEST_CASE("hotspot ages") { check_kernel("hotspot"); }
TEST_CASE("bfs ages", REGATTA_MORE) { check_kernel("bfs"); }
TEST_CASE("pathfinder ages", REGATTA_MORE) { check_kernel("pathfinder"); }
TEST_CASE("needleman_wunsch ages") { check_kernel("needleman_wunsch"); }
TEST_CASE("srad ages", REGATTA_MORE) { check_kernel("srad"); }
TEST_CASE("stencil3d ages", REGATTA_MORE) { check_kernel("stencil3d"); }
TEST_CASE("spmv ages", REGATTA_MORE) { check_kernel("spmv"); }
TEST_CASE("black_scholes ages", REGATTA_MORE) { check_kernel("black_scholes"); }
TEST_CASE("histogram ages", REGATTA_MORE) { check_kernel("histogram"); }
TEST_CASE("reduction ages", REGATTA_MORE) { check_kernel("reduction"); }

TEST_CASE("aging: a conventional file has cells that never change, and each technique spares them") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "reduction", Size::small, 64);
  const auto duty = [&](const std::string& scheme, const char* key) {
    return aging(
        test::statistics_of(folder, trace, {"--machine", "hd7770", "--scheme", scheme, "--wear.enabled", "true"}), key);
  };
  const auto longest = [&](const std::string& scheme) { return duty(scheme, "duty.zero.longest"); };
  CHECK(longest("always_on") > 0.99);
  CHECK(longest("rar") > 0.99);
  // A register without patterns is never off under RC alone, nor a base of a row under WC (section 6.2).
  CHECK(longest("rc") > 0.99);
  CHECK(longest("wc") > 0.99);
  CHECK(duty("rc", "duty.zero.mean") < 0.8 * duty("always_on", "duty.zero.mean"));
  CHECK(longest("rc_rar") < 0.9);
  CHECK(longest("argo") < 0.9);
}

TEST_CASE("aging: which unused rows are off, and for how long") {
  // CTAs of four wavefronts of 11 registers, given as 12. Of the first launch's 69 CTAs 16 are resident, which have 768
  // of the 1024 rows; the second has one, and 48 rows.
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "reduction", Size::small, 64);
  struct Off {
    double rows = 0;  // mean over the cycles
    double woken = 0;
    double longest = 0;
    double cycles = 0;
    double expected = 0;  ///< for the whole of each launch: what its warps cannot have
  };
  const auto off = [&](const std::string& scheme, const std::string& when) {
    const auto s = test::statistics_of(folder, trace,
                                       {"--machine", "hd7770", "--sms", "1", "--scheme", scheme, "--wear.enabled",
                                        "true", "--gated.unused_rows_off", when});
    Off o;
    const auto& power = s.at("stats").at("power");
    const double off_cycles = power.at("row_cycles.off");
    const double on_cycles = power.at("row_cycles.on");
    o.rows = 1024 * off_cycles / (off_cycles + on_cycles);
    o.woken = power.at("wakeups.off");
    o.longest = aging(s, "duty.zero.longest");
    o.cycles = s.at("cycles");
    const double first = s.at("launches").at(0).at("cycles");
    const double second = s.at("launches").at(1).at("cycles");
    o.expected = (first * (1024 - 768) + second * (1024 - 48)) / (first + second);
    return o;
  };
  for (const char* scheme : {"always_on", "rar", "argo"}) {
    CAPTURE(scheme);
    const Off none = off(scheme, "none");
    CHECK(none.rows == 0);
    CHECK(none.woken == 0);
    const Off kernel = off(scheme, "kernel");
    CHECK(kernel.rows == Approx(kernel.expected).epsilon(1e-4));
    CHECK(kernel.cycles == none.cycles);
    CHECK((kernel.woken == 0) == (std::string(scheme) != "argo"));
    const Off always = off(scheme, "always");
    CHECK(always.rows > kernel.rows + 100);
    CHECK(always.longest < kernel.longest);
  }
}

TEST_CASE("aging: compression, rotation and power states combine, and their knobs") {
  const std::string kernel = GENERATE("bfs", "stencil3d");
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small);
  for (const char* scheme : {"rc", "wc", "argo"}) {
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"--gated.power", "greener"},
             {"--gated.power", "sleep_reg", "--gated.windows", "rotating"},
             {"--compression.wake", "issue", "--scheduler", "two_level"},
             {"--compression.loads", "false", "--gated.windows", "round_robin", "--gated.unused_rows_off", "none"}}) {
      std::vector<std::string> options{"--scheme", scheme};
      options.insert(options.end(), more.begin(), more.end());
      CHECK(test::statistics_of(folder, trace, options).at("checks").at("mismatches") == 0);
    }
  }
}

TEST_CASE("aging: the CSV files hold what the statistics say, and results do not depend on the quantum") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "hotspot", Size::small, 64);
  const std::string rows = folder.file("rows.csv");
  const std::string bits = folder.file("bits.csv");
  const std::vector<std::string> options{"--machine",        "hd7770", "--scheme",         "rc_rar",
                                         "--wear.rows_file", rows,     "--wear.bits_file", bits};
  auto once = test::statistics_of(folder, trace, options);
  std::istringstream lines(folder.read("bits.csv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "sm,bit,zero,one,off");
  double zero = 0;
  unsigned count = 0;
  for (; std::getline(lines, line); ++count) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    double sm = 0;
    double bit = 0;
    double share = 0;
    fields >> sm >> bit >> share;
    zero += share;
  }
  CHECK(count == 2048);
  CHECK(zero / count == Approx(aging(once, "duty.zero.mean")).epsilon(1e-3));
  const std::string by_row = folder.read("rows.csv");
  CHECK(std::count(by_row.begin(), by_row.end(), '\n') == 1 + 1024);

  std::vector<std::string> exact = options;
  exact.insert(exact.end(), {"--quantum", "1"});
  auto again = test::statistics_of(folder, trace, exact);
  CHECK(again.at("stats") == once.at("stats"));
  CHECK(folder.read("rows.csv") == by_row);
}

TEST_CASE("aging: knobs that do not fit together are refused by name") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", Size::small);
  const auto refused = [&](const std::vector<std::string>& options, const char* name) {
    std::vector<std::string> command{REGATTA_SIM, trace};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CAPTURE(r.err);
    CHECK(r.status == 2);
    CHECK_THAT(r.err, Catch::Contains(name));
  };
  refused({"--scheme", "rc", "--compression.refresh_period", "466"}, "compression.refresh_period = 466");
  refused({"--scheme", "rc", "--nbti.eta", "1.5"}, "nbti.eta = 1.5");
  refused({"--scheme", "rc", "--slice_energy.read", "-1"}, "slice_energy.read = -1");
  refused({"--scheme", "always_on", "--wear.rows_file", folder.file("x.csv")}, "needs wear.enabled = true");
  refused({"--scheme", "rc", "--wear.rows_file", folder.file("nowhere") + "/x.csv"}, "cannot write");
  refused({"--scheme", "wc", "--compression.implementation", "rtl"},
          "compression.implementation = rtl needs gated.compression = rc, found wc");
  refused({"--scheme", "rc", "--compression.implementation", "glass"},
          "compression.implementation = glass: this program has no such implementation; expected one of: model");
}
