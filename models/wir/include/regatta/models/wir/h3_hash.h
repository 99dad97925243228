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
    const Word* words = table_.data();
    for (unsigned lane = 0; lane < lanes_; ++lane, words += bytes_per_word) {
      const std::uint32_t v = value[lane];
      hash ^= words[0][v & 0xff] ^ words[1][v >> 8 & 0xff] ^ words[2][v >> 16 & 0xff] ^ words[3][v >> 24];
    }
    return hash & mask_;
  }
  /// The column of the matrix for one bit of the value: what the hash changes by when the bit does.
  std::uint32_t column(unsigned lane, unsigned bit) const {
    return table_[lane * bytes_per_word + bit / 8][1u << bit % 8] & mask_;
  }
  unsigned bits() const { return bits_; }

  /// The paper gives no matrix; this one is arbitrary and fixed, so that runs can be repeated.
  static constexpr std::uint64_t default_seed = 0x57495253;

 private:
  static constexpr unsigned bytes_per_word = 4;
  /// Hash contribution of each value that one byte can have: the columns of its bits, summed.
  struct Word {
    std::uint32_t of[256] = {};
    std::uint32_t operator[](std::size_t byte) const { return of[byte]; }
  };
  unsigned lanes_, bits_;
  std::uint32_t mask_;
  std::vector<Word> table_;
};

}  // namespace regatta::models::wir
