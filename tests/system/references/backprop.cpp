// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <utility>

namespace regatta::test {
namespace {

constexpr std::size_t tile = 16;  // inputs whose products are added in a tree
constexpr double learning_rate = 0.3;
constexpr double momentum = 0.3;

/// Matrices have a row per input and a column per hidden unit, of which number 0 is the bias.
struct Forward {
  std::vector<float> partial_sums;
  std::vector<float> weights;  ///< overwritten by intermediate sums
};

Forward forward(const std::vector<float>& input, std::vector<float> weights, std::size_t hidden) {
  Forward result;
  const std::size_t stride = hidden + 1;
  for (std::size_t first = 1; first + tile <= input.size(); first += tile) {
    for (std::size_t unit = 1; unit <= hidden; ++unit) {
      const auto product = [&](std::size_t k) -> float& { return weights.at((first + k) * stride + unit); };
      for (std::size_t k = 0; k < tile; ++k) product(k) *= input[first + k];
      for (std::size_t step = 1; step < tile; step *= 2) {
        for (std::size_t k = 0; k < tile; k += 2 * step) product(k) += product(k + step);
      }
      result.partial_sums.push_back(product(0));
    }
  }
  result.weights = std::move(weights);
  return result;
}

void adjust(const std::vector<float>& delta, const std::vector<float>& input, std::vector<float>& weights,
            std::vector<float>& changes) {
  const std::size_t stride = delta.size();
  for (std::size_t row = 0; row < input.size(); ++row) {
    for (std::size_t unit = 1; unit < stride; ++unit) {
      const std::size_t at = row * stride + unit;
      const double error = learning_rate * static_cast<double>(delta[unit]);
      const double pushed = row == 0 ? error : error * static_cast<double>(input[row]);
      const double change = pushed + momentum * static_cast<double>(changes.at(at));
      weights.at(at) = static_cast<float>(static_cast<double>(weights.at(at)) + change);
      changes.at(at) = static_cast<float>(change);
    }
  }
}

}  // namespace

std::vector<Expected> expected_backprop(const LaunchData& data) {
  const auto input = data.buffer<float>("input");
  const Forward sums = forward(input, data.buffer<float>("forward_weights"),
                               static_cast<std::size_t>(data.scalar<std::int32_t>(0, "forward")));
  auto weights = data.buffer<float>("weights");
  auto changes = data.buffer<float>("changes");
  adjust(data.buffer<float>("delta"), input, weights, changes);
  return {exact("partial_sums", sums.partial_sums), exact("forward_weights", sums.weights), exact("weights", weights),
          exact("changes", changes)};
}

}  // namespace regatta::test
