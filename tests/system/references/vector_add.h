// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

/// a + b, element by element. Exact.
std::vector<float> vector_add(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace reference
