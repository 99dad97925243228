// SPDX-License-Identifier: Apache-2.0
//
// Random runs: how many and which, and what they draw.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <vector>

namespace regatta::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T any(std::initializer_list<T> of) {
    return of.begin()[below(of.size())];
  }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[below(of.size())];
  }

 private:
  std::mt19937_64 random_;
};

/// The number in an environment variable, or `otherwise`.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace regatta::test
