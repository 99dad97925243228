// SPDX-License-Identifier: Apache-2.0
//
// wgmma.mma_async: products of a group of four warps, against sums of small integers, with matrices in shared memory in
// every layout of the PTX ISA. The layouts are written down here by rows and by places of 16 bytes in a row.
#include "harness.h"

#include <regatta/test/catch.h>

#include <random>

namespace regatta::test {
namespace {

/// Atoms of 8 rows. Rows have 16 bytes, or 32, 64 or 128 whose places of 16 bytes are swizzled.
struct Layout {
  unsigned row_bytes;
  unsigned code;  ///< in the descriptor
};
constexpr Layout layouts[] = {{16, 0}, {32, 3}, {64, 2}, {128, 1}};

/// A matrix of mn x k elements of two bytes in shared memory.
struct SharedImage {
  Layout layout;
  bool across;  ///< mn is along rows, else k
  unsigned mn, k, base;
  std::uint32_t leading = 0, stride = 0;
  std::vector<std::uint8_t> bytes;

  SharedImage(Layout l, bool is_across, unsigned of_mn, unsigned of_k, unsigned at)
      : layout(l), across(is_across), mn(of_mn), k(of_k), base(at) {
    // Atoms one behind the other: along the near coordinate first.
    const std::uint32_t atom = 8 * l.row_bytes, near = across ? mn : k;
    const std::uint32_t atoms = (near * 2 + l.row_bytes - 1) / l.row_bytes;
    const bool swaps = across && l.row_bytes == 16;
    const std::uint32_t along_near = atom, along_far = atom * atoms;
    leading = swaps ? along_far : along_near;
    stride = swaps ? along_near : along_far;
    bytes.resize(std::size_t{along_far} * ((across ? k : mn) / 8));
  }
  std::size_t at(unsigned row_of_mn, unsigned column_of_k) const {
    const unsigned far = across ? column_of_k : row_of_mn, near = 2 * (across ? row_of_mn : column_of_k);
    const unsigned row = far % 8, atoms = ((across ? mn : k) * 2 + layout.row_bytes - 1) / layout.row_bytes;
    const unsigned place = near % layout.row_bytes / 16;
    const unsigned swizzled = layout.row_bytes == 128  ? place ^ row
                              : layout.row_bytes == 64 ? place ^ (row / 2)
                              : layout.row_bytes == 32 ? place ^ (row / 4)
                                                       : place;
    return std::size_t{far / 8 * atoms + near / layout.row_bytes} * 8 * layout.row_bytes + row * layout.row_bytes +
           swizzled * 16 + near % 16;
  }
  std::uint64_t descriptor() const {
    return std::uint64_t{base / 16} | std::uint64_t{leading / 16} << 16 | std::uint64_t{stride / 16} << 32 |
           std::uint64_t{layout.code} << 62;
  }
};

/// The bits of a small integer in f16.
std::uint16_t half(int value) {
  if (value == 0) return 0;
  int exponent = 0, magnitude = std::abs(value);
  while (magnitude >> (exponent + 1) != 0) ++exponent;
  const auto fraction = static_cast<unsigned>(magnitude << (10 - exponent)) & 0x3ffu;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + 15) << 10 | fraction);
}

struct Case {
  Layout a, b;
  bool a_across, b_across, a_in_registers, adds, negates_a, negates_b;
  unsigned n;
};

void check(const Case& c, std::mt19937& random) {
  constexpr unsigned rows = 64, depth = 16, threads = 128, b_base = 16384;
  SharedImage a(c.a, c.a_across, rows, depth, 0), b(c.b, c.b_across, c.n, depth, b_base);
  std::vector<int> x(rows * depth), y(std::size_t{c.n} * depth);
  const auto fill = [&](SharedImage& to, std::vector<int>& values) {
    for (unsigned mn = 0; mn < to.mn; ++mn)
      for (unsigned k = 0; k < depth; ++k) {
        values[mn * depth + k] = static_cast<int>(random() % 9) - 4;
        const std::uint16_t bits = half(values[mn * depth + k]);
        std::memcpy(to.bytes.data() + to.at(mn, k), &bits, sizeof bits);
      }
  };
  fill(a, x);
  fill(b, y);
  std::vector<std::uint8_t> image(b_base + b.bytes.size());
  std::copy(a.bytes.begin(), a.bytes.end(), image.begin());
  std::copy(b.bytes.begin(), b.bytes.end(), image.begin() + b_base);
  const unsigned accumulators = c.n / 2;
  std::string body =
      ".reg .pred %z; .reg .b32 %t, %i, %v, %x, %a<4>; .reg .f32 %d<" + std::to_string(accumulators) +
      ">; .reg .b64 %p, %q, %o, %e, %f;\n.shared .align 1024 .b8 tile[" + std::to_string(image.size()) +
      "];\nmov.u32 %t, %tid.x; ld.param.u64 %p, [image]; mov.u32 %i, %t;\n"
      "L: setp.ge.u32 %z, %i, " +
      std::to_string(image.size() / 4) +
      "; @%z bra D; mul.wide.u32 %o, %i, 4; add.u64 %q, %p, %o; ld.global.b32 %v, [%q]; shl.b32 %x, %i, 2; "
      "st.shared.b32 [%x], %v; add.u32 %i, %i, 128; bra L;\nD: bar.sync 0;\n"
      "ld.param.u64 %e, [a]; ld.param.u64 %f, [b]; ld.param.u32 %x, [adds]; setp.ne.u32 %z, %x, 0;\n";
  std::string list;
  for (unsigned i = 0; i < accumulators; ++i) {
    body += "mov.f32 %d" + std::to_string(i) + ", 0f40000000;\n";  // 2
    list += (i == 0 ? "{%d" : ", %d") + std::to_string(i);
  }
  body +=
      "ld.param.u64 %p, [fragments]; mul.wide.u32 %o, %t, 16; add.u64 %q, %p, %o; "
      "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q];\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n" +
      std::to_string(c.n) + "k16.f32.f16.f16 " + list + "}, " + (c.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%e") +
      ", %f, %z, " + (c.negates_a ? "-1" : "1") + ", " + (c.negates_b ? "-1" : "1") +
      (c.a_in_registers ? ""
       : c.a_across     ? ", 1"
                        : ", 0") +
      (c.b_across ? ", 1" : ", 0") + ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
      "ld.param.u64 %p, [d]; mul.wide.u32 %o, %t, " + std::to_string(4 * accumulators) + "; add.u64 %q, %p, %o;\n";
  for (unsigned i = 0; i < accumulators; ++i)
    body += "st.global.f32 [%q+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  Machine m(
      module_text(".param .u64 image, .param .u64 a, .param .u64 b, .param .u32 adds, .param .u64 fragments, .param "
                  ".u64 d",
                  body + "ret;\n", "", "sm_90a"));
  m.request.block = {threads, 1, 1};
  // Row g and g + 8 of the warp's 16, elements 2t, 2t + 1 and those eight behind them (PTX ISA, m16n8k16).
  std::vector<std::uint32_t> fragments;
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned reg = 0; reg < 4; ++reg) {
      const unsigned row = t / 32 * 16 + t % 32 / 4 + (reg % 2) * 8, k = t % 4 * 2 + reg / 2 * 8;
      fragments.push_back(half(x[row * depth + k]) | std::uint32_t{half(x[row * depth + k + 1])} << 16);
    }
  m.parameter(m.buffer("image", image));
  m.parameter(a.descriptor());
  m.parameter(b.descriptor());
  m.parameter(std::uint32_t{c.adds ? 1u : 0u});
  m.parameter(m.buffer("fragments", fragments));
  const std::uint64_t d = m.buffer("d", std::vector<float>(std::size_t{threads} * accumulators));
  m.parameter(d);
  m.run();
  const std::vector<float> got = m.read<float>(d, std::size_t{threads} * accumulators);
  std::size_t wrong = 0;
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned i = 0; i < accumulators; ++i) {
      const unsigned row = t / 32 * 16 + t % 32 / 4 + (i % 4 / 2) * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
      int sum = 0;
      for (unsigned k = 0; k < depth; ++k) sum += x[row * depth + k] * y[column * depth + k];
      const int sign = c.negates_a != c.negates_b ? -1 : 1;
      const auto expected = static_cast<float>(sign * sum + (c.adds ? 2 : 0));
      wrong += got[std::size_t{t} * accumulators + i] != expected ? 1 : 0;
    }
  CAPTURE(c.a.row_bytes, c.b.row_bytes, c.a_across, c.b_across, c.a_in_registers, c.adds, c.n);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("wgmma: matrices in shared memory, in every layout") {
  std::mt19937 random(17);
  for (const Layout& a : layouts)
    for (const Layout& b : layouts)
      for (unsigned kinds = 0; kinds < 4; ++kinds) {
        // Rows of B along n have to fill 128 bytes.
        const bool a_across = (kinds & 1) != 0, b_across = (kinds & 2) != 0;
        check({a, b, a_across, b_across, false, random() % 2 != 0, random() % 2 != 0, random() % 2 != 0, 64}, random);
      }
  for (const unsigned n : {8u, 24u, 128u, 256u})
    check({layouts[3], layouts[3], false, false, n % 16 == 0, true, false, false, n}, random);
  check({layouts[0], layouts[1], false, false, true, false, true, false, 32}, random);
}

TEST_CASE("wgmma: what cannot be is refused") {
  const auto refusal = [](const std::string& instruction) {
    try {
      Machine(
          module_text("", ".reg .b64 %a; .reg .f32 %d<8>; mov.b64 %a, 0;\n" + instruction + "\nret;\n", "", "sm_90a"));
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string head = "wgmma.mma_async.sync.aligned.";
  const std::string d = "{%d0, %d1, %d2, %d3}";
  CHECK(refusal(head + "m64n8k16.f32.f16.f16 " + d + ", %a, %a, 1, 1, 1, 0;").find("has 7 operands, expected 8") !=
        std::string::npos);
  CHECK(
      refusal(head + "m64n8k16.f32.f16.f16 " + d + ", %a, %a, 1, 2, 1, 0, 0;").find("has '2' here, expected 1 or -1") !=
      std::string::npos);
  CHECK(refusal(head + "m64n16k16.f32.f16.f16 " + d + ", %a, %a, 1, 1, 1, 0, 0;")
            .find("has 4 data registers, expected 8") != std::string::npos);
  CHECK(refusal(head + "m64n12k16.f32.f16.f16 " + d + ", %a, %a, 1, 1, 1, 0, 0;").find("is not supported") !=
        std::string::npos);
  Machine m(module_text("",
                        ".reg .b64 %a; .reg .f32 %d<4>; .shared .align 1024 .b8 tile[64]; mov.b64 %a, 0;\n" + head +
                            "m64n8k16.f32.f16.f16 " + d +
                            ", %a, %a, 0, 1, 1, 0, 0;\nst.shared.f32 [tile], %d0;\nret;\n",
                        "", "sm_90a"));
  m.request.block = {128, 1, 1};
  const std::string error = m.error();
  INFO(error);
  CHECK(error.find("reads register") == std::string::npos);
  CHECK(error.find("read of a matrix at shared offset 0, which was never written") != std::string::npos);
}

}  // namespace regatta::test
