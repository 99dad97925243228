// SPDX-License-Identifier: Apache-2.0
#include "bit_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace regatta::models {

namespace {

/// As many words together as Vector has.
template <class Vector>
[[gnu::always_inline]] inline void add_up_by(const BitSums& s) {
  constexpr unsigned words = sizeof(Vector) / sizeof(std::uint32_t);
  const unsigned intervals = std::min(s.intervals, BitSums::max_intervals);
  const auto any = [](const Vector& w) __attribute__((always_inline)) {
    std::uint64_t part[sizeof(Vector) / sizeof(std::uint64_t)];
    std::memcpy(part, &w, sizeof w);
    std::uint64_t all = 0;
    for (const std::uint64_t x : part) all |= x;
    return all != 0;
  };
  for (unsigned word = 0; word < s.lanes; word += words) {
    Vector held[BitSums::max_intervals];
    Vector seen{};
    for (unsigned i = 0; i < intervals; ++i) {
      Vector kept;
      std::memcpy(&kept, s.kept[i] + word, sizeof kept);
      std::memcpy(&held[i], s.held[i] + word, sizeof kept);
      held[i] &= kept;
      seen |= held[i];
    }
    if (!any(seen)) continue;
    Vector carries[BitSums::max_intervals + 1];  // into the plane at hand: half of what the plane before had to add
    unsigned carried = 0;
    for (unsigned k = 0; k < s.planes_used || carried != 0; ++k) {
      std::uint32_t* const plane = s.planes + std::size_t{k} * s.lanes + word;
      Vector sum;
      std::memcpy(&sum, plane, sizeof sum);
      // Two at a time, by a full adder whose carry goes to the next plane: `carries` is read faster than it is filled.
      unsigned out = 0;
      unsigned i = 0;
      for (; i + 1 < carried; i += 2) {
        const Vector half = sum ^ carries[i];
        const Vector carry = (sum & carries[i]) | (half & carries[i + 1]);
        sum = half ^ carries[i + 1];
        carries[out++] = carry;
      }
      unsigned n = 0;
      const unsigned here = k < s.planes_used ? s.count[k] : 0;
      const std::uint8_t* const from = s.of_plane[k];
      bool single = i < carried;
      Vector last{};
      if (single) last = carries[i];
      if (single && here != 0) {
        const Vector& b = held[from[n++]];
        const Vector half = sum ^ last;
        carries[out++] = (sum & last) | (half & b);
        sum = half ^ b;
        single = false;
      }
      for (; n + 1 < here; n += 2) {
        const Vector& a = held[from[n]];
        const Vector& b = held[from[n + 1]];
        const Vector half = sum ^ a;
        carries[out++] = (sum & a) | (half & b);
        sum = half ^ b;
      }
      if (n < here) {
        last = held[from[n]];
        single = true;
      }
      if (single) {
        const Vector carry = sum & last;
        sum ^= last;
        // A single carry stops rippling as soon as no bit is carried.
        if (any(carry)) carries[out++] = carry;
      }
      carried = out;
      std::memcpy(plane, &sum, sizeof sum);
    }
  }
}

using Words4 = std::uint32_t __attribute__((vector_size(16)));
void add_up_by_4(const BitSums& s) { add_up_by<Words4>(s); }
#if defined(__x86_64__)
using Words8 = std::uint32_t __attribute__((vector_size(32)));
[[gnu::target("avx2")]] void add_up_by_8(const BitSums& s) { add_up_by<Words8>(s); }
using Words16 = std::uint32_t __attribute__((vector_size(64)));
[[gnu::target("avx512f")]] void add_up_by_16(const BitSums& s) { add_up_by<Words16>(s); }
#endif

}  // namespace

std::vector<void (*)(const BitSums&)> add_up_variants() {
  std::vector<void (*)(const BitSums&)> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back(add_up_by_16);
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(add_up_by_8);
#endif
  all.push_back(add_up_by_4);
  return all;
}

void add_up(const BitSums& sums) {
  static const auto widest = add_up_variants().front();
  widest(sums);
}

}  // namespace regatta::models
