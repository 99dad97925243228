// SPDX-License-Identifier: Apache-2.0
//
// Surface loads and stores: widths, vectors, dimensions, what happens outside.
#include "textures.h"

#include <regatta/test/catch.h>

#include <algorithm>
#include <vector>

using namespace regatta;
using namespace regatta::emulator;
using regatta::test::Machine;

namespace {

const char* const head =
    ".reg .b64 %d<20>; .reg .b32 %r<20>; .reg .b16 %h<20>;\n"
    "mov.u32 %r1, %tid.x; ld.param.u64 %d1, [s]; ld.param.u64 %d2, [out]; mul.wide.u32 %d3, %r1, 16;\n"
    "add.u64 %d2, %d2, %d3; mov.u32 %r2, 3; mov.u32 %r3, 2; mov.u32 %r4, 1;\n";

struct Geometry {
  const char* name;
  ArrayShape shape;
  const char* place;  ///< behind x in %r5
  std::uint32_t y, z;
};

const Geometry all[] = {{"1d", {256, 0, 0, 0, {}}, "{%r5}", 0, 0},
                        {"2d", {256, 5, 0, 0, {}}, "{%r5, %r2}", 3, 0},
                        {"3d", {256, 5, 4, 0, {}}, "{%r5, %r2, %r3, %r3}", 3, 2},
                        {"a1d", {256, 0, 0, 4, {}}, "{%r3, %r5}", 0, 2},
                        {"a2d", {256, 5, 0, 4, {}}, "{%r3, %r5, %r2, %r2}", 3, 2}};

std::string registers(unsigned bytes, unsigned vector) {
  std::string list = "{";
  for (unsigned v = 0; v < vector; ++v) {
    list += (v == 0 ? "" : ", ") + std::string(bytes == 8 ? "%d1" : bytes == 4 ? "%r1" : "%h1") + std::to_string(v);
  }
  return list + "}";
}

}  // namespace

TEST_CASE("what a surface store writes, the array has and a surface load reads") {
  for (const Geometry& g : all) {
    for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
      for (const unsigned vector : {1u, 2u, 4u}) {
        const unsigned size = bytes * vector;
        if (size > 16) continue;
        const std::string suffix = std::string(".") + g.name + (vector > 1 ? ".v" + std::to_string(vector) : "") +
                                   ".b" + std::to_string(8 * bytes) + ".trap";
        std::string body = head + std::string("mul.lo.u32 %r5, %r1, ") + std::to_string(size) + ";\n";
        for (unsigned v = 0; v < vector; ++v) {
          const std::string n = std::to_string(v);
          body += "mad.lo.u32 %r6, %r1, 7, " + std::to_string(40 + 1000003 * (v + 1)) + ";\n";
          if (bytes == 8) body += "mul.wide.u32 %d1" + n + ", %r6, 0x10203;\n";
          if (bytes == 4) body += "mul.lo.u32 %r1" + n + ", %r6, 0x10203;\n";
          if (bytes < 4) body += "cvt.u16.u32 %h1" + n + ", %r6;\n";
        }
        body += "sust.b" + suffix + " [%d1, " + g.place + "], " + registers(bytes, vector) + ";\n";
        body += "suld.b" + suffix + " " + registers(bytes, vector) + ", [%d1, " + g.place + "];\n";
        for (unsigned v = 0; v < vector; ++v) {
          const std::string n = std::to_string(v);
          body += "st.global.b" + std::to_string(8 * bytes) + " [%d2+" + std::to_string(v * bytes) + "], " +
                  (bytes == 8   ? "%d1"
                   : bytes == 4 ? "%r1"
                                : "%h1") +
                  n + ";\n";
        }
        for (const unsigned max_registers : {255u, 16u}) {
          Machine m(test::module_text(".param .u64 s, .param .u64 out", body + "ret;\n"), 32, max_registers);
          const ArrayId array = m.textures.create_array("a", g.shape);
          m.parameter(m.textures.create_surface(array));
          const std::uint64_t out = m.buffer("out", 32 * 16);
          m.parameter(out);
          m.request.block = {32, 1, 1};
          m.run();
          std::vector<std::uint8_t> expected(32 * size), row(256 * 4);
          for (unsigned i = 0; i < 32; ++i) {
            for (unsigned v = 0; v < vector; ++v) {
              const std::uint32_t a = i * 7 + 40 + 1000003 * (v + 1);
              const std::uint64_t value = bytes == 8 ? std::uint64_t{a} * 0x10203 : bytes == 4 ? a * 0x10203u : a;
              std::memcpy(expected.data() + i * size + v * bytes, &value, bytes);
            }
          }
          m.textures.read_array(array, {0, g.y, g.z, 256, 1, 1}, row.data());
          INFO(suffix);
          CHECK(std::equal(expected.begin(), expected.end(), row.begin()));
          CHECK(std::all_of(row.begin() + static_cast<std::ptrdiff_t>(expected.size()), row.end(),
                            [](std::uint8_t b) { return b == 0; }));
          const auto read = m.read<std::uint8_t>(out, 32 * 16);
          for (unsigned i = 0; i < 32; ++i) {
            CHECK(std::equal(expected.begin() + i * size, expected.begin() + (i + 1) * size, read.begin() + i * 16));
          }
        }
      }
    }
  }
}

TEST_CASE("outside of a surface: clamp takes the nearest place, zero reads zero and writes nothing") {
  for (const std::string bounds : {"clamp", "zero"}) {
    // Threads 0 to 7 write x = -8 ... 20 in steps of 4 bytes in row 1, of four texels; they read what is there then.
    const std::string body = head + std::string("mad.lo.u32 %r5, %r1, 4, -8; add.u32 %r6, %r1, 100;\n") +
                             "suld.b.2d.b32." + bounds + " {%r7}, [%d1, {%r5, %r4}];\n st.global.u32 [%d2], %r7;\n" +
                             "sust.b.2d.b32." + bounds + " [%d1, {%r5, %r4}], {%r6};\nret;\n";
    Machine m(test::module_text(".param .u64 s, .param .u64 out", body));
    const ArrayId array = m.textures.create_array("a", {4, 2, 0, 0, {}});
    const std::uint32_t before[4] = {10, 11, 12, 13};
    m.textures.write_array(array, {0, 1, 0, 4, 1, 1}, before);
    m.parameter(m.textures.create_surface(array));
    const std::uint64_t out = m.buffer("out", 8 * 16);
    m.parameter(out);
    m.request.block = {8, 1, 1};
    m.run();
    const auto read = m.read<std::uint32_t>(out, 32);
    std::uint32_t after[4];
    m.textures.read_array(array, {0, 1, 0, 4, 1, 1}, after);
    const bool clamp = bounds == "clamp";
    for (int i = 0; i < 8; ++i) {
      const int x = i - 2;
      const bool inside = x >= 0 && x < 4;
      CHECK(read[static_cast<std::size_t>(4 * i)] == (inside || clamp ? before[std::clamp(x, 0, 3)] : 0u));
    }
    // Of several lanes that write one place the last one stays.
    CHECK(after[0] == 102);
    CHECK(after[1] == 103);
    CHECK(after[2] == 104);
    CHECK(after[3] == (clamp ? 107u : 105u));
  }
}

TEST_CASE("queries of a surface") {
  struct Query {
    const char* name;
    std::uint32_t value;
  };
  for (const Query& q : {Query{"width", 23},
                         {"height", 14},
                         {"depth", 0},
                         {"channel_data_type", 0x10dd},
                         {"channel_order", 0x10b2},
                         {"array_size", 6},
                         {"memory_layout", 1}}) {
    Machine m(
        test::module_text(".param .u64 s, .param .u64 out",
                          std::string(head) + "suq." + q.name + ".b32 %r9, [%d1]; st.global.u32 [%d2], %r9; ret;\n"));
    m.parameter(
        m.textures.create_surface(m.textures.create_array("a", {23, 14, 0, 6, {ChannelKind::floating, 16, 2}})));
    const std::uint64_t out = m.buffer("out", 16);
    m.parameter(out);
    m.run();
    INFO(q.name);
    CHECK(m.read<std::uint32_t>(out, 1)[0] == q.value);
  }
}

TEST_CASE("surface references") {
  Machine m(test::module_text(".param .u64 out",
                              ".reg .b64 %d<9>; .reg .b32 %r<19>; ld.param.u64 %d2, [out]; mov.u32 %r5, 4;\n"
                              "suld.b.1d.b32.trap {%r9}, [plane, {%r5}]; st.global.u32 [%d2], %r9; ret;\n",
                              ".global .surfref plane;\n"));
  const ArrayId array = m.textures.create_array("a", {4, 0, 0, 0, {}});
  const std::uint32_t texels[4] = {5, 6, 7, 8};
  m.textures.write_array(array, {0, 0, 0, 4, 1, 1}, texels);
  const std::uint64_t out = m.buffer("out", 4);
  m.parameter(out);
  m.textures.bind_surface(m.image->reference("plane"), array);
  m.run();
  CHECK(m.read<std::uint32_t>(out, 1)[0] == 6);
  CHECK(m.image->reference("other") == 0);
}

TEST_CASE("surface accesses that are refused") {
  const auto message = [](const std::string& access, bool initialised = true) {
    Machine m(test::module_text(".param .u64 s, .param .u64 out",
                                std::string(head) + "mul.lo.u32 %r5, %r1, 4; add.u32 %r6, %r1, 12; mov.u32 %r9, 0;\n" +
                                    access + "\nst.global.u32 [%d2], %r9; ret;\n"));
    m.parameter(m.textures.create_surface(m.textures.create_array("a", {4, 8, 0, 0, {}}, initialised)));
    m.parameter(m.buffer("out", 4096));
    m.request.block = {8, 1, 1};
    const std::string error = m.error();
    CHECK(error.substr(0, error.find("thread")) == "k.ptx:10:1: error: kernel 'k', CTA (0,0,0), ");
    return error.substr(std::min(error.find("thread"), error.size()));
  };
  CHECK(
      message("suld.b.2d.b32.trap {%r9}, [%d1, {%r5, %r4}];") ==
      "thread (4,0,0): surface access of 4 bytes at byte 16, which is outside of the surface, expected one of 0 to 16");
  CHECK(message("sust.b.2d.b32.trap [%d1, {%r4, %r6}], {%r9};") ==
        "thread (0,0,0): misaligned surface access of 4 bytes at byte 1 of a row, expected a multiple of 4");
  CHECK(message("sust.b.2d.b32.trap [%d1, {%r9, %r6}], {%r9};") ==
        "thread (0,0,0): surface access of 4 bytes at row 12, which is outside of the surface, expected one of 0 to 8");
  CHECK(message("suld.b.3d.b32.trap {%r9}, [%d1, {%r9, %r9, %r9, %r9}];") ==
        "thread (0,0,0): suld .3d accesses a surface of 2 dimensions");
  CHECK(message("suld.b.2d.b32.trap {%r9}, [%d2, {%r9, %r9}];")
            .find(", which is neither a texture nor a surface object, expected a surface") != std::string::npos);
  CHECK(message("suld.b.2d.b32.trap {%r9}, [%d1, {%r9, %r9}];", false) ==
        "thread (0,0,0): surface read of what was never written, 0 bytes into 'a' (512 bytes)");
}
