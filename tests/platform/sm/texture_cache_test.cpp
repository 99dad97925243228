// SPDX-License-Identifier: Apache-2.0
//
// The texture cache against a plain model of sectors, and the lines of texels against their sets.
#include "texture_cache.h"

#include "coalescer.h"

#include <regatta/test/catch.h>

#include <list>
#include <map>
#include <random>

using namespace regatta;
using sm::TextureCache;

namespace {

constexpr unsigned line_bytes = 128;

struct SectorModel {
  struct Line {
    std::uint64_t address = 0;
    unsigned sectors = 0;
  };
  struct Fetch {
    Line line;
    std::vector<protocol::DynamicInstruction*> waiting;
  };
  std::size_t sets, ways, mshrs;
  std::map<std::size_t, std::list<Line>> held;  ///< by set, the most recently used first
  std::map<std::uint32_t, Fetch> fetches;       ///< by MSHR

  Line* find(std::uint64_t address) {
    std::list<Line>& set = held[address / line_bytes % sets];
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (it->address != address) continue;
      set.splice(set.begin(), set, it);
      return &set.front();
    }
    return nullptr;
  }
  void install(const Line& line) {
    std::list<Line>& set = held[line.address / line_bytes % sets];
    for (Line& l : set) {
      if (l.address != line.address) continue;
      l.sectors |= line.sectors;
      return;
    }
    set.push_front(line);
    if (set.size() > ways) set.pop_back();
  }
};

}  // namespace

TEST_CASE("texture cache: random fetches hit, merge, are refused and replaced as by a plain model") {
  for (const unsigned ways : {1u, 3u}) {
    sm::TextureConfig config;
    config.cache = true;
    config.ways = ways;
    config.size_bytes = line_bytes * ways * 4;
    config.mshrs = 3;
    config.validate(line_bytes);
    TextureCache cache(sc_core::sc_gen_unique_name("cache"), config, line_bytes);
    SectorModel model{4, ways, config.mshrs, {}, {}};
    std::vector<protocol::DynamicInstruction> instructions(5);
    std::mt19937 random(ways);
    unsigned hits = 0, merges = 0, refusals = 0, partial = 0;
    for (unsigned step = 0; step < 20000; ++step) {
      if (random() % 3 == 0 && !model.fetches.empty()) {
        auto at = model.fetches.begin();
        std::advance(at, random() % model.fetches.size());
        std::vector<protocol::DynamicInstruction*> arrived;
        cache.fill(at->first, [&](protocol::DynamicInstruction& d) { arrived.push_back(&d); });
        REQUIRE(arrived == at->second.waiting);
        model.install(at->second.line);
        model.fetches.erase(at);
        continue;
      }
      if (step % 5000 == 4999) {
        cache.invalidate();
        model.held.clear();
      }
      const std::uint64_t line = random() % (ways * 4 + 6) * line_bytes;
      const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
      protocol::DynamicInstruction& d = instructions[random() % instructions.size()];
      std::uint32_t mshr = 99;
      std::uint8_t missing = 0;
      const TextureCache::Lookup got = cache.look_up(line, sectors, d, mshr, missing);
      const SectorModel::Line* const there = model.find(line);
      const unsigned wanted = sectors & ~(there != nullptr ? there->sectors : 0u);
      if (wanted == 0) {
        REQUIRE(got == TextureCache::Lookup::hit);
        ++hits;
        continue;
      }
      SectorModel::Fetch* pending = nullptr;
      for (auto& [number, fetch] : model.fetches) {
        if (fetch.line.address == line && (wanted & ~fetch.line.sectors) == 0 && pending == nullptr) pending = &fetch;
      }
      if (pending != nullptr) {
        REQUIRE(got == TextureCache::Lookup::merged);
        pending->waiting.push_back(&d);
        ++merges;
      } else if (model.fetches.size() == config.mshrs) {
        REQUIRE(got == TextureCache::Lookup::refused);
        REQUIRE(cache.take_refused());
        REQUIRE_FALSE(cache.take_refused());
        ++refusals;
      } else {
        REQUIRE(got == TextureCache::Lookup::request);
        REQUIRE(missing == wanted);
        REQUIRE(model.fetches.count(mshr) == 0);
        partial += there != nullptr ? 1 : 0;
        model.fetches[mshr] = {{line, wanted}, {&d}};
      }
    }
    CHECK(hits > 1000);
    CHECK(merges > 100);
    CHECK(refusals > 100);
    CHECK(partial > 100);
  }
}

TEST_CASE("texture cache: sizes that do not fit are refused") {
  sm::TextureConfig config;
  config.cache = true;
  config.size_bytes = 1000;
  CHECK_THROWS_WITH(config.validate(128),
                    "texture_cache.size_bytes is 1000: expected a multiple of texture_cache.ways x "
                    "l1.line_bytes = 3072");
  config.cache = false;
  config.validate(128);
}

TEST_CASE("coalescer: the lines of texels are those of their sectors, each when its last lane has addresses") {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 500; ++round) {
    sm::LineList lines;
    lines.count = 0;
    std::map<std::uint64_t, std::pair<unsigned, unsigned>> expected;  // sectors and pass, by line
    const unsigned texels = 1 + random() % 8, lanes = 1u << random() % 6;
    for (unsigned t = 0; t < texels; ++t) {
      std::vector<std::uint64_t> address(trace::max_lanes);
      for (auto& a : address) a = random() % 7 == 0 ? trace::no_texel : 0x1000 + random() % 1024 * 4;
      const trace::LaneMask active = random() % 2 == 0 ? 0xffffffff : random() & 0xffffffff;
      sm::coalesce_texels(address.data(), active, 4, line_bytes, lanes, 3 * t, lines);
      for (unsigned l = 0; l < 32; ++l) {
        if ((active >> l & 1) == 0 || address[l] == trace::no_texel) continue;
        auto& line = expected[address[l] / line_bytes * line_bytes];
        line.first |= 1u << address[l] % line_bytes / 32;
        line.second = std::max(line.second, 3 * t + l / lanes);
      }
    }
    REQUIRE(lines.count == expected.size());
    for (unsigned i = 0; i < lines.count; ++i) {
      const auto& want = expected.at(lines.lines[i].address);
      CHECK(lines.lines[i].sectors == want.first);
      CHECK(lines.lines[i].pass == want.second);
    }
  }
}
