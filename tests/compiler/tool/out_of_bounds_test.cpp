// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>

#include "folder.h"
#include "harness.h"
#include "process.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Thread t reads 4 bytes at `in` + 4 t + `offset` and writes them to `out`.
const std::string shifted_kernel =
    ".version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .s64 offset)\n{\n"
    ".reg .b32 %r<3>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.s64 %d3, [offset];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4; add.s64 %d5, %d5, %d3;\n"
    ".loc 1 7 1\n"
    "ld.global.u32 %r2, [%d5];\n"
    ".loc 1 8 1\n"
    "add.s64 %d6, %d2, %d4; st.global.u32 [%d6], %r2; ret;\n}\n"
    ".visible .entry stores(.param .u64 in, .param .u64 out, .param .s64 offset)\n{\n"
    ".reg .b32 %r<2>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [in]; ld.param.s64 %d3, [offset]; add.s64 %d1, %d1, %d3; mov.u32 %r1, 1;\n"
    "st.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry adds(.param .u64 in, .param .u64 out, .param .s64 offset)\n{\n"
    ".reg .b32 %r<2>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [in]; ld.param.s64 %d3, [offset]; add.s64 %d1, %d1, %d3; mov.u32 %r1, 1;\n"
    "atom.global.add.u32 %r1, [%d1], %r1; ret;\n}\n"
    ".visible .entry vectors(.param .u64 in, .param .u64 out, .param .s64 offset)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.s64 %d3, [offset]; add.s64 %d1, %d1, %d3;\n"
    "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d1]; st.global.v4.u32 [%d2], {%r1,%r2,%r3,%r4}; ret;\n}\n";

/// `in` has `bytes` bytes, words 1, 2, 3 ...; it is the first buffer.
std::string shifted_launch(long long offset, const std::string& entry = "k", unsigned bytes = 128) {
  return "ptx = \"k.ptx\"\nentry = \"" + entry + "\"\ngrid = [1]\nblock = [" + (entry == "k" ? "32" : "1") +
         "]\n[[param]]\nname = \"in\"\nbuffer = " + std::to_string(bytes) +
         "\ninit = \"iota\"\ntype = \"u32\"\nlow = 1\n[[param]]\nname = \"out\"\nbuffer = 128\n[[param]]\nscalar = " +
         std::to_string(offset) + "\ntype = \"s64\"\n";
}

std::vector<std::uint32_t> output_words(const Folder& folder) {
  const std::string bytes = folder.read("out.bin");
  std::vector<std::uint32_t> v(bytes.size() / 4);
  std::memcpy(v.data(), bytes.data(), v.size() * 4);
  return v;
}

constexpr long long page = 2 << 20;

}  // namespace

TEST_CASE("a read outside of all buffers is an error, or zero where CUDA maps memory") {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", shifted_kernel);
  tool::AnnotateOptions o;
  o.dumps = {{"out", folder.file("out.bin")}};
  const auto run = [&](const std::string& launch) {
    o.launch = folder.write("l.toml", launch);
    return error_of(o);
  };
  const std::string place = ptx + ":11:1: ", thread = ": kernel 'k', CTA (0,0,0), thread (0,0,0): ";
  CHECK(run(shifted_launch(-16)) == place + "error" + thread +
                                        "out-of-bounds read of 4 bytes at global address 0xffffffff0, 16 bytes before "
                                        "the start of 'in' (128 bytes) (k.cu:7)");
  for (const auto how : {tool::OutOfBounds::warn, tool::OutOfBounds::zero}) {
    o.out_of_bounds = how;
    o.launch = folder.write("l.toml", shifted_launch(-16));
    const tool::AnnotateResult r = tool::annotate(o);
    REQUIRE(r.stray_reads.size() == 1);
    CHECK(r.stray_reads[0].lanes == 4);
    CHECK(r.stray_reads[0].message == place + "warning" + thread +
                                          "out-of-bounds read of 4 bytes at global address 0xffffffff0, 16 bytes "
                                          "before the start of 'in' (128 bytes), gives zero (k.cu:7)");
    const auto words = output_words(folder);
    for (unsigned i = 0; i < 32; ++i) CHECK(words[i] == (i < 4 ? 0 : i - 3));
  }
  // The whole page before the first buffer, and the page that it is in; nothing beyond, and never a null pointer.
  CHECK(run(shifted_launch(-page)).empty());
  CHECK(run(shifted_launch(-page - 4))
            .find("out-of-bounds read of 4 bytes at global address 0xfffdffffc, in no buffer") != std::string::npos);
  CHECK(run(shifted_launch(page - 128)).empty());
  CHECK(run(shifted_launch(page - 124)).find("thread (31,0,0): out-of-bounds read") != std::string::npos);
  CHECK(run(shifted_launch(-(1ll << 36))).find("global address 0x0, in no buffer") != std::string::npos);
  // What writes is an error everywhere, and so is what is not aligned.
  CHECK(run(shifted_launch(-16, "stores")).find("out-of-bounds write of 4 bytes") != std::string::npos);
  CHECK(run(shifted_launch(-16, "adds")).find("out-of-bounds atomic access of 4 bytes") != std::string::npos);
  CHECK(run(shifted_launch(-15)).find("misaligned read of 4 bytes") != std::string::npos);
  // A read that begins in a buffer gets what is there.
  REQUIRE(run(shifted_launch(128, "vectors", 136)).empty());
  CHECK(output_words(folder)[0] == 33);
  CHECK(output_words(folder)[1] == 34);
  CHECK(output_words(folder)[2] == 0);
  CHECK(output_words(folder)[3] == 0);
  // Shared memory has an end.
  std::string shared = shifted_kernel;
  shared.replace(shared.find("ld.global.u32"), 13, "ld.shared.u32");
  folder.write("k.ptx", shared);
  CHECK(run(shifted_launch(0)).find("out-of-bounds read of 4 bytes at shared offset") != std::string::npos);
}

TEST_CASE("counts add up over launches and CTAs, and a warp's other lanes are served as ever") {
  const Folder folder;
  folder.write("k.ptx", shifted_kernel);
  tool::AnnotateOptions o;
  o.out_of_bounds = tool::OutOfBounds::warn;
  o.check_races = true;
  o.report = folder.file("r.json");
  o.launch = folder.write(
      "l.toml",
      "ptx = \"k.ptx\"\n[[buffer]]\nname = \"in\"\nbytes = 128\n[[buffer]]\nname = \"out\"\nbytes = 128\n"
      "[[launch]]\nentry = \"k\"\ngrid = [3]\nblock = [32]\n"
      "params = [{ buffer = \"in\" }, { buffer = \"out\" }, { counter = \"i\", type = \"s64\", scale = 4 }]\n"
      "[[step]]\nrepeat = 5\ncounter = \"i\"\nsteps = [{ run = \"k\" }]\n");
  const tool::AnnotateResult r = tool::annotate(o);
  REQUIRE(r.stray_reads.size() == 1);
  CHECK(r.stray_reads[0].lanes == 3 * (0 + 1 + 2 + 3 + 4));
  CHECK(r.stray_reads[0].message.find("thread (31,0,0): out-of-bounds read of 4 bytes at global address 0x1000000080, "
                                      "just past the end of 'in' (128 bytes), gives zero") != std::string::npos);
  const auto report = nlohmann::json::parse(folder.read("r.json"));
  REQUIRE(report["out_of_bounds"].size() == 1);
  CHECK(report["out_of_bounds"][0]["lanes"] == 30);
  CHECK(report["out_of_bounds"][0]["message"] == r.stray_reads[0].message);
}

TEST_CASE("the option --out-of-bounds and what is printed") {
  const Folder folder;
  folder.write("k.ptx", shifted_kernel);
  const std::string launch = folder.write("l.toml", shifted_launch(-16));
  const std::string trace = folder.file("k.rgt");
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {REGATTA_ANNOTATE, "--out-of-bounds"});
    return test::run_process(options);
  };
  CHECK(run({"error", "--launch", launch}).status == 2);
  const std::string hint = "\n(a GPU may read there unnoticed: --out-of-bounds warn goes on with zero)\n";
  CHECK_THAT(run({"error", "--launch", launch}).err, Catch::Matchers::EndsWith("'in' (128 bytes) (k.cu:7)" + hint));
  folder.write("l.toml", shifted_launch(-16, "stores"));
  CHECK_THAT(run({"error", "--launch", launch}).err, !Catch::Matchers::Contains("--out-of-bounds"));
  folder.write("l.toml", shifted_launch(-16));
  auto r = run({"warn", "--launch", launch, "--out", trace});
  CHECK(r.status == 0);
  CHECK(r.err.find("warning: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds read of 4 bytes") !=
        std::string::npos);
  CHECK(r.err.find("gives zero (k.cu:7) [4 lanes]\n") != std::string::npos);
  CHECK(r.out.find("4 lanes read outside of all buffers and got zero, at 1 instruction\n") != std::string::npos);
  r = run({"zero", "--launch", launch});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(r.out.find("4 lanes read outside of all buffers and got zero, at 1 instruction (--out-of-bounds warn names "
                   "them)\n") != std::string::npos);
  r = run({"warm", "--launch", launch});
  CHECK(r.status == 2);
  CHECK(r.err == "regatta-annotate: --out-of-bounds 'warm', expected error, warn or zero; did you mean 'warn'?\n");
  r = run({"zero", "--check", "--launch", launch});
  CHECK(r.status == 2);
  CHECK(r.err == "regatta-annotate: --check runs nothing: --out-of-bounds does not go with it\n");
  // The simulator's values are the trace's.
  CHECK(test::run_process({REGATTA_SIM, trace}).status == 0);
}

TEST_CASE("the option --undefined") {
  const Folder folder;
  folder.write("k.ptx",
               ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
               ".reg .b32 %r<3>; .reg .b64 %d<3>; .shared .align 4 .b8 s[128];\n"
               "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;\n"
               "ld.shared.u32 %r2, [s];\nst.global.u32 [%d1], %r2; ret;\n}\n");
  const std::string launch = folder.write("l.toml",
                                          "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n"
                                          "[[param]]\nname = \"out\"\nbuffer = 128\n");
  const std::string trace = folder.file("k.rgt");
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {REGATTA_ANNOTATE, "--launch", launch});
    return test::run_process(options);
  };
  for (const auto& options : {std::vector<std::string>{}, {"--undefined", "error"}}) {
    const auto r = run(options);
    CHECK(r.status == 2);
    CHECK(r.err == folder.file("k.ptx") +
                       ":8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): read of shared "
                       "offset 0, which was never written\n");
  }
  auto r = run({"--undefined", "zero", "--out", trace});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(test::run_process({REGATTA_SIM, trace}).status == 0);
  r = run({"--undefined", "zer"});
  CHECK(r.status == 2);
  CHECK(r.err == "regatta-annotate: --undefined 'zer', expected error or zero; did you mean 'zero'?\n");
  r = run({"--undefined", "zero", "--check"});
  CHECK(r.status == 2);
  CHECK(r.err == "regatta-annotate: --check runs nothing: --undefined does not go with it\n");
}
