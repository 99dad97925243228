// SPDX-License-Identifier: Apache-2.0
//
// The loops behind every lane function: read typed lanes, apply, blend by the lane mask.
// Included only by the lanes_*.cpp sources, each compiled once per instruction set into its own namespace.
#pragma once

#include "lanes.h"

#include <regatta/ir/half.h>

#include <cstring>
#include <type_traits>
#include <utility>

#ifndef REGATTA_LANES_ISA
#define REGATTA_LANES_ISA baseline
#endif

// Source and destination arrays are either the same or disjoint, so a lane never depends on another one.
#if defined(__clang__)
#define REGATTA_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define REGATTA_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace regatta::emulator {

using ir::BFloat16;
using ir::Binary16;

namespace REGATTA_LANES_ISA {
namespace {

/// A float of 16 bits in the low half of a word; with Ftz subnormals become zero on the way in and on the way out.
template <class Format, bool Ftz>
struct HalfLane {};
/// Two of them in one word.
template <class Format, bool Ftz>
struct HalfPairLane {};

struct Pair {
  double low, high;
};

template <class T>
struct ValueOf {
  using type = T;
};
template <class Format, bool Ftz>
struct ValueOf<HalfLane<Format, Ftz>> {
  using type = double;  // sums, products and quotients of halves round to half as if rounded once
};
template <class Format, bool Ftz>
struct ValueOf<HalfPairLane<Format, Ftz>> {
  using type = Pair;
};
template <class T>
using Value = typename ValueOf<T>::type;

template <class To, class From>
inline To cast_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class Format, bool Ftz>
inline std::uint32_t flush_half(std::uint32_t half) {
  constexpr std::uint32_t exponent = (2u * Format::top + 1) << Format::fraction;
  return Ftz && (half & exponent) == 0 ? half & 0x8000u : half;
}
template <class T>
struct IsHalf : std::false_type {};
template <class Format, bool Ftz>
struct IsHalf<HalfLane<Format, Ftz>> : std::true_type {
  static double load(std::uint32_t bits) { return ir::small_to_double<Format>(flush_half<Format, Ftz>(bits)); }
  static std::uint32_t store(double v) {
    return flush_half<Format, Ftz>(ir::double_to_small<Format>(v, ir::Rounding::rn));
  }
};
template <class Format, bool Ftz>
struct IsHalf<HalfPairLane<Format, Ftz>> : std::true_type {
  using One = IsHalf<HalfLane<Format, Ftz>>;
  static Pair load(std::uint32_t bits) { return {One::load(bits & 0xffffu), One::load(bits >> 16)}; }
  static std::uint32_t store(Pair v) { return One::store(v.low) | (One::store(v.high) << 16); }
};

template <unsigned W, class T>
inline Value<T> load_lane(const std::uint32_t* p, unsigned i) {
  if constexpr (IsHalf<T>::value) {
    return IsHalf<T>::load(p[i]);
  } else if constexpr (sizeof(T) == 8) {
    return cast_bits<T>(static_cast<std::uint64_t>(p[i]) | (static_cast<std::uint64_t>(p[W + i]) << 32));
  } else if constexpr (sizeof(T) == 4) {
    return cast_bits<T>(p[i]);
  } else {
    return static_cast<T>(p[i]);
  }
}

template <unsigned W, class T>
inline void store_lane(std::uint32_t* r, std::uint32_t m, unsigned i, Value<T> v) {
  if constexpr (IsHalf<T>::value) {
    const std::uint32_t bits = IsHalf<T>::store(v);
    r[i] = (bits & m) | (r[i] & ~m);
  } else if constexpr (sizeof(T) == 8) {
    const auto bits = cast_bits<std::uint64_t>(v);
    r[i] = (static_cast<std::uint32_t>(bits) & m) | (r[i] & ~m);
    r[W + i] = (static_cast<std::uint32_t>(bits >> 32) & m) | (r[W + i] & ~m);
  } else if constexpr (sizeof(T) == 4) {
    r[i] = (cast_bits<std::uint32_t>(v) & m) | (r[i] & ~m);
  } else {
    // Narrow values are kept extended by their own sign.
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(v));
    r[i] = (bits & m) | (r[i] & ~m);
  }
}

inline const std::uint32_t* source(const LaneOp& op, const WarpRegs& w, unsigned n) {
  return w.bank[static_cast<unsigned>(op.source[n].bank)] + op.source[n].offset;
}

template <unsigned W, class F, class R, class A>
void unary(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  std::uint32_t* r = w.bank[0] + op.destination;
  const std::uint32_t* m = w.mask;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) store_lane<W, R>(r, m[i], i, F::apply(load_lane<W, A>(a, i)));
}

template <unsigned W, class F, class R, class A, class B>
void binary(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  std::uint32_t* r = w.bank[0] + op.destination;
  const std::uint32_t* m = w.mask;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    store_lane<W, R>(r, m[i], i, F::apply(load_lane<W, A>(a, i), load_lane<W, B>(b, i)));
  }
}

template <unsigned W, class F, class R, class A, class B, class C>
void ternary(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  const std::uint32_t* c = source(op, w, 2);
  std::uint32_t* r = w.bank[0] + op.destination;
  const std::uint32_t* m = w.mask;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    store_lane<W, R>(r, m[i], i, F::apply(load_lane<W, A>(a, i), load_lane<W, B>(b, i), load_lane<W, C>(c, i)));
  }
}

template <unsigned W, class F, class R, class A, class B, class C, class D>
void quaternary(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  const std::uint32_t* c = source(op, w, 2);
  const std::uint32_t* d = source(op, w, 3);
  std::uint32_t* r = w.bank[0] + op.destination;
  const std::uint32_t* m = w.mask;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    store_lane<W, R>(
        r, m[i], i,
        F::apply(load_lane<W, A>(a, i), load_lane<W, B>(b, i), load_lane<W, C>(c, i), load_lane<W, D>(d, i)));
  }
}

/// A compare leaves one bit per lane in WarpRegs::compare.
template <unsigned W, class F, class A>
void compare(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  alignas(64) std::uint8_t result[W];
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W; ++i) {
    result[i] = F::apply(load_lane<W, A>(a, i), load_lane<W, A>(b, i)) ? std::uint8_t{1} : std::uint8_t{0};
  }
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < W; i += 8) {
    std::uint64_t eight = 0;
    for (unsigned k = 0; k < 8; ++k) eight |= static_cast<std::uint64_t>(result[i + k]) << (8 * k);
    // One multiplication gathers the eight low bits, lane i in bit i.
    bits |= ((eight * 0x0102040810204080ull) >> 56) << i;
  }
  w.compare = bits;
}

template <class F, class R, class A>
LaneFunction pick1(unsigned lanes) {
  return lanes == 32 ? &unary<32, F, R, A> : &unary<64, F, R, A>;
}
template <class F, class R, class A, class B>
LaneFunction pick2(unsigned lanes) {
  return lanes == 32 ? &binary<32, F, R, A, B> : &binary<64, F, R, A, B>;
}
template <class F, class R, class A, class B, class C>
LaneFunction pick3(unsigned lanes) {
  return lanes == 32 ? &ternary<32, F, R, A, B, C> : &ternary<64, F, R, A, B, C>;
}
template <class F, class R, class A, class B, class C, class D>
LaneFunction pick4(unsigned lanes) {
  return lanes == 32 ? &quaternary<32, F, R, A, B, C, D> : &quaternary<64, F, R, A, B, C, D>;
}
template <class F, class A>
LaneFunction pick_compare(unsigned lanes) {
  return lanes == 32 ? &compare<32, F, A> : &compare<64, F, A>;
}

}  // namespace
}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
