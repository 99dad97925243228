// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/launch/fill.h>

#include <cstddef>
#include <vector>

namespace regatta::launch {

/// A random word as a number from 0 to below 1.
inline double unit(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
/// Contents whose elements depend on each other: pictures, row lengths, texts, sorted keys, points.
bool is_structured(Init init);
/// All elements of such a buffer; whole numbers for integer types.
std::vector<double> structured_elements(const FillSpec& spec, std::size_t count);

}  // namespace regatta::launch
