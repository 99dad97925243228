// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_management/register_management.h>

namespace regatta::models {

void RegisterManagementConfig::declare(support::OptionSet& o) {
  o.add("finereg.vector_entries", vector_entries, "entries", "of the cache of live-register bit vectors", 1, 65536);
  o.add("finereg.entry_latency", entry_latency, "cycles",
        "to read the first tag and register of a pending CTA; the others follow one per cycle", 1, 1000);
  twin.declare(o, "rmu", "FineReg's register management unit");
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

std::unique_ptr<sc_core::sc_module> RegisterManagementUnit::make_twin(const RegisterManagementConfig& config,
                                                                      sc_core::sc_time clock_period) {
  cosim::TwinConfig twin;
  twin.name = "rmu_twin";
  twin.options = config.twin;
  twin.clock_period = clock_period;
  twin.state = [this] { return describe_state(); };
  RmuTwins::Made made = rmu_twins().make(twin, config.shape());
  if (made.twin != nullptr) {
    vectors.set_twin(made.twin);
    counter.set_twin(made.twin);
    free_space.set_twin(made.twin);
    mover->set_twin(made.twin);
  }
  return std::move(made.module);
}

std::string RegisterManagementUnit::describe_state() const {
  std::string text = std::to_string(free_space.free()) + " entries are free\n" + mover->describe_chains();
  text.pop_back();  // the end of the last line
  return text;
}

}  // namespace regatta::models
