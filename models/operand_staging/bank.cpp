// SPDX-License-Identifier: Apache-2.0
#include "bank.h"

namespace regatta::models {

StagingBank::StagingBank(const sc_core::sc_module_name& name, unsigned lines, unsigned buffer)
    : sc_module(name), requests(lines), fills(lines), readouts(buffer) {}

void StagingBank::register_stats(support::StatGroup& g) {
  g.counter("reads", read_count, "warp registers", "operand reads");
  g.counter("writes", write_count, "warp registers", "operand writes");
  g.counter("conflicts", read_conflicts, "warp registers", "operand reads that had to wait for the bank");
  g.counter("write_conflicts", write_conflicts, "warp registers", "operand writes that had to wait for the bank");
  g.counter("read_wait", read_wait, "cycles", "that operand reads waited for the bank, summed");
  g.counter("write_wait", write_wait, "cycles", "that operand writes waited for the bank, summed");
  g.counter("tag_lookups", tag_lookups, "lookups", "for reads, new lines, preloads and invalidations");
  g.counter("fills", fill_count, "lines", "written with a value that came from memory or the write-back buffer");
  g.counter("readouts", readout_count, "lines", "read to be written back");
}

}  // namespace regatta::models
