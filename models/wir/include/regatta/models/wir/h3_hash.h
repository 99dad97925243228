// SPDX-License-Identifier: Apache-2.0
//
// The hash of a warp register's value (WIR section V-A, Table III): H3, a class of hash functions that are linear over
// GF(2) (Carter and Wegman, 1979). Bit k is the parity of the value ANDed with row k of a fixed random bit matrix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class H3Hash {
 public:
  /// Values of `lanes` x 32 bits; `bits` of hash, 1 to 32 (the paper: 32). The matrix is drawn from `seed`: two hashes
  /// of one seed agree in the bits that both have.
  explicit H3Hash(unsigned lanes, unsigned bits = 32, std::uint64_t seed = default_seed);

  std::uint32_t operator()(const std::uint32_t* value) const { return parities_(words(), lanes_, value) & mask_; }
  /// The column of the matrix for one bit of the value: what the hash changes by when the bit does.
  std::uint32_t column(unsigned lane, unsigned bit) const;
  unsigned bits() const { return bits_; }

  /// The paper gives no matrix; this one is arbitrary and fixed, so that runs can be repeated.
  static constexpr std::uint64_t default_seed = 0x57495253;

  /// The 32 parities by their definition, many rows at a time; a function per width of vectors.
  using Parities = std::uint32_t (*)(const std::uint32_t* words, unsigned lanes, const std::uint32_t* value);
  /// Those that this host can run, the fastest one first: it is the one in use.
  static std::vector<Parities> variants();
  void use(Parities variant) { parities_ = variant; }

 private:
  unsigned lanes_, bits_;
  std::uint32_t mask_;
  static constexpr unsigned rows = 32;
  /// A lane's words of the matrix, one a row; in whole cache lines, which a vector is loaded from twice as fast.
  struct alignas(64) Lane {
    std::array<std::uint32_t, rows> words{};
  };
  const std::uint32_t* words() const { return matrix_.front().words.data(); }
  std::vector<Lane> matrix_;
  Parities parities_;
};

}  // namespace regatta::models::wir
