// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/payload.h>
#include <regatta/test/catch.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "coalescer.h"

using namespace regatta;

namespace {

using Line = std::pair<std::uint64_t, unsigned>;  ///< address, sectors

std::vector<Line> lines_of(const std::vector<std::uint64_t>& addresses, trace::LaneMask active, unsigned bytes,
                           unsigned line_bytes = 128) {
  std::vector<std::uint64_t> all(addresses);
  all.resize(trace::max_lanes, 0xdeadbeef);
  sm::LineList list;
  list.count = 77;  // what was there before does not matter
  sm::coalesce(all.data(), active, bytes, line_bytes, list);
  std::vector<Line> lines;
  for (unsigned i = 0; i < list.count; ++i) lines.emplace_back(list.lines[i].address, list.lines[i].sectors);
  return lines;
}

std::vector<std::uint64_t> strided(std::uint64_t base, std::int64_t stride) {
  std::vector<std::uint64_t> a;
  for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
    a.push_back(base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane)));
  }
  return a;
}

constexpr trace::LaneMask warp = 0xffffffff;

}  // namespace

TEST_CASE("coalescer: neighbouring words share a line") {
  CHECK(lines_of(strided(0x1000, 4), warp, 4) == std::vector<Line>{{0x1000, 0xf}});
  CHECK(lines_of(strided(0x1000, 4), 0xff, 4) == std::vector<Line>{{0x1000, 0x1}});
  CHECK(lines_of(strided(0x1000, 4), 0xff00ff00, 4) == std::vector<Line>{{0x1000, 0xa}});
  CHECK(lines_of(strided(0x1000, 1), warp, 1) == std::vector<Line>{{0x1000, 0x1}});
  CHECK(lines_of(strided(0x1000, 8), warp, 8) == std::vector<Line>{{0x1000, 0xf}, {0x1080, 0xf}});
  CHECK(lines_of(strided(0x1000, 16), warp, 16) ==
        std::vector<Line>{{0x1000, 0xf}, {0x1080, 0xf}, {0x1100, 0xf}, {0x1180, 0xf}});
}

TEST_CASE("coalescer: a shifted warp touches one line more") {
  CHECK(lines_of(strided(0x1020, 4), warp, 4) == std::vector<Line>{{0x1000, 0xe}, {0x1080, 0x1}});
  CHECK(lines_of(strided(0x107c, 4), warp, 4) == std::vector<Line>{{0x1000, 0x8}, {0x1080, 0xf}});
}

TEST_CASE("coalescer: one address, no lane, one lane each") {
  CHECK(lines_of(strided(0x1044, 0), warp, 4) == std::vector<Line>{{0x1000, 0x4}});
  CHECK(lines_of(strided(0x1000, 4), 0, 4).empty());
  const auto scattered = lines_of(strided(0x1000, 128), warp, 4);
  REQUIRE(scattered.size() == 32);
  for (unsigned i = 0; i < 32; ++i) CHECK(scattered[i] == Line{0x1000 + 128 * i, 0x1});
}

TEST_CASE("coalescer: lines come in the order of first touch") {
  CHECK(lines_of(strided(0x2000, -64), 0xf, 4) == std::vector<Line>{{0x2000, 0x1}, {0x1f80, 0x5}, {0x1f00, 0x4}});
  CHECK(lines_of({0x500, 0x100, 0x520, 0x120}, 0xf, 4) == std::vector<Line>{{0x500, 0x3}, {0x100, 0x3}});
}

TEST_CASE("coalescer: an unaligned access that crosses a line touches both") {
  CHECK(lines_of({0x107e}, 1, 4) == std::vector<Line>{{0x1000, 0x8}, {0x1080, 0x1}});
  CHECK(lines_of({0x1079}, 1, 16) == std::vector<Line>{{0x1000, 0x8}, {0x1080, 0x1}});
  CHECK(lines_of({0x101e}, 1, 4) == std::vector<Line>{{0x1000, 0x3}});  // two sectors of one line
}

TEST_CASE("coalescer: wavefronts of 64 lanes and other line sizes") {
  CHECK(lines_of(strided(0x1000, 4), ~trace::LaneMask{0}, 4) == std::vector<Line>{{0x1000, 0xf}, {0x1080, 0xf}});
  CHECK(lines_of(strided(0x1000, 4), ~trace::LaneMask{0}, 4, 256) == std::vector<Line>{{0x1000, 0xff}});
  CHECK(lines_of(strided(0x1000, 4), trace::LaneMask{1} << 63, 4, 256) == std::vector<Line>{{0x1000, 0x80}});
  CHECK(lines_of(strided(0x1000, 4), 0xffff, 4, 32) == std::vector<Line>{{0x1000, 0x1}, {0x1020, 0x1}});
  const auto all_apart = lines_of(strided(0x107e, 4096), ~trace::LaneMask{0}, 16);
  CHECK(all_apart.size() == 128);  // every lane crosses a line
}

TEST_CASE("coalescer: random accesses touch the sectors that their bytes lie in") {
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < 20000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const unsigned line_bytes = 32u << random() % 4;
    const bool aligned = random() % 4 != 0;
    const std::uint64_t range = std::uint64_t{1} << (6 + random() % 12);
    std::vector<std::uint64_t> a;
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
      const std::uint64_t at = (std::uint64_t{1} << 40) + random() % range;
      a.push_back(aligned ? at & ~std::uint64_t{bytes - 1} : at);
    }
    const trace::LaneMask active = random() & random() & (random() % 2 ? warp : ~trace::LaneMask{0});
    std::map<std::uint64_t, unsigned> expected;
    std::vector<std::uint64_t> order;
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
      if (((active >> lane) & 1) == 0) continue;
      for (unsigned b = 0; b < bytes; ++b) {
        const std::uint64_t line = (a[lane] + b) / line_bytes * line_bytes;
        if (expected.count(line) == 0) order.push_back(line);
        expected[line] |= 1u << (a[lane] + b - line) / protocol::sector_bytes;
      }
    }
    const std::vector<Line> found = lines_of(a, active, bytes, line_bytes);
    CAPTURE(round, bytes, line_bytes, active);
    REQUIRE(found.size() == order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(found[i] == Line{order[i], expected[order[i]]});
    }
  }
}

TEST_CASE("coalescer: random stores leave bytes out where no lane writes them") {
  std::mt19937_64 random(11);
  unsigned whole = 0, partial = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    const unsigned bytes = 1u << random() % 5, line_bytes = random() % 2 != 0 ? 128 : 64;
    const std::uint64_t base = 0x10000 + (random() % 4) * (random() % 8);
    std::vector<std::uint64_t> addresses =
        strided(base, static_cast<std::int64_t>(random() % 3 == 0 ? bytes * (1 + random() % 3) : bytes));
    if (random() % 4 == 0) addresses[random() % 32] = base + 4 * (random() % 64);
    const trace::LaneMask active = random() % 2 != 0 ? warp : random() & warp;
    sm::LineList list;
    sm::coalesce(addresses.data(), active, bytes, line_bytes, list);
    std::map<std::uint64_t, bool> written;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      for (unsigned b = 0; b < bytes; ++b) written[addresses[lane] + b] = true;
    }
    for (unsigned l = 0; l < list.count; ++l) {
      bool left_out = false;
      for (unsigned b = 0; b < line_bytes; ++b) {
        const bool wanted = (list.lines[l].sectors >> (b / protocol::sector_bytes) & 1) != 0;
        left_out |= wanted && written.count(list.lines[l].address + b) == 0;
      }
      REQUIRE(sm::leaves_bytes(addresses.data(), active, bytes, line_bytes, list.lines[l]) == left_out);
      ++(left_out ? partial : whole);
    }
  }
  CHECK(whole > 1000);
  CHECK(partial > 1000);
}

TEST_CASE("coalescer: a line waits for the last lane that has a byte in it") {
  std::mt19937_64 random(7);
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const unsigned line_bytes = 32u << random() % 4;
    const unsigned lanes = 1u << random() % 7;
    std::vector<std::uint64_t> a;
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) a.push_back(0x10000 + random() % 1000);
    const trace::LaneMask active = random() & random();
    sm::LineList found;
    sm::coalesce(a.data(), active, bytes, line_bytes, found);
    sm::address_passes(a.data(), active, bytes, line_bytes, lanes, found);
    std::map<std::uint64_t, unsigned> expected;
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) {
      for (unsigned b = 0; b < bytes && ((active >> lane) & 1) != 0; ++b)
        expected[(a[lane] + b) / line_bytes * line_bytes] = lane / lanes;
    }
    CAPTURE(round, bytes, line_bytes, lanes, active);
    REQUIRE(found.count == expected.size());
    for (unsigned i = 0; i < found.count; ++i)
      REQUIRE(unsigned{found.lines[i].pass} == expected.at(found.lines[i].address));
  }
}

TEST_CASE("coalescer: addresses one stride apart give the lines that going lane by lane gives") {
  std::mt19937_64 random(12);
  auto below = [&](std::uint64_t n) { return random() % n; };
  for (unsigned i = 0; i < 40000; ++i) {
    const unsigned lanes = below(2) != 0 ? 32 : 64;
    const unsigned bytes = 1u << below(5);
    const unsigned line_bytes = 32u << below(4);
    const std::uint64_t strides[] = {bytes, 4, below(40), 0 - below(40), below(1000)};
    const std::uint64_t stride = strides[below(5)];
    const std::uint64_t base = 0x100000 + below(512);
    std::uint64_t a[trace::max_lanes];
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) a[lane] = base + lane * stride;
    trace::LaneMask active = trace::all_lanes(lanes);
    if (below(3) == 0) active &= random();
    if (below(3) == 0) active &= trace::all_lanes(static_cast<unsigned>(1 + below(lanes)));
    if (active == 0) continue;
    sm::LineList expected;
    sm::LineList found;
    sm::coalesce(a, active, bytes, line_bytes, expected);
    sm::coalesce_affine(a, active, bytes, line_bytes, found);
    CAPTURE(lanes, bytes, line_bytes, stride, base, active);
    REQUIRE(found.count == expected.count);
    for (unsigned l = 0; l < found.count; ++l) {
      REQUIRE(found.lines[l].address == expected.lines[l].address);
      REQUIRE(found.lines[l].sectors == expected.lines[l].sectors);
    }
  }
}
