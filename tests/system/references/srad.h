// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

/// Speckle-reducing anisotropic diffusion of a picture of 0 to 255, in double precision. The kernels' f32 results are
/// near, not equal.
std::vector<double> srad(const std::vector<float>& picture, int rows, int columns, double step, int steps);

}  // namespace reference
