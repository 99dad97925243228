// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/h3_hash.h>

#include <random>
#include <stdexcept>
#include <string>
#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

namespace regatta::models::wir {

namespace {

// Row k of a lane's part of the matrix has in place b the window's bit k + 31 - b: bit k of the hash is bit k + 31 of
// the product of value and window, as polynomials over GF(2).
constexpr unsigned below = 31;  // bits of the product

std::uint32_t by_bits(const std::uint64_t* windows, unsigned lanes, const std::uint32_t* value) {
  std::uint64_t sum = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned bit = 0; bit < 32; ++bit) sum ^= (0 - std::uint64_t{value[lane] >> bit & 1}) & (windows[lane] << bit);
  }
  return static_cast<std::uint32_t>(sum >> below);
}

#if defined(__x86_64__)
[[gnu::target("pclmul,sse4.1")]] std::uint32_t by_products(const std::uint64_t* windows, unsigned lanes,
                                                           const std::uint32_t* value) {
  const __m128i zero = _mm_setzero_si128();
  __m128i even = zero, odd = zero;
  unsigned lane = 0;
  for (; lane + 4 <= lanes; lane += 4) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(value + lane));
    const __m128i first = _mm_unpacklo_epi32(words, zero), second = _mm_unpackhi_epi32(words, zero);
    const __m128i w = _mm_loadu_si128(reinterpret_cast<const __m128i*>(windows + lane));
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(windows + lane + 2));
    even = _mm_xor_si128(even, _mm_clmulepi64_si128(first, w, 0x00));
    odd = _mm_xor_si128(odd, _mm_clmulepi64_si128(first, w, 0x11));
    even = _mm_xor_si128(even, _mm_clmulepi64_si128(second, x, 0x00));
    odd = _mm_xor_si128(odd, _mm_clmulepi64_si128(second, x, 0x11));
  }
  const auto sum = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_xor_si128(even, odd)));
  return static_cast<std::uint32_t>(sum >> below) ^ by_bits(windows + lane, lanes - lane, value + lane);
}
#endif

}  // namespace

std::vector<H3Hash::Variant> H3Hash::variants() {
  std::vector<Variant> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") != 0) all.push_back(by_products);
#endif
  all.push_back(by_bits);
  return all;
}

H3Hash::H3Hash(unsigned lanes, unsigned bits, std::uint64_t seed)
    : lanes_(lanes), mask_(bits >= 32 ? ~0u : (1u << bits) - 1), windows_(lanes), variant_(variants().front()) {
  if (bits == 0 || bits > 32)
    throw std::invalid_argument("a hash of " + std::to_string(bits) + " bits, expected 1 to 32");
  std::mt19937_64 random(seed);
  for (std::uint64_t& window : windows_) window = random() >> 1;
}

std::uint32_t H3Hash::column(unsigned lane, unsigned bit) const {
  return static_cast<std::uint32_t>(windows_[lane] >> (below - bit)) & mask_;
}

}  // namespace regatta::models::wir
