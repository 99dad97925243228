// SPDX-License-Identifier: Apache-2.0
//
// Addresses of 32 bits: PTX of .address_size 32, and PTX of 64 narrowed by --addresses 32.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>

#include <cstring>
#include <vector>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::Folder;

namespace {

template <class F>
std::string failure(F&& f) {
  try {
    f();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

std::string module_of(unsigned bits, const std::string& parameters, const std::string& body,
                      const std::string& variables = "") {
  return ".version 7.0\n.target sm_75\n.address_size " + std::to_string(bits) + "\n" + variables +
         ".visible .entry k(" + parameters +
         ")\n{\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<4>;\n" + body +
         "ret;\n}\n";
}

/// One CTA of 32 threads on buffers `in` (0, 1, 2, ...) and `out`.
struct Kernel {
  Folder folder;
  tool::AnnotateOptions options;

  explicit Kernel(const std::string& ptx, unsigned addresses, const std::string& more = "") {
    folder.write("k.ptx", ptx);
    options.addresses = addresses;
    options.launch = folder.write(
        "l.toml",
        "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n[[param]]\nname = \"in\"\nbuffer = 1024\n"
        "init = \"iota\"\ntype = \"u32\"\n[[param]]\nname = \"out\"\nbuffer = 1024\n" +
            more);
    options.listing = folder.file("listing.txt");
  }
  std::vector<std::uint32_t> run() {
    options.dumps = {{"out", folder.file("out.bin")}};
    result = tool::annotate(options);
    const std::string bytes = folder.read("out.bin");
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }
  std::uint32_t registers() const { return result.entries.at(0).registers; }
  bool lists(const std::string& text) const { return folder.read("listing.txt").find(text) != std::string::npos; }
  tool::AnnotateResult result;
};

const char* const pointers64 = ".param .u64 in, .param .u64 out";
const char* const pointers32 = ".param .u32 in, .param .u32 out";

const char* const copy64 =
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n"
    "ld.global.u32 %r2, [%d4+8]; add.u32 %r2, %r2, 1; st.global.u32 [%d5], %r2;\n";

/// What the body computes is the same with either width, and takes fewer registers with 32 bits.
void same(const std::string& body, const std::string& variables = "") {
  INFO(body);
  Kernel wide(module_of(64, pointers64, body, variables), 64);
  Kernel narrow(module_of(64, pointers64, body, variables), 32);
  const auto expected = wide.run();
  CHECK(std::count(expected.begin(), expected.end(), 0u) < 250);
  CHECK(narrow.run() == expected);
  CHECK(narrow.registers() < wide.registers());
}

}  // namespace

TEST_CASE("an address takes one register") {
  Kernel wide(module_of(64, pointers64, copy64), 64), narrow(module_of(64, pointers64, copy64), 32);
  const auto expected = wide.run();
  CHECK(expected[5] == 8);
  CHECK(narrow.run() == expected);
  CHECK(wide.registers() > narrow.registers());
  CHECK(narrow.registers() == 3);  // two addresses and a value
  CHECK(wide.lists("mad.wide.u32"));
  CHECK(narrow.lists("mad.lo.u32"));
  CHECK_FALSE(narrow.lists("64"));
}

TEST_CASE("each operation whose lower half is enough gives the same results") {
  const std::string begin =
      "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"
      "add.s64 %d5, %d2, %d3;\n";
  const std::string end = "ld.global.u32 %r2, [%d4]; add.u32 %r2, %r2, 7; st.global.u32 [%d5], %r2;\n";
  // %d4 is an address in `in`, by way of each.
  for (const char* way : {
           "add.s64 %d4, %d1, %d3;\n",
           "cvt.s64.s32 %d6, %r1; shl.b64 %d6, %d6, 2; add.s64 %d4, %d6, %d1;\n",
           "cvt.u64.u32 %d6, %r1; mul.lo.s64 %d6, %d6, 4; add.s64 %d4, %d6, %d1;\n",
           "cvt.u64.u32 %d6, %r1; mov.u64 %d7, 4; mad.lo.s64 %d4, %d6, %d7, %d1;\n",
           "neg.s64 %d6, %d3; sub.s64 %d4, %d1, %d6;\n",
           "sub.u32 %r3, %r1, 40; mul.wide.s32 %d6, %r3, 4; add.s64 %d4, %d1, %d6; add.s64 %d4, %d4, 160;\n",
           "sub.u32 %r3, %r1, 40; cvt.s64.s32 %d6, %r3; shl.b64 %d6, %d6, 2; add.s64 %d6, %d6, %d1; add.s64 %d4, %d6, "
           "160;\n",
           "and.b64 %d6, %d3, 60; add.s64 %d4, %d1, %d6;\n",
           "not.b64 %d6, %d3; not.b64 %d6, %d6; or.b64 %d6, %d6, 4; add.s64 %d4, %d1, %d6;\n",
           "xor.b64 %d6, %d3, 8; add.s64 %d4, %d1, %d6;\n",
           "setp.lt.u32 %p1, %r1, 9; add.s64 %d6, %d1, 64; selp.b64 %d7, %d6, %d1, %p1; add.s64 %d4, %d7, %d3;\n",
           "mov.u64 %d4, %d1; @%p0 add.s64 %d4, %d1, %d3;\n",
           "cvt.u16.u32 %h1, %r1; cvt.u64.u16 %d6, %h1; shl.b64 %d6, %d6, 2; add.s64 %d4, %d1, %d6;\n",
       }) {
    same("setp.ge.u32 %p0, %r1, 0;\n" + begin.substr(0) + "setp.gt.u32 %p0, %r1, 3;\n" + way + end);
  }
}

TEST_CASE("a pointer from memory is loaded by its lower half, and a pointer that is stored is stored whole") {
  const std::string body =
      "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 8;\n"
      "add.s64 %d5, %d2, %d3; add.s64 %d4, %d1, %d3; st.global.u64 [%d5], %d4;\n"
      "ld.global.u64 %d6, [%d5]; ld.global.u32 %r2, [%d6+4]; st.global.u32 [%d5+512], %r2;\n";
  Kernel narrow(module_of(64, pointers64, body), 32);
  const auto got = narrow.run();
  CHECK(got[129] == 0);
  CHECK(got[128 + 2 * 5] == 2 * 5 + 1);
  CHECK(got[2 * 5 + 1] == 0);  // the upper half of an address below 4 GB
  CHECK(got[2 * 5] - got[0] == 40);
  CHECK(narrow.lists("st.global.u64"));
  CHECK(narrow.lists("ld.global.u32 R"));
  CHECK_FALSE(narrow.lists("ld.global.u64"));
}

TEST_CASE("values that are compared, divided, shifted right or counted keep both halves") {
  const std::string body =
      "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"
      "add.s64 %d5, %d2, %d3;\n"
      "cvt.u64.u32 %d6, %r1; add.s64 %d6, %d6, 0x7fffffff; mul.lo.s64 %d7, %d6, 12345678;\n"
      "shr.u64 %d8, %d7, 30; cvt.u32.u64 %r2, %d8; setp.gt.u64 %p1, %d7, 0x200000000000; @%p1 add.u32 %r2, %r2, 1;\n"
      "div.u64 %d9, %d7, 1000; cvt.u32.u64 %r3, %d9; xor.b32 %r2, %r2, %r3; popc.b64 %r4, %d7; add.u32 %r2, %r2, %r4;\n"
      "st.global.u32 [%d5], %r2;\n";
  Kernel wide(module_of(64, pointers64, body), 64), narrow(module_of(64, pointers64, body), 32);
  const auto expected = wide.run();
  CHECK(expected[3] != expected[4]);
  CHECK(narrow.run() == expected);
  CHECK(narrow.lists("mul.lo.s64"));
}

TEST_CASE("generic addresses of shared and local memory") {
  const std::string body =
      ".shared .align 4 .b8 tile[128];\n.local .align 4 .b8 frame[8];\n"
      "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"
      "add.s64 %d5, %d2, %d3; mov.u64 %d6, tile; cvta.shared.u64 %d6, %d6; add.s64 %d7, %d6, %d3; st.u32 [%d7], %r1;\n"
      "bar.sync 0; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; add.s64 %d8, %d1, %d3; selp.b64 %d9, %d7, %d8, %p1;\n"
      "ld.u32 %r3, [%d9]; mov.u64 %d10, frame; cvta.local.u64 %d11, %d10; st.u32 [%d11+4], %r3; ld.u32 %r4, [%d11+4];\n"
      "add.u32 %r4, %r4, 100; st.global.u32 [%d5], %r4;\n";
  same(body);
}

TEST_CASE("an address that is 4 GB off is found, though its lower half is in bounds") {
  const std::string body =
      "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 0x40000000;\n"
      "mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; ld.global.u32 %r2, [%d4]; st.global.u32 [%d2], %r2;\n";
  Kernel narrow(module_of(64, pointers64, body), 32);
  const std::string message = failure([&] { narrow.run(); });
  CHECK_THAT(message, Catch::Matchers::Contains("out-of-bounds read of 4 bytes at global address 0x110000000"));
}

TEST_CASE("memory that does not fit below 4 GB is refused") {
  Kernel narrow(module_of(64, std::string(pointers64) + ", .param .u64 big", copy64), 32,
                "[[param]]\nname = \"big\"\nbuffer = 4000000000\n");
  CHECK_THAT(failure([&] { narrow.run(); }),
             Catch::Matchers::Contains(
                 "l.toml:13:1: error: buffer 'big' of 4000000000 bytes does not fit into the device's address space"));
}

TEST_CASE("PTX of .address_size 32 runs, with pointers of four bytes") {
  const std::string body =
      "ld.param.u32 %r1, [in]; ld.param.u32 %r2, [out]; cvta.to.global.u32 %r1, %r1; mov.u32 %r3, %tid.x;\n"
      "shl.b32 %r4, %r3, 2; add.s32 %r5, %r1, %r4; add.s32 %r6, %r2, %r4; ld.global.u32 %r7, [%r5+8];\n"
      "mov.u32 %r8, table; ld.global.u32 %r9, [%r8+4]; ld.u32 %r10, [%r9]; add.u32 %r7, %r7, %r10;\n"
      "st.global.u32 [%r6], %r7;\n";
  for (const unsigned addresses : {64u, 32u}) {
    Kernel k(module_of(32, pointers32, body, ".global .u32 x = 1000;\n.global .u32 table[2] = {0, x};\n"), addresses);
    const auto got = k.run();
    CHECK(got[0] == 1002);
    CHECK(got[31] == 1033);
  }
}

TEST_CASE("generic addresses of 32 bits name shared, local and constant memory, and tell them apart") {
  const std::string body =
      ".shared .align 4 .b8 tile[128];\n.local .align 4 .b8 frame[8];\n"
      "ld.param.u32 %r1, [in]; ld.param.u32 %r2, [out]; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2;\n"
      "mov.u32 %r5, tile; cvta.shared.u32 %r6, %r5; add.s32 %r6, %r6, %r4; st.u32 [%r6], %r3; bar.sync 0;\n"
      "mov.u32 %r7, frame; cvta.local.u32 %r8, %r7; st.u32 [%r8+4], 40; ld.local.u32 %r9, [%r7+4];\n"
      "mov.u32 %r10, weights; cvta.const.u32 %r11, %r10; ld.u32 %r12, [%r11+4];\n"
      "and.b32 %r13, %r3, 3; setp.eq.u32 %p1, %r13, 0; selp.b32 %r14, %r6, %r8, %p1; setp.eq.u32 %p2, %r13, 1;\n"
      "selp.b32 %r14, %r11, %r14, %p2; setp.eq.u32 %p3, %r13, 2; selp.b32 %r14, %r1, %r14, %p3;\n"
      "isspacep.shared %p0, %r14; selp.u32 %r15, 1, 0, %p0; isspacep.local %p0, %r14; selp.u32 %r16, 2, 0, %p0;\n"
      "isspacep.const %p0, %r14; selp.u32 %r17, 4, 0, %p0; isspacep.global %p0, %r14; selp.u32 %r18, 8, 0, %p0;\n"
      "add.u32 %r15, %r15, %r16; add.u32 %r15, %r15, %r17; add.u32 %r15, %r15, %r18; mul.lo.u32 %r15, %r15, 1000;\n"
      "add.u32 %r19, %r2, %r4; add.u32 %r9, %r9, %r12; ld.u32 %r16, [%r6]; add.u32 %r9, %r9, %r16;\n"
      "add.u32 %r9, %r9, %r15; st.u32 [%r19], %r9;\n";
  Kernel k(module_of(32, pointers32, body, ".const .u32 weights[2] = {5, 7};\n"), 64);
  const auto got = k.run();
  // 40 from the frame, 7 from the constants, the thread from the tile; a thousand times the space.
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned spaces[] = {1, 4, 8, 2};
    CHECK(got[t] == 40 + 7 + t + 1000 * spaces[t % 4]);
  }
}

TEST_CASE("addresses of the wrong width are refused") {
  Kernel wide_in_narrow(module_of(32, pointers32, "ld.global.u32 %r1, [%d1];\n"), 64);
  CHECK_THAT(failure([&] { wide_in_narrow.run(); }),
             Catch::Matchers::Contains("k.ptx:7:20: error: '%d1' has type .b64, expected a 32-bit address register"));
  Kernel narrow_in_wide(module_of(64, pointers64, "ld.global.u32 %r1, [%r2];\n"), 64);
  CHECK_THAT(failure([&] { narrow_in_wide.run(); }),
             Catch::Matchers::Contains("k.ptx:7:20: error: '%r2' has type .b32, expected a 64-bit address register"));
  Kernel cvta(module_of(32, pointers32, "cvta.to.global.u64 %d1, %d2;\n"), 64);
  CHECK_THAT(failure([&] { cvta.run(); }),
             Catch::Matchers::Contains("k.ptx:7:1: error: 'cvta.to.global.u64' in a module of .address_size 32"));
  Kernel symbol(module_of(32, pointers32, "mov.u64 %d1, x;\n", ".global .u32 x;\n"), 64);
  CHECK_THAT(failure([&] { symbol.run(); }),
             Catch::Matchers::Contains("error: the address of 'x' has 32 bits, expected a 64-bit register"));
  Kernel other(module_of(64, pointers64, copy64), 16);
  CHECK(failure([&] { other.run(); }) == "error: --addresses is 16, expected 32 or 64");
}

TEST_CASE("public report: gpuocelot: without .address_size, each entry has the addresses of its own code") {
  Folder folder;
  folder.write(
      "k.ptx",
      ".version 2.1\n.target sm_20\n"
      ".entry narrow (.param .u32 o) { .reg .u32 %d,%a; ld.param.u32 %d,[o]; mov.u32 %a,5; st.global.u32 [%d],%a; "
      "exit; }\n"
      ".entry wide (.param .u64 o) { .reg .u64 %d; .reg .u32 %a; ld.param.u64 %d,[o]; mov.u32 %a,6; st.global.u32 "
      "[%d+4],%a; exit; }\n");
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml",
                          "ptx = \"k.ptx\"\n[[buffer]]\nname = \"o\"\nbytes = 8\n"
                          "[[launch]]\nentry = \"narrow\"\ngrid = [1]\nblock = [1]\nparams = [{ buffer = \"o\" }]\n"
                          "[[launch]]\nentry = \"wide\"\ngrid = [1]\nblock = [1]\nparams = [{ buffer = \"o\" }]\n");
  o.out = folder.file("k.rgt");
  o.dumps = {{"o", folder.file("o.bin")}};
  tool::annotate(o);
  CHECK(folder.read("o.bin") == std::string("\x05\0\0\0\x06\0\0\0", 8));
}
