// SPDX-License-Identifier: Apache-2.0
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr const char* wide = "u32 s32 u64 s64";
constexpr const char* bits = "b16 b32 b64";
constexpr const char* halves = "f16 f16x2";
constexpr const char* brains = "bf16 bf16x2";
constexpr const char* storage = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";

}  // namespace

using ir::Opcode;

std::vector<Form> memory_forms() {
  return {
      // Memory.
      {"ld", "$space $load_order $scope $load_cache $hint $vector", storage, "", Opcode::ld, "2..2", lower_memory},
      {"st", "$space $store_order $scope $store_cache $hint $vector", storage, "", Opcode::st, "2..2", lower_memory},
      {"atom.add", "$atomic_order $scope $atomic_space", "u32 s32 u64 s64 f32 f64", "", Opcode::atom, "3..3",
       lower_memory},
      {"atom.add.noftz", "$atomic_order $scope $atomic_space", halves, "", Opcode::atom, "3..3", lower_memory},
      {"atom.add.noftz", "$atomic_order $scope $atomic_space", brains, "", Opcode::atom, "3..3", lower_memory},
      {"atom.min", "$atomic_order $scope $atomic_space", wide, "", Opcode::atom, "3..3", lower_memory},
      {"atom.max", "$atomic_order $scope $atomic_space", wide, "", Opcode::atom, "3..3", lower_memory},
      {"atom.and", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::atom, "3..3", lower_memory},
      {"atom.or", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::atom, "3..3", lower_memory},
      {"atom.xor", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::atom, "3..3", lower_memory},
      {"atom.exch", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::atom, "3..3", lower_memory},
      {"atom.cas", "$atomic_order $scope $atomic_space", bits, "", Opcode::atom, "4..4", lower_memory},
      {"atom.inc", "$atomic_order $scope $atomic_space", "u32", "", Opcode::atom, "3..3", lower_memory},
      {"atom.dec", "$atomic_order $scope $atomic_space", "u32", "", Opcode::atom, "3..3", lower_memory},
      {"red.add", "$atomic_order $scope $atomic_space", "u32 s32 u64 s64 f32 f64", "", Opcode::red, "2..2",
       lower_memory},
      {"red.add.noftz", "$atomic_order $scope $atomic_space", halves, "", Opcode::red, "2..2", lower_memory},
      {"red.add.noftz", "$atomic_order $scope $atomic_space", brains, "", Opcode::red, "2..2", lower_memory},
      {"red.min", "$atomic_order $scope $atomic_space", wide, "", Opcode::red, "2..2", lower_memory},
      {"red.max", "$atomic_order $scope $atomic_space", wide, "", Opcode::red, "2..2", lower_memory},
      {"red.and", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::red, "2..2", lower_memory},
      {"red.or", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::red, "2..2", lower_memory},
      {"red.xor", "$atomic_order $scope $atomic_space", "b32 b64", "", Opcode::red, "2..2", lower_memory},
      {"red.inc", "$atomic_order $scope $atomic_space", "u32", "", Opcode::red, "2..2", lower_memory},
      {"red.dec", "$atomic_order $scope $atomic_space", "u32", "", Opcode::red, "2..2", lower_memory},
      {"ldu", "global $vector", storage, "", Opcode::ld, "2..2", lower_memory},
      {"prefetch", "global local L1 L2", "", "", Opcode::nop, "1..1", lower_nothing},
      {"prefetchu", "L1", "", "", Opcode::nop, "1..1", lower_nothing},
      {"membar", "cta gl sys", "", "", Opcode::membar, "", nullptr},
      {"fence", "sc acq_rel acquire release cta cluster gpu sys", "", "", Opcode::membar, "", nullptr},
  };
}

std::vector<Form> texture_forms() {
  return {
      // Textures and surfaces: the first type is of the result, the second of the coordinates. Textures have one level.
      {"tex.1d.v4", "base", "u32 s32 f32", "s32 f32", Opcode::tex, "2..2", lower_texture},
      {"tex.2d.v4", "base", "u32 s32 f32", "s32 f32", Opcode::tex, "2..2", lower_texture},
      {"tex.3d.v4", "base", "u32 s32 f32", "s32 f32", Opcode::tex, "2..2", lower_texture},
      {"tex.a1d.v4", "base", "u32 s32 f32", "s32 f32", Opcode::tex, "2..2", lower_texture},
      {"tex.a2d.v4", "base", "u32 s32 f32", "s32 f32", Opcode::tex, "2..2", lower_texture},
      {"tex.cube.v4", "base", "u32 s32 f32", "f32", Opcode::tex, "2..2", lower_texture},
      {"tex.level.1d.v4", "", "u32 s32 f32", "s32 f32", Opcode::tex, "3..3", lower_texture},
      {"tex.level.2d.v4", "", "u32 s32 f32", "s32 f32", Opcode::tex, "3..3", lower_texture},
      {"tex.level.3d.v4", "", "u32 s32 f32", "s32 f32", Opcode::tex, "3..3", lower_texture},
      {"tex.level.a1d.v4", "", "u32 s32 f32", "s32 f32", Opcode::tex, "3..3", lower_texture},
      {"tex.level.a2d.v4", "", "u32 s32 f32", "s32 f32", Opcode::tex, "3..3", lower_texture},
      {"tex.level.cube.v4", "", "u32 s32 f32", "f32", Opcode::tex, "3..3", lower_texture},
      {"tex.grad.1d.v4", "", "u32 s32 f32", "f32", Opcode::tex, "4..4", lower_texture},
      {"tex.grad.2d.v4", "", "u32 s32 f32", "f32", Opcode::tex, "4..4", lower_texture},
      {"tex.grad.3d.v4", "", "u32 s32 f32", "f32", Opcode::tex, "4..4", lower_texture},
      {"tex.grad.a1d.v4", "", "u32 s32 f32", "f32", Opcode::tex, "4..4", lower_texture},
      {"tex.grad.a2d.v4", "", "u32 s32 f32", "f32", Opcode::tex, "4..4", lower_texture},
      {"tld4.2d.v4", "r g b a", "u32 s32 f32", "f32", Opcode::tld4, "2..2", lower_texture},
      {"tld4.a2d.v4", "r g b a", "u32 s32 f32", "f32", Opcode::tld4, "2..2", lower_texture},
      {"suld.b.1d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::suld, "2..2", lower_surface},
      {"suld.b.2d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::suld, "2..2", lower_surface},
      {"suld.b.3d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::suld, "2..2", lower_surface},
      {"suld.b.a1d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::suld, "2..2", lower_surface},
      {"suld.b.a2d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::suld, "2..2", lower_surface},
      {"sust.b.1d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::sust, "2..2", lower_surface},
      {"sust.b.2d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::sust, "2..2", lower_surface},
      {"sust.b.3d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::sust, "2..2", lower_surface},
      {"sust.b.a1d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::sust, "2..2", lower_surface},
      {"sust.b.a2d", "$vector $bounds", "b8 b16 b32 b64", "", Opcode::sust, "2..2", lower_surface},
      {"txq.width", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.height", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.depth", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.channel_data_type", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.channel_order", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.normalized_coords", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.filter_mode", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_0", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_1", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.addr_mode_2", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.array_size", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.num_mipmap_levels", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"txq.num_samples", "", "b32", "", Opcode::txq, "2..2", lower_texture_query},
      {"suq.width", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.height", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.depth", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.channel_data_type", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.channel_order", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.array_size", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
      {"suq.memory_layout", "", "b32", "", Opcode::suq, "2..2", lower_texture_query},
  };
}

}  // namespace regatta::ptx
