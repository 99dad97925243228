// SPDX-License-Identifier: Apache-2.0
//
// --divergence, and what becomes of the annotations of a kernel that needs it.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/verify.h>

#include <string>
#include <vector>

#include "folder.h"
#include "harness.h"
#include "process.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// `lock`: all lanes take a lock in turn. `plain`: they part and meet.
const std::string kernels =
    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry lock(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %q<2>; ld.param.u64 %d1, [out];\n"
    "TRY: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra TRY;\n"
    "ld.volatile.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1+4], %r2;\n"
    "atom.global.exch.b32 %r3, [%d1], 0; ret;\n}\n"
    ".visible .entry plain(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %q<2>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; setp.lt.u32 %q1, %r1, 7; @%q1 bra A; mul.lo.u32 %r1, %r1, 3;\n"
    "bra B; A: add.u32 %r1, %r1, 50; B: st.global.u32 [%d1], %r1; ret;\n}\n";

std::string launch(const std::string& entry) {
  return "ptx = \"k.ptx\"\nentry = \"" + entry +
         "\"\ngrid = [2]\nblock = [64]\n[[param]]\nname = \"out\"\nbuffer = 256\n";
}

const std::string reason =
    "the lanes of a warp do not go in the order of a SIMT stack, on which the annotation relies (--divergence "
    "barriers)";

struct Setup {
  explicit Setup(const std::string& entry) {
    folder.write("k.ptx", kernels);
    options.launch = folder.write("l.toml", launch(entry));
    options.out = folder.file("k.rgt");
    options.divergence = emulator::Divergence::barriers;
  }
  Folder folder;
  tool::AnnotateOptions options;
};

bool has_section(const trace::Kernel& kernel, const std::string& name) {
  for (const trace::AnnotationSection& s : kernel.annotations) {
    if (s.name == name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a kernel whose lanes wait for each other is traced without annotations of the stack's order") {
  Setup s("lock");
  const tool::AnnotateResult result = tool::annotate(s.options);
  const trace::Reader reader(s.options.out);
  const trace::Kernel& kernel = reader.kernels().at(0);
  CHECK(trace::lanes_apart(kernel));
  CHECK(has_section(kernel, "liveness"));
  for (const char* name : {"regions", "power", "rfv", "rfh", "regmutex"}) CHECK_FALSE(has_section(kernel, name));
  for (const passes::PassSummary& pass : result.entries.at(0).passes) {
    if (!pass.is_default || pass.name == "liveness") continue;
    INFO(pass.name);
    CHECK(pass.left_out == "kernel 'lock': " + reason);
  }
  CHECK(trace::verify(reader, trace::VerifyDepth::program).warps == 4);

  Setup asked("lock");
  asked.options.schemes = {"regless"};
  CHECK(error_of(asked.options) == "error: --for regless: kernel 'lock': " + reason);
  Setup stack("lock");
  stack.options.divergence = emulator::Divergence::stack;
  CHECK(error_of(stack.options).find("--divergence barriers gives them their own") != std::string::npos);
}

TEST_CASE("other kernels have what they have with a stack") {
  Setup s("plain");
  tool::annotate(s.options);
  const std::string barriers = s.folder.read("k.rgt");
  s.options.divergence = emulator::Divergence::stack;
  tool::annotate(s.options);
  const bool same = s.folder.read("k.rgt") == barriers;
  CHECK(same);
}

TEST_CASE("--divergence takes stack or barriers") {
  const Setup s("plain");
  const auto refusal = [&](const std::string& how) {
    const test::ProcessResult r =
        test::run_process({REGATTA_ANNOTATE, "--launch", s.options.launch, "--divergence=" + how});
    return r.status == 0 ? "" : r.err;
  };
  CHECK(refusal("stack").empty());
  CHECK(refusal("barriers").empty());
  CHECK(refusal("barrier") ==
        "regatta-annotate: --divergence 'barrier', expected stack or barriers; did you mean 'barriers'?\n");
}
