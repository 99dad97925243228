// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <string>
#include <utility>

namespace regatta::test {
namespace {

constexpr std::size_t read_symbols = 32;

/// The places of a circular genome in the order of the symbols that follow.
class SuffixArray {
 public:
  explicit SuffixArray(const std::vector<std::uint8_t>& genome) : size_(genome.size()) {
    text_.assign(genome.begin(), genome.end());
    text_ += text_.substr(0, read_symbols);
    for (std::size_t i = 0; i < size_; ++i) places_.push_back(i);
    std::sort(places_.begin(), places_.end(),
              [&](std::size_t a, std::size_t b) { return text_.compare(a, read_symbols, text_, b, read_symbols) < 0; });
  }

  /// The longest start of `pattern` that occurs, and where if in a single place, else minus the number of places.
  std::pair<std::int32_t, std::int32_t> longest(const std::string& pattern) const {
    auto first = places_.begin();
    auto last = places_.end();
    std::size_t length = 0;
    for (; length < pattern.size(); ++length) {
      const char wanted = pattern[length];
      const auto begin =
          std::lower_bound(first, last, wanted, [&](std::size_t place, char c) { return text_[place + length] < c; });
      const auto end =
          std::upper_bound(begin, last, wanted, [&](char c, std::size_t place) { return c < text_[place + length]; });
      if (begin == end) break;
      first = begin;
      last = end;
    }
    const auto count = static_cast<std::int32_t>(last - first);
    return {static_cast<std::int32_t>(length), count == 1 ? static_cast<std::int32_t>(*first) : -count};
  }

 private:
  std::size_t size_;
  std::string text_;
  std::vector<std::size_t> places_;
};

}  // namespace

std::vector<Expected> expected_suffix_match(const LaunchData& data) {
  const auto genome = data.buffer<std::uint8_t>("genome");
  const auto from = data.buffer<std::int32_t>("from");
  const auto noise = data.buffer<std::uint8_t>("noise");
  const auto lengths = data.buffer<std::int32_t>("lengths");
  const auto errors = data.scalar<std::int32_t>(1, "reads");
  const auto least = data.scalar<std::int32_t>(1, "match");
  const auto starts = static_cast<std::size_t>(data.scalar<std::int32_t>(2, "match"));
  const SuffixArray suffixes(genome);

  std::vector<std::int32_t> matches(2 * starts * from.size());
  for (std::size_t r = 0; r < from.size(); ++r) {
    std::string read;
    for (std::size_t k = 0; k < static_cast<std::size_t>(lengths[r]); ++k) {
      const std::uint8_t n = noise[r * read_symbols + k];
      const std::size_t place = (static_cast<std::size_t>(from[r]) + k) % genome.size();
      read += static_cast<char>(n < errors ? genome[n] : genome[place]);
    }
    for (std::size_t start = 0; start + static_cast<std::size_t>(least) <= read.size(); ++start) {
      const auto [length, place] = suffixes.longest(read.substr(start));
      std::int32_t* match = &matches[2 * (r * starts + start)];
      match[0] = length;
      match[1] = length >= least ? place : 0;
    }
  }
  return {exact("matches", matches)};
}

}  // namespace regatta::test
