// SPDX-License-Identifier: Apache-2.0
//
// What the emulated kernels compute equals their C++ references, bit for bit: the kernels use integers and f32 add,
// mul, fma, div.rn only, which leave no freedom. Neither the allocation (spills) nor the warp's width may show.
#include <regatta/test/catch.h>

#include <algorithm>

#include "bfs.h"
#include "hotspot.h"
#include "kernels.h"
#include "sgemm.h"
#include "vector_add.h"

using namespace regatta;
using test::Folder;
using test::LaunchData;
using test::Size;

namespace {

struct Variant {
  unsigned warp_size = 32;
  unsigned max_registers = 255;
};

const std::vector<Variant> variants{{32, 255}, {64, 255}, {32, 24}, {64, 18}};

/// Runs a kernel and returns the bits of one of its buffers afterwards.
std::vector<std::uint32_t> run(const std::string& kernel, Size size, const std::string& buffer, Variant variant = {}) {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, size);
  o.warp_size = variant.warp_size;
  o.max_registers = variant.max_registers;
  o.dumps.emplace_back(buffer, folder.file("result.bin"));
  tool::annotate(o);
  const std::string bytes = folder.read("result.bin");
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

template <class T>
std::vector<std::uint32_t> bits(const std::vector<T>& values) {
  static_assert(sizeof(T) == 4, "32-bit elements");
  std::vector<std::uint32_t> words(values.size());
  std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
  return words;
}

void require_equal(const std::vector<std::uint32_t>& found, const std::vector<std::uint32_t>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    CAPTURE(i, found[i], expected[i]);
    FAIL("a result differs");
  }
}

std::vector<std::uint32_t> vector_add_reference(Size size) {
  const LaunchData data(test::launch_path("vector_add", size));
  const auto a = data.buffer<float>("a");
  REQUIRE(static_cast<int>(a.size()) == data.scalar<std::int32_t>(0));
  return bits(reference::vector_add(a, data.buffer<float>("b")));
}

std::vector<std::uint32_t> sgemm_reference(Size size) {
  const LaunchData data(test::launch_path("sgemm", size));
  return bits(reference::sgemm(data.buffer<float>("a"), data.buffer<float>("b"), data.buffer<float>("c"),
                               data.scalar<std::int32_t>(0), data.scalar<std::int32_t>(1), data.scalar<std::int32_t>(2),
                               data.scalar<float>(3), data.scalar<float>(4)));
}

std::vector<std::uint32_t> hotspot_reference(Size size) {
  const LaunchData data(test::launch_path("hotspot", size));
  reference::HotspotParameters p;
  p.rows = data.scalar<std::int32_t>(0);
  p.columns = data.scalar<std::int32_t>(1);
  p.conductance = data.scalar<float>(2);
  p.sink = data.scalar<float>(3);
  p.ambient = data.scalar<float>(4);
  p.step = data.scalar<float>(5);
  return bits(reference::hotspot(data.buffer<float>("now"), data.buffer<float>("power"), p,
                                 static_cast<int>(data.repetitions())));
}

std::vector<std::uint32_t> bfs_reference(Size size) {
  const LaunchData data(test::launch_path("bfs", size));
  return bits(reference::bfs(data.buffer<std::int32_t>("first_edge"), data.buffer<std::int32_t>("degree"),
                             data.buffer<std::int32_t>("edges"), data.scalar<std::int32_t>(1, "init")));
}

void require_variants(const std::string& kernel, const std::string& buffer,
                      const std::vector<std::uint32_t>& expected) {
  for (const Variant v : variants) {
    CAPTURE(v.warp_size, v.max_registers);
    require_equal(run(kernel, Size::small, buffer, v), expected);
  }
}

}  // namespace

TEST_CASE("vector_add computes what its reference does") {
  require_variants("vector_add", "c", vector_add_reference(Size::small));
}
TEST_CASE("sgemm computes what its reference does") { require_variants("sgemm", "c", sgemm_reference(Size::small)); }
TEST_CASE("hotspot computes what its reference does") {
  require_variants("hotspot", "now", hotspot_reference(Size::small));
}
TEST_CASE("bfs computes what its reference does") {
  const auto expected = bfs_reference(Size::small);
  // A search that ends at its source would prove little.
  REQUIRE(std::count(expected.begin(), expected.end(), 3u) > 100);
  require_variants("bfs", "level", expected);
}

TEST_CASE("bfs runs as many levels as its reference") {
  const LaunchData data(test::launch_path("bfs", Size::small));
  int levels = 0;
  reference::bfs(data.buffer<std::int32_t>("first_edge"), data.buffer<std::int32_t>("degree"),
                 data.buffer<std::int32_t>("edges"), 0, &levels);
  tool::AnnotateOptions o;
  o.launch = test::launch_path("bfs", Size::small);
  const auto result = tool::annotate(o);
  REQUIRE(result.launches.size() == 1 + 2 * static_cast<std::size_t>(levels));
}

#ifdef REGATTA_FULL_SIZE
TEST_CASE("the kernels compute what their references do at full size") {
  require_equal(run("vector_add", Size::full, "c"), vector_add_reference(Size::full));
  require_equal(run("sgemm", Size::full, "c"), sgemm_reference(Size::full));
  require_equal(run("hotspot", Size::full, "now"), hotspot_reference(Size::full));
  require_equal(run("bfs", Size::full, "level"), bfs_reference(Size::full));
}
#endif
