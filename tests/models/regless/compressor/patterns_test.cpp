// SPDX-License-Identifier: Apache-2.0
//
// The patterns: each at its edges, and bit-exact round trips.
#include <regatta/regless/patterns.h>
#include <regatta/test/catch.h>

#include <array>
#include <cstring>
#include <random>

using namespace regatta::models;

namespace {

using Lanes = std::array<std::uint32_t, pattern_lanes>;

/// What the patterns mean, lane by lane: first base, second base, stride.
Lanes make(std::uint32_t low, std::uint32_t high, std::uint32_t stride) {
  Lanes l{};
  for (std::uint32_t i = 0; i < 16; ++i) {
    l[i] = low + i * stride;
    l[16 + i] = high + i * stride;
  }
  return l;
}

/// By definition, in the order of the patterns.
Pattern defined(const Lanes& l) {
  for (unsigned p = 1; p < pattern_count; ++p) {
    const std::uint32_t strides[] = {0, 0, 1, 4, 1, 4};
    const bool halves = p >= 4;
    bool fits = true;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t base = halves && i >= 16 ? l[16] : l[0];
      const std::uint32_t place = halves ? i % 16 : i;
      fits = fits && l[i] == base + place * strides[p];
    }
    if (fits) return static_cast<Pattern>(p);
  }
  return Pattern::none;
}

void check(const Lanes& l) {
  const Pattern p = match(l.data());
  REQUIRE(p == defined(l));
  if (p == Pattern::none) return;
  std::array<unsigned char, slot_bytes> slot{};
  compress(p, l.data(), slot.data());
  Lanes back{};
  expand(p, slot.data(), back.data());
  REQUIRE(back == l);
  // Four bytes say it all unless the halves differ.
  if (p < Pattern::half1) {
    for (unsigned i = 4; i < slot_bytes; ++i) REQUIRE(slot[i] == 0);
  }
}

}  // namespace

TEST_CASE("compressor patterns: each, with bases that wrap around") {
  for (const std::uint32_t base : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffff0u, 0xfffffffcu}) {
    CHECK(match(make(base, base, 0).data()) == Pattern::constant);
    CHECK(match(make(base, base + 16, 1).data()) == Pattern::stride1);
    CHECK(match(make(base, base + 64, 4).data()) == Pattern::stride4);
    CHECK(match(make(base, base + 17, 1).data()) == Pattern::half1);
    CHECK(match(make(base, base, 1).data()) == Pattern::half1);
    CHECK(match(make(base, base + 16, 4).data()) == Pattern::half4);
    // Half-warp constants, and other strides, are not compressed.
    CHECK(match(make(base, base + 1, 0).data()) == Pattern::none);
    CHECK(match(make(base, base + 32, 2).data()) == Pattern::none);
    CHECK(match(make(base, base + 48, 3).data()) == Pattern::none);
    CHECK(match(make(base, base + 128, 8).data()) == Pattern::none);
    CHECK(match(make(base, base - 16, 0xffffffffu).data()) == Pattern::none);
    for (const std::uint32_t stride : {0u, 1u, 2u, 4u}) {
      for (const std::uint32_t gap : {0u, 1u, 16u, 17u, 64u, 0xfffffff0u}) check(make(base, base + gap, stride));
    }
  }
}

TEST_CASE("compressor patterns: one lane off is another value") {
  for (const std::uint32_t stride : {0u, 1u, 4u}) {
    for (const std::uint32_t high : {16 * stride, 77u}) {
      for (unsigned lane = 0; lane < pattern_lanes; ++lane) {
        for (unsigned bit : {0u, 1u, 2u, 31u}) {
          Lanes l = make(100, 100 + high, stride);
          l[lane] ^= 1u << bit;
          CAPTURE(stride, high, lane, bit);
          check(l);
        }
      }
    }
  }
}

TEST_CASE("compressor patterns: random values of any kind come back as they were") {
  std::mt19937 random(1);
  std::array<unsigned, pattern_count> met{};
  const std::uint32_t strides[] = {0, 1, 2, 4, 8};
  for (unsigned n = 0; n < 200000; ++n) {
    const auto low = static_cast<std::uint32_t>(random());
    const std::uint32_t stride = strides[random() % 5];
    Lanes l = make(low, random() % 2 != 0 ? low + 16 * stride : static_cast<std::uint32_t>(random()), stride);
    if (random() % 4 == 0) l[random() % 32] += static_cast<std::uint32_t>(random() % 5) - 2;
    check(l);
    ++met[static_cast<unsigned>(match(l.data()))];
  }
  for (unsigned m : met) CHECK(m > 1000);
}

TEST_CASE("compressor patterns: 15 slots of 8 bytes and 15 states of 3 bits share a line and nothing else") {
  std::mt19937 random(2);
  std::array<unsigned char, compressed_line_bytes> line{};
  std::array<Pattern, line_slots> states{};
  std::array<std::array<unsigned char, slot_bytes>, line_slots> slots{};
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned i = static_cast<unsigned>(random() % line_slots);
    if (random() % 2 != 0) {
      states[i] = static_cast<Pattern>(random() % pattern_count);
      set_state(line.data(), i, states[i]);
    } else {
      for (unsigned char& b : slots[i]) b = static_cast<unsigned char>(random());
      std::memcpy(slot_of(line.data(), i), slots[i].data(), slot_bytes);
    }
    for (unsigned k = 0; k < line_slots; ++k) {
      REQUIRE(state_of(line.data(), k) == states[k]);
      REQUIRE(std::memcmp(slot_of(line.data(), k), slots[k].data(), slot_bytes) == 0);
    }
  }
}
