// SPDX-License-Identifier: Apache-2.0
//
// What reaches a kernel through its parameters: structures, scalars of every type, pointers into buffers; and the
// listing of a kernel.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/types.h>

#include <cstring>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Copies its `bytes` of parameter `s`, byte by byte, to `out`.
std::string copier(unsigned bytes) {
  std::string body;
  for (unsigned i = 0; i < bytes; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.param.u8 %r1, [s+" + n + "]; st.global.u8 [%d1+" + n + "], %r1;\n";
  }
  return ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out, .param .align 8 .b8 s[" +
         std::to_string(bytes) + "])\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>;\nld.param.u64 %d1, [out];\n" + body +
         "ret;\n}\n";
}

/// What the kernel gets as parameter `s` of `bytes`, given as TOML.
std::string parameter_bytes(const Folder& folder, unsigned bytes, const std::string& parameter) {
  folder.write("k.ptx", copier(bytes));
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml",
                          "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nname = \"out\"\n"
                          "buffer = 64\n[[param]]\n" +
                              parameter);
  o.dumps = {{"out", folder.file("out.bin")}};
  tool::annotate(o);
  return folder.read("out.bin").substr(0, bytes);
}

template <class T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TEST_CASE("a structure is laid out as C does it") {
  const Folder folder;
  struct Inner {
    std::int16_t a;
    std::int8_t b;
  };
  struct Outer {
    std::uint8_t first;
    double second;
    Inner inner[1];
    float last[3];
  };
  Outer o;
  std::memset(&o, 0, sizeof o);
  o.first = 200;
  o.second = -1.5;
  o.inner[0].a = -2;  // field by field: padding stays zero
  o.inner[0].b = 7;
  o.last[0] = 1;
  o.last[1] = 2;
  o.last[2] = 3.5;
  CHECK(parameter_bytes(folder, sizeof(Outer),
                        "members = [\n{ scalar = 200, type = \"u8\" },\n{ scalar = -1.5, type = \"f64\" },\n"
                        "{ members = [{ scalar = -2, type = \"s16\" }, { scalar = 7, type = \"s8\" }] },\n"
                        "{ scalar = [1.0, 2.0, 3.5], type = \"f32\" },\n]\n") == bytes_of(o));
  // A member may be told where it lies, and the structure how large it is.
  std::string placed(16, '\0');
  placed[5] = 9;
  CHECK(parameter_bytes(folder, 16, "bytes = 16\nmembers = [{ scalar = 9, type = \"b8\", at = 5 }]\n") == placed);
}

TEST_CASE("scalars of every type") {
  const Folder folder;
  struct Row {
    const char* value;
    const char* type;
    std::string bytes;
  };
  const Row rows[] = {
      {"-128", "s8", bytes_of(std::int8_t{-128})},
      {"255", "u8", bytes_of(std::uint8_t{255})},
      {"-32768", "s16", bytes_of(std::int16_t{-32768})},
      {"65535", "u16", bytes_of(std::uint16_t{65535})},
      {"-2147483648", "s32", bytes_of(std::int32_t{INT32_MIN})},
      {"4294967295", "u32", bytes_of(std::uint32_t{UINT32_MAX})},
      {"-9223372036854775808", "s64", bytes_of(std::int64_t{INT64_MIN})},
      {"9223372036854775807", "u64", bytes_of(std::uint64_t{INT64_MAX})},
      {"\"0xffffffffffffffff\"", "u64", bytes_of(std::uint64_t{UINT64_MAX})},
      {"-1", "b8", bytes_of(std::uint8_t{0xff})},
      {"0xabcd", "b16", bytes_of(std::uint16_t{0xabcd})},
      {"-1", "b32", bytes_of(std::uint32_t{0xffffffff})},
      {"\"0x8000000000000001\"", "b64", bytes_of(std::uint64_t{0x8000000000000001})},
      {"1.5", "f16", bytes_of(std::uint16_t{0x3e00})},
      {"65504", "f16", bytes_of(std::uint16_t{0x7bff})},
      {"1.5", "bf16", bytes_of(std::uint16_t{0x3fc0})},
      {"-1e38", "bf16", bytes_of(std::uint16_t{0xfe96})},
      {"0.1", "f32", bytes_of(0.1f)},
      {"inf", "f32", bytes_of(std::uint32_t{0x7f800000})},
      {"\"0x7fc00001\"", "f32", bytes_of(std::uint32_t{0x7fc00001})},
      {"0.1", "f64", bytes_of(0.1)},
      {"3", "f64", bytes_of(3.0)},
  };
  for (const Row& r : rows) {
    CAPTURE(r.value, r.type);
    const std::string text = std::string("scalar = ") + r.value + "\ntype = \"" + r.type + "\"\n";
    CHECK(parameter_bytes(folder, static_cast<unsigned>(r.bytes.size()), text) == r.bytes);
  }
}

TEST_CASE("a pointer into a buffer that another parameter has, alone or in a structure") {
  const Folder folder;
  // `out` is the first buffer: its address is known from the emulator's memory map.
  const std::uint64_t base = 0x1000000000, aliased = base + 48;
  CHECK(parameter_bytes(folder, 8, "buffer = \"out\"\noffset = 48\n") == bytes_of(aliased));
  CHECK(
      parameter_bytes(folder, 16, "members = [{ scalar = 1, type = \"s32\" }, { buffer = \"out\", offset = 48 }]\n") ==
      bytes_of(std::uint64_t{1}) + bytes_of(aliased));
}

TEST_CASE("a buffer that nobody has initialised is read at one's peril") {
  const Folder folder;
  folder.write("k.ptx",
               ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
               ".reg .b32 %r<3>; .reg .b64 %d<3>;\nld.param.u64 %d1, [a];\nst.global.u32 [%d1], 5;\n"
               "ld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d1+4];\nst.global.u32 [%d1+8], %r2;\nret;\n}\n");
  tool::AnnotateOptions o;
  const std::string text =
      "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nname = \"a\"\nbuffer = 16\n";
  o.launch = folder.write("l.toml", text + "init = \"none\"\n");
  CHECK(error_of(o) ==
        folder.file("k.ptx") +
            ":10:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): read of global address 0x1000000004, "
            "which was never written, 4 bytes into 'a' (16 bytes)");
  // Device memory that the launch file says nothing about is zero.
  folder.write("l.toml", text);
  CHECK(error_of(o).empty());
}

TEST_CASE("an expectation that is infinite is not met by just anything") {
  const Folder folder;
  folder.write("k.ptx",
               ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
               ".reg .b64 %d<3>;\nld.param.u64 %d1, [a];\nst.global.f32 [%d1], 0f40000000;\nret;\n}\n");
  const float infinite = 1.0f / 0.0f;
  folder.write("a.bin", bytes_of(infinite));
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml",
                          "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nname = \"a\"\n"
                          "buffer = 4\ntype = \"f32\"\nexpect = \"a.bin\"\ntolerance = 1e-5\n");
  const auto result = tool::annotate(o);
  REQUIRE(result.failed_expectations.size() == 1);
  CHECK(result.failed_expectations[0] == o.launch + ":5:1: error: buffer 'a' differs from '" + folder.file("a.bin") +
                                             "' in 1 of 1 elements; the first is element 0 (f32): got 2, expected inf "
                                             "(tolerance 1e-05)");
}

TEST_CASE("a listing, word for word") {
  const Folder folder;
  folder.write("k.cu", "// a kernel\nint i = blockIdx.x;\n  do { ++i; } while (i < 10);\n*a = i;\n");
  tool::AnnotateOptions o;
  o.check = true;
  o.ptx = folder.write(
      "k.ptx",
      ".version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"/nowhere/k.cu\"\n"
      ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>; .reg .pred %p1;\n"
      ".loc 1 2 1, function_name f, inlined_at 1 1 1\nmov.u32 %r1, %ctaid.x;\nLOOP:\n.loc 1 3 1\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra LOOP;\n.loc 1 4 1\nld.param.u64 %d1, [a];\n"
      "st.global.u32 [%d1], %r1;\nret;\n}\n");
  o.listing = folder.file("k.txt");
  o.report = folder.file("r.json");
  const auto result = tool::annotate(o);
  REQUIRE(result.entries.size() == 1);
  CHECK(result.entries[0].loops == 1);
  CHECK(result.entries[0].blocks == 3);
  CHECK(result.entries[0].live_registers == 3);
  const std::string text = folder.read("k.txt");
  CAPTURE(text);
  // Which registers there are is up to the allocator.
  const auto has = [&](const std::string& words) { return text.find(words) != std::string::npos; };
  CHECK(has("// kernel k from " + o.ptx + "\n"));
  CHECK(has("// parameter a at 0, 8 bytes\n"));
  CHECK(has("\nB0:\n  // from -, to B1, reconverges at B1\n  // live in: 0 registers\n  // live out: 1 register: R"));
  CHECK(has("\nB1:  // LOOP\n  // from B0 B1, to B1 B2, reconverges at B2, loop depth 1\n  // live in: 1 register: R"));
  CHECK(has("\nB2:\n  // from B1, to -, reconverges at exit\n"));
  CHECK(has("  // live out: 0 registers\n"));
  CHECK(has("// 3 regions for the scheme regless, told by 3 instruction words\n"));
  CHECK(has("  // region 0: instructions 0 to 0, holds 1, lines per bank "));
  CHECK(has("\n  //   inputs -; outputs R"));
  CHECK(has("// 9, /nowhere/k.cu:2, inlined in /nowhere/k.cu:1; evict R"));
  CHECK(has("\n  //   preload R"));
  CHECK(has("\n  //   last preload R"));
  CHECK(has("              ; int i = blockIdx.x;\n     0    1  mov.u32 R"));
  CHECK(has("              ; do { ++i; } while (i < 10);\n     1    1  add.u32 R"));
  CHECK(has("     3    1  @P0 bra B1;                                          // 14, /nowhere/k.cu:3; live R2\n"));
  CHECK(has("     6    0  exit;                                                // 18, /nowhere/k.cu:4; live none\n"));
}
