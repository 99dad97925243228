// SPDX-License-Identifier: Apache-2.0
//
// What the emulated kernels compute equals their C++ references: bit for bit where they use integers and f32 add, mul,
// fma, div.rn and sqrt.rn only, which leave no freedom. Neither the compiler the PTX is from, nor the scheduler, nor
// the allocation (spills), nor the warp's width may show.
#include <regatta/test/catch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bfs.h"
#include "kernel_references.h"
#include "kernels.h"
#include "small_float.h"

using namespace regatta;
using test::Expected;
using test::Folder;
using test::LaunchData;
using test::Ptx;
using test::Size;

namespace {

struct Variant {
  Ptx ptx = Ptx::nvcc;
  bool schedule = true;
  unsigned max_registers = 255;
  unsigned warp_size = 32;
  unsigned addresses = 64;
};

/// 18 registers make the larger kernels spill.
std::vector<Variant> all_variants() {
  std::vector<Variant> all;
  for (const Ptx ptx : {Ptx::nvcc, Ptx::sm35}) {
    for (const bool schedule : {true, false}) {
      for (const unsigned registers : {255u, 32u, 18u}) {
        for (const unsigned warp_size : {32u, 64u}) all.push_back({ptx, schedule, registers, warp_size, 64});
      }
    }
  }
  for (const unsigned registers : {255u, 32u}) {
    for (const unsigned warp_size : {32u, 64u}) {
      for (const bool schedule : {true, false}) all.push_back({Ptx::sm35_32, schedule, registers, warp_size, 64});
      all.push_back({Ptx::nvcc, true, registers, warp_size, 32});
      all.push_back({Ptx::sm35, false, registers, warp_size, 32});
    }
  }
  return all;
}

/// Of clang's files, some are kept with the sources and the others are made where clang is (traces/kernels/README.md).
bool is_there(const std::string& kernel, Ptx ptx) { return std::filesystem::exists(test::ptx_path(kernel, ptx)); }

/// Runs a kernel, compares what it leaves with what it must, and returns how many warp instructions it took.
std::uint64_t check(const std::string& kernel, Size size, const std::vector<Expected>& expected, Variant variant = {}) {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, size);
  o.ptx = test::ptx_path(kernel, variant.ptx);
  o.schedule = variant.schedule;
  o.max_registers = variant.max_registers;
  o.warp_size = variant.warp_size;
  o.addresses = variant.addresses;
  for (const Expected& e : expected) o.dumps.emplace_back(e.buffer, folder.file(e.buffer));
  INFO(o.ptx << ", scheduling " << variant.schedule << ", " << variant.max_registers << " registers, warps of "
             << variant.warp_size << ", addresses of " << variant.addresses);
  const tool::AnnotateResult result = tool::annotate(o);
  for (const Expected& e : expected) REQUIRE(test::compare(e, folder.read(e.buffer)) == "");
  std::uint64_t instructions = 0;
  for (const tool::LaunchReport& l : result.launches) instructions += l.warp_instructions;
  return instructions;
}

void check_variants(const std::string& kernel) {
  const auto expected = test::expected_results(kernel, Size::small);
  REQUIRE(!expected.empty());
  // One variant of nine of those that are there, another one for each kernel; in test-all each.
  const auto& kernels = test::kernel_names();
  std::size_t number = static_cast<std::size_t>(std::find(kernels.begin(), kernels.end(), kernel) - kernels.begin());
  for (const Variant& v : all_variants()) {
    if (!is_there(kernel, v.ptx)) continue;
    if (++number % 9 == 0 || test::all_are_wanted()) check(kernel, Size::small, expected, v);
  }
}

}  // namespace

#define REGATTA_RESULTS(kernel) \
  TEST_CASE(#kernel " computes what its reference does") { check_variants(#kernel); }
REGATTA_KERNELS(REGATTA_RESULTS)

TEST_CASE("the code of both compilers is among the kernels, clang's with addresses of both sizes") {
  const auto& kernels = test::kernel_names();
  const auto count = [&](Ptx ptx) {
    return std::count_if(kernels.begin(), kernels.end(), [&](const std::string& k) { return is_there(k, ptx); });
  };
  REQUIRE(static_cast<std::size_t>(count(Ptx::nvcc)) == kernels.size());
  REQUIRE(count(Ptx::sm35) >= 17);
  REQUIRE(count(Ptx::sm35_32) >= 13);
}

TEST_CASE("a wrong result is found") {
  Expected words;
  words.buffer = "w";
  words.words = {1, 2};
  const std::string good("\1\0\0\0\2\0\0\0", 8), bad("\1\0\0\0\3\0\0\0", 8);
  REQUIRE(test::compare(words, good) == "");
  REQUIRE(test::compare(words, bad) == "w[1] is 0x3, expected 0x2");
  REQUIRE(test::compare(words, good.substr(4)) == "w has 4 bytes, expected 8");
  Expected values;
  values.buffer = "v";
  values.values = {1.0};
  values.tolerance = 1e-5;
  const auto number = [](float f) { return std::string(reinterpret_cast<const char*>(&f), sizeof f); };
  REQUIRE(test::compare(values, number(1.000009f)) == "");
  REQUIRE(test::compare(values, number(1.000011f)) != "");
  REQUIRE(test::compare(values, number(std::nanf(""))) != "");
  // 1 and the next half, which differ by 2^-10; 1 and the next bf16, by 2^-7.
  const auto bits = [](std::uint16_t b) { return std::string(reinterpret_cast<const char*>(&b), sizeof b); };
  const Expected halves = test::near("h", test::Float::f16, {1.0}, 0.0004, 0.0006);
  REQUIRE(test::compare(halves, bits(0x3c01)) == "");
  REQUIRE(test::compare(halves, bits(0x3c02)) == "h[0] is 1.001953125, expected 1 within 0.0004 of it and 0.0006");
  REQUIRE(test::compare(halves, bits(0x7e00)) != "");
  REQUIRE(test::compare(halves, number(1)) == "h has 4 bytes, expected 2");
  const Expected bf16 = test::near("b", test::Float::bf16, {1.0}, 0.008, 0);
  REQUIRE(test::compare(bf16, bits(0x3f81)) == "");
  REQUIRE(test::compare(bf16, bits(0x3f82)) != "");
}

TEST_CASE("the references' floats of 8 and 16 bits") {
  using reference::bf16;
  using reference::e4m3;
  using reference::half;
  REQUIRE(half.decode(0x3c00) == 1);
  REQUIRE(half.decode(0xc201) == -3.001953125);
  REQUIRE(half.decode(1) == std::ldexp(1, -24));
  REQUIRE(half.decode(0x7bff) == 65504);
  REQUIRE(half.encode(65519.9) == 0x7bff);
  REQUIRE(half.encode(65520) == 0x7c00);
  REQUIRE(half.encode(-INFINITY) == 0xfc00);
  REQUIRE(half.encode(1 + std::ldexp(1, -11)) == 0x3c00);  // ties to even
  REQUIRE(half.encode(1 + std::ldexp(3, -11)) == 0x3c02);
  REQUIRE(half.encode(std::ldexp(1, -25)) == 0);
  REQUIRE(half.encode(std::ldexp(1.0001, -25)) == 1);
  REQUIRE(half.encode(std::ldexp(1, -14)) == 0x0400);
  REQUIRE(bf16.decode(0xbf80) == -1);
  REQUIRE(bf16.encode(3.38e38) == 0x7f7e);
  REQUIRE(e4m3.decode(0x7e) == 448);
  REQUIRE(std::isnan(e4m3.decode(0xff)));
  REQUIRE(e4m3.encode(1000) == 0x7e);
  REQUIRE(e4m3.encode(-std::ldexp(1, -9)) == 0x81);
  // Every number but NaN is encoded as it is decoded.
  for (std::uint32_t b = 0; b < 1u << 16; ++b) {
    if (!std::isnan(half.decode(b))) REQUIRE(half.encode(half.decode(b)) == b);
    if (!std::isnan(bf16.decode(b))) REQUIRE(bf16.encode(bf16.decode(b)) == b);
    if (b < 256 && !std::isnan(e4m3.decode(b))) REQUIRE(e4m3.encode(e4m3.decode(b)) == b);
  }
}

TEST_CASE("the small searches and alignments are not trivial") {
  // A search that ends at its source would prove little; nor would an alignment that is nothing but gaps.
  const auto levels = test::expected_results("bfs", Size::small).at(0).words;
  REQUIRE(std::count(levels.begin(), levels.end(), 3u) > 100);
  const auto scores = test::expected_results("needleman_wunsch", Size::small).at(0).words;
  REQUIRE(static_cast<std::int32_t>(scores.back()) > 50);
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
namespace {
void check_full(const std::string& kernel) {
  const auto expected = test::expected_results(kernel, Size::full);
  for (const Ptx ptx : {Ptx::nvcc, Ptx::sm35}) {
    if (!is_there(kernel, ptx)) continue;
    const std::uint64_t instructions = check(kernel, Size::full, expected, {ptx});
    // The range that makes a kernel worth simulating.
    REQUIRE(instructions >= 1000000);
    REQUIRE(instructions <= 10000000);
  }
}
}  // namespace

TEST_CASE("vector_add computes what its reference does at full size", REGATTA_MORE) { check_full("vector_add"); }
TEST_CASE("sgemm computes what its reference does at full size") { check_full("sgemm"); }
TEST_CASE("hotspot computes what its reference does at full size", REGATTA_MORE) { check_full("hotspot"); }
TEST_CASE("bfs computes what its reference does at full size", REGATTA_MORE) { check_full("bfs"); }
TEST_CASE("pathfinder computes what its reference does at full size", REGATTA_MORE) { check_full("pathfinder"); }
TEST_CASE("needleman_wunsch computes what its reference does at full size", REGATTA_MORE) {
  check_full("needleman_wunsch");
}
TEST_CASE("srad computes what its reference does at full size", REGATTA_MORE) { check_full("srad"); }
TEST_CASE("stencil3d computes what its reference does at full size", REGATTA_MORE) { check_full("stencil3d"); }
TEST_CASE("spmv computes what its reference does at full size", REGATTA_MORE) { check_full("spmv"); }
TEST_CASE("black_scholes computes what its reference does at full size", REGATTA_MORE) { check_full("black_scholes"); }
TEST_CASE("histogram computes what its reference does at full size", REGATTA_MORE) { check_full("histogram"); }
TEST_CASE("reduction computes what its reference does at full size", REGATTA_MORE) { check_full("reduction"); }

// Suite modern.
TEST_CASE("conv_implicit_gemm computes what its reference does at full size", REGATTA_MORE) {
  check_full("conv_implicit_gemm");
}
TEST_CASE("flash_attention computes what its reference does at full size", REGATTA_MORE) {
  check_full("flash_attention");
}
TEST_CASE("gemm_e4m3 computes what its reference does at full size", REGATTA_MORE) { check_full("gemm_e4m3"); }
TEST_CASE("gemm_int8 computes what its reference does at full size", REGATTA_MORE) { check_full("gemm_int8"); }
TEST_CASE("gemm_split_k computes what its reference does at full size", REGATTA_MORE) { check_full("gemm_split_k"); }
TEST_CASE("hgemm computes what its reference does at full size", REGATTA_MORE) { check_full("hgemm"); }
TEST_CASE("hopper_gemm computes what its reference does at full size", REGATTA_MORE) { check_full("hopper_gemm"); }
TEST_CASE("embedding computes what its reference does at full size", REGATTA_MORE) { check_full("embedding"); }
TEST_CASE("gemv_int4 computes what its reference does at full size", REGATTA_MORE) { check_full("gemv_int4"); }
TEST_CASE("layer_norm computes what its reference does at full size", REGATTA_MORE) { check_full("layer_norm"); }
TEST_CASE("moe_routing computes what its reference does at full size", REGATTA_MORE) { check_full("moe_routing"); }
TEST_CASE("paged_attention computes what its reference does at full size", REGATTA_MORE) {
  check_full("paged_attention");
}
TEST_CASE("rotary computes what its reference does at full size", REGATTA_MORE) { check_full("rotary"); }
TEST_CASE("scan_lookback computes what its reference does at full size", REGATTA_MORE) { check_full("scan_lookback"); }
TEST_CASE("softmax computes what its reference does at full size", REGATTA_MORE) { check_full("softmax"); }
TEST_CASE("swiglu computes what its reference does at full size", REGATTA_MORE) { check_full("swiglu"); }
TEST_CASE("top_k_sampling computes what its reference does at full size", REGATTA_MORE) {
  check_full("top_k_sampling");
}
#endif
