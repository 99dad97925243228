// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/clock_domain.h>

#include <map>
#include <memory>
#include <systemc>

namespace regatta::test {

/// The clock domain of a bench: one for each period, made when it is first asked for. Parts of a Simulation have that
/// of their BuildContext.
inline support::ClockDomain& clock(const sc_core::sc_time& period) {
  static auto& all = *new std::map<sc_core::sc_time, std::unique_ptr<support::ClockDomain>>;
  std::unique_ptr<support::ClockDomain>& domain = all[period];
  if (domain == nullptr) {
    domain = std::make_unique<support::ClockDomain>(sc_core::sc_gen_unique_name("clock_domain"), period);
  }
  return *domain;
}

/// That of the Simulation in this process, for parts of a test that no BuildContext reaches.
inline support::ClockDomain& machine_clock() {
  return dynamic_cast<support::ClockDomain&>(*sc_core::sc_find_object("clock"));
}

}  // namespace regatta::test
