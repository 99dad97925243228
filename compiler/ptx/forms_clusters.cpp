// SPDX-License-Identifier: Apache-2.0
//
// Clusters of one CTA, and what else sm_90 has for the warps of a CTA that do different work.
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;

std::vector<Form> cluster_forms() {
  return {
      {"elect.sync", "", "", "", Opcode::elect, "2..2", lower_elect},
      {"setmaxnreg.inc.sync.aligned", "", "u32", "", Opcode::set_registers, "1..1", lower_set_registers},
      {"setmaxnreg.dec.sync.aligned", "", "u32", "", Opcode::set_registers, "1..1", lower_set_registers},
      // Every grid begins when the one before it has ended.
      {"griddepcontrol.launch_dependents", "", "", "", Opcode::nop, "0..0", lower_nothing},
      {"griddepcontrol.wait", "", "", "", Opcode::nop, "0..0", lower_nothing},
      {"barrier.cluster.arrive", "release relaxed aligned", "", "", Opcode::bar, "0..0", lower_cluster_barrier},
      {"barrier.cluster.wait", "acquire aligned", "", "", Opcode::bar, "0..0", lower_cluster_barrier},
      {"mapa", "shared::cluster", "u32 u64", "", Opcode::mov, "3..3", lower_map_rank},
      {"getctarank", "shared::cluster", "u32 u64", "", Opcode::mov, "2..2", lower_rank_of},
  };
}

}  // namespace regatta::ptx
