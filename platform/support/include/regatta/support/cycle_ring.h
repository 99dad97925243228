// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace regatta::support {

/// Later than any cycle.
inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0};

/// A bitmap over a ring: which of the next `size` cycles hold work. `size` is a multiple of 64.
template <std::size_t size>
class CycleRing {
  static_assert(size % 64 == 0, "whole words");

 public:
  static constexpr std::size_t slot(std::uint64_t cycle) { return cycle % size; }
  void mark(std::uint64_t cycle) { word(cycle) |= bit(cycle); }
  void clear(std::uint64_t cycle) { word(cycle) &= ~bit(cycle); }
  /// The first marked cycle in (base, base + size); no_cycle if there is none.
  std::uint64_t next_after(std::uint64_t base) const {
    const std::uint64_t start = base + 1;
    for (std::size_t step = 0; step < size;) {
      const std::size_t at = slot(start + step);
      const std::uint64_t rest = words_[at / 64] >> (at % 64);
      if (rest != 0) {
        const auto ahead = static_cast<std::size_t>(__builtin_ctzll(rest));
        if (step + ahead < size) return start + step + ahead;
      }
      step += 64 - at % 64;
    }
    return no_cycle;
  }

 private:
  static std::uint64_t bit(std::uint64_t cycle) { return std::uint64_t{1} << (slot(cycle) % 64); }
  std::uint64_t& word(std::uint64_t cycle) { return words_[slot(cycle) / 64]; }

  std::array<std::uint64_t, size / 64> words_{};
};

}  // namespace regatta::support
