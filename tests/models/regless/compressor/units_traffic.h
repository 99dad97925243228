// SPDX-License-Identifier: Apache-2.0
//
// Constrained-random traffic for the compressor's units, and what of it has been met.
#pragma once

#include <regatta/regless/units.h>
#include <regatta/support/clock_domain.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>

namespace regatta::test {

/// Values near the edges of the patterns: their strides and others, bases at carries, one lane off.
class UnitTraffic {
 public:
  explicit UnitTraffic(unsigned seed) : random_(seed) {}

  models::WarpValue value() {
    static const std::uint32_t strides[] = {0, 1, 4, 0, 1, 4, 2, 3, 5, 8, 0xffffffffu, 0x00010001u, 0x00010004u};
    const std::uint32_t stride = strides[random_() % 13];
    const std::uint32_t low = base();
    const std::uint32_t gaps[] = {16 * stride, 16 * stride, 0, 16 * stride + 0x10000u, base()};
    const std::uint32_t high = low + gaps[random_() % 5];
    models::WarpValue v{};
    for (std::uint32_t i = 0; i < 16; ++i) {
      v[i] = low + i * stride;
      v[16 + i] = high + i * stride;
    }
    defect_ = 0;
    if (random_() % 3 == 0) {
      defect_ = 1 + static_cast<unsigned>(random_() % 4);
      std::uint32_t& lane = v[random_() % 32];
      if (defect_ == 1) lane ^= 1u << random_() % 32;
      if (defect_ == 2) lane += 1;
      if (defect_ == 3) lane -= 1;
      if (defect_ == 4) {
        const std::uint32_t step = 1u << random_() % 32;
        for (std::size_t from = random_() % 32; from < 32; ++from) v[from] += step;
      }
    }
    return v;
  }
  models::CompressedValue compressed() {
    models::CompressedValue c;
    c.pattern = static_cast<models::Pattern>(1 + random_() % (models::pattern_count - 1));
    const std::uint32_t bases[] = {base(), base()};
    for (unsigned i = 0; i < models::slot_bytes; ++i) {
      c.slot[i] = static_cast<unsigned char>(bases[i / 4] >> (8 * (i % 4)));
    }
    return c;
  }
  /// Of the last value: 0 none, 1 a bit, 2 and 3 a lane that is one more or less, 4 all lanes from one on.
  unsigned defect() const { return defect_; }
  std::uint32_t next() { return static_cast<std::uint32_t>(random_()); }

 private:
  std::uint32_t base() {
    const auto any = static_cast<std::uint32_t>(random_());
    switch (random_() % 4) {
      case 0:
        return any % 256 - 128;  // around 0
      case 1:
        return (any & 0xffff0000u) | (0xffffu - any % 64);  // carries into the upper half
      case 2:
        return 0x80000000u - any % 128;  // around the sign
      default:
        return any;
    }
  }
  std::mt19937 random_;
  unsigned defect_ = 0;
};

/// How often each pattern was met with each kind of value.
struct UnitCoverage {
  std::array<std::array<std::uint64_t, 5>, models::pattern_count> met{};
  void add(models::Pattern p, unsigned kind) { ++met[static_cast<unsigned>(p)][kind]; }
  void print(const char* unit, const char* kinds) const {
    std::printf("%s %s\n", unit, kinds);
    for (unsigned p = 0; p < models::pattern_count; ++p) {
      std::printf("  %-9s", models::to_string(static_cast<models::Pattern>(p)));
      for (const std::uint64_t n : met[p]) std::printf(" %9llu", static_cast<unsigned long long>(n));
      std::printf("\n");
    }
  }
};

}  // namespace regatta::test
