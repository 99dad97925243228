// SPDX-License-Identifier: Apache-2.0
//
// Floating formats of 8 and 16 bits, for references that compute in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

/// Sign, `exponent` bits with the usual bias, `mantissa` bits. Formats with infinities, except e4m3, whose largest
/// exponent has numbers and one NaN of each sign.
struct SmallFloat {
  int exponent;
  int mantissa;
  bool infinities = true;

  double decode(std::uint32_t bits) const {
    const std::uint32_t fraction = bits & ((1u << mantissa) - 1);
    const int e = static_cast<int>(bits >> mantissa & ((1u << exponent) - 1));
    const double sign = (bits >> (mantissa + exponent) & 1) != 0 ? -1 : 1;
    const int top = (1 << exponent) - 1;
    if (e == top && infinities) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (e == top && fraction == (1u << mantissa) - 1) return std::nan("");
    if (e == 0) return sign * std::ldexp(fraction, 1 - bias() - mantissa);
    return sign * std::ldexp(fraction + (1u << mantissa), e - bias() - mantissa);
  }

  /// To nearest, ties to even; too large numbers become infinite, or the largest where there is no infinity.
  std::uint32_t encode(double value) const {
    const std::uint32_t sign = std::signbit(value) ? 1u << (mantissa + exponent) : 0;
    const std::uint32_t infinity = ((1u << exponent) - 1) << mantissa;
    if (std::isnan(value)) return infinity | ((1u << mantissa) - 1);
    if (std::isinf(value)) return sign | infinity;
    if (value == 0) return sign;
    int e = std::ilogb(value);
    if (e < 1 - bias()) e = 1 - bias();
    // In units of the last place: nearbyint rounds to even. A carry goes into the exponent by itself.
    const double units = std::nearbyint(std::ldexp(std::fabs(value), mantissa - e));
    const double bits = units + std::ldexp(e - 1 + bias(), mantissa);
    const std::uint32_t most = infinities ? infinity : infinity + (1u << mantissa) - 2;
    return sign | (bits >= most ? most : static_cast<std::uint32_t>(bits));
  }

  double rounded(double value) const { return decode(encode(value)); }

  template <class T>
  std::vector<double> decoded(const std::vector<T>& bits) const {
    std::vector<double> values;
    values.reserve(bits.size());
    for (const T b : bits) values.push_back(decode(b));
    return values;
  }

 private:
  int bias() const { return (1 << (exponent - 1)) - 1; }
};

constexpr SmallFloat half{5, 10}, bf16{8, 7}, e4m3{4, 3, false};

}  // namespace reference
