// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/rmu.h>

namespace regatta::models {

void RmuConfig::declare(support::OptionSet& o) {
  o.add("rmu.vector_entries", vector_entries, "entries", "of the cache of live-register bit vectors", 1, 65536);
  o.add("rmu.entry_latency", entry_latency, "cycles",
        "to read the first tag and register of a pending CTA; the others follow one per cycle", 1, 1000);
  twin.declare(o, "rmu", "FineReg's register management unit");
}

Rmu::Rmu(const sc_core::sc_module_name& name, const RmuConfig& config, const RmuShape& shape, const LineMemory& memory,
         support::ClockDomain& clock)
    : sc_module(name),
      vectors("vectors", shape.vectors, memory, clock),
      counter("counter", clock),
      pointers("pointers", shape.ctas),
      free_space("free_space", shape.entries),
      owned_mover(std::make_unique<RegisterMover>("mover", config.entry_latency, shape.ctas, clock)) {
  mover = owned_mover.get();
  mover->free_space.bind(free_space.access);
  mover->pointers.bind(pointers.access);
  mover->live_sets.bind(counter.live_sets);
}

std::unique_ptr<sc_core::sc_module> Rmu::make_twin(const RmuConfig& config, const RmuShape& shape,
                                                   support::ClockDomain& clock) {
  cosim::TwinConfig twin;
  twin.name = "rmu_twin";
  twin.options = config.twin;
  twin.clock = &clock;
  twin.state = [this] { return describe_state(); };
  RmuTwins::Made made = rmu_twins().make(twin, shape);
  if (made.twin != nullptr) {
    vectors.set_twin(made.twin);
    counter.set_twin(made.twin);
    free_space.set_twin(made.twin);
    mover->set_twin(made.twin);
  }
  return std::move(made.module);
}

std::string Rmu::describe_state() const {
  std::string text = std::to_string(free_space.free()) + " entries are free\n" + mover->describe_chains();
  text.pop_back();  // the end of the last line
  return text;
}

}  // namespace regatta::models
