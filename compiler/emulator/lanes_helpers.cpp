// SPDX-License-Identifier: Apache-2.0
//
// Mask expansion and address generation on all lanes.
#include "lanes_common.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

template <unsigned W>
void expand(std::uint64_t bits, std::uint32_t* out) {
  for (unsigned base = 0; base < W; base += 32) {
    const auto half = static_cast<std::uint32_t>(bits >> base);
    REGATTA_LANE_LOOP
    for (unsigned i = 0; i < 32; ++i) out[base + i] = (half & (1u << i)) != 0 ? ~0u : 0u;
  }
}

#if defined(__AVX2__)

/// What the compiler does not find in addresses_of(): the lanes' addresses first, and their bounds only where they
/// are neither one address nor consecutive ones.
template <unsigned W>
class Vectors {
 public:
  explicit Vectors(WarpRegs& w) : w_(w), all_(w.active == trace::all_lanes(W)) {}

  void wide(const std::uint32_t* a, std::int64_t offset, std::uint32_t bytes) {
    const __m256i add = _mm256_set1_epi64x(offset);
    const auto at = [&](unsigned i) {
      const __m256i high = _mm256_slli_epi64(extended(a + W + i), 32);
      return _mm256_add_epi64(_mm256_or_si256(extended(a + i), high), add);
    };
    if (find(at, bytes)) return;
    const __m256i base = _mm256_set1_epi64x(static_cast<long long>(first()));
    __m256i lowest = base, highest = base, bits = base;
    for (unsigned i = 0; i < W; i += 4) {
      const __m256i lane = masked(base, i);
      lowest = _mm256_blendv_epi8(lowest, lane, _mm256_cmpgt_epi64(lowest, lane));
      highest = _mm256_blendv_epi8(highest, lane, _mm256_cmpgt_epi64(lane, highest));
      bits = _mm256_or_si256(bits, lane);
    }
    alignas(32) std::int64_t low[4], high[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(low), lowest);
    _mm256_store_si256(reinterpret_cast<__m256i*>(high), highest);
    for (unsigned i = 1; i < 4; ++i) {
      low[0] = low[i] < low[0] ? low[i] : low[0];
      high[0] = high[i] > high[0] ? high[i] : high[0];
    }
    finish(static_cast<std::uint64_t>(low[0]), static_cast<std::uint64_t>(high[0]), any(bits), false);
  }

  /// A 32-bit address wraps at 32 bits.
  void narrow(const std::uint32_t* a, std::int64_t offset, std::uint32_t bytes) {
    const __m128i add = _mm_set1_epi32(static_cast<int>(offset));
    const auto at = [&](unsigned i) { return _mm256_cvtepu32_epi64(_mm_add_epi32(load(a + i), add)); };
    if (find(at, bytes)) return;
    const auto base = static_cast<std::uint32_t>(first());
    const __m256i base8 = _mm256_set1_epi32(static_cast<int>(base)), add8 = _mm256_set1_epi32(static_cast<int>(offset));
    __m256i lowest = base8, highest = base8, bits = base8;
    for (unsigned i = 0; i < W; i += 8) {
      const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w_.mask + i));
      const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
      const __m256i lane = _mm256_blendv_epi8(base8, _mm256_add_epi32(word, add8), mask);
      lowest = _mm256_min_epu32(lowest, lane);
      highest = _mm256_max_epu32(highest, lane);
      bits = _mm256_or_si256(bits, lane);
    }
    alignas(32) std::uint32_t low[8], high[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(low), lowest);
    _mm256_store_si256(reinterpret_cast<__m256i*>(high), highest);
    for (unsigned i = 1; i < 8; ++i) {
      low[0] = low[i] < low[0] ? low[i] : low[0];
      high[0] = high[i] > high[0] ? high[i] : high[0];
    }
    const std::uint64_t both = any(bits);
    finish(low[0], high[0], (both | both >> 32) & 0xffffffffu, false);
  }

 private:
  static __m128i load(const std::uint32_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static __m256i extended(const std::uint32_t* p) { return _mm256_cvtepu32_epi64(load(p)); }
  std::uint64_t first() const { return w_.addresses.lane[__builtin_ctzll(w_.active)]; }
  __m256i masked(__m256i base, unsigned i) const {
    const __m256i lane = _mm256_load_si256(reinterpret_cast<const __m256i*>(w_.addresses.lane + i));
    return _mm256_blendv_epi8(base, lane, _mm256_cvtepi32_epi64(load(w_.mask + i)));
  }
  static std::uint64_t any(__m256i v) {
    alignas(32) std::uint64_t part[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(part), v);
    return part[0] | part[1] | part[2] | part[3];
  }
  void finish(std::uint64_t lowest, std::uint64_t highest, std::uint64_t low_bits, bool consecutive) {
    w_.addresses.lowest = lowest;
    w_.addresses.highest = highest;
    w_.addresses.low_bits = low_bits;
    w_.addresses.consecutive = consecutive;
  }
  /// The addresses of all lanes. True if their bounds are known too.
  template <class At>
  bool find(const At& at, std::uint32_t bytes) {
    std::uint64_t* const lane = w_.addresses.lane;
    const __m256i start = at(0);
    const __m256i same = _mm256_permute4x64_epi64(start, 0);
    const __m256i step = _mm256_set1_epi64x(4 * static_cast<long long>(bytes));
    const long long b = bytes;
    __m256i expected = _mm256_add_epi64(same, _mm256_set_epi64x(3 * b, 2 * b, b, 0));
    __m256i apart = _mm256_setzero_si256(), differ = apart, bits = apart;
    for (unsigned i = 0; i < W; i += 4) {
      const __m256i v = at(i);
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane + i), v);
      apart = _mm256_or_si256(apart, _mm256_xor_si256(v, expected));
      differ = _mm256_or_si256(differ, _mm256_xor_si256(v, same));
      bits = _mm256_or_si256(bits, v);
      expected = _mm256_add_epi64(expected, step);
    }
    if (!all_) return false;
    const bool consecutive = _mm256_testz_si256(apart, apart) != 0;
    if (!consecutive && _mm256_testz_si256(differ, differ) == 0) return false;
    // Consecutive addresses that wrap around at 2^63 are in no memory either way.
    const auto last = static_cast<std::int64_t>(lane[W - 1]), begin = static_cast<std::int64_t>(lane[0]);
    if (last < begin) return false;
    finish(lane[0], lane[W - 1], any(bits), consecutive);
    return true;
  }

  WarpRegs& w_;
  bool all_;
};

template <unsigned W>
void addresses(const LaneOp& op, WarpRegs& w, bool wide, std::int64_t offset, std::uint32_t bytes) {
  if (wide) {
    Vectors<W>(w).wide(source(op, w, 0), offset, bytes);
  } else {
    Vectors<W>(w).narrow(source(op, w, 0), offset, bytes);
  }
}

#else

template <unsigned W, class T>
void addresses_of(const LaneOp& op, WarpRegs& w, std::int64_t offset, std::uint32_t bytes) {
  const std::uint32_t* a = source(op, w, 0);
  AddressSummary& s = w.addresses;
  std::uint64_t* lane = s.lane;
  // A 32-bit address wraps at 32 bits.
  const auto add = static_cast<T>(offset);
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) lane[i] = static_cast<T>(load_lane<W, T>(a, i) + add);
  const auto first = static_cast<unsigned>(__builtin_ctzll(w.active));
  const std::uint64_t base = lane[first];
  const std::uint32_t* m = w.mask;
  // Signed, since vector units compare so; addresses of the device are far below 2^63 and wilder ones fail either way.
  auto lowest = static_cast<std::int64_t>(base), highest = lowest;
  std::uint64_t low_bits = base, apart = 0;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    const auto at = static_cast<std::int64_t>(m[i] != 0 ? lane[i] : base);
    lowest = at < lowest ? at : lowest;
    highest = at > highest ? at : highest;
    low_bits |= static_cast<std::uint64_t>(at);
    apart |= lane[i] ^ (lane[0] + static_cast<std::uint64_t>(i) * bytes);
  }
  s.lowest = static_cast<std::uint64_t>(lowest);
  s.highest = static_cast<std::uint64_t>(highest);
  s.low_bits = low_bits;
  s.consecutive = apart == 0 && w.active == trace::all_lanes(W);
}

template <unsigned W>
void addresses(const LaneOp& op, WarpRegs& w, bool wide, std::int64_t offset, std::uint32_t bytes) {
  if (wide) {
    addresses_of<W, std::uint64_t>(op, w, offset, bytes);
  } else {
    addresses_of<W, std::uint32_t>(op, w, offset, bytes);
  }
}

#endif

constexpr LaneHelpers helpers32{&expand<32>, &addresses<32>};
constexpr LaneHelpers helpers64{&expand<64>, &addresses<64>};

}  // namespace

const LaneHelpers& helpers(unsigned lanes) { return lanes == 32 ? helpers32 : helpers64; }

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
