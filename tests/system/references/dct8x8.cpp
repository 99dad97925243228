// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <array>
#include <cmath>

namespace {

constexpr std::size_t side = 8;

constexpr std::array<int, side* side> quantum = {
    16, 11, 10, 16, 24,  40,  51,  61,   //
    12, 12, 14, 19, 26,  58,  60,  55,   //
    14, 13, 16, 24, 40,  57,  69,  56,   //
    14, 17, 22, 29, 51,  87,  80,  62,   //
    18, 22, 37, 56, 68,  109, 103, 77,   //
    24, 35, 55, 64, 81,  104, 113, 92,   //
    49, 64, 78, 87, 103, 121, 120, 101,  //
    72, 92, 95, 98, 112, 100, 103, 99,   //
};

template <class T>
using Line = std::array<T, side>;

/// Number n of basis function k is cos((2 n + 1) k pi / 16) / 2, and 1 / sqrt(8) for k = 0, which is cos(pi / 4) / 2.
double basis(std::size_t k, std::size_t n) {
  const double angle = k == 0 ? 4.0 : static_cast<double>((2 * n + 1) * k % 32);
  return std::cos(angle * std::acos(-1.0) / 16) / 2;
}
float basis_float(std::size_t k, std::size_t n) { return static_cast<float>(basis(k, n)); }
int basis_integer(std::size_t k, std::size_t n) { return static_cast<int>(std::lround(basis(k, n) * 4096)); }

struct Naive {
  static Line<float> forward(const Line<float>& v, int) {
    Line<float> result{};
    for (std::size_t k = 0; k < side; ++k) {
      for (std::size_t n = 0; n < side; ++n) result[k] = std::fma(basis_float(k, n), v[n], result[k]);
    }
    return result;
  }
  static Line<float> inverse(const Line<float>& v, int) {
    Line<float> result{};
    for (std::size_t k = 0; k < side; ++k) {
      for (std::size_t n = 0; n < side; ++n) result[n] = std::fma(basis_float(k, n), v[k], result[n]);
    }
    return result;
  }
  static constexpr bool columns_first = true;
};

/// Basis functions are even or odd around the middle, and so are the even ones around the middle of each half. Sums
/// begin with the last product.
struct Factored {
  static float dot(std::size_t k, const std::vector<float>& v) {
    float sum = basis_float(k, v.size() - 1) * v.back();
    for (std::size_t n = v.size() - 1; n > 0; --n) sum = std::fma(basis_float(k, n - 1), v[n - 1], sum);
    return sum;
  }
  static Line<float> forward(const Line<float>& v, int) {
    std::vector<float> sum, difference;
    for (std::size_t n = 0; n < side / 2; ++n) {
      sum.push_back(v[n] + v[7 - n]);
      difference.push_back(v[n] - v[7 - n]);
    }
    const float outer = sum[0] + sum[3];
    const float inner = sum[1] + sum[2];
    Line<float> result{};
    result[0] = basis_float(0, 0) * (outer + inner);
    result[4] = basis_float(0, 0) * (outer - inner);
    for (const std::size_t k : {2U, 6U}) result[k] = dot(k, {sum[0] - sum[3], sum[1] - sum[2]});
    for (const std::size_t k : {1U, 3U, 5U, 7U}) result[k] = dot(k, difference);
    return result;
  }
  static Line<float> inverse(const Line<float>& v, int) {
    Line<float> result{};
    for (std::size_t n = 0; n < side / 2; ++n) {
      const bool outer = n == 0 || n == 3;
      const float even = basis_float(0, 0) * (outer ? v[0] + v[4] : v[0] - v[4]);
      const std::size_t half = outer ? 0 : 1;
      const float second = std::fma(basis_float(2, half), v[2], basis_float(6, half) * v[6]);
      const float sum = n < 2 ? even + second : even - second;
      float odd = basis_float(7, n) * v[7];
      for (const std::size_t k : {5U, 3U, 1U}) odd = std::fma(basis_float(k, n), v[k], odd);
      result[n] = sum + odd;
      result[7 - n] = sum - odd;
    }
    return result;
  }
  static constexpr bool columns_first = false;
};

/// Rows keep two bits of fraction. Integers are exact, so that the order does not matter.
struct Short {
  static std::int16_t rounded(int sum, int pass) {
    const int shift = pass == 0 ? 10 : 14;
    return static_cast<std::int16_t>((sum + (1 << (shift - 1))) >> shift);
  }
  static Line<std::int16_t> forward(const Line<std::int16_t>& v, int pass) {
    Line<std::int16_t> result{};
    for (std::size_t k = 0; k < side; ++k) {
      int sum = 0;
      for (std::size_t n = 0; n < side; ++n) sum += basis_integer(k, n) * v[n];
      result[k] = rounded(sum, pass);
    }
    return result;
  }
  static Line<std::int16_t> inverse(const Line<std::int16_t>& v, int pass) {
    Line<std::int16_t> result{};
    for (std::size_t n = 0; n < side; ++n) {
      int sum = 0;
      for (std::size_t k = 0; k < side; ++k) sum += basis_integer(k, n) * v[k];
      result[n] = rounded(sum, pass);
    }
    return result;
  }
  static constexpr bool columns_first = false;
};

template <class Method, bool forward, class T>
void transform(std::vector<T>& plane, std::size_t width) {
  for (std::size_t block = 0; block < plane.size() / (side * side); ++block) {
    T* const corner = &plane[block / (width / side) * side * width + block % (width / side) * side];
    for (int pass = 0; pass < 2; ++pass) {
      const bool columns = (pass == 0) == Method::columns_first;
      for (std::size_t i = 0; i < side; ++i) {
        T* const first = corner + i * (columns ? 1 : width);
        const std::size_t step = columns ? width : 1;
        Line<T> line{};
        for (std::size_t j = 0; j < side; ++j) line[j] = first[j * step];
        line = forward ? Method::forward(line, pass) : Method::inverse(line, pass);
        for (std::size_t j = 0; j < side; ++j) first[j * step] = line[j];
      }
    }
  }
}

float quantised(float value, int step) {
  return std::nearbyint(value / static_cast<float>(step)) * static_cast<float>(step);
}
std::int16_t quantised(std::int16_t value, int step) {
  const int magnitude = (std::abs(value) + step / 2) / step * step;
  return static_cast<std::int16_t>(value < 0 ? -magnitude : magnitude);
}

template <class Method, class T>
void compress(std::vector<T> plane, std::size_t width, const std::string& name,
              std::vector<regatta::test::Expected>& expected) {
  transform<Method, true>(plane, width);
  for (std::size_t i = 0; i < plane.size(); ++i)
    plane[i] = quantised(plane[i], quantum[i / width % side * side + i % side]);
  expected.push_back(regatta::test::exact(name + "coefficients", plane));
  transform<Method, false>(plane, width);
  expected.push_back(regatta::test::exact(name + "result", plane));
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_dct8x8(const LaunchData& data) {
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "forward"));
  const auto picture = data.buffer<float>("picture");
  std::vector<Expected> expected;
  compress<Naive>(picture, width, "naive_", expected);
  compress<Factored>(picture, width, "", expected);
  compress<Short>(data.buffer<std::int16_t>("short_picture"), width, "short_", expected);
  return expected;
}

}  // namespace regatta::test
