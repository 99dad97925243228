// SPDX-License-Identifier: Apache-2.0
#include "extended_set.h"

#include <algorithm>
#include <vector>

namespace regatta::passes {

using analysis::BitSet;

ExtendedSet choose_extended_set(const HoldPlaces& places, unsigned base) {
  const auto registers = static_cast<std::uint32_t>(places.base_only().size());
  const auto groups = static_cast<std::uint32_t>(places.groups());
  ExtendedSet chosen;
  chosen.registers = BitSet(registers);
  if (base >= registers) return chosen;

  // Per register: the weight that holds the section if it is added, beyond what holds it already.
  std::vector<std::uint64_t> more(registers, 0);
  std::vector<std::vector<std::uint32_t>> groups_of(registers);
  std::vector<bool> held(groups, false);
  for (std::uint32_t g = 0; g < groups; ++g) {
    if (places.needs(g).count() > base) {
      held[g] = true;
      chosen.held += places.weight(g);
      continue;
    }
    places.needs(g).for_each([&](std::uint32_t r) {
      more[r] += places.weight(g);
      groups_of[r].push_back(g);
    });
  }
  for (unsigned n = registers - base; n > 0; --n) {
    std::uint32_t best = registers;
    for (std::uint32_t r = 0; r < registers; ++r) {
      if (chosen.registers.test(r) || places.base_only().test(r)) continue;
      if (best == registers || more[r] <= more[best]) best = r;
    }
    chosen.registers.set(best);
    chosen.held += more[best];
    for (const std::uint32_t g : groups_of[best]) {
      if (held[g]) continue;
      held[g] = true;
      places.needs(g).for_each([&](std::uint32_t r) { more[r] -= places.weight(g); });
    }
  }
  return chosen;
}

unsigned choose_base(const HoldPlaces& places) {
  const auto registers = static_cast<unsigned>(places.base_only().size());
  const std::uint64_t total = total_weight(places);
  const unsigned least = std::max(1u, static_cast<unsigned>(places.base_only().count()));
  unsigned best = registers;
  std::uint64_t best_cost = registers * total;
  for (unsigned base = registers; base-- > least;) {
    const std::uint64_t cost = base * total + (registers - base) * choose_extended_set(places, base).held;
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = base;
  }
  return best;
}

std::uint64_t total_weight(const HoldPlaces& places) {
  std::uint64_t total = 0;
  for (std::uint32_t g = 0; g < places.groups(); ++g) total += places.weight(g);
  return total;
}

}  // namespace regatta::passes
