// SPDX-License-Identifier: Apache-2.0
//
// The special function unit of an H100 (MUFU in machine code): f32 operands and results as bits. Subnormal operands and
// results are zeros, NaN is 0x7fffffff. What PTX makes of it is in lanes_approximate.cpp.
//
// The unit interpolates: the upper 6 bits of a fraction (7 for rcp) select three coefficients, and C0 + C1 x + C2 x^2
// of the rest x is added in fixed point and truncated (Oberman and Siu, A High-Performance Area-Efficient Multifunction
// Interpolator, ARITH 2005). docs/approximations.md says how the coefficients were found, and what was measured.
#pragma once

#include <cstdint>

namespace regatta::emulator::h100 {

std::uint32_t rcp(std::uint32_t x);
std::uint32_t rsqrt(std::uint32_t x);
std::uint32_t sqrt(std::uint32_t x);
std::uint32_t ex2(std::uint32_t x);
std::uint32_t lg2(std::uint32_t x);
/// Sine and cosine of `turns` times 2 pi.
std::uint32_t sin_of_turns(std::uint32_t turns);
std::uint32_t cos_of_turns(std::uint32_t turns);
/// Whether tanh() knows the result: |x| in [0.5, 1). The unit's segments elsewhere have not been measured.
bool has_tanh(std::uint32_t x);
std::uint32_t tanh(std::uint32_t x);

}  // namespace regatta::emulator::h100
