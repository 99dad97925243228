// SPDX-License-Identifier: Apache-2.0
//
// Matrix products. The types are those of D, A, B and C.
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr const char* of_bytes = "* s32.u8.u8.s32 s32.u8.s8.s32 s32.s8.u8.s32 s32.s8.s8.s32";
constexpr const char* of_nibbles = "* s32.u4.u4.s32 s32.u4.s4.s32 s32.s4.u4.s32 s32.s4.s4.s32";
constexpr const char* of_ones = "* s32.b1.b1.s32";
constexpr const char* of_halves = "* f16.f16.f16.f16 f32.f16.f16.f32 f32.bf16.bf16.f32";
constexpr const char* of_halves_and_singles = "* f16.f16.f16.f16 f32.f16.f16.f32 f32.bf16.bf16.f32 f32.tf32.tf32.f32";
constexpr const char* of_small_floats =
    "* f32.e4m3.e4m3.f32 f32.e4m3.e5m2.f32 f32.e5m2.e4m3.f32 f32.e5m2.e5m2.f32 f16.e4m3.e4m3.f16 f16.e4m3.e5m2.f16 "
    "f16.e5m2.e4m3.f16 f16.e5m2.e5m2.f16";
constexpr const char* wmma_options = "row col global shared shared::cta";
// Of products of f16 only the types of D and C are named.
constexpr const char* wmma_types = "* f16.f16 f32.f32 f32.bf16.bf16.f32 s32.u8.u8.s32 s32.s8.s8.s32";

}  // namespace

std::vector<Form> tensor_forms() {
  return {
      {"mma.sync.aligned.m16n8k4.row.col", "", "* f32.tf32.tf32.f32", "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k8.row.col", "", of_halves_and_singles, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k16.row.col", "", of_halves, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k16.row.col", "", of_small_floats, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k32.row.col", "", of_small_floats, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m8n8k16.row.col", "satfinite", of_bytes, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k16.row.col", "satfinite", of_bytes, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k32.row.col", "satfinite", of_bytes, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m8n8k32.row.col", "satfinite", of_nibbles, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k32.row.col", "satfinite", of_nibbles, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k64.row.col", "satfinite", of_nibbles, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m8n8k128.row.col.popc", "and xor", of_ones, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k128.row.col.popc", "and xor", of_ones, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m16n8k256.row.col.popc", "and xor", of_ones, "", ir::Opcode::mma, "4..4", lower_mma},
      {"mma.sync.aligned.m8n8k4.row.col", "", "* f64.f64.f64.f64", "", ir::Opcode::mma, "4..4", lower_mma},
      {"ldmatrix.sync.aligned.m8n8.x1", "trans shared shared::cta", "b16", "", ir::Opcode::ldmatrix, "2..2",
       lower_matrix},
      {"ldmatrix.sync.aligned.m8n8.x2", "trans shared shared::cta", "b16", "", ir::Opcode::ldmatrix, "2..2",
       lower_matrix},
      {"ldmatrix.sync.aligned.m8n8.x4", "trans shared shared::cta", "b16", "", ir::Opcode::ldmatrix, "2..2",
       lower_matrix},
      {"stmatrix.sync.aligned.m8n8.x1", "trans shared shared::cta", "b16", "", ir::Opcode::stmatrix, "2..2",
       lower_matrix},
      {"stmatrix.sync.aligned.m8n8.x2", "trans shared shared::cta", "b16", "", ir::Opcode::stmatrix, "2..2",
       lower_matrix},
      {"stmatrix.sync.aligned.m8n8.x4", "trans shared shared::cta", "b16", "", ir::Opcode::stmatrix, "2..2",
       lower_matrix},
      {"wmma.load.a.sync.aligned.m16n16k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m16n16k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m16n16k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m16n16k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::st, "2..3",
       lower_wmma_memory},
      {"wmma.mma.sync.aligned.m16n16k16", "row col satfinite", wmma_types, "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m32n8k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m32n8k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m32n8k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m32n8k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::st, "2..3",
       lower_wmma_memory},
      {"wmma.mma.sync.aligned.m32n8k16", "row col satfinite", wmma_types, "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m8n32k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m8n32k16", wmma_options, "* f16 bf16 u8 s8", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m8n32k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::ld, "2..3",
       lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m8n32k16", wmma_options, "* f16 f32 s32", "", ir::Opcode::st, "2..3",
       lower_wmma_memory},
      {"wmma.mma.sync.aligned.m8n32k16", "row col satfinite", wmma_types, "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m16n16k8", wmma_options, "* tf32", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m16n16k8", wmma_options, "* tf32", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m16n16k8", wmma_options, "* f32", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m16n16k8", wmma_options, "* f32", "", ir::Opcode::st, "2..3", lower_wmma_memory},
      {"wmma.mma.sync.aligned.m16n16k8", "row col", "* f32.tf32.tf32.f32", "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m8n8k32", wmma_options, "* u4 s4", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m8n8k32", wmma_options, "* u4 s4", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m8n8k32", wmma_options, "* s32", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m8n8k32", wmma_options, "* s32", "", ir::Opcode::st, "2..3", lower_wmma_memory},
      {"wmma.mma.sync.aligned.m8n8k32", "row col satfinite", "* s32.u4.u4.s32 s32.s4.s4.s32", "", ir::Opcode::mma,
       "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m8n8k128", wmma_options, "* b1", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m8n8k128", wmma_options, "* b1", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m8n8k128", wmma_options, "* s32", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m8n8k128", wmma_options, "* s32", "", ir::Opcode::st, "2..3", lower_wmma_memory},
      {"wmma.mma.xor.popc.sync.aligned.m8n8k128", "row col", of_ones, "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.mma.and.popc.sync.aligned.m8n8k128", "row col", of_ones, "", ir::Opcode::mma, "4..4", lower_wmma},
      {"wmma.load.a.sync.aligned.m8n8k4", wmma_options, "* f64", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.b.sync.aligned.m8n8k4", wmma_options, "* f64", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.load.c.sync.aligned.m8n8k4", wmma_options, "* f64", "", ir::Opcode::ld, "2..3", lower_wmma_memory},
      {"wmma.store.d.sync.aligned.m8n8k4", wmma_options, "* f64", "", ir::Opcode::st, "2..3", lower_wmma_memory},
      {"wmma.mma.sync.aligned.m8n8k4", "row col rn", "* f64.f64.f64.f64", "", ir::Opcode::mma, "4..4", lower_wmma},
      {"movmatrix.sync.aligned.m8n8.trans", "", "b16", "", ir::Opcode::movmatrix, "2..2", lower_movmatrix},
  };
}

}  // namespace regatta::ptx
