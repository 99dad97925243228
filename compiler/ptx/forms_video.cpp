// SPDX-License-Identifier: Apache-2.0
//
// Video instructions. Their two or three types are options, since a form has at most two.
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr const char* lanes = "u32 s32 sat add";
constexpr const char* whole = "u32 s32 sat add min max";
constexpr const char* shifts = "u32 s32 sat add min max clamp wrap";

}  // namespace

using ir::Opcode;

std::vector<Form> video_forms() {
  return {
      {"vadd", whole, "", "", Opcode::add, "3..4", lower_video},
      {"vsub", whole, "", "", Opcode::sub, "3..4", lower_video},
      {"vabsdiff", whole, "", "", Opcode::sad, "3..4", lower_video},
      {"vmin", whole, "", "", Opcode::min, "3..4", lower_video},
      {"vmax", whole, "", "", Opcode::max, "3..4", lower_video},
      {"vshl", shifts, "", "", Opcode::shl, "3..4", lower_video},
      {"vshr", shifts, "", "", Opcode::shr, "3..4", lower_video},
      {"vset", "u32 s32 add min max eq ne lt le gt ge", "", "", Opcode::set, "3..4", lower_video},
      {"vadd2", lanes, "", "", Opcode::add, "4..4", lower_video},
      {"vsub2", lanes, "", "", Opcode::sub, "4..4", lower_video},
      {"vavrg2", lanes, "", "", Opcode::shr, "4..4", lower_video},
      {"vabsdiff2", lanes, "", "", Opcode::sad, "4..4", lower_video},
      {"vmin2", lanes, "", "", Opcode::min, "4..4", lower_video},
      {"vmax2", lanes, "", "", Opcode::max, "4..4", lower_video},
      {"vset2", "u32 s32 add eq ne lt le gt ge", "", "", Opcode::set, "4..4", lower_video},
      {"vadd4", lanes, "", "", Opcode::add, "4..4", lower_video},
      {"vsub4", lanes, "", "", Opcode::sub, "4..4", lower_video},
      {"vavrg4", lanes, "", "", Opcode::shr, "4..4", lower_video},
      {"vabsdiff4", lanes, "", "", Opcode::vabsdiff4, "4..4", lower_video},
      {"vmin4", lanes, "", "", Opcode::min, "4..4", lower_video},
      {"vmax4", lanes, "", "", Opcode::max, "4..4", lower_video},
      {"vset4", "u32 s32 add eq ne lt le gt ge", "", "", Opcode::set, "4..4", lower_video},
  };
}

}  // namespace regatta::ptx
