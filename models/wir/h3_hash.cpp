// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/h3_hash.h>

#include <random>
#include <stdexcept>

namespace regatta::models::wir {

H3Hash::H3Hash(unsigned lanes, unsigned bits, std::uint64_t seed)
    : lanes_(lanes),
      bits_(bits),
      mask_(bits >= 32 ? ~0u : (1u << bits) - 1),
      table_(std::size_t{lanes} * digits_per_word) {
  if (bits == 0 || bits > 32)
    throw std::invalid_argument("a hash of " + std::to_string(bits) + " bits, expected 1 to 32");
  std::mt19937_64 random(seed);
  for (Digit& digit : table_) {
    for (unsigned bit = 0; bit < 4; ++bit) {
      const auto column = static_cast<std::uint32_t>(random());
      for (unsigned value = 1u << bit; value < 2u << bit; ++value)
        digit.of[value] = digit.of[value - (1u << bit)] ^ column;
    }
  }
}

}  // namespace regatta::models::wir
