// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/h3_hash.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

namespace regatta::models::wir {

namespace {

constexpr unsigned rows = 32;

/// As many rows together as Vector has words: each word of a sum is one row's, XORed over the lanes.
template <class Vector>
[[gnu::always_inline]] inline std::uint32_t parities(const std::uint32_t* words, unsigned lanes,
                                                     const std::uint32_t* value) {
  constexpr unsigned width = sizeof(Vector) / sizeof(std::uint32_t);
  constexpr unsigned count = rows / width;
  Vector sums[count] = {};
  for (unsigned lane = 0; lane < lanes; ++lane, words += rows) {
    for (unsigned i = 0; i < count; ++i) {
      Vector w;
      std::memcpy(&w, words + std::size_t{i} * width, sizeof w);
      sums[i] ^= w & value[lane];
    }
  }
  Vector bit, bits{};
  for (unsigned n = 0; n < width; ++n) bit[n] = 1u << n;
  for (unsigned i = 0; i < count; ++i, bit <<= width) {
    Vector& s = sums[i];
    for (unsigned half = 16; half != 0; half /= 2) s ^= s >> half;
    bits |= (0 - (s & 1)) & bit;
  }
  std::uint32_t word[width];
  std::memcpy(word, &bits, sizeof bits);
  std::uint32_t hash = 0;
  for (const std::uint32_t w : word) hash |= w;
  return hash;
}

using Words4 = std::uint32_t __attribute__((vector_size(16)));
std::uint32_t parities_by_4(const std::uint32_t* words, unsigned lanes, const std::uint32_t* value) {
  return parities<Words4>(words, lanes, value);
}
#if defined(__x86_64__)
using Words8 = std::uint32_t __attribute__((vector_size(32)));
[[gnu::target("avx2")]] std::uint32_t parities_by_8(const std::uint32_t* words, unsigned lanes,
                                                    const std::uint32_t* value) {
  return parities<Words8>(words, lanes, value);
}
using Words16 = std::uint32_t __attribute__((vector_size(64)));
[[gnu::target("avx512f")]] std::uint32_t parities_by_16(const std::uint32_t* words, unsigned lanes,
                                                        const std::uint32_t* value) {
  return parities<Words16>(words, lanes, value);
}
#endif

}  // namespace

std::vector<H3Hash::Parities> H3Hash::variants() {
  std::vector<Parities> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back(parities_by_16);
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(parities_by_8);
#endif
  all.push_back(parities_by_4);
  return all;
}

H3Hash::H3Hash(unsigned lanes, unsigned bits, std::uint64_t seed)
    : lanes_(lanes),
      bits_(bits),
      mask_(bits >= 32 ? ~0u : (1u << bits) - 1),
      matrix_(lanes),
      parities_(variants().front()) {
  if (bits == 0 || bits > 32)
    throw std::invalid_argument("a hash of " + std::to_string(bits) + " bits, expected 1 to 32");
  std::mt19937_64 random(seed);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      const auto column = static_cast<std::uint32_t>(random());
      for (unsigned row = 0; row < rows; ++row) matrix_[lane].words[row] |= (column >> row & 1) << bit;
    }
  }
}

std::uint32_t H3Hash::column(unsigned lane, unsigned bit) const {
  std::uint32_t column = 0;
  for (unsigned row = 0; row < rows; ++row) {
    column |= (matrix_[lane].words[row] >> bit & 1) << row;
  }
  return column & mask_;
}

}  // namespace regatta::models::wir
