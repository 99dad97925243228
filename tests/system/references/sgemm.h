// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

/// alpha A B + beta C for row-major A (rows x depth), B (depth x columns) and C (rows x columns). Products are fused
/// into the sum in the order of the depth, as the kernel does: exact.
std::vector<float> sgemm(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                         int rows, int columns, int depth, float alpha, float beta);

}  // namespace reference
