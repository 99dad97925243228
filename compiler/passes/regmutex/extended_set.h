// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hold_places.h"

#include <regatta/analysis/bit_set.h>

#include <cstdint>

namespace regatta::passes {

struct ExtendedSet {
  analysis::BitSet registers;
  std::uint64_t held = 0;  ///< weight of the instructions that need one of them
};

/// The extended set of all registers but `base`. Chosen greedily: always the register that makes the fewest more
/// instructions hold the section. Instructions that need more than `base` registers hold it anyway. `base` is at least
/// the number of places.base_only().
ExtendedSet choose_extended_set(const HoldPlaces& places, unsigned base);

/// The size of the base set at which a warp occupies the fewest registers on average: the base set always, and the
/// extended set while it holds a section.
unsigned choose_base(const HoldPlaces& places);

/// Weight of all instructions.
std::uint64_t total_weight(const HoldPlaces& places);

}  // namespace regatta::passes
