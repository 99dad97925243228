// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using Numbers = std::array<float, 5>;  // density, momentum, energy
using Vector = std::array<float, 3>;

float dot(const Vector& a, const Vector& b) { return std::fma(a[0], b[0], std::fma(a[1], b[1], a[2] * b[2])); }

/// What follows from density, momentum and energy.
struct Gas {
  explicit Gas(const Numbers& n) : numbers(n) {
    for (std::size_t axis = 0; axis < 3; ++axis) velocity[axis] = n[1 + axis] / n[0];
    const float squared = dot(velocity, velocity);
    speed = std::sqrt(squared);
    pressure = (1.4f - 1.0f) * std::fma(-0.5f * n[0], squared, n[4]);
    sound = std::sqrt(1.4f * pressure / n[0]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      flux[axis][0] = n[1 + axis];
      // Momentum a, carried by velocity b; the kernel multiplies the velocity of the lower axis.
      for (std::size_t other = 0; other < 3; ++other) {
        const std::size_t low = std::min(axis, other), high = std::max(axis, other);
        flux[axis][1 + other] =
            low == high ? std::fma(velocity[low], n[1 + low], pressure) : velocity[low] * n[1 + high];
      }
      flux[axis][4] = velocity[axis] * (n[4] + pressure);
    }
  }
  Numbers numbers;
  Vector velocity{};
  float speed = 0, pressure = 0, sound = 0;
  std::array<Numbers, 3> flux{};  // through a unit of area in x, y, z
};

struct Face {
  enum class Kind { inner, wing, far_field } kind;
  std::size_t neighbour;
  Vector normal;
};

struct Element {
  std::array<Face, 4> faces;
  Numbers now;
};

/// What flows into an element; a sum in the order of its faces, the viscosity of each first.
Numbers inflow(const std::vector<Element>& elements, const Element& element, const std::array<Numbers, 3>& far_flux) {
  const Gas own(element.now);
  Numbers sum{};
  for (const Face& face : element.faces) {
    if (face.kind == Face::Kind::wing) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        sum[1 + axis] = std::fma(face.normal[axis], own.pressure, sum[1 + axis]);
      continue;
    }
    const bool inner = face.kind == Face::Kind::inner;
    const Gas other(inner ? elements.at(face.neighbour).now : element.now);
    if (inner) {
      const float area = std::sqrt(dot(face.normal, face.normal));
      const float factor = -area * 0.2f * 0.5f * (own.speed + other.speed + own.sound + other.sound);
      for (std::size_t k = 0; k < 5; ++k) sum[k] = std::fma(factor, own.numbers[k] - other.numbers[k], sum[k]);
    }
    const std::array<Numbers, 3>& beyond = inner ? other.flux : far_flux;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t k = 0; k < 5; ++k)
        sum[k] = std::fma(0.5f * face.normal[axis], beyond[axis][k] + own.flux[axis][k], sum[k]);
    }
  }
  return sum;
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_cfd(const LaunchData& data) {
  const auto distances = data.buffer<std::int32_t>("neighbours");
  const auto normals = data.buffer<float>("normals");
  const auto areas = data.buffer<float>("areas");
  const std::size_t count = areas.size();

  // The undisturbed gas.
  const auto constant = [&](const std::string& name) { return data.global<float>("far_" + name).at(0); };
  const Numbers far{constant("density"), constant("momentum_x"), constant("momentum_y"), constant("momentum_z"),
                    constant("energy")};
  const std::array<Numbers, 3> far_flux = {Numbers{far[1], constant("flux_momentum_xx"), constant("flux_momentum_xy"),
                                                   constant("flux_momentum_xz"), constant("flux_energy_x")},
                                           Numbers{far[2], constant("flux_momentum_xy"), constant("flux_momentum_yy"),
                                                   constant("flux_momentum_yz"), constant("flux_energy_y")},
                                           Numbers{far[3], constant("flux_momentum_xz"), constant("flux_momentum_yz"),
                                                   constant("flux_momentum_zz"), constant("flux_energy_z")}};

  std::vector<Element> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    Vector sum{};
    for (std::size_t f = 0; f < 4; ++f) {
      Face& face = elements[i].faces[f];
      const std::int64_t distance = distances[f * count + i];
      const std::int64_t other = static_cast<std::int64_t>(i) + distance;
      face.kind = distance == 0                                            ? Face::Kind::wing
                  : other < 0 || other >= static_cast<std::int64_t>(count) ? Face::Kind::far_field
                                                                           : Face::Kind::inner;
      face.neighbour = static_cast<std::size_t>(other);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        face.normal[axis] = f == 3 ? -sum[axis] : normals[(f * 3 + axis) * count + i];
        sum[axis] += face.normal[axis];
      }
    }
    elements[i].now = far;
  }

  for (std::uint64_t iteration = 0; iteration < data.repetitions(); ++iteration) {
    const std::vector<Element> old = elements;
    for (int stage = 0; stage < 3; ++stage) {
      const std::vector<Element> before = elements;
      for (std::size_t i = 0; i < count; ++i) {
        const Gas gas(old[i].now);
        const float step = 0.5f / (std::sqrt(areas[i]) * (gas.speed + gas.sound));
        const Numbers in = inflow(before, before[i], far_flux);
        for (std::size_t k = 0; k < 5; ++k)
          elements[i].now[k] = std::fma(step / static_cast<float>(4 - stage), in[k], old[i].now[k]);
      }
    }
  }

  std::vector<float> variables(5 * count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 5; ++k) variables[k * count + i] = elements[i].now[k];
  }
  return {exact("variables", variables)};
}

}  // namespace regatta::test
