// SPDX-License-Identifier: Apache-2.0
//
// Parameters of functions that are read and written in parts, and the shared memory that is reserved for the system.
#include "harness.h"

#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr std::uint64_t pattern = 0xf1e2'd3c4'b5a6'9788;

/// What the thread gets that passes `pattern`, as a parameter of `type`, to a function whose body turns %in (its
/// parameter) into out0 to out3 (32 bits each).
std::vector<std::uint32_t> called(const std::string& type, const std::string& body) {
  const std::string function = ".func (.param .align 4 .b8 out[16]) f(.param ." + type +
                               " in)\n{\n.reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;\n" + body +
                               "\nret;\n}\n";
  const std::string load = type == "b16" ? "ld.global.u16 %x, [%p];" : "ld.global." + type + " %x, [%p];";
  Machine m(module_text(".param .u64 data",
                        ".reg .b64 %p; .reg ." + type + " %x; .reg .b32 %y<4>; ld.param.u64 %p, [data];\n" + load +
                            "\n{ .param ." + type + " a; .param .align 4 .b8 r[16]; st.param." + type +
                            " [a], %x;\n call (r), f, (a);\n ld.param.v4.b32 {%y0, %y1, %y2, %y3}, [r]; }\n"
                            "st.global.v4.u32 [%p], {%y0, %y1, %y2, %y3};\nret;\n",
                        function));
  const std::uint64_t data = m.buffer("data", std::vector<std::uint64_t>{pattern, 0});
  m.parameter(data);
  m.run();
  return m.read<std::uint32_t>(data, 4);
}

/// The 64 bits that a function of no parameters gives back, whose body stores to [out], and an error's message.
std::uint64_t returned(const std::string& body) {
  Machine m(module_text(".param .u64 data",
                        ".reg .b64 %p, %x; ld.param.u64 %p, [data];\n{ .param .b64 r; call (r), f;\n"
                        "ld.param.b64 %x, [r]; }\nst.global.u64 [%p], %x;\nret;\n",
                        ".func (.param .b64 out) f\n()\n{\n.reg .b16 %h<8>; .reg .b32 %r<8>;\n"
                        "mov.u16 %h1, 0x1122; mov.u16 %h2, 0x3344; mov.u16 %h3, 0x5566; mov.u16 %h4, 0x7788;\n"
                        "mov.u32 %r1, 0x01020304; mov.u32 %r2, 0xf5f6f7f8;\n" +
                            body + "\nret;\n}\n"));
  const std::uint64_t data = m.buffer("data", 8);
  m.parameter(data);
  m.run();
  return m.read<std::uint64_t>(data, 1)[0];
}

using Words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("call parameters: a scalar is loaded in parts") {
  const std::string four = "st.param.v4.b32 [out], {%r1, %r2, %r3, %r4};";
  CHECK(called("b64", "ld.param.v2.u32 {%r1, %r2}, [in]; mov.u32 %r3, 0; mov.u32 %r4, 0;" + four) ==
        Words{0xb5a69788, 0xf1e2d3c4, 0, 0});
  CHECK(called("b64",
               "ld.param.v2.f32 {%f1, %f2}, [in]; st.param.v2.f32 [out], {%f2, %f1}; "
               "ld.param.u32 %r1, [in+4]; ld.param.u16 %r2, [in+2]; st.param.v2.b32 [out+8], {%r1, %r2};") ==
        Words{0xf1e2d3c4, 0xb5a69788, 0xf1e2d3c4, 0xb5a6});
  CHECK(called("b64", "ld.param.v4.s16 {%r1, %r2, %r3, %r4}, [in];" + four) ==
        Words{0xffff9788, 0xffffb5a6, 0xffffd3c4, 0xfffff1e2});
  CHECK(called("b64",
               "ld.param.v4.u16 {%h1, %h2, %h3, %h4}, [in]; mov.b32 %r1, {%h4, %h3}; mov.b32 %r2, {%h2, %h1}; "
               "st.param.v2.b32 [out], {%r1, %r2}; st.param.v2.b32 [out+8], {%r2, %r1};") ==
        Words{0xd3c4f1e2, 0x9788b5a6, 0x9788b5a6, 0xd3c4f1e2});
  CHECK(called("b64", "ld.param.v4.s8 {%r1, %r2, %r3, %r4}, [in+4];" + four) ==
        Words{0xffffffc4, 0xffffffd3, 0xffffffe2, 0xfffffff1});
  CHECK(called("b64", "ld.param.v2.u8 {%r1, %r2}, [in+2]; ld.param.s8 %r3, [in+7]; ld.param.s16 %r4, [in+4];" + four) ==
        Words{0xa6, 0xb5, 0xfffffff1, 0xffffd3c4});
  CHECK(called("b32", "ld.param.v2.u16 {%r1, %r2}, [in]; ld.param.v2.s8 {%r3, %r4}, [in+2];" + four) ==
        Words{0x9788, 0xb5a6, 0xffffffa6, 0xffffffb5});
  CHECK(called("b16", "ld.param.v2.u8 {%r1, %r2}, [in]; ld.param.s8 %r3, [in+1]; ld.param.u16 %r4, [in];" + four) ==
        Words{0x88, 0x97, 0xffffff97, 0x9788});
  // The whole of it, in a register that is wider.
  CHECK(called("b16", "ld.param.s16 %r1, [in]; ld.param.u16 %r2, [in]; mov.u32 %r3, 0; mov.u32 %r4, 0;" + four) ==
        Words{0xffff9788, 0x9788, 0, 0});
  // Into registers that are wider.
  CHECK(called("b64", "ld.param.v2.s32 {%d1, %d2}, [in]; st.param.v2.b64 [out], {%d1, %d2};") ==
        Words{0xb5a69788, 0xffffffff, 0xf1e2d3c4, 0xffffffff});
}

TEST_CASE("call parameters: a scalar is stored in parts, in whatever order") {
  CHECK(returned("st.param.v2.b32 [out], {%r1, %r2};") == 0xf5f6f7f8'01020304);
  CHECK(returned("st.param.b32 [out+4], %r1; st.param.b32 [out], %r2;") == 0x01020304'f5f6f7f8);
  CHECK(returned("st.param.v4.b16 [out], {%h1, %h2, %h3, %h4};") == 0x7788'5566'3344'1122);
  CHECK(returned("st.param.v2.b16 [out+4], {%h1, %h2}; st.param.b16 [out+2], %h3; st.param.b16 [out], %h4;") ==
        0x3344'1122'5566'7788);
  CHECK(returned("st.param.v4.b8 [out], {%h1, %h2, %h3, %h4}; st.param.v2.b8 [out+4], {%h4, %h3}; st.param.v2.b8 "
                 "[out+6], {%h2, %h1};") == 0x2244'6688'8866'4422);
  CHECK(returned("st.param.b64 [out], 0x0123456789abcdef; st.param.b16 [out+2], %h1; st.param.b8 [out+5], %h2;") ==
        0x0123'4467'1122'cdef);
}

TEST_CASE("call parameters: what is beside a scalar, or across its parts, is refused") {
  CHECK_THROWS_WITH(called("b64", "ld.param.v2.u32 {%r1, %r2}, [in+4];"),
                    "k.ptx:7:29: error: '[in+4]' is outside parameter 'in' of 8 bytes");
  CHECK_THROWS_WITH(called("b64", "ld.param.v2.u16 {%r1, %r2}, [in+3];"),
                    "k.ptx:7:29: error: '[in+3]' is not aligned to the 2 bytes of 'ld.param.v2.u16'");
  CHECK_THROWS_WITH(called("b64", "ld.param.v2.u32 {%r1, %r1}, [in];"), "k.ptx:7:23: error: '%r1' is loaded twice");
}

TEST_CASE("call parameters: nvcc's functions of parts") {
  for (const unsigned warp_size : {32u, 64u}) {
    Machine m(sample("call_parameters.sm75.ptx"), warp_size);
    struct Small {
      double a;
      int b;
      short c;
      signed char d, unused;
    };
    std::vector<int> whole;
    std::vector<double> numbers;
    std::vector<Small> small;
    for (int i = 0; i < 64; ++i) {
      whole.push_back(
          static_cast<int>((static_cast<unsigned>(3 * i) << 16) | (0xffffu & static_cast<unsigned>(7 - i))));
      numbers.push_back(i * 1.1e100);
      small.push_back({i * 0.5, i, static_cast<short>(-i), static_cast<signed char>(-i), 0});
    }
    const std::uint64_t a = m.buffer("whole", whole), b = m.buffer("numbers", numbers), c = m.buffer("small", small);
    m.request.block = {64, 1, 1};
    m.parameter(a);
    m.parameter(b);
    m.parameter(c);
    m.run();
    const auto products = m.read<int>(a, 64);
    const auto sums = m.read<double>(b, 64);
    const auto nexts = m.read<Small>(c, 64);
    for (int i = 0; i < 64; ++i) {
      const auto n = static_cast<std::size_t>(i);
      INFO(i);
      REQUIRE(products[n] == 3 * i * (7 - i));
      REQUIRE(sums[n] == numbers[n] + numbers[n ^ 1]);
      REQUIRE(nexts[n].a == i * 1.5);
      REQUIRE(nexts[n].b == i);
      REQUIRE(nexts[n].c == 1 - i);
      REQUIRE(nexts[n].d == -i);
    }
  }
}

TEST_CASE("reserved shared memory: a tile of two warps of cooperative groups") {
  Machine m(sample("block_tile.sm90.ptx"));
  std::vector<float> y;
  for (unsigned i = 0; i < 128; ++i) y.push_back(static_cast<float>(i * i % 101));
  const std::uint64_t data = m.buffer("y", y);
  m.request.block = {128, 1, 1};
  m.request.dynamic_shared_bytes = 512;
  m.parameter(data);
  CHECK(m.error().empty());
  const auto out = m.read<float>(data, 128);
  for (unsigned i = 0; i < 128; ++i) REQUIRE(out[i] == y[i ^ 63] + y[i / 64 * 64 + 5]);
}

TEST_CASE("reserved shared memory: its offsets, beside the program's own") {
  Machine m(module_text(
      ".param .u64 out",
      ".reg .b64 %p; .reg .b32 %r<8>; .shared .align 4 .b8 own[20]; ld.param.u64 %p, [out];\n"
      "mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_end;\n"
      "mov.u32 %r3, %reserved_smem_offset_cap; mov.u32 %r4, %reserved_smem_offset_0;\n"
      "mov.u32 %r5, %reserved_smem_offset_1; mov.u32 %r6, %total_smem_size;\n"
      "st.global.v4.u32 [%p], {%r1, %r2, %r3, %r4}; st.global.v2.u32 [%p+16], {%r5, %r6};\n"
      "red.shared.and.b32 [%r5], 7; ld.shared.u32 %r7, [%r5]; st.global.u32 [%p+24], %r7; st.shared.u32 [own], %r1;\n"
      "ret;\n"));
  const std::uint64_t out = m.buffer("out", 32);
  m.parameter(out);
  CHECK(m.error().empty());
  const auto r = m.read<std::uint32_t>(out, 7);
  CHECK(r[1] == r[0] + 1024);
  CHECK(r[2] == 1024);
  CHECK(r[3] == r[0]);
  CHECK(r[4] >= r[0]);
  CHECK(r[4] + 288 <= r[1]);
  CHECK(r[0] >= 20);
  CHECK(r[5] == 32);  // own, rounded up; the reserved bytes are no part of it
  CHECK(r[6] == 0);
}
