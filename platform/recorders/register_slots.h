// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace regatta::recorders {

/// Registers of a warp slot in tables by slot and register.
inline constexpr std::size_t registers_per_slot = 256;

}  // namespace regatta::recorders
