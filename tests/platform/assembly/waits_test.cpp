// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/waits.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

using namespace regatta;
using assembly::Wait;
using assembly::Waits;

TEST_CASE("waits: what stats.json says of them") {
  unsigned entries = 4, cycles = 5;
  support::OptionSet options;
  options.add("queue.entries", entries, "entries", "that it holds");
  options.add("queue.cycles", cycles, "cycles", "of an access", 2);
  const std::uint64_t count = 1;
  std::vector<support::StatGroup> groups;
  groups.emplace_back("sm0.queue");
  groups.back().counter("full", count, "cycles", "in which it was full");
  groups.back().counter("reads", count, "accesses", "made");
  Waits waits;
  waits.add("sm*.queue.full", Wait::Of::module, {"queue.entries", "queue.cycles"});
  waits.add_latency("sm*.queue.reads", "queue.cycles");
  waits.add("sm*.pool.full", Wait::Of::ctas, {"pool.entries"});  // no such block in this configuration
  CHECK(waits.all().size() == 3);
  CHECK(waits.of(groups).json(options).dump() ==
        R"([{"statistic":"sm*.queue.full","of":"module","knobs":["queue.entries","queue.cycles"]},)"
        R"({"statistic":"sm*.queue.reads","of":"warps","knobs":["queue.cycles"],"latency_at_least":2}])");
  CHECK_THROWS_WITH(waits.json(options), "waits of 'sm*.pool.full': there is no knob 'pool.entries'");
}

TEST_CASE("waits: the knobs of a statistic") {
  Waits waits;
  waits.add("sm*.a*.full", Wait::Of::warps, {"x.one", "x.two"});
  waits.add("sm*.a1.full", Wait::Of::residents, {"x.two", "x.three"});
  CHECK(waits.knobs_of("sm3.a1", "full") == std::vector<std::string>{"x.one", "x.two", "x.three"});
  CHECK(waits.knobs_of("sm3.a2", "full") == std::vector<std::string>{"x.one", "x.two"});
  CHECK(waits.knobs_of("sm3.a2", "fuller").empty());
}
