// SPDX-License-Identifier: Apache-2.0
//
// Programs whose launches follow counters, memory that holds pointers and structures, and expectations of variables.
#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <cstdint>
#include <cstring>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

const std::string ptx_head = ".version 9.0\n.target sm_75\n.address_size 64\n";

template <class T>
std::string as_bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Step k of an LU decomposition in place: column k below the diagonal, then what is right of it.
const std::string lu_ptx = ptx_head +
                           ".visible .entry column(.param .u64 a, .param .u32 n, .param .u32 k)\n{\n"
                           ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<6>; .reg .f32 %f<4>;\n"
                           "ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k];\n"
                           "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
                           "mad.lo.u32 %r6, %r3, %r4, %r5; add.u32 %r6, %r6, %r2; add.u32 %r6, %r6, 1;\n"
                           "setp.ge.u32 %p, %r6, %r1; @%p ret;\n"
                           "mad.lo.u32 %r7, %r2, %r1, %r2; mul.wide.u32 %d2, %r7, 4; add.s64 %d2, %d1, %d2;\n"
                           "mad.lo.u32 %r8, %r6, %r1, %r2; mul.wide.u32 %d3, %r8, 4; add.s64 %d3, %d1, %d3;\n"
                           "ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d3]; div.rn.f32 %f3, %f2, %f1;\n"
                           "st.global.f32 [%d3], %f3; ret;\n}\n"
                           // One CTA per row below, threads over the columns; `first` is a[k + 1][0].
                           ".visible .entry rest(.param .u64 a, .param .u64 first, .param .u32 n, .param .u32 k)\n{\n"
                           ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<6>;\n"
                           "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [first]; ld.param.u32 %r1, [n];\n"
                           "ld.param.u32 %r2, [k]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x;\n"
                           "add.u32 %r4, %r4, %r2; add.u32 %r4, %r4, 1;\n"
                           "mul.lo.u32 %r5, %r3, %r1; mul.wide.u32 %d3, %r5, 4; add.s64 %d3, %d2, %d3;\n"
                           "mul.wide.u32 %d4, %r2, 4; add.s64 %d5, %d3, %d4; ld.global.f32 %f1, [%d5];\n"
                           "mul.wide.u32 %d6, %r4, 4; add.s64 %d7, %d3, %d6; ld.global.f32 %f2, [%d7];\n"
                           "mad.lo.u32 %r6, %r2, %r1, %r4; mul.wide.u32 %d8, %r6, 4; add.s64 %d8, %d1, %d8;\n"
                           "ld.global.f32 %f3, [%d8]; mul.rn.f32 %f4, %f1, %f3; sub.rn.f32 %f5, %f2, %f4;\n"
                           "st.global.f32 [%d7], %f5; ret;\n}\n";

const std::string lu_launch =
    "ptx = \"lu.ptx\"\n[constants]\nn = 20\n[[buffer]]\nname = \"a\"\nbytes = \"4 * n * n\"\ninit = \"uniform\"\n"
    "type = \"f32\"\nlow = 1.0\nhigh = 2.0\nseed = 3\nexpect = \"lu.bin\"\n"
    "[[launch]]\nentry = \"column\"\ngrid = [\"(n - 2 - k) / 8 + 1\"]\nblock = [8]\n"
    "params = [{ buffer = \"a\" }, { expression = \"n\", type = \"u32\" }, { counter = \"k\", type = \"u32\" }]\n"
    "[[launch]]\nentry = \"rest\"\ngrid = [\"n - 1 - k\"]\nblock = [\"n - 1 - k\"]\n"
    "params = [{ buffer = \"a\" }, { buffer = \"a\", offset = \"4 * n * (k + 1)\" },\n"
    "  { expression = \"n\", type = \"u32\" }, { counter = \"k\", type = \"u32\" }]\n"
    "[[step]]\nrepeat = \"n - 1\"\ncounter = \"k\"\nsteps = [{ run = \"column\" }, { run = \"rest\" }]\n";

std::vector<float> lu_reference(std::size_t n) {
  launch::FillSpec spec;
  spec.init = launch::Init::uniform;
  spec.type = ir::Type::f32;
  spec.low = 1;
  spec.high = 2;
  spec.seed = 3;
  std::vector<float> a = launch::make_buffer<float>(spec, n * n);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) a[i * n + k] /= a[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j < n; ++j) {
        const float product = a[i * n + k] * a[k * n + j];
        a[i * n + j] -= product;
      }
    }
  }
  return a;
}

/// Adds the values of a list of Nodes; the result goes to the variable `sum`, and their number to `count`.
const std::string list_ptx = ptx_head +
                             ".visible .global .f32 sum[2];\n.visible .global .u64 roots[2];\n"
                             ".visible .entry walk(.param .align 8 .b8 list[16])\n{\n"
                             ".reg .pred %p; .reg .b64 %d<4>; .reg .f32 %f<4>;\n"
                             "ld.param.u64 %d1, [list+8]; ld.param.f32 %f1, [list];\n"
                             "$next: setp.eq.u64 %p, %d1, 0; @%p bra $end;\n"
                             "ld.global.f32 %f2, [%d1]; add.rn.f32 %f1, %f1, %f2;\n"
                             "ld.global.u64 %d1, [%d1+8]; bra $next;\n"
                             "$end: ld.global.u64 %d2, [roots+8]; ld.global.f32 %f3, [%d2];\n"
                             "st.global.f32 [sum], %f1; st.global.f32 [sum+4], %f3; ret;\n}\n";

const std::string list_launch =
    "ptx = \"list.ptx\"\nentry = \"walk\"\ngrid = [1]\nblock = [1]\n"
    "[[struct]]\nname = \"Node\"\nfields = [{ name = \"x\", type = \"f32\" }, { name = \"next\", type = \"pointer\" "
    "}]\n"
    "[[param]]\nstruct = \"Node\"\nfields = { x = 0.25, next = { buffer = 48, name = \"nodes\" } }\n"
    "[[elements]]\nin = \"nodes\"\nstruct = \"Node\"\nvalues = [{ x = 1, next = { buffer = \"nodes\", offset = 32 } "
    "},\n"
    "  { x = 4 }, { x = 2, next = { buffer = \"nodes\", offset = 16 } }]\n"
    "[[pointers]]\nin = \"roots\"\nto = \"nodes\"\ncount = 2\nstep = 16\n"
    "[[global]]\nname = \"roots\"\ninit = \"module\"\n";

}  // namespace

TEST_CASE("an LU decomposition is two launch tables, and is what C++ computes") {
  const Folder folder;
  folder.write("lu.ptx", lu_ptx);
  folder.write("lu.bin", as_bytes(lu_reference(20)));
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", lu_launch);
  o.out = folder.file("lu.rgt");
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(result.failed_expectations.empty());
  const trace::Reader reader(o.out);
  REQUIRE(reader.launches().size() == 2 * 19);
  for (unsigned k = 0; k < 19; ++k) {
    CHECK(reader.launches()[2 * k].grid[0] == (18 - k) / 8 + 1);
    CHECK(reader.launches()[2 * k + 1].grid[0] == 19 - k);
    CHECK(reader.launches()[2 * k + 1].block[0] == 19 - k);
  }
}

TEST_CASE("a list of structures in memory, and expectations of variables") {
  const Folder folder;
  folder.write("list.ptx", list_ptx);
  folder.write("sum.bin", as_bytes(std::vector<float>{7.25f, 4.0f}));
  const std::string file = folder.file("l.toml");
  tool::AnnotateOptions o;
  const auto run = [&](const std::string& more) {
    o.launch = folder.write("l.toml", list_launch + more);
    return tool::annotate(o).failed_expectations;
  };
  const std::string sum = "[[global]]\nname = \"result\"\nsymbol = \"sum\"\ntype = \"f32\"\n";
  CHECK(run(sum + "expect = \"sum.bin\"\n").empty());
  CHECK(run(sum + "init = \"module\"\nexpect = \"sum.bin\"\n").empty());
  // A variable is also known by the name of its table.
  o.dumps = {{"result", folder.file("dump.bin")}, {"sum", folder.file("dump2.bin")}};
  CHECK(run(sum).empty());
  CHECK(folder.read("dump.bin") == folder.read("sum.bin"));
  CHECK(folder.read("dump2.bin") == folder.read("sum.bin"));

  folder.write("near.bin", as_bytes(std::vector<float>{7.25f, 4.001f}));
  CHECK(run(sum + "expect = \"near.bin\"\nabsolute_tolerance = 0.01\n").empty());
  const std::string differs = file + ":24:1: error: variable 'result' differs from '" + folder.file("near.bin") +
                              "' in 1 of 2 elements; the first is element 1 (f32): got 4, expected 4.00099993";
  CHECK(run(sum + "expect = \"near.bin\"\n") == std::vector<std::string>{differs});
  CHECK(run(sum + "expect = \"near.bin\"\nabsolute_tolerance = 1e-4\n") ==
        std::vector<std::string>{differs + " (absolute tolerance 0.0001)"});

  const auto error = [&](const std::string& more) {
    o.launch = folder.write("l.toml", list_launch + more);
    return error_of(o);
  };
  folder.write("short.bin", "123");
  CHECK(error(sum + "expect = \"short.bin\"\n") ==
        file + ":24:1: error: '" + folder.file("short.bin") + "' has 3 bytes, variable 'result' has 8");
  CHECK(error("[[global]]\nname = \"sum\"\ninit = \"module\"\ntype = \"f64\"\nexpect = \"sum.bin\"\n"
              "[[pointers]]\nin = \"roots\"\nat = 8\nto = \"nodes\"\ncount = 2\n") ==
        file + ":29:1: error: 16 bytes from byte 8 on, 'roots' has 16");
  o.report = folder.file("sum.bin");
  CHECK_THROWS_WITH(run(sum + "expect = \"sum.bin\"\n"),
                    "--report and the expected contents of variable 'result' name the same file '" + o.report + "'");
  o.report.clear();
  o.dumps = {{"results", folder.file("dump.bin")}};
  CHECK(error(sum) ==
        "error: --dump-buffer: no buffer or variable is called 'results', there are: nodes, roots, result");
}

TEST_CASE("what a kernel cannot have is refused when a counter makes it so") {
  const Folder folder;
  folder.write("k.ptx", ptx_head +
                            ".visible .entry exact() .reqntid 64, 1, 1\n{\nret;\n}\n"
                            ".visible .entry most() .maxntid 64, 1, 1\n{\nret;\n}\n"
                            ".visible .entry shared()\n{\n.shared .align 4 .b8 s[4096];\nret;\n}\n");
  const std::string file = folder.file("l.toml");
  tool::AnnotateOptions o;
  const auto error = [&](const std::string& entry, const std::string& block, const std::string& keys) {
    o.launch = folder.write("l.toml", "ptx = \"k.ptx\"\n[[buffer]]\nname = \"a\"\nbytes = 4\n[[launch]]\nentry = \"" +
                                          entry + "\"\ngrid = [\"4 - k\"]\nblock = [" + block + "]\n" + keys +
                                          "params = []\n[[step]]\nrepeat = 2\ncounter = \"k\"\nsteps = [{ run = \"" +
                                          entry + "\" }]\n");
    return error_of(o);
  };
  CHECK(error("exact", "\"64 + k\"", "") == file +
                                                ":5:1: error: kernel 'exact' was compiled for exactly 64 x 1 x 1 "
                                                "threads (.reqntid), the launch has 65 x 1 x 1");
  CHECK(error("most", "\"64 + k\"", "") == file +
                                               ":5:1: error: kernel 'most' was compiled for at most 64 threads "
                                               "(.maxntid), the launch has 65");
  CHECK(error("shared", "32", "dynamic_shared = \"228352 + 4 * k\"\n") ==
        file + ":5:1: error: kernel 'shared' needs 232452 bytes of shared memory, expected at most 232448");
  CHECK(error("most", "64", "").empty());
  // The largest grid is known when the launches have run.
  o.out = folder.file("k.rgt");
  o.first_cta = 4;
  o.cta_count = 1;
  CHECK(error("most", "64", "") == "error: no launch that ran has a CTA of --ctas: the trace would be empty");
  o.first_cta = 3;
  CHECK(error("most", "64", "").empty());
}
