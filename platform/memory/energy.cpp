// SPDX-License-Identifier: Apache-2.0
//
// Maps counters of the memory side to events of the energy table. L2 leakage and DRAM background power belong to the
// card. Only a share of the card is simulated, so the assembly charges them.
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
  // Look-ups and write-backs read the array; fills and writes that are kept write it. Accesses that bypass the array
  // are free.
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
