// SPDX-License-Identifier: Apache-2.0
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {

using ir::Opcode;

std::vector<Form> warp_forms() {
  return {
      // Between lanes and warps. A warp runs in lockstep and reconverges by itself: bar.warp.sync only orders memory.
      {"bar.sync", "cta", "", "", Opcode::bar, "1..2", lower_barrier},
      {"bar.arrive", "cta", "", "", Opcode::bar, "2..2", lower_barrier},
      {"bar.red.popc", "cta", "u32", "", Opcode::bar, "3..4", lower_barrier},
      {"bar.red", "cta and or", "pred", "", Opcode::bar, "3..4", lower_barrier},
      {"barrier.sync", "cta aligned", "", "", Opcode::bar, "1..2", lower_barrier},
      {"barrier.arrive", "cta aligned", "", "", Opcode::bar, "2..2", lower_barrier},
      {"barrier.red.popc", "cta aligned", "u32", "", Opcode::bar, "3..4", lower_barrier},
      {"barrier.red", "cta aligned and or", "pred", "", Opcode::bar, "3..4", lower_barrier},
      {"bar.warp.sync", "", "", "", Opcode::warp_sync, "1..1", lower_warp_sync},
      {"shfl.sync", "$shuffle", "b32", "", Opcode::shfl, "5..5", lower_shuffle},
      {"shfl", "$shuffle", "b32", "", Opcode::shfl, "4..4", lower_shuffle},
      {"vote.sync.ballot", "", "b32", "", Opcode::vote, "3..3", lower_vote},
      {"vote.sync", "all any uni", "pred", "", Opcode::vote, "3..3", lower_vote},
      {"vote.ballot", "", "b32", "", Opcode::vote, "2..2", lower_vote},
      {"vote", "all any uni", "pred", "", Opcode::vote, "2..2", lower_vote},
      {"match.any.sync", "", "b32 b64", "", Opcode::match, "3..3", lower_match},
      {"match.all.sync", "", "b32 b64", "", Opcode::match, "3..3", lower_match},
      {"redux.sync", "add min max", "u32 s32", "", Opcode::redux, "dsi", nullptr},
      {"redux.sync", "and or xor", "b32", "", Opcode::redux, "dsi", nullptr},
      {"activemask", "", "b32", "", Opcode::activemask, "d", nullptr},
  };
}

std::vector<Form> control_forms() {
  return {
      // Control.
      {"bra", "uni", "", "", Opcode::bra, "1..1", lower_branch},
      {"brx.idx", "uni", "", "", Opcode::bra, "2..2", lower_indexed_branch},
      {"ret", "uni", "", "", Opcode::exit, "0..0", lower_exit},
      {"exit", "", "", "", Opcode::exit, "0..0", lower_exit},
      {"call", "uni", "", "", Opcode::bra, "1..1", lower_call},
      {"trap", "", "", "", Opcode::trap, "0..0", lower_trap},
      {"nanosleep", "", "u32", "", Opcode::nop, "1..1", lower_nothing},
  };
}

}  // namespace regatta::ptx
