// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace regatta::emulator {

/// How the lanes of a warp that part at a branch go on.
enum class Divergence : std::uint8_t {
  /// One side after the other, to the place where they meet again: a SIMT stack.
  stack,
  /// The same, as long as the side that runs gets on. Where it waits for lanes of its warp, at a barrier, at an
  /// instruction whose member mask names them, or in a loop for what they write, the others have their turn, and those
  /// that wait to meet it go ahead if need be: convergence barriers with yields, as on sm_70 and later.
  barriers,
};

}  // namespace regatta::emulator
