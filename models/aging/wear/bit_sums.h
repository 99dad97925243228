// SPDX-License-Identifier: Apache-2.0
//
// Counters of single bits, kept in planes: plane k holds bit k of each. What a row held in some intervals, times their
// lengths, is added to all of its counters at once, by full adders that work on the host's widest words.
#pragma once

#include <cstdint>
#include <vector>

namespace regatta::models {

/// What is to be added to the counters of a row: interval i of `intervals`, in which it held what is in both held[i]
/// and kept[i], in the planes k that of_plane[k] names it for.
struct BitSums {
  static constexpr unsigned max_intervals = 8;
  static constexpr unsigned max_planes = 32;

  const std::uint32_t* held[max_intervals];
  const std::uint32_t* kept[max_intervals];
  std::uint32_t* planes = nullptr;
  unsigned lanes = 0;
  unsigned intervals = 0;
  unsigned planes_used = 0;
  std::uint8_t count[max_planes] = {};
  std::uint8_t of_plane[max_planes][max_intervals];
};

/// By the widest words that this host has.
void add_up(const BitSums& sums);
/// All that it has, the widest first.
std::vector<void (*)(const BitSums&)> add_up_variants();

}  // namespace regatta::models
