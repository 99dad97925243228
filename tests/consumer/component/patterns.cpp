// SPDX-License-Identifier: Apache-2.0
#include <regatta/regless/patterns.h>

#include <iostream>
#include <systemc>

using namespace regatta::models;

int sc_main(int, char**) {
  std::uint32_t lanes[pattern_lanes], expanded[pattern_lanes];
  for (unsigned i = 0; i < pattern_lanes; ++i) lanes[i] = 100 + 4 * i;
  unsigned char slot[slot_bytes] = {};
  const Pattern pattern = match(lanes);
  compress(pattern, lanes, slot);
  expand(pattern, slot, expanded);
  for (unsigned i = 0; i < pattern_lanes; ++i) {
    if (expanded[i] == lanes[i]) continue;
    std::cerr << "lane " << i << ": found " << expanded[i] << ", expected " << lanes[i] << "\n";
    return 1;
  }
  return pattern == Pattern::stride4 ? 0 : 1;
}
