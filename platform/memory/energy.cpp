// SPDX-License-Identifier: Apache-2.0
//
// Which counters of the memory side are which events of the energy table. Leakage of the L2 and DRAM background belong
// to the card, of which a share is simulated: the assembly charges them.
#include <regatta/memory/dram_channel.h>
#include <regatta/memory/interconnect.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/l2_partition.h>
#include <regatta/support/energy.h>

namespace regatta::memory {

namespace {
constexpr double per_sector = 1.0 / protocol::sector_bytes;
}

void L1Cache::register_energy(support::EnergyGroup& g) {
  // A look-up reads the array, and so does a write-back; a fill and a write that is kept write it. What bypasses
  // the array is free.
  const double lines = config_.line_bytes / 128.0;
  g.event("l1", "l1.read", read_hits_, lines);
  g.event("l1", "l1.read", read_misses_, lines);
  g.event("l1", "l1.read", writebacks_, lines);
  g.event("l1", "l1.write", array_writes_, lines);
  g.event("l1", "l1.write", installed_, lines);
}

void L2Partition::register_energy(support::EnergyGroup& g) {
  g.event("l2", "l2.read", bytes_read_, per_sector);
  g.event("l2", "l2.write", bytes_written_, per_sector);
}

void Interconnect::register_energy(support::EnergyGroup& g) {
  const double flits = config_.interconnect.flit_bytes / 32.0;
  g.event("interconnect", "interconnect.flit", requests_.flits, flits);
  g.event("interconnect", "interconnect.flit", responses_.flits, flits);
}

void DramChannel::register_energy(support::EnergyGroup& g) {
  g.event("memory_controller", "memory_controller.access", bytes_read_, per_sector);
  g.event("memory_controller", "memory_controller.access", bytes_written_, per_sector);
  g.event("dram", "dram.read", bytes_read_, per_sector);
  g.event("dram", "dram.write", bytes_written_, per_sector);
  if (banks_) g.event("dram", "dram.activate", banks_->activates);
}

}  // namespace regatta::memory
