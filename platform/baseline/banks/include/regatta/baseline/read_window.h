// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::models {

/// Read ports of register banks that are reserved some cycles ahead: an instruction is allocated when all of its
/// operands find a port within its window (Huerta et al., MICRO 2025, section 5.3: three cycles).
class ReadWindow {
 public:
  static constexpr unsigned most_operands = 8;
  static constexpr unsigned most_cycles = 8;  ///< of one window
  /// `ports`: reads of a bank in one cycle; 0: any number.
  ReadWindow(unsigned banks, unsigned ports) : ports_(ports), banks_(banks) {}

  /// Reserves a port in bank `banks[i]` for each of `count` operands, within cycles `first` to `first + cycles - 1`,
  /// the earliest that is free: all, or none. `slots[i]`: its cycle, from `first`. Requests may come in any order of
  /// `first`, up to most_cycles apart from the latest.
  bool reserve(const unsigned* banks, unsigned count, std::uint64_t first, unsigned cycles, std::uint8_t* slots);

 private:
  static constexpr unsigned ring = 32;  ///< cycles remembered per bank; more than two windows
  struct Bank {
    std::array<std::uint64_t, ring> cycle{};  ///< to which `taken` belongs
    std::array<std::uint8_t, ring> taken{};
  };

  unsigned ports_;
  std::vector<Bank> banks_;
};

}  // namespace regatta::models
