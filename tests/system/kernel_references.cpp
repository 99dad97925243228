// SPDX-License-Identifier: Apache-2.0
#include "kernel_references.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "bfs.h"
#include "black_scholes.h"
#include "histogram.h"
#include "hotspot.h"
#include "needleman_wunsch.h"
#include "pathfinder.h"
#include "reduction.h"
#include "sgemm.h"
#include "spmv.h"
#include "srad.h"
#include "stencil3d.h"
#include "vector_add.h"

namespace regatta::test {
namespace {

using Expectations = std::vector<Expected>;

/// exp and log, in f32 on a GPU and in double here: a few units in the last place, which what follows makes larger.
constexpr double f32_functions = 1e-5;

template <class T>
Expected exact(const std::string& buffer, const std::vector<T>& values) {
  static_assert(sizeof(T) == 4, "32-bit elements");
  Expected e;
  e.buffer = buffer;
  e.words.resize(values.size());
  std::memcpy(e.words.data(), values.data(), values.size() * sizeof(T));
  return e;
}

Expected near(const std::string& buffer, std::vector<double> values) {
  Expected e;
  e.buffer = buffer;
  e.values = std::move(values);
  e.tolerance = f32_functions;
  return e;
}

Expectations vector_add(const LaunchData& data) {
  return {exact("c", reference::vector_add(data.buffer<float>("a"), data.buffer<float>("b")))};
}

Expectations sgemm(const LaunchData& data) {
  return {exact("c", reference::sgemm(data.buffer<float>("a"), data.buffer<float>("b"), data.buffer<float>("c"),
                                      data.scalar<std::int32_t>(0), data.scalar<std::int32_t>(1),
                                      data.scalar<std::int32_t>(2), data.scalar<float>(3), data.scalar<float>(4)))};
}

Expectations hotspot(const LaunchData& data) {
  reference::HotspotParameters p;
  p.rows = data.scalar<std::int32_t>(0);
  p.columns = data.scalar<std::int32_t>(1);
  p.conductance = data.scalar<float>(2);
  p.sink = data.scalar<float>(3);
  p.ambient = data.scalar<float>(4);
  p.step = data.scalar<float>(5);
  return {exact("now", reference::hotspot(data.buffer<float>("now"), data.buffer<float>("power"), p,
                                          static_cast<int>(data.repetitions())))};
}

Expectations bfs(const LaunchData& data) {
  return {exact("level", reference::bfs(data.buffer<std::int32_t>("first_edge"), data.buffer<std::int32_t>("degree"),
                                        data.buffer<std::int32_t>("edges"), data.scalar<std::int32_t>(1, "init")))};
}

Expectations pathfinder(const LaunchData& data) {
  return {
      exact("above", reference::pathfinder(data.buffer<std::int32_t>("above"), data.buffer<std::uint8_t>("weights")))};
}

Expectations needleman_wunsch(const LaunchData& data) {
  return {exact("score", reference::needleman_wunsch(
                             data.buffer<std::uint8_t>("down"), data.buffer<std::uint8_t>("across"),
                             data.global<std::int32_t>("substitution"), data.scalar<std::int32_t>(2, "border")))};
}

Expectations srad(const LaunchData& data) {
  return {near("picture", reference::srad(data.buffer<float>("picture"), data.scalar<std::int32_t>(0, "update"),
                                          data.scalar<std::int32_t>(1, "update"),
                                          static_cast<double>(data.scalar<float>(2, "update")),
                                          static_cast<int>(data.repetitions())))};
}

Expectations stencil3d(const LaunchData& data) {
  reference::Stencil3dParameters p;
  p.nx = data.scalar<std::int32_t>(0);
  p.ny = data.scalar<std::int32_t>(1);
  p.nz = data.scalar<std::int32_t>(2);
  p.centre = data.scalar<float>(3);
  p.near = data.scalar<float>(4);
  p.far = data.scalar<float>(5);
  return {exact("now", reference::stencil3d(data.buffer<float>("now"), p, static_cast<int>(data.repetitions())))};
}

Expectations spmv(const LaunchData& data) {
  const reference::CompressedRows matrix = reference::spmv_matrix(
      data.buffer<std::int32_t>("jitter"), data.buffer<std::int32_t>("columns"), data.scalar<std::int32_t>(1, "build"));
  const auto values = data.buffer<float>("values");
  auto x = data.buffer<float>("x");
  for (std::uint64_t i = 0; i < data.repetitions(); ++i) x = reference::spmv(matrix, values, x);
  return {exact("offsets", matrix.offsets), exact("columns", matrix.columns), exact("x", x)};
}

Expectations black_scholes(const LaunchData& data) {
  const reference::OptionPrices p =
      reference::black_scholes(data.buffer<float>("price"), data.buffer<float>("strike"), data.buffer<float>("years"),
                               data.scalar<float>(0), data.scalar<float>(1));
  return {near("call", p.call), near("put", p.put)};
}

Expectations histogram(const LaunchData& data) {
  return {exact("counts", reference::histogram(data.buffer<std::uint8_t>("samples")))};
}

Expectations reduction(const LaunchData& data) {
  return {exact("sum", std::vector<float>{reference::reduction(data.buffer<float>("values"))})};
}

struct Entry {
  const char* kernel;
  Expectations (*results)(const LaunchData&);
};

constexpr Entry table[] = {
    {"vector_add", vector_add},
    {"sgemm", sgemm},
    {"hotspot", hotspot},
    {"bfs", bfs},
    {"pathfinder", pathfinder},
    {"needleman_wunsch", needleman_wunsch},
    {"srad", srad},
    {"stencil3d", stencil3d},
    {"spmv", spmv},
    {"black_scholes", black_scholes},
    {"histogram", histogram},
    {"reduction", reduction},
};

}  // namespace

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const Entry& e : table) n.emplace_back(e.kernel);
    return n;
  }();
  return names;
}

std::vector<Expected> expected_results(const std::string& kernel, Size size) {
  for (const Entry& e : table) {
    if (kernel == e.kernel) return e.results(LaunchData(launch_path(kernel, size)));
  }
  throw std::runtime_error("no reference for kernel " + kernel);
}

std::string compare(const Expected& expected, const std::string& bytes) {
  const std::size_t count = expected.words.empty() ? expected.values.size() : expected.words.size();
  std::ostringstream text;
  if (bytes.size() != 4 * count || count == 0) {
    text << expected.buffer << " has " << bytes.size() << " bytes, expected " << 4 * count;
    return text.str();
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + 4 * i, sizeof word);
    float number;
    std::memcpy(&number, &word, sizeof number);
    if (!expected.words.empty()) {
      if (word == expected.words[i]) continue;
      text << expected.buffer << "[" << i << "] is 0x" << std::hex << word << ", expected 0x" << expected.words[i];
      return text.str();
    }
    const double should = expected.values[i];
    if (std::fabs(static_cast<double>(number) - should) <= expected.tolerance * std::fabs(should)) continue;
    text.precision(10);
    text << expected.buffer << "[" << i << "] is " << number << ", expected " << should << " within "
         << expected.tolerance << " of it";
    return text.str();
  }
  return "";
}

}  // namespace regatta::test
