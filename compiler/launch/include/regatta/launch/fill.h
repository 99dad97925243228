// SPDX-License-Identifier: Apache-2.0
//
// Buffer contents from a few parameters, bit for bit the same on every machine, so that a test can build the
// reference's input without a file.
//
// Element i of a random fill is a function of (seed, i) alone: random_word(seed, i) is the (i+1)-th output of
// splitmix64 (Steele, Lea, Flood 2014) started at `seed`.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace regatta::launch {

/// none: memory that nobody has written; reading it before writing it is an error.
enum class Init : std::uint8_t {
  zero,
  iota,
  constant,
  uniform,
  normal,
  file,
  none,
  // What the data of programs look like: elements depend on each other.
  image,      ///< a picture, row by row
  power_law,  ///< degrees of nodes, lengths of rows: few are large
  offsets,    ///< where rows of such lengths begin
  text,       ///< symbols of an alphabet, with repeats
  sorted,     ///< ascending keys, or nearly so
  points,     ///< clusters of points
};

/// What to fill a buffer with. Numbers are doubles for floating types; `low_integer` and so on for integers.
struct FillSpec {
  Init init = Init::zero;
  ir::Type type = ir::Type::b8;
  double value = 0;   ///< constant: every element
  double step = 1;    ///< iota: element i is low + i * step
  double low = 0;     ///< uniform: lowest; iota: element 0
  double high = 1;    ///< uniform: floats stay below it, integers reach it
  double mean = 0;    ///< normal
  double stddev = 1;  ///< normal
  std::int64_t integer_value = 0, integer_step = 1, integer_low = 0, integer_high = 0;
  std::uint64_t seed = 0;
  std::uint64_t width = 0;        ///< image: pixels of a row
  unsigned exponent = 2;          ///< power_law, offsets: the probability of low + k is (k + 1)^-exponent, scaled
  std::string alphabet = "ACGT";  ///< text
  double swaps = 0;               ///< sorted: fraction of the elements that are exchanged with a near one
  std::uint64_t dimensions = 1, clusters = 1;  ///< points
  double deviation = 1;                        ///< points: of a coordinate from its cluster's centre
};

/// Output number `index` (from 0) of splitmix64 started at `seed`.
constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Fills `bytes` (a whole number of elements) as `spec` says:
/// - uniform floats: low + (high - low) * u, u = the top 53 bits of random_word(seed, i) / 2^53, computed in double and
///   rounded to the type once; a result that rounds to high becomes the next value below it;
/// - uniform integers: low + floor(r * (high - low + 1) / 2^64), r = random_word(seed, i);
/// - normal: mean + stddev * (sum of twelve uniforms - 6), the uniforms from words 12i to 12i+11 (the sum of uniforms
///   needs no logarithm, whose last bit differs between libraries; tails end at six sigma);
/// - image: smooth shapes about 64 and 12 pixels wide, and noise of up to two levels, in 256 levels from low to high;
/// - power_law: low to high, integers; offsets: the sum of the numbers of power_law before the element;
/// - text: random symbols; one in 32 begins a copy of 8 to 71 symbols from an earlier place;
/// - sorted: element i of n is in the i-th of n equal parts of low to high; some are exchanged with one of the next 16;
/// - points: coordinate i % dimensions of point i / dimensions, around one of the centres, which are uniform in low to
///   high; deviations as for normal;
/// - integers wrap to the width of the type. Init::file and Init::none leave the bytes alone.
/// Throws std::invalid_argument when the size is not a whole number of elements.
void fill_buffer(const FillSpec& spec, std::vector<std::uint8_t>& bytes);

/// `count` elements of T filled as `spec` says; spec.type must be T's.
template <class T>
std::vector<T> make_buffer(const FillSpec& spec, std::size_t count) {
  std::vector<std::uint8_t> bytes(count * sizeof(T));
  fill_buffer(spec, bytes);
  std::vector<T> values(count);
  if (count != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace regatta::launch
