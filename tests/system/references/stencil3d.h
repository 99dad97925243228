// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

struct Stencil3dParameters {
  int nx = 0, ny = 0, nz = 0;
  float centre = 0, near = 0, far = 0;  ///< weights of a cell, of its neighbours, of those beyond them
};

/// The cells after `steps` steps; x runs fastest. Exact.
std::vector<float> stencil3d(std::vector<float> now, const Stencil3dParameters& parameters, int steps);

}  // namespace reference
