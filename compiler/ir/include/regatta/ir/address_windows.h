// SPDX-License-Identifier: Apache-2.0
//
// The simulated generic address space. A generic address in one of these windows names the window's space; any
// other generic address is a global address. Global allocations therefore stay below shared_window.
#pragma once

#include <cstdint>

namespace regatta::ir {

/// Bits above this one choose the window.
inline constexpr unsigned window_shift = 48;
/// Generic address of offset 0 of the CTA's shared memory.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << window_shift;
/// Generic address of offset 0 of the thread's local memory.
inline constexpr std::uint64_t local_window = std::uint64_t{2} << window_shift;
/// Generic address of offset 0 of the module's constant space.
inline constexpr std::uint64_t constant_window = std::uint64_t{3} << window_shift;
/// Generic address of offset 0 of the kernel's parameters.
inline constexpr std::uint64_t param_window = std::uint64_t{4} << window_shift;
/// Mask of the offset inside a window.
inline constexpr std::uint64_t window_offset_mask = (std::uint64_t{1} << window_shift) - 1;

}  // namespace regatta::ir
