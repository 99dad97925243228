// SPDX-License-Identifier: Apache-2.0
//
// A staging unit is charged as a register file of its size: the numbers are those of a register array, scaled by the
// table's rules to all shards of an SM together, since an operand may go between any shard and any execution unit.
#include "shard.h"

#include <regatta/support/energy.h>

namespace regatta::models {

namespace {

/// Tags that one look-up of the table compares.
constexpr double tags_per_lookup = 16;

support::ArrayGeometry geometry(const OperandStagingConfig& c) {
  return {double(c.entries) * c.line_bytes, double(c.shards) * c.banks};
}

}  // namespace

void OperandStaging::register_energy(support::EnergyGroup& g) {
  g.leakage("register_structures", "register_file.leakage", geometry(config_));
}

void StagingShard::register_energy(support::EnergyGroup& g) {
  const double registers = config_.line_bytes / 128.0;
  const double tags = lines_per_bank_ / tags_per_lookup;
  for (const auto& b : banks_) {
    g.event("register_structures", "register_file.read", b.read_count, registers, geometry(config_));
    g.event("register_structures", "register_file.read", b.readout_count, registers, geometry(config_));
    g.event("register_structures", "register_file.write", b.write_count, registers, geometry(config_));
    g.event("register_structures", "register_file.write", b.fill_count, registers, geometry(config_));
    g.event("register_structures", "operand_staging.tag", b.tag_lookups, tags);
  }
}

}  // namespace regatta::models
