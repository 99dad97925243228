// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/nbti.h>

#include <cmath>

namespace regatta::models {

namespace {
constexpr double reference_years = 3;
}

void NbtiConfig::declare(support::OptionSet& o) {
  o.add("nbti.eta", eta, "ratio", "recovery of a transistor without stress, 0 to 1 (Equation 3)");
  o.add("nbti.lifetime", lifetime, "years", "years for which the trace is assumed to repeat");
  o.add("nbti.delay_increase", delay_increase, "ratio",
        "increase of the switching delay of a transistor under stress for 3 years (aging paper, 6.4)");
}

void NbtiConfig::validate() const {
  const auto refuse = [](const char* knob, double value, const char* expected) {
    throw support::ConfigError("configuration: nbti." + std::string(knob) + " = " + std::to_string(value) +
                               ", expected " + expected);
  };
  if (!(eta >= 0 && eta <= 1)) refuse("eta", eta, "a part that recovers, 0 to 1");
  if (!(lifetime > 0 && lifetime <= 1000)) refuse("lifetime", lifetime, "years, more than 0 and at most 1000");
  if (!(delay_increase >= 0 && delay_increase <= 100)) refuse("delay_increase", delay_increase, "a ratio, 0 to 100");
}

double NbtiConfig::threshold_shift(double stress) const {
  return std::pow(stress, 0.25) * (1 - std::sqrt(eta * (1 - stress)));
}

double NbtiConfig::switching_delay_increase(double shift) const {
  return delay_increase * shift * std::pow(lifetime / reference_years, 0.25);
}

}  // namespace regatta::models
