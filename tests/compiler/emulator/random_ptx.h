// SPDX-License-Identifier: Apache-2.0
//
// What generators of random programs draw and write.
#pragma once

#include <regatta/launch/fill.h>

#include <cstdint>
#include <string>

namespace regatta::test::random_ptx {

/// Numbers that depend on the seed alone.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  unsigned below(unsigned n) { return static_cast<unsigned>(launch::random_word(seed_, at_++) >> 33) % n; }

 private:
  std::uint64_t seed_, at_ = 0;
};

inline std::string number(std::uint64_t n) { return std::to_string(n); }

}  // namespace regatta::test::random_ptx
