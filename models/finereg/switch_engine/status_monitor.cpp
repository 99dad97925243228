// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/status_monitor.h>

#include <regatta/support/energy.h>

namespace regatta::models {

using protocol::CtaSlot;

CtaStatusMonitor::CtaStatusMonitor(const sc_core::sc_module_name& name) : sc_module(name), access("access") {
  access.bind(*this);
}

void CtaStatusMonitor::set(CtaSlot cta, ContextAt context, RegistersAt registers) {
  // The next search begins behind the CTA that was activated last, so that all get their turn.
  if (context == ContextAt::pipeline && contexts_[cta.value()] == static_cast<std::uint8_t>(ContextAt::shared_memory)) {
    next_ = (cta.value() + 1u) % monitored_ctas;
  }
  contexts_[cta.value()] = static_cast<std::uint8_t>(context);
  registers_[cta.value()] = static_cast<std::uint8_t>(registers);
  ++updates_;
}

std::optional<CtaSlot> CtaStatusMonitor::candidate(const CtaSet& ready) {
  ++searches_;
  for (const RegistersAt place : {RegistersAt::active_file, RegistersAt::pending_file}) {
    for (unsigned i = 0; i < monitored_ctas; ++i) {
      const unsigned cta = (next_ + i) % monitored_ctas;
      if (!ready[cta] || contexts_[cta] != static_cast<std::uint8_t>(ContextAt::shared_memory) ||
          registers_[cta] != static_cast<std::uint8_t>(place)) {
        continue;
      }
      return CtaSlot(static_cast<std::uint16_t>(cta));
    }
  }
  return std::nullopt;
}

void CtaStatusMonitor::register_stats(support::StatGroup& g) {
  g.counter("updates", updates_, "updates", "of the fields of a CTA");
  g.counter("searches", searches_, "searches", "for a pending CTA that can be activated");
}

void CtaStatusMonitor::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.status", updates_);
  g.event("cta_switching", "cta_switching.status", searches_, 2);
}

}  // namespace regatta::models
