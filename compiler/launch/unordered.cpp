// SPDX-License-Identifier: Apache-2.0
//
// Memory whose elements stand in an order that the program does not determine.
#include <regatta/launch/launch_file.h>

#include <algorithm>
#include <cstring>

namespace regatta::launch {
namespace {

/// Elements of one size in an image.
class Elements {
 public:
  Elements(const std::uint8_t* at, std::size_t size) : at_(at), size_(size) {}
  int compare(std::size_t i, const Elements& other, std::size_t j) const {
    return std::memcmp(at_ + i * size_, other.at_ + j * size_, size_);
  }
  /// Places in the order of what is there, equal ones from first to last.
  void sort(std::vector<std::size_t>& places) const {
    std::sort(places.begin(), places.end(), [&](std::size_t i, std::size_t j) {
      const int c = compare(i, *this, j);
      return c != 0 ? c < 0 : i < j;
    });
  }

 private:
  const std::uint8_t* at_;
  std::size_t size_;
};

/// Pairs of places, from `got` to `expected`, of elements that are equal, then of those that are left.
std::vector<std::pair<std::size_t, std::size_t>> pairs(const Elements& got, const Elements& expected,
                                                       const std::vector<std::size_t>& places) {
  std::vector<std::size_t> from = places, to = places, from_left, to_left;
  got.sort(from);
  expected.sort(to);
  std::vector<std::pair<std::size_t, std::size_t>> all;
  std::size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    const int c = got.compare(from[f], expected, to[t]);
    if (c == 0) {
      all.emplace_back(from[f++], to[t++]);
    } else if (c < 0) {
      from_left.push_back(from[f++]);
    } else {
      to_left.push_back(to[t++]);
    }
  }
  from_left.insert(from_left.end(), from.begin() + static_cast<std::ptrdiff_t>(f), from.end());
  to_left.insert(to_left.end(), to.begin() + static_cast<std::ptrdiff_t>(t), to.end());
  std::sort(from_left.begin(), from_left.end());
  std::sort(to_left.begin(), to_left.end());
  for (std::size_t i = 0; i < from_left.size(); ++i) all.emplace_back(from_left[i], to_left[i]);
  return all;
}

}  // namespace

std::vector<std::uint8_t> arranged_like(const std::vector<std::uint8_t>& expected, std::vector<std::uint8_t> bytes,
                                        std::size_t element, std::uint64_t group) {
  if (group <= 1) return bytes;
  const std::vector<std::uint8_t> before = bytes;
  const Elements got(before.data(), element), wanted(expected.data(), element);
  const std::size_t count = bytes.size() / element;
  for (std::size_t first = 0; first < count;) {
    const std::size_t end = count - first < group ? count : first + static_cast<std::size_t>(group);
    std::vector<std::size_t> places;
    for (; first < end; ++first) {
      if (got.compare(first, wanted, first) != 0) places.push_back(first);
    }
    for (const auto& [from, to] : pairs(got, wanted, places))
      std::memcpy(&bytes[to * element], &before[from * element], element);
  }
  return bytes;
}

}  // namespace regatta::launch
