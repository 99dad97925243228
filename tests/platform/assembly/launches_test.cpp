// SPDX-License-Identifier: Apache-2.0
// Runs of selected launches: which ones run, what the others leave in the caches, and the list itself.
#include <regatta/assembly/launch_list.h>
#include <regatta/support/config.h>

#include "harness.h"

using namespace regatta;
using Catch::Matchers::Message;
using Numbers = std::vector<std::uint32_t>;
using trace::MemorySpace;
using trace::OpClass;

namespace {

/// Launches that read and write the same lines, `launches` of them.
std::string repeated(const std::string& name, unsigned launches, unsigned ctas = 4) {
  test::TraceBuilder b;
  b.op(OpClass::constant_load, {0}, {});
  b.load(MemorySpace::global, 1, 0);
  b.op(OpClass::fp32_mad, {2}, {1, 0, 1});
  b.store(MemorySpace::global, 0, 2);
  b.exit();
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(0x10000 + std::uint64_t{lane} * 128);
  for (unsigned i = 0; i < launches; ++i) {
    b.launch(ctas, 32);
    b.run_all(addresses);
  }
  return b.write(name);
}

assembly::SimulationResult run(const std::string& path, const Numbers& launches, unsigned warm,
                               const std::vector<std::string>& stats = {}) {
  const trace::Reader reader(path);
  assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_baseline();
  assembly::SimulationOptions options;
  options.check_protocol = true;
  options.launches = launches;
  options.warm = warm;
  options.launch_stats = stats;
  assembly::Simulation simulation(test::named_machine("gtx980"), registry.get("baseline"), options, reader);
  return simulation.run();
}

}  // namespace

TEST_CASE("lists of launches") {
  using assembly::launches_text;
  using assembly::parse_launches;
  CHECK(parse_launches("0,5,7:9", 10, "--launches") == Numbers{0, 5, 7, 8, 9});
  CHECK(parse_launches("3:3", 4, "--launches") == Numbers{3});
  CHECK(launches_text({0, 5, 7, 8, 9}) == "0,5,7:9");
  CHECK(launches_text({}).empty());
  const auto refused = [](const std::string& text, const std::string& message) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(assembly::parse_launches(text, 10, "--launches"), support::ConfigError, Message(message));
  };
  const std::string expected = "', expected the number of a launch or FIRST:LAST";
  refused("", "--launches: found '" + expected);
  refused("1,", "--launches: found '" + expected);
  refused("a", "--launches: found 'a" + expected);
  refused("-1", "--launches: found '-1" + expected);
  refused("1:", "--launches: found '1:" + expected);
  refused("1:2:3", "--launches: found '1:2:3" + expected);
  refused("99999999999", "--launches: found '99999999999" + expected);
  refused("10", "--launches: found launch 10, the trace has launches 0 to 9");
  refused("3:12", "--launches: found launch 12, the trace has launches 0 to 9");
  refused("5:3", "--launches: found '5:3', expected FIRST:LAST with LAST not below FIRST");
  refused("5,5", "--launches: found launch 5 after launch 5, expected ascending numbers, each once");
  refused("0:4,2", "--launches: found launch 2 after launch 4, expected ascending numbers, each once");
}

TEST_CASE("selected launches run and no others, each with its own CTAs") {
  const std::string path = repeated("selected", 6);
  const auto r = run(path, {1, 2, 5}, 4, {"sm*.pipeline.lsu.requests"});
  test::require_clean(r);
  REQUIRE(r.launches.size() == 3);
  CHECK(r.launches[0].index == 1);
  CHECK(r.launches[2].index == 5);
  CHECK(r.warp_instructions == 3 * 4 * 5);
  REQUIRE(r.skipped);
  CHECK(r.skipped->warmed == Numbers{0, 3, 4});
  CHECK(r.skipped->warmed_warp_instructions == 3 * 4 * 5);
  CHECK(r.skipped->warmed_lines == std::uint64_t{3} * 4 * 64);
  for (const assembly::LaunchResult& l : r.launches) CHECK(l.stats == std::vector<std::uint64_t>{4 * 64});
}

namespace {

/// Fetches of the L2 and misses of the instruction cache in the last of three launches, without the first two.
std::vector<std::uint64_t> misses_of_last(const std::string& name, unsigned warm) {
  const auto r = run(repeated(name, 3), {2}, warm, {"memory.l2_*.fetches", "sm*.pipeline.icache.misses"});
  test::require_clean(r);
  CHECK(r.skipped->warmed.size() == (warm == 0 ? 0 : 2));
  return r.launches[0].stats;
}

}  // namespace

TEST_CASE("a launch after skipped ones that warm finds its lines in the L2 and its code in the instruction cache") {
  const auto misses = misses_of_last("warm", 1);
  CHECK(misses[0] <= 1);  // of constants, which every launch has of its own
  CHECK(misses[1] == 0);
}

TEST_CASE("a launch after skipped ones that do not warm finds nothing") {
  const auto misses = misses_of_last("cold", 0);
  CHECK(misses[0] >= 32);
  CHECK(misses[1] > 0);
}

TEST_CASE("warming goes back as far as the L2's capacity, and not before the launch simulated last") {
  // A launch's lines are 4 KiB, which is a fraction of the L2.
  const std::string path = repeated("depth", 40);
  const auto r = run(path, {35, 39}, 1);
  const std::uint64_t l2 = 2 * 1024 * 1024 / 16;
  const std::size_t reach = l2 / 4096;
  REQUIRE(reach == 32);
  Numbers expected;
  for (auto i = static_cast<std::uint32_t>(35 - reach); i < 35; ++i) expected.push_back(i);
  for (const std::uint32_t i : {36u, 37u, 38u}) expected.push_back(i);
  CHECK(r.skipped->warmed == expected);
}

TEST_CASE("a statistic of launches that no module counts is refused") {
  const std::string path = repeated("no_stat", 1);
  CHECK_THROWS_MATCHES(run(path, {}, 4, {"sm0.l1.nothing"}), support::ConfigError,
                       Message("--launch-stats: found 'sm0.l1.nothing', which names no statistic of this run; "
                               "--describe-stats lists them"));
}
