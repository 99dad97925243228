// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>
#include <complex>
#include <stdexcept>

namespace {

using Complex = std::complex<float>;
using Row = std::vector<Complex>;

/// Neither of the library's rules for infinities nor another order of operations.
Complex times(Complex a, Complex b) {
  return {std::fma(a.real(), b.real(), -(a.imag() * b.imag())), std::fma(a.real(), b.imag(), a.imag() * b.real())};
}

/// Clockwise by so many eighths of a turn, 0 to 3.
Complex turned(Complex a, std::size_t eighths) {
  constexpr float half_root = 0.70710678f;
  const float sum = a.real() + a.imag();
  const float difference = a.imag() - a.real();
  switch (eighths) {
    case 0:
      return a;
    case 1:
      return {half_root * sum, half_root * difference};
    case 2:
      return {a.imag(), -a.real()};
    default:
      return {half_root * difference, -(half_root * sum)};
  }
}

/// Radix 2 by decimation in frequency, for up to eight numbers.
Row short_transform(const Row& row) {
  const std::size_t half = row.size() / 2;
  if (half == 0) return row;
  Row sums(half);
  Row differences(half);
  for (std::size_t i = 0; i < half; ++i) {
    sums[i] = row[i] + row[i + half];
    differences[i] = turned(row[i] - row[i + half], i * 4 / half);
  }
  sums = short_transform(sums);
  differences = short_transform(differences);
  Row result(row.size());
  for (std::size_t i = 0; i < half; ++i) {
    result[2 * i] = sums[i];
    result[2 * i + 1] = differences[i];
  }
  return result;
}

/// Radix 8, except where the length is not a power of 8: radix 2 there.
Row transform(const Row& row, const Row& roots) {
  if (row.size() == 1) return row;
  std::size_t power = 1;
  while (power < row.size()) power *= 8;
  const std::size_t radix = power == row.size() ? 8 : 2;
  const std::size_t distance = row.size() / radix;
  std::vector<Row> parts(radix, Row(distance));
  for (std::size_t j = 0; j < distance; ++j) {
    Row few(radix);
    for (std::size_t i = 0; i < radix; ++i) few[i] = row[j + i * distance];
    few = short_transform(few);
    for (std::size_t i = 0; i < radix; ++i) {
      const bool turns = i > 0 && distance > 1;
      parts[i][j] = turns ? times(few[i], roots[i * j * (roots.size() / row.size())]) : few[i];
    }
  }
  Row result(row.size());
  for (std::size_t i = 0; i < radix; ++i) {
    const Row part = transform(parts[i], roots);
    for (std::size_t j = 0; j < distance; ++j) result[j * radix + i] = part[j];
  }
  return result;
}

/// exp(-2 pi i k / count) by the polynomials of the kernel.
Row roots_of_one(std::size_t count) {
  Row roots(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t in_quarter = k % (count / 4);
    const bool mirrored = in_quarter > count / 8;
    const std::size_t steps = mirrored ? count / 4 - in_quarter : in_quarter;
    const float angle = static_cast<float>(steps) * (6.2831853f / static_cast<float>(count));
    const float square = angle * angle;
    float cosine = -1.0f / 3628800.0f;
    for (const float term : {1.0f / 40320.0f, -1.0f / 720.0f, 1.0f / 24.0f, -0.5f, 1.0f})
      cosine = std::fma(cosine, square, term);
    float sine = 1.0f / 362880.0f;
    for (const float term : {-1.0f / 5040.0f, 1.0f / 120.0f, -1.0f / 6.0f, 1.0f}) sine = std::fma(sine, square, term);
    sine *= angle;
    Complex root = mirrored ? Complex(sine, -cosine) : Complex(cosine, -sine);
    for (std::size_t quarter = 0; quarter < k / (count / 4); ++quarter) root = {root.imag(), -root.real()};
    roots[k] = root;
  }
  return roots;
}

/// The definition in double precision: `spectrum` is what the order of operations above says, and it is a transform.
void verify(const Row& row, const Row& spectrum) {
  const double turn = 2 * std::acos(-1.0);
  for (std::size_t k = 0; k < row.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double angle = -turn * static_cast<double>(j * k % row.size()) / static_cast<double>(row.size());
      sum += std::complex<double>(row[j]) * std::complex<double>(std::cos(angle), std::sin(angle));
    }
    const double size = std::sqrt(static_cast<double>(row.size()));
    if (std::abs(sum - std::complex<double>(spectrum[k])) > 1e-6 * size)
      throw std::logic_error("fft: the reference is no Fourier transform");
  }
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_fft(const LaunchData& data) {
  const auto signal = data.buffer<Complex>("signal");
  const Row roots = roots_of_one(data.buffer<Complex>("roots").size());
  Row spectrum;
  for (std::size_t first = 0; first < signal.size(); first += roots.size()) {
    const auto begin = signal.begin() + static_cast<std::ptrdiff_t>(first);
    const Row row(begin, begin + static_cast<std::ptrdiff_t>(roots.size()));
    const Row result = transform(row, roots);
    if (first == 0) verify(row, result);
    spectrum.insert(spectrum.end(), result.begin(), result.end());
  }
  return {exact("roots", roots), exact("spectrum", spectrum)};
}

}  // namespace regatta::test
