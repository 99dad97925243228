// SPDX-License-Identifier: Apache-2.0
//
// The hash of a warp register's value (WIR section V-A, Table III): H3, a class of hash functions that are linear over
// GF(2) (Carter and Wegman, 1979). Bit k is the parity of the value ANDed with row k of a fixed bit matrix.
#pragma once

#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// The matrix consists of Toeplitz matrices, a 32 x 32 part per lane: each row is the previous one shifted by a bit, so
/// 63 random bits, the lane's window, define the part. The contribution of a part is then a carry-less multiplication
/// on the host, and the matrix fits into a near cache. The quality is not reduced: two values share a hash of n bits
/// with a probability of 2^-n (Krawczyk, 1994).
class H3Hash {
 public:
  /// Values of `lanes` x 32 bits; hashes of `bits` bits, 1 to 32 (the paper: 32). The matrix is drawn from `seed`: two
  /// hashes with one seed agree in their common bits.
  explicit H3Hash(unsigned lanes, unsigned bits = 32, std::uint64_t seed = default_seed);

  std::uint32_t operator()(const std::uint32_t* value) const {
    return variant_(windows_.data(), lanes_, value) & mask_;
  }
  unsigned lanes() const { return lanes_; }
  /// The column of the matrix for one bit of the value: the change of the hash if the bit flips.
  std::uint32_t column(unsigned lane, unsigned bit) const;

  /// The paper gives no matrix; this one is arbitrary but fixed, so runs can be repeated.
  static constexpr std::uint64_t default_seed = 0x57495253;

  /// All 32 bits, from the lanes' windows.
  using Variant = std::uint32_t (*)(const std::uint64_t* windows, unsigned lanes, const std::uint32_t* value);
  /// Implementations that this host can run, fastest first; the first is used.
  static std::vector<Variant> variants();
  void use(Variant variant) { variant_ = variant; }

 private:
  unsigned lanes_;
  std::uint32_t mask_;
  std::vector<std::uint64_t> windows_;  ///< by lane; the lowest 63 bits
  Variant variant_;
};

}  // namespace regatta::models::wir
