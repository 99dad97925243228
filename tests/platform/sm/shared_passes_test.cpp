// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "coalescer.h"

using namespace regatta;

namespace {

unsigned passes(unsigned stride, unsigned bytes, trace::LaneMask active = 0xffffffff, bool atomic = false,
                unsigned warp_size = 32, unsigned banks = 32) {
  std::uint64_t a[trace::max_lanes];
  for (unsigned lane = 0; lane < trace::max_lanes; ++lane) a[lane] = 512 + std::uint64_t{lane} * stride;
  return sm::shared_passes(a, active, bytes, warp_size, banks, atomic);
}

}  // namespace

TEST_CASE("shared memory: a stride of n words conflicts gcd(n, banks) times") {
  CHECK(passes(4, 4) == 1);
  CHECK(passes(8, 4) == 2);
  CHECK(passes(16, 4) == 4);
  CHECK(passes(32, 4) == 8);
  CHECK(passes(64, 4) == 16);
  CHECK(passes(128, 4) == 32);
  CHECK(passes(12, 4) == 1);   // odd strides hit every bank
  CHECK(passes(132, 4) == 1);  // the padded row of a matrix
  CHECK(passes(24, 4) == 2);
}

TEST_CASE("shared memory: lanes that want the same word share it, atomics take turns") {
  CHECK(passes(0, 4) == 1);
  CHECK(passes(1, 1) == 1);  // four lanes a word
  CHECK(passes(2, 2) == 1);
  CHECK(passes(0, 4, 0xffffffff, true) == 32);
  CHECK(passes(0, 4, 0x00000111, true) == 3);
  CHECK(passes(4, 4, 0xffffffff, true) == 1);
  CHECK(passes(1, 1, 0xffffffff, true) == 4);
}

TEST_CASE("shared memory: only active lanes conflict") {
  CHECK(passes(128, 4, 0x1) == 1);
  CHECK(passes(128, 4, 0x80000001) == 2);
  CHECK(passes(128, 4, 0xffff) == 16);
  CHECK(passes(128, 4, 0) == 1);
}

TEST_CASE("shared memory: wide accesses go in groups of lanes") {
  CHECK(passes(8, 8) == 2);    // 64 words, 32 banks
  CHECK(passes(16, 16) == 4);  // 128 words
  CHECK(passes(16, 8) == 4);   // half of the banks lie idle
  CHECK(passes(256, 8) == 32);
  CHECK(passes(16, 16, 0xffffffff, false, 32, 2) == 64);  // four words of a lane over two banks
  CHECK(passes(16, 16, 0xf, false, 32, 1) == 16);
  CHECK(passes(8, 8, 0xffff) == 1);
  CHECK(passes(8, 8, 0xffff0000) == 1);
}

TEST_CASE("shared memory: 64 lanes on 32 banks, and other banks") {
  CHECK(passes(4, 4, ~trace::LaneMask{0}, false, 64, 32) == 2);
  CHECK(passes(4, 4, ~trace::LaneMask{0}, false, 64, 64) == 1);
  CHECK(passes(4, 4, 0xffffffff, false, 32, 16) == 2);
  CHECK(passes(8, 4, 0xffffffff, false, 32, 16) == 4);
  CHECK(passes(128, 4, ~trace::LaneMask{0}, false, 64, 32) == 64);
  CHECK(passes(4, 4, 0xffffffff, false, 32, 1) == 32);
}

TEST_CASE("shared memory: random accesses take as many passes as the definition says") {
  std::mt19937_64 random(11);
  for (unsigned round = 0; round < 20000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const unsigned warp_size = random() % 2 ? 32 : 64;
    const unsigned banks = 8u << random() % 4;
    const bool atomic = random() % 4 == 0;
    const std::uint64_t range = 64u << random() % 8;
    const trace::LaneMask active = random() & (random() | random()) & trace::all_lanes(warp_size);
    std::uint64_t a[trace::max_lanes];
    for (std::uint64_t& x : a) x = random() % range / bytes * bytes;

    const unsigned words = std::max(1u, bytes / 4);
    const unsigned group = std::max(1u, banks / words);
    std::size_t expected = 0;
    for (unsigned first = 0; first < warp_size; first += group) {
      // Bank by bank: the words wanted of it, or the lanes that want one if they cannot share.
      std::map<std::uint64_t, std::multiset<std::uint64_t>> wanted;
      for (unsigned lane = first; lane < std::min(first + group, warp_size); ++lane) {
        if (((active >> lane) & 1) == 0) continue;
        for (unsigned w = 0; w < words; ++w) {
          const std::uint64_t word = a[lane] / 4 + w;
          auto& bank = wanted[word % banks];
          if (atomic || bank.count(word) == 0) bank.insert(word);
        }
      }
      std::size_t worst = 0;
      for (const auto& [bank, list] : wanted) worst = std::max(worst, list.size());
      expected += worst;
    }
    CAPTURE(round, bytes, warp_size, banks, atomic, active);
    REQUIRE(sm::shared_passes(a, active, bytes, warp_size, banks, atomic) == std::max<std::size_t>(expected, 1));
  }
}

TEST_CASE("shared memory: what is known of a stride is what counting lanes finds") {
  std::mt19937_64 random(11);
  auto below = [&](std::uint64_t n) { return random() % n; };
  for (unsigned i = 0; i < 40000; ++i) {
    const unsigned warp_size = below(2) != 0 ? 32 : 64;
    const unsigned banks = 1u << below(7);
    const unsigned bytes = below(8) == 0 ? static_cast<unsigned>(1 + below(32)) : 1u << below(5);
    const std::uint64_t strides[] = {bytes, 4, bytes * (2 * below(40) + 1), below(300), 0 - below(300), 0};
    const std::uint64_t stride = strides[below(6)];
    const std::uint64_t base = 0x100000 + below(2) * below(256) + below(64) * bytes;
    std::uint64_t a[trace::max_lanes];
    for (unsigned lane = 0; lane < trace::max_lanes; ++lane) a[lane] = base + lane * stride;
    trace::LaneMask active = trace::all_lanes(warp_size);
    if (below(2) != 0) active &= random();
    CAPTURE(warp_size, banks, bytes, stride, base, active);
    REQUIRE(sm::shared_passes_affine(a, active, bytes, warp_size, banks) ==
            sm::shared_passes(a, active, bytes, warp_size, banks, false));
  }
}
