// SPDX-License-Identifier: Apache-2.0
//
// Packed and narrow formats of sm_80 to sm_90, tests of numbers, and what only advises the caches.
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr const char* eviction = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged";
constexpr const char* atomic = "$atomic_order $scope global L2::cache_hint";
constexpr const char* packed = "f16 bf16 f16x2 bf16x2";

}  // namespace

using ir::Opcode;

std::vector<Form> packed_forms() {
  return {
      // Conversions.
      {"cvt", "rn rz relu satfinite", "f16 bf16", "f32", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.rna", "satfinite", "tf32", "f32", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.rn", "relu satfinite", "tf32", "f32", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.rz", "relu satfinite", "tf32", "f32", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.rn.satfinite", "relu", "e4m3x2 e5m2x2", "f32", Opcode::cvt, "3..3", lower_cvt_pair},
      {"cvt.rn.satfinite", "relu", "e4m3x2 e5m2x2", "f16x2", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.rn", "relu", "f16x2", "e4m3x2 e5m2x2", Opcode::cvt, "2..2", lower_cvt},
      {"cvt.pack.sat", "", "u16 s16", "s32", Opcode::bfi, "3..3", lower_cvt_pack},
      {"cvt.pack.sat.b32", "", "u8 s8", "s32", Opcode::bfi, "4..4", lower_cvt_pack},
      {"cvt.pack.sat.b32", "u4 s4 u2 s2", "s32", "", Opcode::bfi, "4..4", lower_cvt_pack},

      // Arithmetic and tests.
      {"min.xorsign.abs", "ftz NaN", "f32 f16 f16x2", "", Opcode::min, "dss", nullptr},
      {"max.xorsign.abs", "ftz NaN", "f32 f16 f16x2", "", Opcode::max, "dss", nullptr},
      {"min.xorsign.abs", "NaN", "bf16 bf16x2", "", Opcode::min, "dss", nullptr},
      {"max.xorsign.abs", "NaN", "bf16 bf16x2", "", Opcode::max, "dss", nullptr},
      {"testp", "finite infinite number notanumber normal subnormal", "f32 f64", "", Opcode::setp, "2..2", lower_testp},
      {"szext.clamp", "", "u32 s32", "", Opcode::bfe, "3..3", lower_szext},
      {"szext.wrap", "", "u32 s32", "", Opcode::bfe, "3..3", lower_szext},
      {"lop3.and", "", "b32", "", Opcode::lop3, "6..6", lower_lop3_predicate},
      {"lop3.or", "", "b32", "", Opcode::lop3, "6..6", lower_lop3_predicate},

      // Atomics on vectors.
      {"atom.add.v2", atomic, "f32", "", Opcode::atom, "3..4", lower_vector_atomic},
      {"atom.add.v4", atomic, "f32", "", Opcode::atom, "3..4", lower_vector_atomic},
      {"atom.add.noftz.v2", atomic, packed, "", Opcode::atom, "3..4", lower_vector_atomic},
      {"atom.add.noftz.v4", atomic, packed, "", Opcode::atom, "3..4", lower_vector_atomic},
      {"atom.add.noftz.v8", atomic, "f16 bf16", "", Opcode::atom, "3..4", lower_vector_atomic},
      {"red.add.v2", atomic, "f32", "", Opcode::red, "2..3", lower_vector_atomic},
      {"red.add.v4", atomic, "f32", "", Opcode::red, "2..3", lower_vector_atomic},
      {"red.add.noftz.v2", atomic, packed, "", Opcode::red, "2..3", lower_vector_atomic},
      {"red.add.noftz.v4", atomic, packed, "", Opcode::red, "2..3", lower_vector_atomic},
      {"red.add.noftz.v8", atomic, "f16 bf16", "", Opcode::red, "2..3", lower_vector_atomic},

      // Advice to the caches: a policy is 0, and nothing else happens.
      {"createpolicy.fractional", eviction, "b64", "", Opcode::mov, "1..2", lower_create_policy},
      {"createpolicy.range", "global L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", "b64", "",
       Opcode::mov, "4..4", lower_create_policy},
      {"createpolicy.cvt.L2", "", "b64", "", Opcode::mov, "2..2", lower_create_policy},
      {"applypriority.L2::evict_normal", "global", "", "", Opcode::nop, "2..2", lower_nothing},
      {"discard.L2", "global", "", "", Opcode::nop, "2..2", lower_nothing},
      {"prefetch.tensormap", "const param", "", "", Opcode::nop, "1..1", lower_nothing},
      {"pmevent", "mask", "", "", Opcode::nop, "1..1", lower_nothing},
  };
}

}  // namespace regatta::ptx
