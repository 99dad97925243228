// SPDX-License-Identifier: Apache-2.0
//
// Only additions, multiplications and divisions of doubles in a fixed order: the same numbers on every machine.
#include "structured.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace regatta::launch {
namespace {

std::uint64_t below(std::uint64_t word, std::uint64_t bound) { return (word >> 32) * bound >> 32; }
bool integers(const FillSpec& s) { return !ir::is_float(s.type); }
double lowest(const FillSpec& s) { return integers(s) ? static_cast<double>(s.integer_low) : s.low; }
double highest(const FillSpec& s) { return integers(s) ? static_cast<double>(s.integer_high) : s.high; }

/// Random values at the points of a square lattice, and between them a smooth transition.
class ValueNoise {
 public:
  ValueNoise(std::uint64_t seed, std::size_t spacing) : seed_(seed), spacing_(spacing) {}
  double at(std::size_t row, std::size_t column) const {
    const std::size_t y = row / spacing_, x = column / spacing_;
    const double v = smooth(row), u = smooth(column);
    const double above = corner(y, x) + (corner(y, x + 1) - corner(y, x)) * u;
    const double under = corner(y + 1, x) + (corner(y + 1, x + 1) - corner(y + 1, x)) * u;
    return above + (under - above) * v;
  }

 private:
  double smooth(std::size_t position) const {
    const double t = static_cast<double>(position % spacing_) / static_cast<double>(spacing_);
    return t * t * (3 - 2 * t);
  }
  double corner(std::size_t y, std::size_t x) const {
    return unit(random_word(seed_, (static_cast<std::uint64_t>(y) << 32) + x));
  }
  std::uint64_t seed_;
  std::size_t spacing_;
};

/// Large and small shapes, and noise of at most two of 256 levels.
std::vector<double> image(const FillSpec& s, std::size_t count) {
  const ValueNoise large(s.seed, 64), small(s.seed + 1, 12);
  std::vector<double> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i / s.width, column = i % s.width;
    const double shape = 0.75 * large.at(row, column) + 0.25 * small.at(row, column);
    const double noise = static_cast<double>(below(random_word(s.seed + 2, i), 5)) - 2;
    const double level = std::clamp(std::floor(255 * shape + 0.5) + noise, 0.0, 255.0);
    const double value = lowest(s) + (highest(s) - lowest(s)) * level / 255;
    pixels[i] = integers(s) ? std::floor(value + 0.5) : value;
  }
  return pixels;
}

std::vector<double> power_law(const FillSpec& s, std::size_t count) {
  const auto kinds = static_cast<std::size_t>(s.integer_high - s.integer_low) + 1;
  std::vector<double> cumulative(kinds);
  double sum = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    double weight = 1;
    for (unsigned e = 0; e < s.exponent; ++e) weight /= static_cast<double>(k + 1);
    cumulative[k] = sum += weight;
  }
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end() - 1, sum * unit(random_word(s.seed, i)));
    numbers[i] = static_cast<double>(s.integer_low + (at - cumulative.begin()));
  }
  return numbers;
}

std::vector<double> offsets(const FillSpec& s, std::size_t count) {
  std::vector<double> numbers = power_law(s, count);
  double sum = 0;
  for (double& n : numbers) {
    const double length = n;
    n = sum;
    sum += length;
  }
  return numbers;
}

/// One symbol in 32 begins a copy of 8 to 71 earlier ones; all others are random.
std::vector<double> text(const FillSpec& s, std::size_t count) {
  std::vector<double> symbols;
  symbols.reserve(count);
  for (std::uint64_t draw = 0; symbols.size() < count; ++draw) {
    const std::uint64_t what = random_word(s.seed, 2 * draw), which = random_word(s.seed, 2 * draw + 1);
    if (!symbols.empty() && below(what, 32) == 0) {
      std::size_t from = static_cast<std::size_t>(below(which, symbols.size()));
      for (std::uint64_t left = 8 + (what & 63); left > 0 && symbols.size() < count; --left) {
        symbols.push_back(symbols[from++]);
      }
    } else {
      symbols.push_back(static_cast<unsigned char>(s.alphabet[below(which, s.alphabet.size())]));
    }
  }
  return symbols;
}

/// Element i lies in the i-th of equal parts of the range. Then some are exchanged with one of the next sixteen.
std::vector<double> sorted(const FillSpec& s, std::size_t count) {
  std::vector<double> keys(count);
  const double range = highest(s) - lowest(s);
  for (std::size_t i = 0; i < count; ++i) {
    const double part = (static_cast<double>(i) + unit(random_word(s.seed, i))) / static_cast<double>(count);
    const double key = lowest(s) + range * part;
    keys[i] = integers(s) ? std::floor(key + 0.5) : key;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = random_word(s.seed + 1, i);
    const std::size_t other = i + 1 + (word & 15);
    if (other < count && unit(word) < s.swaps) std::swap(keys[i], keys[other]);
  }
  return keys;
}

std::vector<double> points(const FillSpec& s, std::size_t count) {
  std::vector<double> coordinates(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t point = i / s.dimensions, dimension = i % s.dimensions;
    const std::uint64_t cluster = below(random_word(s.seed, point), s.clusters);
    const double centre =
        lowest(s) + (highest(s) - lowest(s)) * unit(random_word(s.seed + 1, cluster * s.dimensions + dimension));
    double sum = 0;
    for (std::uint64_t k = 0; k < 12; ++k) sum += unit(random_word(s.seed + 2, 12 * i + k));
    const double value = centre + s.deviation * (sum - 6);
    coordinates[i] = integers(s) ? std::floor(value + 0.5) : value;
  }
  return coordinates;
}

}  // namespace

bool is_structured(Init init) {
  switch (init) {
    case Init::image:
    case Init::power_law:
    case Init::offsets:
    case Init::text:
    case Init::sorted:
    case Init::points:
      return true;
    default:
      return false;
  }
}

std::vector<double> structured_elements(const FillSpec& s, std::size_t count) {
  switch (s.init) {
    case Init::image:
      return image(s, count);
    case Init::power_law:
      return power_law(s, count);
    case Init::offsets:
      return offsets(s, count);
    case Init::text:
      return text(s, count);
    case Init::sorted:
      return sorted(s, count);
    case Init::points:
      return points(s, count);
    default:
      throw std::invalid_argument("structured_elements: elements of this kind do not depend on each other");
  }
}

}  // namespace regatta::launch
