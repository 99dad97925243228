// SPDX-License-Identifier: Apache-2.0
#include "form_tables.h"

#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr const char* integers = "u16 s16 u32 s32 u64 s64";
constexpr const char* narrow = "u16 s16 u32 s32";
constexpr const char* wide = "u32 s32 u64 s64";
constexpr const char* bits = "b16 b32 b64";
constexpr const char* floats = "f32 f64";
constexpr const char* any = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
constexpr const char* comparable = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64";
constexpr const char* halves = "f16 f16x2";
constexpr const char* brains = "bf16 bf16x2";
constexpr const char* pairs = "f16x2 bf16x2";
constexpr const char* any_or_pred = "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
constexpr const char* convertible = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";

}  // namespace

using ir::Opcode;

std::vector<Form> integer_forms() {
  return {
      // Integer arithmetic.
      {"add", "", integers, "", Opcode::add, "dss", nullptr},
      {"add.sat", "", "s32", "", Opcode::add, "dss", nullptr},
      {"sub", "", integers, "", Opcode::sub, "dss", nullptr},
      {"sub.sat", "", "s32", "", Opcode::sub, "dss", nullptr},
      {"add.cc", "", wide, "", Opcode::add_cc, "dss", nullptr},
      {"addc", "cc", wide, "", Opcode::addc, "dss", nullptr},
      {"sub.cc", "", wide, "", Opcode::sub_cc, "dss", nullptr},
      {"subc", "cc", wide, "", Opcode::subc, "dss", nullptr},
      {"mul.lo", "", integers, "", Opcode::mul_lo, "dss", nullptr},
      {"mul.hi", "", integers, "", Opcode::mul_hi, "dss", nullptr},
      {"mul.wide", "", narrow, "", Opcode::mul_wide, "wss", nullptr},
      {"mad.lo", "", integers, "", Opcode::mad_lo, "dsss", nullptr},
      {"mad.hi", "", integers, "", Opcode::mad_hi, "dsss", nullptr},
      {"mad.hi.sat", "", "s32", "", Opcode::mad_hi, "dsss", nullptr},
      {"mad.wide", "", narrow, "", Opcode::mad_wide, "wssW", nullptr},
      {"mad.lo.cc", "", wide, "", Opcode::mad_lo, "4..4", lower_mad_carry},
      {"mad.hi.cc", "", wide, "", Opcode::mad_hi, "4..4", lower_mad_carry},
      {"madc.lo", "cc", wide, "", Opcode::mad_lo, "4..4", lower_mad_carry},
      {"madc.hi", "cc", wide, "", Opcode::mad_hi, "4..4", lower_mad_carry},
      {"div", "", integers, "", Opcode::div, "dss", nullptr},
      {"rem", "", integers, "", Opcode::rem, "dss", nullptr},
      {"neg", "", "s16 s32 s64", "", Opcode::neg, "ds", nullptr},
      {"abs", "", "s16 s32 s64", "", Opcode::abs, "ds", nullptr},
      {"min", "", integers, "", Opcode::min, "dss", nullptr},
      {"max", "", integers, "", Opcode::max, "dss", nullptr},
      {"add", "", "u16x2 s16x2", "", Opcode::add, "dss", nullptr},
      {"min", "", "u16x2 s16x2", "", Opcode::min, "dss", nullptr},
      {"max", "", "u16x2 s16x2", "", Opcode::max, "dss", nullptr},
      {"min", "relu", "s16x2 s32", "", Opcode::min, "3..3", lower_relu},
      {"max", "relu", "s16x2 s32", "", Opcode::max, "3..3", lower_relu},
      {"sad", "", integers, "", Opcode::sad, "dsss", nullptr},
      {"popc", "", "b32 b64", "", Opcode::popc, "is", nullptr},
      {"clz", "", "b32 b64", "", Opcode::clz, "is", nullptr},
      {"brev", "", "b32 b64", "", Opcode::brev, "ds", nullptr},
      {"bfe", "", wide, "", Opcode::bfe, "dsii", nullptr},
      {"bfi", "", "b32 b64", "", Opcode::bfi, "dssii", nullptr},
      {"bfind", "shiftamt", wide, "", Opcode::bfind, "is", nullptr},
      {"fns", "", "b32", "", Opcode::fns, "dsii", nullptr},
      {"bmsk", "clamp wrap", "b32", "", Opcode::shl, "3..3", lower_bmsk},
      {"prmt", "f4e b4e rc8 ecl ecr rc16", "b32", "", Opcode::prmt, "4..4", lower_permute},
      {"mul24.lo", "", "u32 s32", "", Opcode::mul_lo, "3..3", lower_mul24},
      {"mul24.hi", "", "u32 s32", "", Opcode::mul_hi, "3..3", lower_mul24},
      {"mad24.lo", "", "u32 s32", "", Opcode::mad_lo, "4..4", lower_mul24},
      {"mad24.hi", "", "u32 s32", "", Opcode::mad_hi, "4..4", lower_mul24},
      {"dp4a", "", "u32 s32", "u32 s32", Opcode::dp4a, "dsss", nullptr},
      {"dp2a.lo", "", "u32 s32", "u32 s32", Opcode::dp2a_lo, "dsss", nullptr},
      {"dp2a.hi", "", "u32 s32", "u32 s32", Opcode::dp2a_hi, "dsss", nullptr},
      {"shf.l", "l wrap clamp", "b32", "", Opcode::shf, "dsss", nullptr},
      {"shf.r", "wrap clamp", "b32", "", Opcode::shf, "dsss", nullptr},
  };
}

std::vector<Form> float_forms() {
  return {
      // Floating point.
      {"add", "$rounding ftz sat", "f32", "", Opcode::add, "dss", nullptr},
      {"add", "$rounding", "f64", "", Opcode::add, "dss", nullptr},
      {"sub", "$rounding ftz sat", "f32", "", Opcode::sub, "dss", nullptr},
      {"sub", "$rounding", "f64", "", Opcode::sub, "dss", nullptr},
      {"mul", "$rounding ftz sat", "f32", "", Opcode::mul, "dss", nullptr},
      {"mul", "$rounding", "f64", "", Opcode::mul, "dss", nullptr},
      {"fma", "$rounding ftz sat", "f32", "", Opcode::fma, "dsss", nullptr},
      {"fma", "$rounding", "f64", "", Opcode::fma, "dsss", nullptr},
      {"mad", "$rounding ftz sat", "f32", "", Opcode::fma, "dsss", nullptr},
      {"mad", "$rounding", "f64", "", Opcode::fma, "dsss", nullptr},
      {"div", "$rounding approx full ftz", "f32", "", Opcode::div, "dss", nullptr},
      {"div", "$rounding", "f64", "", Opcode::div, "dss", nullptr},
      {"neg", "ftz", floats, "", Opcode::neg, "ds", nullptr},
      {"abs", "ftz", floats, "", Opcode::abs, "ds", nullptr},
      {"min", "ftz NaN", "f32", "", Opcode::min, "dss", nullptr},
      {"min", "", "f64", "", Opcode::min, "dss", nullptr},
      {"max", "ftz NaN", "f32", "", Opcode::max, "dss", nullptr},
      {"max", "", "f64", "", Opcode::max, "dss", nullptr},
      {"rcp", "$rounding approx ftz", floats, "", Opcode::rcp, "ds", nullptr},
      {"sqrt", "$rounding approx ftz", floats, "", Opcode::sqrt, "ds", nullptr},
      {"rsqrt", "approx ftz", floats, "", Opcode::rsqrt, "ds", nullptr},
      {"ex2", "approx ftz", "f32", "", Opcode::ex2, "ds", nullptr},
      {"lg2", "approx ftz", "f32", "", Opcode::lg2, "ds", nullptr},
      {"sin", "approx ftz", "f32", "", Opcode::sin, "ds", nullptr},
      {"cos", "approx ftz", "f32", "", Opcode::cos, "ds", nullptr},
      {"tanh", "approx", "f32", "", Opcode::tanh, "ds", nullptr},
      {"copysign", "", floats, "", Opcode::or_, "3..3", lower_copysign},
  };
}

std::vector<Form> half_forms() {
  return {
      // Half precision.
      {"add", "rn ftz sat", halves, "", Opcode::add, "dss", nullptr},
      {"sub", "rn ftz sat", halves, "", Opcode::sub, "dss", nullptr},
      {"mul", "rn ftz sat", halves, "", Opcode::mul, "dss", nullptr},
      {"fma", "rn ftz sat", halves, "", Opcode::fma, "dsss", nullptr},
      {"neg", "ftz", halves, "", Opcode::neg, "ds", nullptr},
      {"abs", "ftz", halves, "", Opcode::abs, "ds", nullptr},
      {"min", "ftz NaN", halves, "", Opcode::min, "dss", nullptr},
      {"max", "ftz NaN", halves, "", Opcode::max, "dss", nullptr},
      {"ex2", "approx ftz", halves, "", Opcode::ex2, "ds", nullptr},
      {"tanh", "approx", halves, "", Opcode::tanh, "ds", nullptr},
      {"fma", "rn ftz relu", halves, "", Opcode::fma, "4..4", lower_relu},
      {"add", "rn", brains, "", Opcode::add, "dss", nullptr},
      {"sub", "rn", brains, "", Opcode::sub, "dss", nullptr},
      {"mul", "rn", brains, "", Opcode::mul, "dss", nullptr},
      {"fma", "rn", brains, "", Opcode::fma, "dsss", nullptr},
      {"fma", "rn relu", brains, "", Opcode::fma, "4..4", lower_relu},
      {"neg", "", brains, "", Opcode::neg, "ds", nullptr},
      {"abs", "", brains, "", Opcode::abs, "ds", nullptr},
      {"min", "NaN", brains, "", Opcode::min, "dss", nullptr},
      {"max", "NaN", brains, "", Opcode::max, "dss", nullptr},
      {"ex2", "approx ftz", brains, "", Opcode::ex2, "ds", nullptr},
      {"tanh", "approx", brains, "", Opcode::tanh, "ds", nullptr},
  };
}

std::vector<Form> logic_forms() {
  return {
      // Logic and shifts.
      {"and", "", "pred b16 b32 b64", "", Opcode::and_, "dss", nullptr},
      {"or", "", "pred b16 b32 b64", "", Opcode::or_, "dss", nullptr},
      {"xor", "", "pred b16 b32 b64", "", Opcode::xor_, "dss", nullptr},
      {"not", "", "pred b16 b32 b64", "", Opcode::not_, "ds", nullptr},
      {"cnot", "", bits, "", Opcode::not_, "2..2", lower_cnot},
      {"lop3", "", "b32", "", Opcode::lop3, "5..5", lower_lop3},
      {"shl", "", bits, "", Opcode::shl, "dsi", nullptr},
      {"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "", Opcode::shr, "dsi", nullptr},

      // Comparison and selection.
      {"setp", "$compare ftz", comparable, "", Opcode::setp, "Qss", nullptr},
      {"setp", "$compare $bool ftz", comparable, "", Opcode::setp, "Qssp", nullptr},
      {"set", "$compare ftz", "u32 s32 b32 f32", comparable, Opcode::set, "dSS", nullptr},
      {"set", "$compare $bool ftz", "u32 s32 b32 f32", comparable, Opcode::set, "dSSp", nullptr},
      {"setp", "$compare ftz", pairs, "", Opcode::setp, "3..3", lower_setp_pair},
      {"setp", "$compare $bool ftz", pairs, "", Opcode::setp, "4..4", lower_setp_pair},
      {"set", "$compare ftz", "f16 bf16 u16 s16", "f16 bf16", Opcode::set, "3..3", lower_set_half},
      {"set", "$compare $bool ftz", "f16 bf16 u16 s16", "f16 bf16", Opcode::set, "4..4", lower_set_half},
      {"set", "$compare ftz", "f16x2 bf16x2 u32 s32", pairs, Opcode::set, "3..3", lower_set_half},
      {"set", "$compare $bool ftz", "f16x2 bf16x2 u32 s32", pairs, Opcode::set, "4..4", lower_set_half},
      {"selp", "", any, "", Opcode::selp, "dssp", nullptr},
      {"slct", "", any, "s32", Opcode::selp, "4..4", lower_slct},
      {"slct", "ftz", any, "f32", Opcode::selp, "4..4", lower_slct},
  };
}

std::vector<Form> move_forms() {
  return {
      // Moves and conversions.
      {"mov", "", any_or_pred, "", Opcode::mov, "2..2", lower_mov},
      {"mov.v2", "", any, "", Opcode::mov, "2..2", lower_mov_vector},
      {"mov.v4", "", any, "", Opcode::mov, "2..2", lower_mov_vector},
      {"cvt", "$rounding $integer_rounding ftz sat", convertible, convertible, Opcode::cvt, "2..2", lower_cvt},
      {"cvt", "$rounding", pairs, "f32", Opcode::cvt, "3..3", lower_cvt_pair},
      {"cvta", "to global shared shared::cta local const param param::entry", "u32 u64", "", Opcode::mov, "2..2",
       lower_cvta},
      {"isspacep", "global shared shared::cta local const", "", "", Opcode::setp, "2..2", lower_isspacep},
  };
}

}  // namespace regatta::ptx
