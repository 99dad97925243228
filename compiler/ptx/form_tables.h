// SPDX-License-Identifier: Apache-2.0
//
// The parts of the table of instruction forms, one function a topic. The order matters where two rows fit a statement:
// the first is taken.
#pragma once

#include "forms.h"

#include <vector>

namespace regatta::ptx {

/// Types that several rows share.
namespace types {
inline constexpr const char* integers = "u16 s16 u32 s32 u64 s64";
inline constexpr const char* narrow = "u16 s16 u32 s32";
inline constexpr const char* wide = "u32 s32 u64 s64";
inline constexpr const char* bits = "b16 b32 b64";
inline constexpr const char* floats = "f32 f64";
inline constexpr const char* any = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
inline constexpr const char* comparable = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64";
inline constexpr const char* halves = "f16 f16x2";
inline constexpr const char* brains = "bf16 bf16x2";
inline constexpr const char* pairs = "f16x2 bf16x2";
inline constexpr const char* any_or_pred = "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
inline constexpr const char* convertible = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";
inline constexpr const char* storage = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
}  // namespace types

std::vector<Form> integer_forms();
std::vector<Form> float_forms();
std::vector<Form> half_forms();
std::vector<Form> logic_forms();  ///< logic, shifts, comparison, selection
std::vector<Form> move_forms();   ///< and conversions
std::vector<Form> packed_forms();
std::vector<Form> video_forms();
std::vector<Form> memory_forms();
std::vector<Form> texture_forms();
std::vector<Form> warp_forms();    ///< between lanes and warps
std::vector<Form> tensor_forms();  ///< matrices in the registers of a warp
std::vector<Form> group_forms();   ///< of a group of four warps
std::vector<Form> control_forms();
std::vector<Form> cluster_forms();  ///< and register budgets of warp groups
std::vector<Form> async_forms();    ///< asynchronous copies, mbarriers

}  // namespace regatta::ptx
