// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/stat_query.h>
#include <regatta/test/catch.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace regatta::support;

namespace {

std::vector<std::string> names(const std::vector<StatTerm>& terms) {
  std::vector<std::string> names;
  for (const StatTerm& term : terms) names.push_back(term.name);
  return names;
}

std::string refused(const std::string& text) {
  try {
    const StatQuery query(text);
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("stat query: a name is a path and a statistic of that module alone") {
  const StatQuery reads("sm0.l1.reads");
  CHECK(reads.matches("sm0.l1", "reads"));
  CHECK_FALSE(reads.matches("sm0.l1", "read"));
  CHECK_FALSE(reads.matches("sm0.l1", "reads2"));
  CHECK_FALSE(reads.matches("sm0.l1", ""));
  CHECK_FALSE(reads.matches("sm0", "reads"));
  CHECK_FALSE(reads.matches("sm0.l1.port", "reads"));
  CHECK_FALSE(reads.matches("sm10.l1", "reads"));
  CHECK_FALSE(reads.matches("", "reads"));
}

TEST_CASE("stat query: a statistic's name may contain dots") {
  const StatQuery source("whole.preload_source.l1");
  CHECK(source.matches("whole", "preload_source.l1"));
  CHECK(source.matches("whole.preload_source", "l1"));
  CHECK_FALSE(source.matches("whole", "preload_source"));
}

TEST_CASE("stat query: a star stands for characters of one part") {
  const StatQuery banks("sm*.osu.shard*.bank*.reads");
  CHECK(banks.matches("sm0.osu.shard3.bank7", "reads"));
  CHECK(banks.matches("sm12.osu.shard.bank", "reads"));
  CHECK_FALSE(banks.matches("sm0.osu.shard3", "reads"));
  CHECK_FALSE(banks.matches("sm0.osu.shard3.port.bank7", "reads"));
  CHECK_FALSE(banks.matches("sm0.osux.shard3.bank7", "reads"));
  CHECK_FALSE(banks.matches("s0.osu.shard3.bank7", "reads"));
  const StatQuery middle("sm0.*a*b*.reads");
  for (const char* path : {"sm0.ab", "sm0.aab", "sm0.xaybz", "sm0.abab"}) CHECK(middle.matches(path, "reads"));
  for (const char* path : {"sm0.a", "sm0.ba", "sm0.a.b", "sm0."}) CHECK_FALSE(middle.matches(path, "reads"));
  CHECK(StatQuery("*.reads").matches("l2", "reads"));
  CHECK_FALSE(StatQuery("*.reads").matches("memory.l2", "reads"));
  // In the statistic's own name it is a character as any other.
  CHECK_FALSE(StatQuery("l2.re*").matches("l2", "reads"));
}

TEST_CASE("stat query: what it finds, weighted, counters and derived values") {
  std::uint64_t first = 3, second = 4, other = 100;
  double there = 2;
  std::vector<StatGroup> groups;
  groups.emplace_back("memory.l2_0").counter("reads", first, "", "");
  groups.emplace_back("memory.l2_1").counter("reads", second, "", "");
  groups.back().derived(
      "there", [&there] { return there; }, "", "");
  groups.emplace_back("memory.l2").counter("writes", other, "", "");

  const StatQuery reads("32*memory.l2_*.reads");
  CHECK(reads.text() == "32*memory.l2_*.reads");
  CHECK(reads.weight() == 32);
  CHECK(reads.finds_any(groups));
  const std::vector<StatTerm> terms = reads.find(groups);
  CHECK(names(terms) == std::vector<std::string>{"memory.l2_0.reads", "memory.l2_1.reads"});
  CHECK(terms[0].now() == 96);
  ++first;
  CHECK(terms[0].now() == 128);

  const StatSum sum(groups, {"memory.l2_*.reads", "2*memory.l2_1.there", "memory.l2_*.absent"});
  CHECK_FALSE(sum.empty());
  CHECK(sum.total() == 4 + 4 + 4);
  there = 5;
  CHECK(sum.total() == 4 + 4 + 10);
  CHECK(sum.largest() == 10);

  CHECK_FALSE(StatQuery("memory.l2_*.writes").finds_any(groups));
  const StatSum nothing(groups, {"memory.l2_*.writes"});
  CHECK(nothing.empty());
  CHECK(nothing.total() == 0);
  CHECK(nothing.largest() == 0);
}

TEST_CASE("stat query: a sum outlives the groups, not the modules") {
  std::uint64_t reads = 7;
  std::vector<StatGroup> groups;
  groups.emplace_back("l2").counter("reads", reads, "", "");
  const StatSum sum(groups, {"l2.reads"});
  groups.clear();
  ++reads;
  CHECK(sum.total() == 8);
}

TEST_CASE("stat query: a text that can name nothing is refused") {
  CHECK(refused("reads") == "'reads' names no statistic: expected a module's path, a dot and a name");
  CHECK(refused("") == "'' names no statistic: expected a module's path, a dot and a name");
  CHECK(refused("32*reads") == "'32*reads' names no statistic: expected a module's path, a dot and a name");
  CHECK(refused("0*l2.reads") == "'0*l2.reads' names no statistic: expected a weight that is not 0");
  CHECK(refused("1234567890123456789*l2.reads").find("at most 18 digits") != std::string::npos);
  CHECK(refused("32") == "'32' names no statistic: expected a module's path, a dot and a name");
  CHECK(refused("*.reads") == "accepted");
}
