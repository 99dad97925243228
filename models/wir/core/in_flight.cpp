// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/in_flight.h>

namespace regatta::models::wir {

void InFlightTable::count(ReferenceCounts& counts) const {
  for (const InFlight& f : all_) {
    if (!f.live) continue;
    if (!f.renamed || f.asking || f.awaited != 0) counts.incomplete = true;
    for (unsigned i = 0; i < f.sources.size(); ++i) {
      if ((f.held >> i & 1) == 0) continue;
      counts.add(f.sources[i]);
      ++counts.holds[f.sources[i].value()];
    }
    for (unsigned i = 0; i < f.targets.size(); ++i) {
      if ((f.in_place >> i & 1) == 0) counts.add(f.targets[i]);
      counts.add(f.candidates[i]);
    }
  }
}

}  // namespace regatta::models::wir
