// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/register_spill.h>

#include <regatta/support/energy.h>

namespace regatta::models {

void RegisterSpillConfig::declare(support::OptionSet& o) {
  o.add("reg_dram.ctas", ctas, "CTAs", "CTAs of an SM whose registers can be in DRAM at a time; 0: Virtual Thread", 0,
        128);
  o.add("reg_dram.requests", requests, "lines", "lines of registers under way to or from memory at a time", 1, 1024);
  o.add("reg_dram.results", results, "warp registers",
        "results of loads of CTAs in DRAM that are kept at a time on their way there", 1, 1024);
}

void RegisterSpill::register_stats(support::StatGroup& g) {
  g.counter("moves", moves_, "moves", "of the registers of a CTA or two");
  g.counter("move_cycles", move_cycles_, "cycles", "from the beginning of a move to its end");
  g.counter("lines_written", written_, "warp registers", "that left the register file for memory");
  g.counter("lines_read", read_back_, "warp registers", "that came back from memory");
  g.counter("merged_results", merged_, "warp registers",
            "results of loads that were merged into a line in memory: a read and a write each");
  g.counter("held_results", held_results_, "warp registers",
            "results of loads that waited for their register to come back");
  g.counter("waiting_results", waits_, "attempts", "to write such a result when no more could be kept");
}

void RegisterSpill::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.buffer", written_);
  g.event("cta_switching", "cta_switching.buffer", read_back_);
}

}  // namespace regatta::models
