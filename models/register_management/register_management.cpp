// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_management/register_management.h>

namespace regatta::models {

void RegisterManagementConfig::declare(support::OptionSet& o) {
  o.add("finereg.vector_entries", vector_entries, "entries", "of the cache of live-register bit vectors", 1, 65536);
  o.add("finereg.entry_latency", entry_latency, "cycles",
        "to read the first tag and register of a pending CTA; the others follow one per cycle", 1, 1000);
}

RegisterManagementUnit::RegisterManagementUnit(const sc_core::sc_module_name& name,
                                               const RegisterManagementConfig& config, sc_core::sc_time clock_period)
    : sc_module(name),
      vectors("vectors", config.vector_entries, config.line_bytes, config.sm, clock_period),
      counter("counter", clock_period),
      pointers("pointers", config.ctas),
      free_space("free_space", config.entries),
      owned_mover(std::make_unique<RegisterMover>("mover", config.entry_latency, config.ctas, clock_period)) {
  mover = owned_mover.get();
  mover->free_space.bind(free_space.access);
  mover->pointers.bind(pointers.access);
  mover->live_sets.bind(counter.live_sets);
}

}  // namespace regatta::models
