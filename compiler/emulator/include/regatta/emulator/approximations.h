// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace regatta::emulator {

/// What `.approx` and `.full` instructions of f32 compute. All others are the same either way.
enum class Approximations : std::uint8_t {
  rounded,  ///< the exact result, rounded once
  h100,     ///< the bits that an H100 gives (docs/approximations.md: where that is known)
};

}  // namespace regatta::emulator
