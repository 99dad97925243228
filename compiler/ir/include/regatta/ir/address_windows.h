// SPDX-License-Identifier: Apache-2.0
//
// The windows of the simulated address space (base/address_map.h) that generic addresses can name.
#pragma once

#include <regatta/base/address_map.h>

namespace regatta::ir {

using base::window_offset_mask;
using base::window_shift;

/// Generic address of offset 0 of the CTA's shared memory.
inline constexpr std::uint64_t shared_window = base::first_address(base::Window::shared);
/// Generic address of offset 0 of the thread's local memory.
inline constexpr std::uint64_t local_window = base::first_address(base::Window::local);
/// Generic address of offset 0 of the module's constant space.
inline constexpr std::uint64_t constant_window = base::first_address(base::Window::constant);
/// Generic address of offset 0 of the kernel's parameters.
inline constexpr std::uint64_t param_window = base::first_address(base::Window::parameters);

}  // namespace regatta::ir
