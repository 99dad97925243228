// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

/// The sum of `values` in the order of the kernel's tree: fours, warps of 32 halved, CTAs of 8 warps, and over again
/// until one is left. Exact.
float reduction(std::vector<float> values);

}  // namespace reference
