// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace regatta::test {
namespace {

using Vector = std::array<float, 3>;
using Corner = std::array<int, 3>;

/// The axis that an edge is parallel to and its place along the others: edges in this order begin the lines.
struct Edge {
  int axis;
  Corner low;
  bool operator<(const Edge& other) const {
    return std::tie(axis, low[2], low[1], low[0]) < std::tie(other.axis, other.low[2], other.low[1], other.low[0]);
  }
};

Edge edge_between(const Corner& a, const Corner& b) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (a[axis] != b[axis]) return {static_cast<int>(axis), a[axis] < b[axis] ? a : b};
  }
  return {};
}

/// The edges of all triangles of a cube, three after three.
template <class Below>
std::vector<Edge> triangles(const Below& below) {
  // The lines run with what is below on their left, seen from outside.
  std::map<Edge, Edge> next;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const int side : {0, 1}) {
      // Corner i of a face, counterclockwise seen from outside.
      const auto around = [&](int i) {
        static constexpr std::array<std::array<int, 2>, 4> square{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
        const auto& at = square[static_cast<std::size_t>(side == 1 ? i % 4 : (8 - i) % 4)];
        Corner c{};
        c[axis] = side;
        c[(axis + 1) % 3] = at[0];
        c[(axis + 2) % 3] = at[1];
        return c;
      };
      for (int begin = 0; begin < 4; ++begin) {
        if (below(around(begin + 3)) || !below(around(begin))) continue;
        int end = begin;
        while (below(around(end % 4))) ++end;
        next[edge_between(around((end + 3) % 4), around(end % 4))] = edge_between(around(begin + 3), around(begin));
      }
    }
  }
  std::vector<Edge> result;
  while (!next.empty()) {
    std::vector<Edge> line{next.begin()->first};
    while (next.count(line.back()) != 0) {
      const Edge following = next.at(line.back());
      next.erase(line.back());
      line.push_back(following);
    }
    line.pop_back();  // the first again
    for (std::size_t i = 1; i + 1 < line.size(); ++i) result.insert(result.end(), {line[0], line[i], line[i + 1]});
  }
  return result;
}

float quartic(float x) {
  const float square = (3.0f * x) * (3.0f * x);
  return square * (square - 5.0f);
}

float field(const Vector& p) { return std::fma(((quartic(p[0]) + quartic(p[1])) + quartic(p[2])) + 11.8f, 0.2f, 0.5f); }

Vector slope(const Vector& p) {
  Vector s{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vector q = p;
    q[axis] += 0.001f;
    s[axis] = field(q) - field(p);
  }
  return s;
}

}  // namespace

std::vector<Expected> expected_marching_cubes(const LaunchData& data) {
  const auto room = 4 * static_cast<std::size_t>(data.scalar<std::int32_t>(0, "generate"));
  const int nx = 1 << data.scalar<std::int32_t>(1, "generate");
  const int ny = 1 << data.scalar<std::int32_t>(2, "generate");
  const int nz = data.scalar<std::int32_t>(0, "classify") / (nx * ny);
  const Vector step{data.scalar<float>(3, "generate"), data.scalar<float>(4, "generate"),
                    data.scalar<float>(5, "generate")};
  const auto surface = data.scalar<float>(6, "generate");

  std::vector<float> places, normals;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        const auto place = [&](const Corner& c) {
          return Vector{std::fma(static_cast<float>(x + c[0]), step[0], -1.0f),
                        std::fma(static_cast<float>(y + c[1]), step[1], -1.0f),
                        std::fma(static_cast<float>(z + c[2]), step[2], -1.0f)};
        };
        for (const Edge& edge : triangles([&](const Corner& c) { return field(place(c)) < surface; })) {
          Corner high = edge.low;
          high[static_cast<std::size_t>(edge.axis)] = 1;
          const Vector a = place(edge.low), b = place(high);
          const Vector m = slope(a), n = slope(b);
          const float part = (surface - field(a)) / (field(b) - field(a));
          for (std::size_t axis = 0; axis < 3; ++axis) {
            places.push_back(std::fma(part, b[axis] - a[axis], a[axis]));
            normals.push_back(std::fma(part, n[axis] - m[axis], m[axis]));
          }
          places.push_back(1.0f);
          normals.push_back(0.0f);
        }
      }
    }
  }
  places.resize(room);
  normals.resize(room);
  return {exact("places", places), exact("normals", normals)};
}

}  // namespace regatta::test
