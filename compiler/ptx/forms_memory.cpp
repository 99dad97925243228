// SPDX-License-Identifier: Apache-2.0
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {

std::vector<Form> memory_forms() {
  return {
      // Memory.
      {"ld", "$space $load_order $scope $load_cache $hint $vector", types::storage, "", ir::Opcode::ld, "2..2",
       lower_memory},
      {"st", "$space $store_order $scope $store_cache $hint $vector", types::storage, "", ir::Opcode::st, "2..2",
       lower_memory},
      {"atom.add", "$atomic_order $scope $atomic_space", "u32 s32 u64 s64 f32 f64", "", ir::Opcode::atom, "3..3",
       lower_memory},
      {"atom.add.noftz", "$atomic_order $scope $atomic_space", types::halves, "", ir::Opcode::atom, "3..3",
       lower_memory},
      {"atom.add.noftz", "$atomic_order $scope $atomic_space", types::brains, "", ir::Opcode::atom, "3..3",
       lower_memory},
      {"atom.min", "$atomic_order $scope $atomic_space", types::wide, "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.max", "$atomic_order $scope $atomic_space", types::wide, "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.and", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.or", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.xor", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.exch", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.cas", "$atomic_order $scope $atomic_space", types::bits, "", ir::Opcode::atom, "4..4", lower_memory},
      {"atom.inc", "$atomic_order $scope $atomic_space", "u32", "", ir::Opcode::atom, "3..3", lower_memory},
      {"atom.dec", "$atomic_order $scope $atomic_space", "u32", "", ir::Opcode::atom, "3..3", lower_memory},
      {"red.add", "$atomic_order $scope $atomic_space", "u32 s32 u64 s64 f32 f64", "", ir::Opcode::red, "2..2",
       lower_memory},
      {"red.add.noftz", "$atomic_order $scope $atomic_space", types::halves, "", ir::Opcode::red, "2..2", lower_memory},
      {"red.add.noftz", "$atomic_order $scope $atomic_space", types::brains, "", ir::Opcode::red, "2..2", lower_memory},
      {"red.min", "$atomic_order $scope $atomic_space", types::wide, "", ir::Opcode::red, "2..2", lower_memory},
      {"red.max", "$atomic_order $scope $atomic_space", types::wide, "", ir::Opcode::red, "2..2", lower_memory},
      {"red.and", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::red, "2..2", lower_memory},
      {"red.or", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::red, "2..2", lower_memory},
      {"red.xor", "$atomic_order $scope $atomic_space", "b32 b64", "", ir::Opcode::red, "2..2", lower_memory},
      {"red.inc", "$atomic_order $scope $atomic_space", "u32", "", ir::Opcode::red, "2..2", lower_memory},
      {"red.dec", "$atomic_order $scope $atomic_space", "u32", "", ir::Opcode::red, "2..2", lower_memory},
      {"ldu", "global $vector", types::storage, "", ir::Opcode::ld, "2..2", lower_memory},
      {"prefetch", "global local L1 L2", "", "", ir::Opcode::nop, "1..1", lower_nothing},
      {"prefetchu", "L1", "", "", ir::Opcode::nop, "1..1", lower_nothing},
      {"membar", "cta gl sys", "", "", ir::Opcode::membar, "", nullptr},
      {"fence", "sc acq_rel acquire release cta cluster gpu sys", "", "", ir::Opcode::membar, "", nullptr},
  };
}

std::vector<Form> texture_forms() {
  return {
      // Textures and surfaces: the first type is of the result, the second of the coordinates. Textures have one level.
      {"tex.1d.v4", "base", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.2d.v4", "base", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.3d.v4", "base", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.a1d.v4", "base", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.a2d.v4", "base", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.cube.v4", "base", "u32 s32 f32", "f32", ir::Opcode::tex, "2..2", lower_texture},
      {"tex.level.1d.v4", "", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.level.2d.v4", "", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.level.3d.v4", "", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.level.a1d.v4", "", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.level.a2d.v4", "", "u32 s32 f32", "s32 f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.level.cube.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "3..3", lower_texture},
      {"tex.grad.1d.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "4..4", lower_texture},
      {"tex.grad.2d.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "4..4", lower_texture},
      {"tex.grad.3d.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "4..4", lower_texture},
      {"tex.grad.a1d.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "4..4", lower_texture},
      {"tex.grad.a2d.v4", "", "u32 s32 f32", "f32", ir::Opcode::tex, "4..4", lower_texture},
      {"tld4.2d.v4", "r g b a", "u32 s32 f32", "f32", ir::Opcode::tld4, "2..2", lower_texture},
      {"tld4.a2d.v4", "r g b a", "u32 s32 f32", "f32", ir::Opcode::tld4, "2..2", lower_texture},
      {"suld.b.1d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::suld, "2..2", lower_surface},
      {"suld.b.2d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::suld, "2..2", lower_surface},
      {"suld.b.3d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::suld, "2..2", lower_surface},
      {"suld.b.a1d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::suld, "2..2", lower_surface},
      {"suld.b.a2d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::suld, "2..2", lower_surface},
      {"sust.b.1d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::sust, "2..2", lower_surface},
      {"sust.b.2d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::sust, "2..2", lower_surface},
      {"sust.b.3d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::sust, "2..2", lower_surface},
      {"sust.b.a1d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::sust, "2..2", lower_surface},
      {"sust.b.a2d", "$vector $bounds", "b8 b16 b32 b64", "", ir::Opcode::sust, "2..2", lower_surface},
      {"txq.width", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.height", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.depth", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.channel_data_type", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.channel_order", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.normalized_coords", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.filter_mode", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_0", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_1", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_2", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.array_size", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.num_mipmap_levels", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"txq.num_samples", "", "b32", "", ir::Opcode::txq, "2..2", lower_texture_query},
      {"suq.width", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.height", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.depth", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.channel_data_type", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.channel_order", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.array_size", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
      {"suq.memory_layout", "", "b32", "", ir::Opcode::suq, "2..2", lower_texture_query},
  };
}

}  // namespace regatta::ptx
