// SPDX-License-Identifier: Apache-2.0
//
// Register power states end to end: every kernel with every threshold, wake-up latency and scheduling policy, and
// random programs on random machines. Every operand is checked: a value lost in a row that was off, or an access to one
// that sleeps, ends a run with status 3.
//
// REGATTA_GREENER_RUNS says how many random runs (the default is few), REGATTA_SEED which.
#include <regatta/test/catch.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "dice.h"
#include "kernels.h"
#include "process.h"
#include "random_program.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;
using test::Size;

namespace greener_kernels {
namespace {

double power(const nlohmann::json& stats, const std::string& key) {
  return stats.at("stats").at("power").at(key).get<double>();
}

double row_cycles(const nlohmann::json& stats) {
  return power(stats, "row_cycles.on") + power(stats, "row_cycles.sleep") + power(stats, "row_cycles.off");
}

struct Variant {
  std::string scheme;
  bool table = true;
};

void check_kernel(const std::string& kernel) {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small);
  unsigned combination = 0;
  for (const std::string scheduler : {"lrr", "gto", "two_level"}) {
    const auto always_on = test::statistics_of(folder, trace, {"--scheme", "always_on", "--scheduler", scheduler});
    for (const unsigned latency : {1u, 2u, 4u}) {
      std::vector<std::string> common{"--scheduler",
                                      scheduler,
                                      "--sleep_transistors.wake_sleep",
                                      std::to_string(latency),
                                      "--sleep_transistors.wake_off",
                                      std::to_string(2 * latency)};
      const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), common.begin(), common.end());
        const auto stats = test::statistics_of(folder, trace, more);
        CAPTURE(kernel, scheduler, latency);
        CHECK(stats.at("checks") == always_on.at("checks"));
        // Every row is in one state in every cycle, and most of them are not on.
        CHECK(row_cycles(stats) == Approx(stats.at("cycles").get<double>() * 2048).epsilon(0.01));
        CHECK(power(stats, "row_cycles.on") < 0.5 * row_cycles(stats));
        CHECK(power(stats, "leakage_energy") < 0.6 * power(always_on, "leakage_energy"));
        CHECK(power(stats, "stall_cycles") > 0);
        return stats;
      };
      const auto sleep_reg = with({"--scheme", "sleep_reg"});
      CHECK(power(sleep_reg, "lookup_corrections") == 0);
      // Every threshold with every scheduler and with every latency, if not with every pair of them.
      ++combination;
      const std::vector<unsigned> thresholds =
          combination % 2 == 0 ? std::vector<unsigned>{1, 7} : std::vector<unsigned>{3, 21};
      for (const unsigned threshold : thresholds) {
        CAPTURE(threshold);
        const std::vector<std::string> by{"--scheme", "greener", "--greener.threshold", std::to_string(threshold)};
        auto without_table = by;
        without_table.insert(without_table.end(), {"--greener.runtime_table", "false"});
        const auto greener = with(by);
        const auto compiler = with(without_table);
        CHECK(power(compiler, "lookup_corrections") == 0);
        CHECK(power(greener, "lookup_corrections") > 0);
        // What the compiler knows to be dead is off rather than asleep; with a large threshold it may stay on instead.
        if (threshold == 1) CHECK(power(compiler, "row_cycles.off") > power(sleep_reg, "row_cycles.off"));
      }
    }
  }
}

}  // namespace

TEST_CASE("vector_add under register power states", REGATTA_MORE) { check_kernel("vector_add"); }
TEST_CASE("sgemm under register power states", REGATTA_MORE) { check_kernel("sgemm"); }
TEST_CASE("reduction under register power states") { check_kernel("reduction"); }
TEST_CASE("histogram under register power states", REGATTA_MORE) { check_kernel("histogram"); }
TEST_CASE("spmv under register power states", REGATTA_MORE) { check_kernel("spmv"); }
TEST_CASE("stencil3d under register power states", REGATTA_MORE) { check_kernel("stencil3d"); }
TEST_CASE("hotspot under register power states", REGATTA_MORE) { check_kernel("hotspot"); }
TEST_CASE("pathfinder under register power states", REGATTA_MORE) { check_kernel("pathfinder"); }
TEST_CASE("bfs under register power states") { check_kernel("bfs"); }
TEST_CASE("black_scholes under register power states", REGATTA_MORE) { check_kernel("black_scholes"); }
TEST_CASE("needleman_wunsch under register power states", REGATTA_MORE) { check_kernel("needleman_wunsch"); }
TEST_CASE("srad under register power states", REGATTA_MORE) { check_kernel("srad"); }

TEST_CASE("random programs under register power states") {
  const std::uint64_t runs = test::from_environment("REGATTA_GREENER_RUNS", test::times(4, 12));
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::mt19937_64 random(seed * 1000003 + run);
    const auto any = [&](std::initializer_list<const char*> of) {
      return std::string(of.begin()[random() % of.size()]);
    };
    const Folder folder;
    const std::string launch = test::random_program(folder, random(), 1 + static_cast<unsigned>(random() % 6));
    const std::string trace = folder.file("random.rgt");
    const std::string lanes = any({"32", "64"});
    const auto annotated = test::run_process({REGATTA_ANNOTATE, "--launch", launch, "--out", trace, "--warp-size",
                                              lanes, "--power-threshold", any({"1", "3", "31"})});
    INFO("seed " << seed << " run " << run << "\n" << annotated.err);
    REQUIRE(annotated.status == 0);
    std::vector<std::string> options{"--scheme", any({"greener", "greener", "sleep_reg"}), "--sm.lanes", lanes};
    const auto maybe = [&](const char* name, std::initializer_list<const char*> values) {
      if (random() % 2 == 0) return;
      options.emplace_back(std::string("--") + name);
      options.emplace_back(any(values));
    };
    maybe("greener.threshold", {"1", "2", "5", "12", "31"});
    maybe("greener.runtime_table", {"true", "false"});
    maybe("greener.table_entries", {"1", "3", "16"});
    maybe("greener.table_registers", {"1", "2", "10"});
    maybe("greener.table_search", {"any", "younger"});
    maybe("greener.reserve_sources", {"all", "falling"});
    maybe("sleep_transistors.wake_sleep", {"0", "1", "3", "9"});
    maybe("sleep_transistors.wake_off", {"0", "2", "5", "20"});
    maybe("sleep_transistors.wakes_per_cycle", {"0", "1", "2"});
    maybe("gated.windows", {"fixed", "rotating", "round_robin"});
    maybe("gated.unused_rows_off", {"none", "kernel", "always"});
    maybe("scheduler", {"lrr", "gto", "two_level"});
    maybe("register_file.banks", {"1", "4", "16", "32"});
    maybe("register_file.ports", {"1rw", "1r1w", "2r1w"});
    maybe("register_file.priority", {"fcfs", "read", "write"});
    maybe("register_file.latency", {"1", "3"});
    maybe("collector.units", {"1", "2", "8"});
    maybe("writeback.width", {"1", "2"});
    maybe("fetch.width", {"1", "2", "4"});
    maybe("sm.issue_width", {"1", "2"});
    maybe("sm.schedulers", {"1", "2", "4"});
    test::statistics_of(folder, trace, options);
  }
}

TEST_CASE("register power states go with compression, moving windows and any scheduler") {
  const std::string kernel = GENERATE("bfs", "sgemm", "srad", "needleman_wunsch");
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small);
  const auto alone = test::statistics_of(folder, trace, {"--scheme", "always_on"});
  for (const std::string scheme : {"rc", "rc_rar", "wc", "argo"}) {
    const auto switched = test::statistics_of(folder, trace, {"--scheme", scheme});
    for (const std::string states : {"greener", "sleep_reg"}) {
      CAPTURE(kernel, scheme, states);
      const std::string scheduler = states == "greener" ? "two_level" : "lrr";
      const auto both =
          test::statistics_of(folder, trace, {"--scheme", scheme, "--gated.power", states, "--scheduler", scheduler});
      // Moves that a compressor needs are checked too.
      CHECK(both.at("checks").at("operands_checked") >= alone.at("checks").at("operands_checked"));
      CHECK(power(both, "row_cycles.on") < power(switched, "row_cycles.on"));
    }
  }
}

TEST_CASE("a result does not depend on the quantum, nor on a second run") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "hotspot", Size::small);
  const std::string scheme = GENERATE("greener", "sleep_reg");
  const auto bytes = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options{"--scheme", scheme};
    options.insert(options.end(), more.begin(), more.end());
    auto stats = test::statistics_of(folder, trace, options);
    stats.erase("host");
    stats.erase("config");
    return stats.dump();
  };
  const std::string first = bytes({});
  CHECK(bytes({}) == first);
  CHECK(bytes({"--quantum", "1"}) == first);
  CHECK(bytes({"--quantum", "1000"}) == first);
}

TEST_CASE("the threshold of a trace and of a simulation are the same thing") {
  const Folder folder;
  const std::string launch = test::launch_path("sgemm", Size::small);
  std::vector<nlohmann::json> runs;
  for (const char* annotated : {"3", "9"}) {
    const std::string trace = folder.file(std::string("w") + annotated + ".rgt");
    REQUIRE(test::run_process({REGATTA_ANNOTATE, "--launch", launch, "--out", trace, "--power-threshold", annotated})
                .status == 0);
    const auto info = test::run_process({REGATTA_TRACE, "info", trace});
    CHECK(info.out.find(std::string("threshold ") + annotated + ", distances up to 31") != std::string::npos);
    const auto dump = test::run_process({REGATTA_TRACE, "dump", trace, "--cta", "0", "--warp", "0"});
    CHECK(dump.out.find("; power R") != std::string::npos);
    for (const char* threshold : {"0", "3", "9"}) {
      runs.push_back(test::statistics_of(folder, trace, {"--scheme", "greener", "--greener.threshold", threshold}));
    }
  }
  const auto same = [&](std::size_t a, std::size_t b) {
    return runs[a].at("stats").at("power") == runs[b].at("stats").at("power") &&
           runs[a].at("cycles") == runs[b].at("cycles");
  };
  CHECK(same(0, 1));
  CHECK(same(0, 4));
  CHECK(same(5, 2));
  CHECK(same(5, 3));
  CHECK_FALSE(same(0, 5));
}

TEST_CASE("wake-ups of a row cost 2,048 times those of the file, and nothing else changes") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "hotspot", Size::small);
  const auto run = [&](const std::string& of) {
    return test::statistics_of(folder, trace, {"--scheme", "greener", "--gated.wake_energy_of", of});
  };
  const auto file = run("file"), row = run("row");
  CHECK(row.at("cycles") == file.at("cycles"));
  const auto nj = [](const nlohmann::json& document, const std::string& event) {
    double sum = 0;
    for (const auto& e : document.at("energy").at("by_event")) {
      if (e.at("event") == event) sum += e.at("nj").get<double>();
    }
    return sum;
  };
  for (const std::string from : {"sleep", "off"}) {
    const std::string event = "sleep_transistors.wake_" + from;
    CHECK(nj(file, event) > 0);
    CHECK(nj(row, event) == Approx(2048 * nj(file, event)));
  }
  CHECK(nj(row, "register_file.leakage") == nj(file, "register_file.leakage"));
  const auto power = [](const nlohmann::json& document, const char* key) {
    return document.at("stats").at("power").at(key).get<double>();
  };
  // In the scheme's own account: Table 4.4's pJ, a row of 32 lanes at 22 nm.
  const double waking = power(file, "wakeups.sleep") * 0.0182 + power(file, "wakeups.off") * 0.0575;
  CHECK(power(row, "leakage_energy") - power(file, "leakage_energy") == Approx(2047 * waking / 1000));
}

TEST_CASE("knobs that do not fit are refused with their names") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", Size::small);
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{REGATTA_SIM, trace};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  const auto says = [](const std::string& text, const std::string& part) {
    CAPTURE(text, part);
    CHECK(text.find(part) != std::string::npos);
  };
  says(refused({"--scheme", "greener", "--greener.threshold", "32"}), "greener.threshold = 32");
  says(refused({"--scheme", "greener", "--greener.threshold", "32"}), "expected 1 to 31");
  says(refused({"--scheme", "greener", "--greener.table_entries", "0"}), "greener.table_entries");
  says(refused({"--scheme", "greener", "--greener.table_search", "older"}), "greener.table_search");
  says(refused({"--scheme", "greener", "--gated.leakage_node", "28"}),
       "gated.leakage_node = 28, expected 45, 32 or 22");
  says(refused({"--scheme", "sleep_reg", "--gated.wake_off_energy", "-1"}), "gated.wake_off_energy");
  says(refused({"--scheme", "greener", "--gated.wake_energy_of", "bank"}), "gated.wake_energy_of");
  const auto r = test::run_process({REGATTA_ANNOTATE, "--launch", test::launch_path("vector_add", Size::small), "--out",
                                    folder.file("x.rgt"), "--power-threshold", "0"});
  CHECK(r.status == 2);
  says(r.err, "--power-threshold is 0, expected 1 to 31");
}

}  // namespace greener_kernels
