// SPDX-License-Identifier: Apache-2.0
//
// The hash of a warp register's value (WIR section V-A, Table III): H3, a class of hash functions that are linear over
// GF(2) (Carter and Wegman, 1979). Bit k is the parity of the value ANDed with row k of a fixed random bit matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class H3Hash {
 public:
  /// Values of `lanes` x 32 bits; `bits` of hash, 1 to 32 (the paper: 32). The matrix is drawn from `seed`: two hashes
  /// of one seed agree in the bits that both have.
  explicit H3Hash(unsigned lanes, unsigned bits = 32, std::uint64_t seed = default_seed);

  std::uint32_t operator()(const std::uint32_t* value) const {
    std::uint32_t hash = 0;
    const Digit* digits = table_.data();
    for (unsigned lane = 0; lane < lanes_; ++lane, digits += digits_per_word) {
      const std::uint32_t v = value[lane];
      hash ^= digits[0][v & 15] ^ digits[1][v >> 4 & 15] ^ digits[2][v >> 8 & 15] ^ digits[3][v >> 12 & 15] ^
              digits[4][v >> 16 & 15] ^ digits[5][v >> 20 & 15] ^ digits[6][v >> 24 & 15] ^ digits[7][v >> 28];
    }
    return hash & mask_;
  }
  /// The column of the matrix for one bit of the value: what the hash changes by when the bit does.
  std::uint32_t column(unsigned lane, unsigned bit) const {
    return table_[lane * digits_per_word + bit / 4][1u << bit % 4] & mask_;
  }
  unsigned bits() const { return bits_; }

  /// The paper gives no matrix; this one is arbitrary and fixed, so that runs can be repeated.
  static constexpr std::uint64_t default_seed = 0x57495253;

 private:
  static constexpr unsigned digits_per_word = 8;
  /// Hash contribution of each value that four bits can have: their columns, summed. 16 KB in all, so that the table
  /// stays in a first-level cache.
  struct alignas(64) Digit {
    std::uint32_t of[16] = {};
    std::uint32_t operator[](std::size_t digit) const { return of[digit]; }
  };
  unsigned lanes_, bits_;
  std::uint32_t mask_;
  std::vector<Digit> table_;
};

}  // namespace regatta::models::wir
