// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/support/clock.h>
#include <regatta/support/config.h>

#include <cmath>

namespace regatta::support {

ClockDomain::ClockDomain(sc_core::sc_time period) : period_(period), ticks_(period.value()) {
  if (ticks_ == 0) throw ConfigError("clock period: expected more than 0 s, found 0 s");
}

ClockDomain ClockDomain::from_mhz(double mhz) {
  const double resolution = sc_core::sc_get_time_resolution().to_seconds();
  const double ticks = std::round(1e-6 / (mhz * resolution));
  if (!(mhz > 0.0) || !(ticks >= 1.0) || !(ticks < 1e18)) {
    throw ConfigError(
        fmt::format("clock frequency: expected more than 0 and up to {} MHz, found {} MHz", 1e-6 / resolution, mhz));
  }
  return ClockDomain(sc_core::sc_time::from_value(static_cast<std::uint64_t>(ticks)));
}

}  // namespace regatta::support
