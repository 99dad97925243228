// SPDX-License-Identifier: Apache-2.0
//
// Counters in planes, against counters one by one; every width of words that this host has.
#include "bit_sums.h"

#include <regatta/test/catch.h>

#include <cstdint>
#include <random>
#include <vector>

using regatta::models::add_up_variants;
using regatta::models::BitSums;

TEST_CASE("bit sums: equal to counting every bit by itself") {
  for (const auto add_up : add_up_variants()) {
    for (const unsigned lanes : {32u, 64u}) {
      std::mt19937 random(lanes);
      std::vector<std::uint32_t> planes(std::size_t{BitSums::max_planes} * lanes, 0);
      std::vector<std::uint64_t> wanted(std::size_t{lanes} * 32, 0);
      for (unsigned round = 0; round < 200; ++round) {
        BitSums sums;
        sums.intervals = 1 + static_cast<unsigned>(random() % BitSums::max_intervals);
        std::vector<std::uint32_t> entries(std::size_t{sums.intervals} * lanes);
        std::vector<std::uint32_t> kept(std::size_t{sums.intervals} * lanes, ~0u);
        for (std::uint32_t& word : kept) {
          if (random() % 4 == 0) word = static_cast<std::uint32_t>(random());
        }
        // Few ones, many, or none in a word of the host's: what has nothing to add is passed over.
        for (std::uint32_t& word : entries) {
          const auto bits = static_cast<std::uint32_t>(random());
          word = round % 3 == 0 ? bits : round % 3 == 1 ? bits & static_cast<std::uint32_t>(random() & random()) : 0;
        }
        entries[random() % entries.size()] = ~0u;
        for (unsigned i = 0; i < sums.intervals; ++i) {
          const std::uint32_t length = (static_cast<std::uint32_t>(random()) >> (12 + random() % 20)) | 1;
          for (std::uint32_t m = length; m != 0; m &= m - 1) {
            const auto k = static_cast<unsigned>(__builtin_ctz(m));
            sums.of_plane[k][sums.count[k]++] = static_cast<std::uint8_t>(i);
            if (sums.planes_used < k + 1) sums.planes_used = k + 1;
          }
          for (std::size_t b = 0; b < wanted.size(); ++b) {
            wanted[b] +=
                ((entries[std::size_t{i} * lanes + b / 32] & kept[std::size_t{i} * lanes + b / 32]) >> (b % 32) & 1) *
                std::uint64_t{length};
          }
        }
        for (unsigned i = 0; i < sums.intervals; ++i) {
          sums.held[i] = &entries[std::size_t{i} * lanes];
          sums.kept[i] = &kept[std::size_t{i} * lanes];
        }
        sums.planes = planes.data();
        sums.lanes = lanes;
        add_up(sums);
      }
      std::size_t wrong = 0;
      for (std::size_t b = 0; b < wanted.size(); ++b) {
        std::uint64_t counted = 0;
        for (unsigned k = 0; k < BitSums::max_planes; ++k) {
          counted |= std::uint64_t{planes[std::size_t{k} * lanes + b / 32] >> (b % 32) & 1} << k;
        }
        wrong += counted != wanted[b];
      }
      CHECK(wrong == 0);
    }
  }
  CHECK_FALSE(add_up_variants().empty());
}
