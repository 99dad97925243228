// SPDX-License-Identifier: Apache-2.0
//
// The judgement of two images of one buffer: bits, tolerances, pointers, and elements in any order.
#include <regatta/test/catch.h>

#include <cmath>
#include <cstring>

#include "compare.h"
#include "tolerances.h"

using namespace regatta;
using namespace regatta::hardware;

namespace {

template <class T>
std::vector<std::uint8_t> image(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::uint8_t> floats(const std::vector<float>& values) { return image(values); }
std::vector<std::uint8_t> words(const std::vector<std::uint64_t>& values) { return image(values); }

Rule within(double relative, double absolute = 0) {
  Rule r;
  r.tolerance = {"x", relative, absolute};
  return r;
}

Rule unordered(std::uint64_t group) {
  Rule r;
  r.unordered = group;
  return r;
}

/// A buffer of 64 bytes and one of 32 right behind it on the GPU; the emulator has them elsewhere.
const Pointers two_buffers({{"a", 64, 0x7000000000, 0x1000}, {"b", 32, 0x7000000040, 0x5000}});

Rule with_pointers() {
  Rule r;
  r.pointers = &two_buffers;
  return r;
}

}  // namespace

TEST_CASE("tolerances count for floating types alone") {
  const auto near = compare("x", ir::Type::f32, floats({1.0f, 2.00001f}), floats({1.0f, 2.0f}), within(1e-5));
  REQUIRE(near.elements == 2);
  REQUIRE(near.differing == 1);
  REQUIRE(near.wrong == 0);
  REQUIRE(near.largest > 4e-6);
  const auto far = compare("x", ir::Type::f32, floats({1.0f, 2.0001f}), floats({1.0f, 2.0f}), within(1e-5));
  REQUIRE(far.wrong == 1);
  const auto nan = compare("x", ir::Type::f32, floats({std::nanf("")}), floats({1.0f}), within(1e-5));
  REQUIRE(nan.wrong == 1);
  const auto integer = compare("x", ir::Type::u32, floats({1.0000001f}), floats({1.0f}), within(1e-5));
  REQUIRE(integer.wrong == 1);
  const auto zero = compare("x", ir::Type::f32, floats({1e-7f, 1e-5f}), floats({0.0f, 0.0f}), within(1e-5, 1e-6));
  REQUIRE(zero.differing == 2);
  REQUIRE(zero.wrong == 1);
  REQUIRE(compare("x", ir::Type::f32, floats({-0.0f}), floats({0.0f}), {}).wrong == 1);
  // 1 and the next numbers of f16 and of bf16, which differ by 2^-10 and by 2^-7.
  REQUIRE(compare("x", ir::Type::f16, {0x01, 0x3c}, {0x00, 0x3c}, within(1e-3)).wrong == 0);
  const auto half = compare("x", ir::Type::f16, {0x01, 0x3c}, {0x00, 0x3c}, within(9e-4));
  REQUIRE(half.wrong == 1);
  REQUIRE(half.first_wrong == "x[0] is 0x3c01 (1.00098) on the GPU, 0x3c00 (1) in the emulator");
  REQUIRE(compare("x", ir::Type::bf16, {0x81, 0x3f}, {0x80, 0x3f}, within(8e-3)).wrong == 0);
  REQUIRE(compare("x", ir::Type::bf16, {0x81, 0x3f}, {0x80, 0x3f}, within(7e-3)).wrong == 1);
  REQUIRE(compare("x", ir::Type::u8, {1, 2}, {1}, {}).wrong == 1);
}

TEST_CASE("addresses of buffers are equal where their offsets are") {
  const auto same =
      compare("p", ir::Type::u64, words({0x7000000008, 5, 0x7000000058}), words({0x1008, 5, 0x5018}), with_pointers());
  REQUIRE(same.differing == 0);
  REQUIRE(same.pointers == 2);
  // The end of "a" is the start of "b" on the GPU: it may be either.
  const auto end = compare("p", ir::Type::u64, words({0x7000000040, 0x7000000040, 0x7000000060}),
                           words({0x1040, 0x5000, 0x5020}), with_pointers());
  REQUIRE(end.differing == 0);
  REQUIRE(end.pointers == 3);
  // Words of 32 bits: a pointer is two of them.
  const auto halves = compare("p", ir::Type::u32, words({0x7000000008}), words({0x1008}), with_pointers());
  REQUIRE(halves.elements == 2);
  REQUIRE(halves.differing == 0);
}

TEST_CASE("addresses of other places are not equal") {
  const auto offset =
      compare("p", ir::Type::u64, words({0x7000000008, 0x7000000010}), words({0x1008, 0x1008}), with_pointers());
  REQUIRE(offset.pointers == 1);
  REQUIRE(offset.wrong == 1);
  REQUIRE(offset.first_wrong ==
          "p[1] is 0x7000000010 on the GPU, 0x1008 in the emulator: 'a' + 16 on the GPU, 'a' + 8 in the emulator");
  const auto buffer = compare("p", ir::Type::u64, words({0x7000000044}), words({0x1004}), with_pointers());
  REQUIRE(buffer.first_wrong ==
          "p[0] is 0x7000000044 on the GPU, 0x1004 in the emulator: 'b' + 4 on the GPU, 'a' + 4 in the emulator");
  // Beyond the end, and a number that is no address on one side.
  REQUIRE(compare("p", ir::Type::u64, words({0x7000000061}), words({0x5021}), with_pointers()).wrong == 1);
  const auto number = compare("p", ir::Type::u64, words({7}), words({0x1008}), with_pointers());
  REQUIRE(number.first_wrong == "p[0] is 0x7 on the GPU, 0x1008 in the emulator");
  // An address that is not aligned is bytes; so is one where nobody knows buffers.
  REQUIRE(compare("p", ir::Type::u64, words({0x7000000008}), words({0x1008}), {}).wrong == 1);
}

TEST_CASE("elements that atomics place are compared in any order") {
  const auto moved =
      compare("list", ir::Type::s32, image<int>({3, 1, 2, 2, 9}), image<int>({1, 2, 2, 3, 9}), unordered(4));
  REQUIRE(moved.differing == 0);
  REQUIRE(moved.moved == 3);
  const auto still = compare("list", ir::Type::s32, image<int>({1, 2}), image<int>({1, 2}), unordered(2));
  REQUIRE(still.moved == 0);
  // One word wrong in another order.
  const auto wrong = compare("list", ir::Type::s32, image<int>({3, 1, 7, 2}), image<int>({1, 2, 2, 3}), unordered(4));
  REQUIRE(wrong.differing == 1);
  REQUIRE(wrong.first_wrong == "list[2] is 0x7 on the GPU, 0x2 in the emulator, in any order within 4 elements");
  // As many of each, but not in one group; a number too often.
  REQUIRE(compare("list", ir::Type::s32, image<int>({1, 2, 3, 4}), image<int>({3, 2, 1, 4}), unordered(2)).wrong == 2);
  REQUIRE(compare("list", ir::Type::s32, image<int>({1, 1, 2}), image<int>({1, 2, 2}), unordered(3)).wrong == 1);
  // The last group is what is left.
  REQUIRE(
      compare("list", ir::Type::s32, image<int>({2, 1, 4, 5, 3}), image<int>({1, 2, 3, 4, 5}), unordered(2)).wrong ==
      2);
}

TEST_CASE("on an H100 a tolerance stands for what was not measured") {
  const ComputeCapability h100{9, 0}, other{8, 6};
  REQUIRE(tolerances_of("black_scholes", h100).empty());
  REQUIRE(tolerances_of("black_scholes", other).size() == 2);
  REQUIRE(tolerances_of("vector_add", other).empty());
  // Tensor cores' rule was measured for these.
  for (const char* exact : {"hgemm", "gemm_e4m3", "gemm_int8", "conv_implicit_gemm"})
    REQUIRE(tolerances_of(exact, other).empty());
  REQUIRE(unmeasured() ==
          std::vector<std::string>{"gemm_split_k: tanh.approx was measured in [0.5, 1) alone, and is not interpolated",
                                   "hopper_gemm: the arithmetic of wgmma.mma_async was not measured",
                                   "mri_q: sin.approx and cos.approx were measured in 24 of 64 segments"});
  REQUIRE(tolerances_of("mri_q", h100).size() == 2);
}
