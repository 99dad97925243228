// SPDX-License-Identifier: Apache-2.0
//
// Faults between the blocks of a scheme.
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <memory>
#include <systemc>
#include <utility>

namespace regatta::test {

/// A module that is owned by the SM's parts and stands before `inner`.
template <class Interface>
class Before : public sc_core::sc_module, public Interface, public support::StatProvider {
 public:
  Before(const sc_core::sc_module_name& name, Interface& inner) : sc_module(name), inner_(inner) {}
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("a fault"); }

 protected:
  Interface& inner_;
};

template <class Fault, class Interface>
Interface& put_before(assembly::SmParts& parts, Interface& inner) {
  auto fault = std::make_unique<Fault>(sc_core::sc_gen_unique_name("fault"), inner);
  Fault& made = *fault;
  parts.modules.push_back(std::move(fault));
  return made;
}

}  // namespace regatta::test
