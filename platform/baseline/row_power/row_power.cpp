// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/row_power.h>

#include <array>

namespace regatta::models {

const char* to_string(PowerState s) {
  static constexpr std::array<const char*, power_state_count> names{"off", "sleep", "on"};
  return names[static_cast<unsigned>(s)];
}

}  // namespace regatta::models
