// SPDX-License-Identifier: Apache-2.0
//
// The hash of a warp register's value (WIR section V-A, Table III): H3, a class of hash functions that are linear over
// GF(2) (Carter and Wegman, 1979). Bit k is the parity of the value ANDed with row k of a fixed bit matrix.
#pragma once

#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// The matrix is one of Toeplitz matrices, a 32 x 32 part per lane: each row is the one before it moved on by a bit, so
/// that 63 random bits, the lane's window, say it all. That makes a part's share of the hash a carry-less
/// multiplication on the host, and the matrix small enough to stay near. As good as any other: two values share a hash
/// of n bits with a probability of 2^-n (Krawczyk, 1994).
class H3Hash {
 public:
  /// Values of `lanes` x 32 bits; `bits` of hash, 1 to 32 (the paper: 32). The matrix is drawn from `seed`: two hashes
  /// of one seed agree in the bits that both have.
  explicit H3Hash(unsigned lanes, unsigned bits = 32, std::uint64_t seed = default_seed);

  std::uint32_t operator()(const std::uint32_t* value) const {
    return variant_(windows_.data(), lanes_, value) & mask_;
  }
  /// The column of the matrix for one bit of the value: what the hash changes by when the bit does.
  std::uint32_t column(unsigned lane, unsigned bit) const;

  /// The paper gives no matrix; this one is arbitrary and fixed, so that runs can be repeated.
  static constexpr std::uint64_t default_seed = 0x57495253;

  /// All 32 bits, from the lanes' windows.
  using Variant = std::uint32_t (*)(const std::uint64_t* windows, unsigned lanes, const std::uint32_t* value);
  /// Those that this host can run, the fastest one first: it is the one in use.
  static std::vector<Variant> variants();
  void use(Variant variant) { variant_ = variant; }

 private:
  unsigned lanes_;
  std::uint32_t mask_;
  std::vector<std::uint64_t> windows_;  ///< by lane; the lowest 63 bits
  Variant variant_;
};

}  // namespace regatta::models::wir
