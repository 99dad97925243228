// SPDX-License-Identifier: Apache-2.0
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {

std::vector<Form> integer_forms() {
  return {
      // Integer arithmetic.
      {"add", "", types::integers, "", ir::Opcode::add, "dss", nullptr},
      {"add.sat", "", "s32", "", ir::Opcode::add, "dss", nullptr},
      {"sub", "", types::integers, "", ir::Opcode::sub, "dss", nullptr},
      {"sub.sat", "", "s32", "", ir::Opcode::sub, "dss", nullptr},
      {"add.cc", "", types::wide, "", ir::Opcode::add_cc, "dss", nullptr},
      {"addc", "cc", types::wide, "", ir::Opcode::addc, "dss", nullptr},
      {"sub.cc", "", types::wide, "", ir::Opcode::sub_cc, "dss", nullptr},
      {"subc", "cc", types::wide, "", ir::Opcode::subc, "dss", nullptr},
      {"mul.lo", "", types::integers, "", ir::Opcode::mul_lo, "dss", nullptr},
      {"mul.hi", "", types::integers, "", ir::Opcode::mul_hi, "dss", nullptr},
      {"mul.wide", "", types::narrow, "", ir::Opcode::mul_wide, "wss", nullptr},
      {"mad.lo", "", types::integers, "", ir::Opcode::mad_lo, "dsss", nullptr},
      {"mad.hi", "", types::integers, "", ir::Opcode::mad_hi, "dsss", nullptr},
      {"mad.hi.sat", "", "s32", "", ir::Opcode::mad_hi, "dsss", nullptr},
      {"mad.wide", "", types::narrow, "", ir::Opcode::mad_wide, "wssW", nullptr},
      {"mad.lo.cc", "", types::wide, "", ir::Opcode::mad_lo, "4..4", lower_mad_carry},
      {"mad.hi.cc", "", types::wide, "", ir::Opcode::mad_hi, "4..4", lower_mad_carry},
      {"madc.lo", "cc", types::wide, "", ir::Opcode::mad_lo, "4..4", lower_mad_carry},
      {"madc.hi", "cc", types::wide, "", ir::Opcode::mad_hi, "4..4", lower_mad_carry},
      {"div", "", types::integers, "", ir::Opcode::div, "dss", nullptr},
      {"rem", "", types::integers, "", ir::Opcode::rem, "dss", nullptr},
      {"neg", "", "s16 s32 s64", "", ir::Opcode::neg, "ds", nullptr},
      {"abs", "", "s16 s32 s64", "", ir::Opcode::abs, "ds", nullptr},
      {"min", "", types::integers, "", ir::Opcode::min, "dss", nullptr},
      {"max", "", types::integers, "", ir::Opcode::max, "dss", nullptr},
      {"add", "", "u16x2 s16x2", "", ir::Opcode::add, "dss", nullptr},
      {"min", "", "u16x2 s16x2", "", ir::Opcode::min, "dss", nullptr},
      {"max", "", "u16x2 s16x2", "", ir::Opcode::max, "dss", nullptr},
      {"min", "relu", "s16x2 s32", "", ir::Opcode::min, "3..3", lower_relu},
      {"max", "relu", "s16x2 s32", "", ir::Opcode::max, "3..3", lower_relu},
      {"sad", "", types::integers, "", ir::Opcode::sad, "dsss", nullptr},
      {"popc", "", "b32 b64", "", ir::Opcode::popc, "is", nullptr},
      {"clz", "", "b32 b64", "", ir::Opcode::clz, "is", nullptr},
      {"brev", "", "b32 b64", "", ir::Opcode::brev, "ds", nullptr},
      {"bfe", "", types::wide, "", ir::Opcode::bfe, "dsii", nullptr},
      {"bfi", "", "b32 b64", "", ir::Opcode::bfi, "dssii", nullptr},
      {"bfind", "shiftamt", types::wide, "", ir::Opcode::bfind, "is", nullptr},
      {"fns", "", "b32", "", ir::Opcode::fns, "dsii", nullptr},
      {"bmsk", "clamp wrap", "b32", "", ir::Opcode::shl, "3..3", lower_bmsk},
      {"prmt", "f4e b4e rc8 ecl ecr rc16", "b32", "", ir::Opcode::prmt, "4..4", lower_permute},
      {"mul24.lo", "", "u32 s32", "", ir::Opcode::mul_lo, "3..3", lower_mul24},
      {"mul24.hi", "", "u32 s32", "", ir::Opcode::mul_hi, "3..3", lower_mul24},
      {"mad24.lo", "", "u32 s32", "", ir::Opcode::mad_lo, "4..4", lower_mul24},
      {"mad24.hi", "", "u32 s32", "", ir::Opcode::mad_hi, "4..4", lower_mul24},
      {"dp4a", "", "u32 s32", "u32 s32", ir::Opcode::dp4a, "dsss", nullptr},
      {"dp2a.lo", "", "u32 s32", "u32 s32", ir::Opcode::dp2a_lo, "dsss", nullptr},
      {"dp2a.hi", "", "u32 s32", "u32 s32", ir::Opcode::dp2a_hi, "dsss", nullptr},
      {"shf.l", "l wrap clamp", "b32", "", ir::Opcode::shf, "dsss", nullptr},
      {"shf.r", "wrap clamp", "b32", "", ir::Opcode::shf, "dsss", nullptr},
  };
}

std::vector<Form> float_forms() {
  return {
      // Floating point.
      {"add", "$rounding ftz sat", "f32", "", ir::Opcode::add, "dss", nullptr},
      {"add", "$rounding", "f64", "", ir::Opcode::add, "dss", nullptr},
      {"sub", "$rounding ftz sat", "f32", "", ir::Opcode::sub, "dss", nullptr},
      {"sub", "$rounding", "f64", "", ir::Opcode::sub, "dss", nullptr},
      {"mul", "$rounding ftz sat", "f32", "", ir::Opcode::mul, "dss", nullptr},
      {"mul", "$rounding", "f64", "", ir::Opcode::mul, "dss", nullptr},
      {"fma", "$rounding ftz sat", "f32", "", ir::Opcode::fma, "dsss", nullptr},
      {"fma", "$rounding", "f64", "", ir::Opcode::fma, "dsss", nullptr},
      {"mad", "$rounding ftz sat", "f32", "", ir::Opcode::fma, "dsss", nullptr},
      {"mad", "$rounding", "f64", "", ir::Opcode::fma, "dsss", nullptr},
      {"div", "$rounding approx full ftz", "f32", "", ir::Opcode::div, "dss", nullptr},
      {"div", "$rounding", "f64", "", ir::Opcode::div, "dss", nullptr},
      {"neg", "ftz", types::floats, "", ir::Opcode::neg, "ds", nullptr},
      {"abs", "ftz", types::floats, "", ir::Opcode::abs, "ds", nullptr},
      {"min", "ftz NaN", "f32", "", ir::Opcode::min, "dss", nullptr},
      {"min", "", "f64", "", ir::Opcode::min, "dss", nullptr},
      {"max", "ftz NaN", "f32", "", ir::Opcode::max, "dss", nullptr},
      {"max", "", "f64", "", ir::Opcode::max, "dss", nullptr},
      {"rcp", "$rounding approx ftz", types::floats, "", ir::Opcode::rcp, "ds", nullptr},
      {"sqrt", "$rounding approx ftz", types::floats, "", ir::Opcode::sqrt, "ds", nullptr},
      {"rsqrt", "approx ftz", types::floats, "", ir::Opcode::rsqrt, "ds", nullptr},
      {"ex2", "approx ftz", "f32", "", ir::Opcode::ex2, "ds", nullptr},
      {"lg2", "approx ftz", "f32", "", ir::Opcode::lg2, "ds", nullptr},
      {"sin", "approx ftz", "f32", "", ir::Opcode::sin, "ds", nullptr},
      {"cos", "approx ftz", "f32", "", ir::Opcode::cos, "ds", nullptr},
      {"tanh", "approx", "f32", "", ir::Opcode::tanh, "ds", nullptr},
      {"copysign", "", types::floats, "", ir::Opcode::or_, "3..3", lower_copysign},
  };
}

std::vector<Form> half_forms() {
  return {
      // Half precision.
      {"add", "rn ftz sat", types::halves, "", ir::Opcode::add, "dss", nullptr},
      {"sub", "rn ftz sat", types::halves, "", ir::Opcode::sub, "dss", nullptr},
      {"mul", "rn ftz sat", types::halves, "", ir::Opcode::mul, "dss", nullptr},
      {"fma", "rn ftz sat", types::halves, "", ir::Opcode::fma, "dsss", nullptr},
      {"neg", "ftz", types::halves, "", ir::Opcode::neg, "ds", nullptr},
      {"abs", "ftz", types::halves, "", ir::Opcode::abs, "ds", nullptr},
      {"min", "ftz NaN", types::halves, "", ir::Opcode::min, "dss", nullptr},
      {"max", "ftz NaN", types::halves, "", ir::Opcode::max, "dss", nullptr},
      {"ex2", "approx ftz", types::halves, "", ir::Opcode::ex2, "ds", nullptr},
      {"tanh", "approx", types::halves, "", ir::Opcode::tanh, "ds", nullptr},
      {"fma", "rn ftz relu", types::halves, "", ir::Opcode::fma, "4..4", lower_relu},
      {"add", "rn", types::brains, "", ir::Opcode::add, "dss", nullptr},
      {"sub", "rn", types::brains, "", ir::Opcode::sub, "dss", nullptr},
      {"mul", "rn", types::brains, "", ir::Opcode::mul, "dss", nullptr},
      {"fma", "rn", types::brains, "", ir::Opcode::fma, "dsss", nullptr},
      {"fma", "rn relu", types::brains, "", ir::Opcode::fma, "4..4", lower_relu},
      {"neg", "", types::brains, "", ir::Opcode::neg, "ds", nullptr},
      {"abs", "", types::brains, "", ir::Opcode::abs, "ds", nullptr},
      {"min", "NaN", types::brains, "", ir::Opcode::min, "dss", nullptr},
      {"max", "NaN", types::brains, "", ir::Opcode::max, "dss", nullptr},
      {"ex2", "approx ftz", types::brains, "", ir::Opcode::ex2, "ds", nullptr},
      {"tanh", "approx", types::brains, "", ir::Opcode::tanh, "ds", nullptr},
  };
}

std::vector<Form> logic_forms() {
  return {
      // Logic and shifts.
      {"and", "", "pred b16 b32 b64", "", ir::Opcode::and_, "dss", nullptr},
      {"or", "", "pred b16 b32 b64", "", ir::Opcode::or_, "dss", nullptr},
      {"xor", "", "pred b16 b32 b64", "", ir::Opcode::xor_, "dss", nullptr},
      {"not", "", "pred b16 b32 b64", "", ir::Opcode::not_, "ds", nullptr},
      {"cnot", "", types::bits, "", ir::Opcode::not_, "2..2", lower_cnot},
      {"lop3", "", "b32", "", ir::Opcode::lop3, "5..5", lower_lop3},
      {"shl", "", types::bits, "", ir::Opcode::shl, "dsi", nullptr},
      {"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "", ir::Opcode::shr, "dsi", nullptr},

      // Comparison and selection.
      {"setp", "$compare ftz", types::comparable, "", ir::Opcode::setp, "Qss", nullptr},
      {"setp", "$compare $bool ftz", types::comparable, "", ir::Opcode::setp, "Qssp", nullptr},
      {"set", "$compare ftz", "u32 s32 b32 f32", types::comparable, ir::Opcode::set, "dSS", nullptr},
      {"set", "$compare $bool ftz", "u32 s32 b32 f32", types::comparable, ir::Opcode::set, "dSSp", nullptr},
      {"setp", "$compare ftz", types::pairs, "", ir::Opcode::setp, "3..3", lower_setp_pair},
      {"setp", "$compare $bool ftz", types::pairs, "", ir::Opcode::setp, "4..4", lower_setp_pair},
      {"set", "$compare ftz", "f16 bf16 u16 s16", "f16 bf16", ir::Opcode::set, "3..3", lower_set_half},
      {"set", "$compare $bool ftz", "f16 bf16 u16 s16", "f16 bf16", ir::Opcode::set, "4..4", lower_set_half},
      {"set", "$compare ftz", "f16x2 bf16x2 u32 s32", types::pairs, ir::Opcode::set, "3..3", lower_set_half},
      {"set", "$compare $bool ftz", "f16x2 bf16x2 u32 s32", types::pairs, ir::Opcode::set, "4..4", lower_set_half},
      {"selp", "", types::any, "", ir::Opcode::selp, "dssp", nullptr},
      {"slct", "", types::any, "s32", ir::Opcode::selp, "4..4", lower_slct},
      {"slct", "ftz", types::any, "f32", ir::Opcode::selp, "4..4", lower_slct},
  };
}

std::vector<Form> move_forms() {
  return {
      // Moves and conversions.
      {"mov", "", types::any_or_pred, "", ir::Opcode::mov, "2..2", lower_mov},
      {"mov.v2", "", types::any, "", ir::Opcode::mov, "2..2", lower_mov_vector},
      {"mov.v4", "", types::any, "", ir::Opcode::mov, "2..2", lower_mov_vector},
      {"cvt", "$rounding $integer_rounding ftz sat", types::convertible, types::convertible, ir::Opcode::cvt, "2..2",
       lower_cvt},
      {"cvt", "$rounding relu satfinite", types::pairs, "f32", ir::Opcode::cvt, "3..3", lower_cvt_pair},
      {"cvta", "to global shared shared::cta shared::cluster local const param param::entry", "u32 u64", "",
       ir::Opcode::mov, "2..2", lower_cvta},
      {"isspacep", "global shared shared::cta shared::cluster local const", "", "", ir::Opcode::setp, "2..2",
       lower_isspacep},
  };
}

}  // namespace regatta::ptx
