// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/stat_report.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>
#include <systemc>

using namespace regatta::support;

namespace {
struct Cache : sc_core::sc_module, StatProvider {
  std::uint64_t reads = 0;
  std::uint64_t hits = 0;
  explicit Cache(const sc_core::sc_module_name& name) : sc_module(name) {}
  void register_stats(StatGroup& group) override {
    group.counter("reads", reads, "accesses", "warp-level read requests");
    group.derived(
        "hit_ratio", [this] { return double(hits) / double(reads); }, "ratio", "hits per read");
  }
};
struct Silent : sc_core::sc_module, StatProvider {
  explicit Silent(const sc_core::sc_module_name& name) : sc_module(name) {}
  void register_stats(StatGroup&) override {}
};
struct Sm : sc_core::sc_module {
  Cache l1{"l1"};
  Silent silent{"silent"};
  explicit Sm(const sc_core::sc_module_name& name) : sc_module(name) {}
};
}  // namespace

TEST_CASE("statistics of the module tree") {
  Cache l2("l2");
  Sm sm10("sm10");
  Sm sm2("sm2");
  const std::vector<StatGroup> groups = collect_stats();
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].path() == "l2");
  CHECK(groups[1].path() == "sm2.l1");
  CHECK(groups[2].path() == "sm10.l1");

  sm2.l1.reads = 4000;
  sm2.l1.hits = 1000;
  const CounterSnapshot before = snapshot(groups);
  sm2.l1.reads += 1000;
  CHECK(stats_json(groups).dump() == R"({"l2":{"reads":0,"hit_ratio":null},"sm2.l1":{"reads":5000,"hit_ratio":0.2},)"
                                     R"("sm10.l1":{"reads":0,"hit_ratio":null}})");
  CHECK(stats_json(groups, before).dump() == R"({"l2":{"reads":0},"sm2.l1":{"reads":1000},"sm10.l1":{"reads":0}})");
  CHECK_THROWS_AS(stats_json(groups, CounterSnapshot{1}), std::logic_error);
  CHECK_THROWS_AS(stats_json(groups, CounterSnapshot{1, 2, 3, 4}), std::logic_error);
  CHECK(stats_table(groups, true) ==
        "module   statistic   value  unit\n"
        "------------------------------------\n"
        "l2       hit_ratio       -  ratio\n"
        "sm2.l1   reads       5,000  accesses\n"
        "         hit_ratio  0.2000  ratio\n"
        "sm10.l1  hit_ratio       -  ratio\n");
  CHECK(describe_stats({groups[1]}) ==
        "module  statistic  unit      description\n"
        "-----------------------------------------------------\n"
        "sm2.l1  reads      accesses  warp-level read requests\n"
        "        hit_ratio  ratio     hits per read\n");
  CHECK(stats_description_json({groups[0]}).dump() ==
        R"({"l2":{"reads":{"unit":"accesses","description":"warp-level read requests"},)"
        R"("hit_ratio":{"unit":"ratio","description":"hits per read"}}})");
}

TEST_CASE("an empty platform has empty statistics, and a name is registered once") {
  CHECK(collect_stats().empty());
  CHECK(stats_json(std::vector<StatGroup>{}).dump() == "{}");
  const std::uint64_t value = 0;
  StatGroup group("sm0");
  group.counter("x", value, "", "");
  CHECK_THROWS_AS(group.counter("x", value, "", ""), std::logic_error);
  CHECK_THROWS_AS(group.derived(
                      "x", [] { return 0.0; }, "", ""),
                  std::logic_error);
}
