// SPDX-License-Identifier: Apache-2.0
#include "forms.h"

#include "lowering.h"
#include "parser.h"

#include <unordered_map>

namespace regatta::ptx {
namespace {

using ir::Opcode;

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
constexpr const char* storage = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
constexpr const char* convertible = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";

std::vector<Form> make_forms() {
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

      // Moves and conversions.
      {"mov", "", any_or_pred, "", Opcode::mov, "2..2", lower_mov},
      {"mov.v2", "", any, "", Opcode::mov, "2..2", lower_mov_vector},
      {"mov.v4", "", any, "", Opcode::mov, "2..2", lower_mov_vector},
      {"cvt", "$rounding $integer_rounding ftz sat", convertible, convertible, Opcode::cvt, "2..2", lower_cvt},
      {"cvt", "$rounding", pairs, "f32", Opcode::cvt, "3..3", lower_cvt_pair},
      {"cvta", "to global shared shared::cta local const param param::entry", "u32 u64", "", Opcode::mov, "2..2",
       lower_cvta},
      {"isspacep", "global shared shared::cta local const", "", "", Opcode::setp, "2..2", lower_isspacep},

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
      {"membar", "cta gl sys", "", "", Opcode::membar, "", nullptr},
      {"fence", "sc acq_rel acquire release cta cluster gpu sys", "", "", Opcode::membar, "", nullptr},

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

struct Row {
  const Form* form;
  std::vector<std::string> required;
  std::vector<ir::Type> types, second_types;
};

std::vector<std::string> split(const char* text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c != separator) {
      part += *c;
    } else {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::vector<ir::Type> types_of(const char* text) {
  std::vector<ir::Type> types;
  for (const std::string& name : split(text, ' ')) types.push_back(type_named(name));
  return types;
}

using Index = std::unordered_map<std::string_view, std::vector<Row>>;

const Index& index() {
  static const Index table = [] {
    Index t;
    for (const Form& f : forms()) {
      Row row{&f, split(f.name, '.'), types_of(f.types), types_of(f.second_types)};
      row.required.erase(row.required.begin());
      const std::string_view name(f.name);
      t[name.substr(0, name.find('.'))].push_back(std::move(row));
    }
    return t;
  }();
  return table;
}

bool contains(const std::vector<ir::Type>& list, ir::Type t) {
  for (ir::Type x : list)
    if (x == t) return true;
  return false;
}

/// The range of operand counts a form takes.
std::pair<std::size_t, std::size_t> operand_range(const Form& f) {
  const std::string text = f.operands;
  if (text.size() == 4 && text[1] == '.')
    return {static_cast<std::size_t>(text[0] - '0'), static_cast<std::size_t>(text[3] - '0')};
  return {text.size(), text.size()};
}

/// How well a statement's modifiers fit a row.
enum class Fit { no, modifiers_only, yes };

Fit fit(const Row& row, const Statement& s, std::vector<ir::Type>& types) {
  types.clear();
  for (const std::string& r : row.required) {
    bool found = false;
    for (const std::string& m : s.modifiers) found = found || m == r;
    if (!found) return Fit::no;
  }
  for (const std::string& m : s.modifiers) {
    const ir::Type t = type_named(m);
    if (t != ir::Type::none) {
      types.push_back(t);
      continue;
    }
    bool known = is_option(row.form->options, m);
    for (const std::string& r : row.required) known = known || m == r;
    if (!known) return Fit::no;
  }
  const std::size_t wanted = (row.types.empty() ? 0u : 1u) + (row.second_types.empty() ? 0u : 1u);
  if (types.size() != wanted) return Fit::no;
  if (wanted > 0 && !contains(row.types, types[0])) return Fit::no;
  if (wanted > 1 && !contains(row.second_types, types[1])) return Fit::no;
  const auto [low, high] = operand_range(*row.form);
  return s.operands.size() >= low && s.operands.size() <= high ? Fit::yes : Fit::modifiers_only;
}

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> table = make_forms();
  return table;
}

bool is_known_mnemonic(std::string_view mnemonic) { return index().count(mnemonic) != 0; }

const Form& match_form(const Statement& s, const std::string& file, ir::Instruction& proto) {
  const auto rows = index().find(s.mnemonic);
  if (s.unparsed || rows == index().end()) fail(file, s.at, refusal(s));
  std::vector<ir::Type> types;
  const Form* near = nullptr;
  for (const Row& row : rows->second) {
    const Fit f = fit(row, s, types);
    if (f == Fit::modifiers_only && near == nullptr) near = row.form;
    if (f != Fit::yes) continue;
    proto.op = row.form->op;
    if (!types.empty()) proto.type = types[0];
    if (types.size() > 1) proto.source_type = types[1];
    for (const std::string& m : s.modifiers)
      if (type_named(m) == ir::Type::none) apply_option(proto, m);
    return *row.form;
  }
  if (near == nullptr) fail(file, s.at, "form '" + s.name + "' is not supported");
  const auto [low, high] = operand_range(*near);
  fail(file, s.at,
       "'" + s.name + "' has " + std::to_string(s.operands.size()) + " operands, expected " + std::to_string(low) +
           (high != low ? " to " + std::to_string(high) : ""));
}

}  // namespace regatta::ptx
