// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

struct HotspotParameters {
  int rows = 0;
  int columns = 0;
  float conductance = 0;  ///< between neighbours, times kelvin
  float sink = 0;         ///< conductance to the heat sink
  float ambient = 0;      ///< temperature of the sink, kelvin
  float step = 0;         ///< time step over heat capacity
};

/// The temperatures after `launches` steps from `temperature`. Exact.
std::vector<float> hotspot(std::vector<float> temperature, const std::vector<float>& power,
                           const HotspotParameters& parameters, int launches);

}  // namespace reference
