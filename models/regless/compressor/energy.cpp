// SPDX-License-Identifier: Apache-2.0
//
// Logic by the request, lines as a register array of the compressors of all shards.
#include <regatta/regless/compressor.h>

#include <regatta/support/energy.h>

namespace regatta::models {

void Compressor::register_energy(support::EnergyGroup& g) {
  const double lines = double(config_.lines) * space_.shards;
  const support::ArrayGeometry size{lines * compressed_line_bytes, double(space_.shards)};
  g.event("register_structures", "compressor.lookup", lookups_);
  g.event("register_structures", "compressor.match", matches_);
  g.event("register_structures", "compressor.expand", expanded_);
  // Lines come and go whole; a register's access drives the bit lines of its slot.
  const double slot = double(slot_bytes) / compressed_line_bytes;
  g.event("register_structures", "register_file.read", written_back_, 1, size);
  g.event("register_structures", "register_file.read", expanded_, slot, size);
  g.event("register_structures", "register_file.write", filled_, 1, size);
  g.event("register_structures", "register_file.write", slot_writes_, slot, size);
  // Each of the shards' compressors leaks its share.
  g.leakage("register_structures", "register_file.leakage", {double(config_.lines) * compressed_line_bytes, 1});
}

}  // namespace regatta::models
