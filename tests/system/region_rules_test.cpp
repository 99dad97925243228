// SPDX-License-Identifier: Apache-2.0
//
// The paper's own algorithm for soft definitions, end to end: it lets a value die that lanes still read, and the
// simulation says where. (What the algorithm misses: compiler/passes/README.md.)
#include <regatta/test/catch.h>

#include "folder.h"
#include "process.h"

using namespace regatta;

namespace {

/// One side of the branch: the result is defined, then loads keep the warp waiting and its registers on the move.
std::string side(unsigned factor) {
  std::string text = "mul.lo.u32 %r, %i, " + std::to_string(factor) + ";\n";
  for (unsigned n = 0; n < 8; ++n)
    text += "ld.global.u32 %v, [%a+" + std::to_string(4 * n) + "];\nadd.u32 %s, %s, %v;\n";
  return text;
}

/// Odd and even threads define the result on different sides of a branch.
std::string diamond() {
  return ".version 7.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry diamond(.param .u64 out, .param .u64 in)\n{\n"
         ".reg .b32 %r, %s, %v, %t, %i, %c, %m; .reg .b64 %a, %o, %w; .reg .pred %p;\n"
         "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmad.lo.u32 %i, %c, 256, %t;\nmul.wide.u32 %w, %i, 4;\n"
         "ld.param.u64 %a, [in];\nadd.u64 %a, %a, %w;\nld.param.u64 %o, [out];\nadd.u64 %o, %o, %w;\n"
         "mov.u32 %s, 0;\nand.b32 %m, %t, 1;\nsetp.eq.u32 %p, %m, 0;\n@%p bra EVEN;\n" +
         side(7) + "bra JOIN;\nEVEN:\n" + side(9) +
         "JOIN:\nadd.u32 %r, %r, %s;\nadd.u32 %r, %r, %i;\nst.global.u32 [%o], %r;\nret;\n}\n";
}

}  // namespace

TEST_CASE("a kernel whose soft definitions are found as printed computes something else") {
  const test::Folder folder;
  folder.write("k.ptx", diamond());
  folder.write("l.toml",
               "ptx = \"k.ptx\"\nentry = \"diamond\"\ngrid = [8, 1, 1]\nblock = [256, 1, 1]\n"
               "[[param]]\nbuffer = 8192\ninit = \"zero\"\ntype = \"u32\"\n"
               "[[param]]\nbuffer = 8448\ninit = \"iota\"\ntype = \"u32\"\n");
  const auto simulate = [&](const std::string& rule) {
    const std::string trace = folder.file(rule + ".rgt");
    const auto run =
        test::run_process({REGATTA_ANNOTATE, "--launch", folder.file("l.toml"), "--out", trace, "--region-registers",
                           "16", "--region-bank-lines", "4", "--region-lanes", rule});
    INFO(run.err);
    REQUIRE(run.status == 0);
    return test::run_process({REGATTA_SIM, trace, "--scheme", "regless", "--osu.entries", "128"});
  };
  for (const std::string rule : {"printed", "mended"}) {
    CAPTURE(rule);
    const test::ProcessResult r = simulate(rule);
    CHECK(r.status == 3);
    CHECK(r.err.find("value mismatch: kernel diamond") != std::string::npos);
  }
  const test::ProcessResult right = simulate("every-path");
  CHECK(right.status == 0);
  CHECK(right.out.find("mismatches: 0") != std::string::npos);
}
