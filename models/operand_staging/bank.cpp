// SPDX-License-Identifier: Apache-2.0
#include "bank.h"

namespace regatta::models {

void StagingBankModule::register_stats(support::StatGroup& g) {
  g.counter("reads", bank_.read_count, "warp registers", "operand reads");
  g.counter("writes", bank_.write_count, "warp registers", "operand writes");
  g.counter("conflicts", bank_.read_conflicts, "warp registers", "operand reads that had to wait for the bank");
  g.counter("write_conflicts", bank_.write_conflicts, "warp registers", "operand writes that had to wait for the bank");
  g.counter("read_wait", bank_.read_wait, "cycles", "that operand reads waited for the bank, summed");
  g.counter("write_wait", bank_.write_wait, "cycles", "that operand writes waited for the bank, summed");
  g.counter("tag_lookups", bank_.tag_lookups, "lookups", "for reads, new lines, preloads and invalidations");
  g.counter("fills", bank_.fill_count, "lines", "written with a value that came from memory or the write-back buffer");
  g.counter("readouts", bank_.readout_count, "lines", "read to be written back");
}

}  // namespace regatta::models
