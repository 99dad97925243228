// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

struct Normal {
  std::vector<double> values, means;
};

Normal layer_norm(const std::vector<double>& in, const std::vector<double>& gain, const std::vector<double>& bias,
                  double epsilon) {
  const std::size_t columns = gain.size();
  Normal result;
  for (std::size_t row = 0; row < in.size(); row += columns) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < columns; ++i) mean += in[row + i];
    mean /= static_cast<double>(columns);
    for (std::size_t i = 0; i < columns; ++i) squares += (in[row + i] - mean) * (in[row + i] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (std::size_t i = 0; i < columns; ++i)
      result.values.push_back((in[row + i] - mean) / deviation * gain[i] + bias[i]);
    result.means.push_back(mean);
  }
  return result;
}

}  // namespace

std::vector<Expected> expected_layer_norm(const LaunchData& data) {
  using reference::bf16;
  const auto halves = [&](const char* name) { return reference::half.decoded(data.buffer<std::uint16_t>(name)); };
  const Normal normal =
      layer_norm(halves("states"), halves("gain"), halves("bias"), static_cast<double>(data.scalar<float>(1, "layer")));

  const auto added = data.buffer<std::uint16_t>("added");
  const auto weight = bf16.decoded(data.buffer<std::uint16_t>("weight"));
  auto residual = data.buffer<std::uint16_t>("residual");
  std::vector<double> scaled;
  for (std::size_t row = 0; row < residual.size(); row += weight.size()) {
    double squares = 0;
    for (std::size_t i = row; i < row + weight.size(); ++i) {
      // Of two bf16 numbers the sum in f32 has one more rounding, which can show: as the kernel, not in double.
      residual[i] =
          static_cast<std::uint16_t>(bf16.encode(static_cast<float>(bf16.decode(added[i]) + bf16.decode(residual[i]))));
      squares += std::pow(bf16.decode(residual[i]), 2);
    }
    const double root =
        std::sqrt(squares / static_cast<double>(weight.size()) + static_cast<double>(data.scalar<float>(1, "rms")));
    for (std::size_t i = 0; i < weight.size(); ++i) scaled.push_back(bf16.decode(residual[row + i]) / root * weight[i]);
  }
  return {near("normal", Float::f16, normal.values, 1e-3, 1e-5), near("means", Float::f32, normal.means, 1e-5, 1e-6),
          exact("residual", residual), near("scaled", Float::bf16, scaled, 4.5e-3, 0)};
}

}  // namespace regatta::test
