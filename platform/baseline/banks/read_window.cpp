// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/read_window.h>

namespace regatta::models {

bool ReadWindow::reserve(const unsigned* banks, unsigned count, std::uint64_t first, unsigned cycles,
                         std::uint8_t* slots) {
  if (ports_ == 0) {
    for (unsigned i = 0; i < count; ++i) slots[i] = 0;
    return true;
  }
  for (unsigned i = 0; i < count; ++i) {
    Bank& bank = banks_[banks[i]];
    unsigned slot = 0;
    for (; slot < cycles; ++slot) {
      const std::uint64_t cycle = first + slot;
      if (bank.cycle[cycle % ring] != cycle) {
        bank.cycle[cycle % ring] = cycle;
        bank.taken[cycle % ring] = 0;
      }
      if (bank.taken[cycle % ring] < ports_) break;
    }
    if (slot == cycles) {
      for (unsigned k = 0; k < i; ++k) --banks_[banks[k]].taken[(first + slots[k]) % ring];
      return false;
    }
    ++bank.taken[(first + slot) % ring];
    slots[i] = static_cast<std::uint8_t>(slot);
  }
  return true;
}

}  // namespace regatta::models
