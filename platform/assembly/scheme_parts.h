// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace regatta::assembly {

/// The names in "a+b", in their order; of "a", itself.
std::vector<std::string> scheme_parts(const std::string& name);

}  // namespace regatta::assembly
