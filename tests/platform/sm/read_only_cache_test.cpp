// SPDX-License-Identifier: Apache-2.0
//
// The instruction or constant cache against a plain set-associative model: which lines hit, which are replaced (the
// least recently used of the set), who waits for which line, and who is refused when no MSHR is free.
#include "read_only_cache.h"

#include <regatta/test/catch.h>

#include <list>
#include <map>
#include <random>
#include <set>

using namespace regatta;
using sm::ReadOnlyCache;

namespace {

struct Model {
  struct Fetch {
    std::uint64_t line = 0;
    std::vector<unsigned> waiting;
  };
  std::size_t sets, ways, mshrs;
  std::map<std::size_t, std::list<std::uint64_t>> held;  ///< by set, the most recently used first
  std::map<std::uint32_t, Fetch> fetches;                ///< by MSHR
  std::vector<unsigned> refused;

  bool find(std::uint64_t line) {
    std::list<std::uint64_t>& set = held[line % sets];
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (*it != line) continue;
      set.splice(set.begin(), set, it);
      return true;
    }
    return false;
  }
  void install(std::uint64_t line) {
    std::list<std::uint64_t>& set = held[line % sets];
    set.push_front(line);
    if (set.size() > ways) set.pop_back();
  }
};

}  // namespace

TEST_CASE("read-only cache: random lines hit, merge, are refused and replaced as by a plain model") {
  for (const unsigned ways : {1u, 2u, 4u}) {
    sm::ReadOnlyCacheConfig config;
    config.enabled = true;
    config.line_bytes = 128;
    config.ways = ways;
    config.size_bytes = 128 * ways * 4;
    config.mshrs = 3;
    ReadOnlyCache cache(sc_core::sc_gen_unique_name("cache"), config);
    Model model{4, ways, config.mshrs, {}, {}, {}};
    std::mt19937 random(ways);
    unsigned hits = 0, merges = 0, refusals = 0;
    for (unsigned step = 0; step < 20000; ++step) {
      const std::uint64_t line = random() % (ways * 4 + 8);
      const unsigned warp = random() % 48;
      CAPTURE(ways, step, line);
      const bool hit = model.find(line);
      REQUIRE(cache.find(line) == hit);
      hits += hit ? 1 : 0;
      if (!hit) {
        std::uint32_t mshr = ReadOnlyCache::none;
        const auto answer = cache.miss(line, protocol::WarpSlot(static_cast<std::uint16_t>(warp)), mshr);
        auto fetch = model.fetches.begin();
        while (fetch != model.fetches.end() && fetch->second.line != line) ++fetch;
        if (fetch != model.fetches.end()) {
          REQUIRE(answer == ReadOnlyCache::Miss::merged);
          fetch->second.waiting.push_back(warp);
          ++merges;
        } else if (model.fetches.size() == model.mshrs) {
          REQUIRE(answer == ReadOnlyCache::Miss::refused);
          model.refused.push_back(warp);
          ++refusals;
        } else {
          REQUIRE(answer == ReadOnlyCache::Miss::request);
          REQUIRE(mshr < model.mshrs);
          REQUIRE(model.fetches.count(mshr) == 0);
          model.fetches[mshr] = {line, {warp}};
        }
      }
      if (model.fetches.empty() || random() % 5 != 0) continue;
      auto fetch = model.fetches.begin();
      std::advance(fetch, random() % model.fetches.size());
      std::vector<unsigned> arrived, retried;
      cache.fill(
          fetch->first,
          [&](protocol::WarpSlot w, std::uint64_t of) {
            REQUIRE(of == fetch->second.line);
            arrived.push_back(w.value());
          },
          [&](protocol::WarpSlot w) { retried.push_back(w.value()); });
      CHECK(arrived == fetch->second.waiting);
      CHECK(retried == model.refused);
      model.refused.clear();
      model.install(fetch->second.line);
      model.fetches.erase(fetch);
    }
    CHECK(hits > 1000);
    CHECK(merges > 100);
    CHECK(refusals > 100);
  }
}
