// SPDX-License-Identifier: Apache-2.0
//
// The register management unit in RTL in lockstep: a million random operations with coverage, moves of the real mover,
// and seeded bugs, which must be found.
#include <regatta/cosim/direct_transactor.h>
#include <regatta/finereg/rmu_pins.h>
#include <regatta/finereg/rmu_rtl.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "mover_oracle.h"
#include "rmu_bug_chain_drop.h"
#include "rmu_bug_chain_end.h"
#include "rmu_bug_chain_link.h"
#include "rmu_bug_count_width.h"
#include "rmu_bug_lowest_node.h"
#include "rmu_bug_monitor_limit.h"
#include "rmu_bug_vectors_tag.h"
#include "rmu_traffic.h"

using namespace regatta;
using Catch::Matchers::Contains;
using models::RmuOperation;
using models::RmuResult;

namespace {

const char* const waveform = "rmu_rtl_test.fst";

struct RmuBench {
  explicit RmuBench(const models::RmuPinsFactory& pins) : twin(twin_config(), direct_config(), pins) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static cosim::TwinConfig twin_config() {
    cosim::TwinConfig c;
    c.name = "rmu_twin";
    c.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
    c.options.waveform = waveform;
    return c;
  }
  static cosim::DirectConfig direct_config() {
    cosim::DirectConfig c;
    c.compare = true;
    return c;
  }
  void run(std::uint64_t count, unsigned seed) {
    test::RmuTraffic traffic(seed);
    for (std::uint64_t n = 0; n < count; ++n) {
      const RmuOperation operation = traffic.next(unit);
      const auto [result, outcome] = unit.operate(operation);
      twin.operate(operation, result);
      ++coverage.met[outcome];
      edges += 1 + (operation.kind == models::RmuOperationKind::drop ? result.count : 0u);
    }
  }

  cosim::DirectTransactor<RmuOperation, RmuResult> twin;
  test::RmuReference unit;
  test::RmuCoverage coverage;
  std::uint64_t edges = 0;  ///< that the page of the RTL states
};

/// Runs until a difference; its report has both results, and there is a waveform with the pins.
template <class Top>
void must_find(const std::string& operation) {
  std::remove(waveform);
  std::string report;
  RmuBench b(models::rmu_pins_of<Top>());
  try {
    b.run(200000, 7);
  } catch (const std::exception& e) {
    report = e.what();
  }
  std::printf("%.600s\n", report.c_str());
  REQUIRE_THAT(report, Contains("another result of the RTL, after ") && Contains("\n  operation " + operation) &&
                           Contains("\n  model     ") && Contains("\n  RTL       ") &&
                           Contains("waveform of the last "));
  REQUIRE(std::ifstream(waveform).good());
  if (std::system("command -v fst2vcd >/dev/null") != 0) return;
  const std::string vcd_path = std::string(waveform) + ".vcd";
  REQUIRE(std::system(("fst2vcd -f " + std::string(waveform) + " -o " + vcd_path).c_str()) == 0);
  std::ifstream vcd(vcd_path);
  const std::string text{std::istreambuf_iterator<char>(vcd), {}};
  CHECK_THAT(text, Contains("req_op") && Contains("rsp_tag") && Contains("made_count") && Contains("\n#"));
}

}  // namespace

TEST_CASE("register management in RTL: a million operations") {
  RmuBench b(models::rmu_rtl());
  constexpr std::uint64_t many = 1000000;
  b.run(many, 1);
  b.coverage.print("register management");
  CHECK(b.twin.compared() == many);
  CHECK(test::cta_blocks::stat_of(b.twin, "rtl_clock_edges") == static_cast<double>(b.edges));
  std::uint64_t sum = 0;
  for (const std::string& outcome : test::RmuCoverage::all()) {
    INFO(outcome);
    CHECK(b.coverage.met[outcome] > 0);
    sum += b.coverage.met[outcome];
  }
  CHECK(sum == many);  // no outcome is missing from the list
}

// The real mover, its free space monitor and its chains.
TEST_CASE("register management in RTL: random moves") {
  cosim::DirectTransactor<RmuOperation, RmuResult> twin(RmuBench::twin_config(), RmuBench::direct_config(),
                                                        models::rmu_rtl());
  test::cta_blocks::MoverOracle oracle(2, 60, 3, 20, 30, 8, &twin);
  oracle.run(400);
  CHECK(oracle.exchanges > 50);
  CHECK(oracle.stat("merged_results") > 20);
  CHECK(twin.compared() > 20000);
  std::printf("%llu operations of %.0f moves\n", static_cast<unsigned long long>(twin.compared()),
              oracle.stat("moves"));
}
TEST_CASE("register management in RTL: moves with few entries, the RTL's results count") {
  cosim::DirectConfig config;  // does not compare
  cosim::DirectTransactor<RmuOperation, RmuResult> twin(RmuBench::twin_config(), config, models::rmu_rtl());
  test::cta_blocks::MoverOracle oracle(1, 16, 2, 8, 50, 2, &twin);
  oracle.run(400);
  CHECK(oracle.tight > 5);
  CHECK(test::cta_blocks::stat_of(twin, "rtl_operations") > 5000);
}

TEST_CASE("register management in RTL, seeded bug: a bit of the tag is not compared") {
  must_find<rmu_bug_vectors_tag>("");
}
TEST_CASE("register management in RTL, seeded bug: three bits for a sum of eight") {
  must_find<rmu_bug_count_width>("");
}
TEST_CASE("register management in RTL, seeded bug: a node prefers its upper half") {
  must_find<rmu_bug_lowest_node>("");
}
TEST_CASE("register management in RTL, seeded bug: entries beyond the limit are given back") {
  must_find<rmu_bug_monitor_limit>("give_back entry ");
}
TEST_CASE("register management in RTL, seeded bug: the second entry is not linked") {
  must_find<rmu_bug_chain_link>("");
}
TEST_CASE("register management in RTL, seeded bug: an end stays behind") { must_find<rmu_bug_chain_end>(""); }
TEST_CASE("register management in RTL, seeded bug: a chain that is made is not dropped") {
  must_find<rmu_bug_chain_drop>("drop CTA slot ");
}
