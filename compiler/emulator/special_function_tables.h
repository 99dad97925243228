// SPDX-License-Identifier: Apache-2.0
//
// Coefficients of the special function unit (special_function.h).
#pragma once

#include <cstdint>

namespace regatta::emulator::h100 {

/// Magnitudes of the coefficients of one segment; the function has their signs and places.
struct Segment {
  std::uint32_t c0, c1, c2;
};

extern const Segment rcp_segments[128];    ///< 1/x, x in [1, 2)
extern const Segment rsqrt_segments[128];  ///< 1/sqrt(x): x in [1, 2), then x in [2, 4)
extern const Segment sqrt_segments[128];   ///< sqrt(x): x in [1, 2), then x in [2, 4)
extern const Segment ex2_segments[64];     ///< 2^x, x in [0, 1)
extern const Segment lg2_segments[64];     ///< log2(x), x in [1, 2)
extern const Segment sin_segments[64];     ///< sin(x pi/2), x in [0, 1)
extern const Segment tanh_segments[4];     ///< tanh(x), x in [0.5, 1)

}  // namespace regatta::emulator::h100
