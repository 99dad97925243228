// SPDX-License-Identifier: Apache-2.0
// Knobs and counters of the switch engine.
#include <regatta/finereg/switch_engine.h>

#include <regatta/support/energy.h>

namespace regatta::models {

void CtaSwitchingConfig::declare(support::OptionSet& o) {
  o.add("switching.max_ctas", max_ctas, "CTAs", "CTAs that an SM holds at most, active and pending", 1, monitored_ctas);
  o.add("switching.max_warps", max_warps, "warps",
        "warps that an SM holds at most, those of active and pending CTAs (at least as many as can be active)", 1,
        monitored_warps);
  o.add("switching.stall_cycles", stall_cycles, "cycles", "time for which a CTA is stalled before it is switched out",
        1, 1000000);
  o.add("switching.launch_first", launch_first,
        "launch a CTA in the place of a stalled one while there is room, before ready pending CTAs are considered");
  o.add("switching.latency", latency, "cycles", "from switching a CTA out to switching another in, at least", 0,
        1000000);
  o.add("switching.entry_bytes", entry_bytes, "bytes",
        "of a SIMT stack entry in a saved context: PC, reconvergence PC and lanes", 1, 64);
  o.add("switching.context_entries", context_entries, "entries",
        "SIMT stack entries of a warp for which a pending CTA occupies shared memory", 1, 64);
}

void SwitchEngine::register_stats(support::StatGroup& g) {
  const Counters& c = counters_;
  g.counter("switches", c.switches, "CTAs", "stalled ones that were switched out");
  g.counter("context_switches", c.context_switches, "CTAs", "of these, with their registers left in the register file");
  g.counter("exchanges", c.exchanges, "switches",
            "in which the registers of one CTA left and those of another returned");
  g.counter("evictions", c.evictions, "switches", "in which the registers of a CTA left for one that was launched");
  g.counter("restores", c.restores, "switches", "in which the registers of a CTA returned into a free place");
  g.counter("switch_cycles", c.switch_cycles, "cycles", "from switching a CTA out until its successor is switched in");
  g.counter("launches", c.launches, "CTAs", "launched");
  const auto timed = [this, &g](const char* name, const std::uint64_t& counter, const char* unit, const char* what) {
    g.derived(
        name,
        [this, &counter] {
          account();
          return double(counter);
        },
        unit, what);
  };
  timed("depleted_cycles", c.depleted_cycles, "cycles",
        "in which a CTA was stalled and another could have taken its place, had its registers found room");
  timed("active_cta_cycles", c.active_cycles, "CTA-cycles", "of active CTAs");
  timed("pending_cta_cycles", c.pending_cycles, "CTA-cycles", "of pending CTAs");
  g.counter("full_stalls", c.stalls, "CTAs", "of which all warps were stalled at some time");
  g.counter("cycles_to_full_stall", c.cycles_to_stall, "cycles", "from a CTA's launch to that time, the first, summed");
  g.counter("wait_cycles", c.wait_cycles, "CTA-cycles",
            "for which pending CTAs were ready, until they were switched in");
  g.counter("longest_wait", c.wait_peak, "cycles", "for which a pending CTA was ready and not switched in, at most");
}

void SwitchEngine::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a policy; the status monitor, the transfer engine and shared memory count what it does");
}

}  // namespace regatta::models
