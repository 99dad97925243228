// SPDX-License-Identifier: Apache-2.0
#include "parser.h"

#include <regatta/test/catch.h>

using namespace regatta;
using ptx::Operand;
using ptx::Statement;

namespace {

const std::string head = ".version 9.0\n.target sm_75, debug\n.address_size 64\n";

ptx::Module parse(const std::string& text) {
  static std::string held;
  held = head + text;
  return ptx::parse(held, "f.ptx");
}

std::vector<Statement> body(const std::string& text) {
  ptx::Module m = parse(".entry k() {" + text + "}");
  REQUIRE(m.functions.at(0).error == "");
  return m.functions[0].body;
}

}  // namespace

TEST_CASE("entries, functions, prototypes and their headers") {
  const ptx::Module m = parse(
      ".extern .func (.param .b32 r) vprintf (.param .b64 p0, .param .b64 p1);\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24],\n .param .u32 n)\n"
      ".maxntid 128, 2\n.minnctapersm 2\n.pragma \"nounroll\";\n{ ret; }\n"
      ".weak .func (.param .b32 r0) g(.param .b64 x) .noreturn { ret; }\n.visible .entry e(){}");
  REQUIRE(m.functions.size() == 4);
  CHECK_FALSE(m.functions[0].has_body);
  CHECK(m.functions[0].parameters.size() == 2);
  const ptx::Function& k = m.functions[1];
  CHECK(k.is_entry);
  CHECK(k.bounds.block == std::array<std::uint32_t, 3>{128, 2, 1});
  REQUIRE(k.parameters.size() == 3);
  CHECK(k.parameters[0].alignment == 8);
  CHECK(k.parameters[1].bytes() == 24);
  CHECK(k.parameters[1].alignment == 8);
  CHECK(k.parameters[2].name == "n");
  CHECK(k.at.line == 5);
  CHECK(k.at.column == 17);
  CHECK_FALSE(m.functions[2].is_entry);
  CHECK(m.functions[2].results.at(0).name == "r0");
  CHECK(m.functions[3].body.empty());
}

TEST_CASE("module variables and initialisers") {
  const ptx::Module m = parse(
      ".const .align 4 .b8 filter[256];\n"
      ".global .align 4 .u32 counter = 3;\n"
      ".global .f32 pair[2] = {0f3F800000, 2.5};\n"
      ".global .s32 grid[2][3] = {{1, 2}, {-4, 0x5, 06}};\n"
      ".global .u8 open[] = {1, 2, 3};\n"
      ".global .u64 where[2] = {generic(counter)+8, pair};\n"
      ".global .v4 .f32 quad;\n"
      ".global .attribute(.managed) .align 8 .u64 managed;\n"
      ".shared .b32 x, y[4];\n"
      ".extern .shared .align 16 .b8 dynamic[];\n"
      ".global .texref tex;");
  REQUIRE(m.variables.size() == 12);
  CHECK(m.variables[0].space == ptx::Variable::Space::constant);
  CHECK(m.variables[1].initial.at(0).bits == 3);
  CHECK(m.variables[2].initial.at(0).single);
  CHECK(m.variables[2].initial.at(1).is_real);
  const ptx::Variable& grid = m.variables[3];
  CHECK(grid.elements == 6);
  REQUIRE(grid.initial.size() == 5);
  CHECK(grid.initial[2].index == 3);
  CHECK(static_cast<std::int64_t>(grid.initial[2].bits) == -4);
  CHECK(grid.initial[4].bits == 6);
  CHECK(m.variables[4].elements == 3);
  CHECK(m.variables[5].initial.at(0).generic);
  CHECK(m.variables[5].initial[0].symbol == "counter");
  CHECK(m.variables[5].initial[0].addend == 8);
  CHECK_FALSE(m.variables[5].initial[1].generic);
  CHECK(m.variables[6].bytes() == 16);
  CHECK(m.variables[6].alignment == 16);
  CHECK(m.variables[9].name == "y");
  CHECK(m.variables[9].bytes() == 16);
  CHECK(m.variables[10].is_extern);
  CHECK(m.variables[10].bytes() == 0);
  CHECK(m.variables[11].space == ptx::Variable::Space::opaque);
}

TEST_CASE("debug sections, files and source lines") {
  const ptx::Module m = parse(
      ".file 3 \"a.cu\", 12, 34\n.file 1 \"b.h\"\n"
      ".section .debug_str { info: .b8 95, 90\n .b64 label\n }\n"
      ".entry k() {\n.loc 1 17 5, function_name info\n ret;\n.loc 3 20 1\nret; }");
  CHECK(m.source_files == std::vector<std::string>{"a.cu", "b.h"});
  const std::vector<Statement>& b = m.functions.at(0).body;
  REQUIRE(b.size() == 2);
  CHECK(b[0].source.file == 1);
  CHECK(b[0].source.line == 17);
  CHECK(b[1].source.file == 0);
  CHECK(b[1].source.line == 20);
}

/// The places of the instructions of a kernel, "k.cu:9" or "k.h:3 k.cu:9", the outermost call last.
std::vector<std::string> places(const std::string& body, const std::string& files) {
  const ptx::Module m = parse(".entry k() {\n" + body + "}\n" + files);
  std::vector<std::string> found;
  for (const Statement& s : m.functions.at(0).body) {
    const ptx::SourcePlace& p = s.source;
    const auto text = [&](std::uint32_t file, std::uint32_t line) {
      return line == 0 ? "" : m.source_files.at(file) + ":" + std::to_string(line);
    };
    found.push_back(text(p.file, p.line) + (p.caller_line == 0 ? "" : " " + text(p.caller_file, p.caller_line)));
  }
  return found;
}

TEST_CASE("code of an inlined function has its own line, and that of the kernel which calls it") {
  const std::string files =
      ".file 1 \"k.cu\"\n.file 2 \"/opt/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp\"\n"
      ".file 3 \"k.h\"\n";
  using Places = std::vector<std::string>;
  SECTION("a header of CUDA is no place of the user's") {
    CHECK(places(".loc 2 112 3, function_name $L__info_string0, inlined_at 1 7 5\nret;\n", files) == Places{"k.cu:7"});
    CHECK(places(".loc 2 112 3, function_name $L__info_string0+4, inlined_at 1 7\nret;\n.loc 1 8 1\nret;\n", files) ==
          Places{"k.cu:7", "k.cu:8"});
  }
  SECTION("a function of the user's keeps its own line beside it") {
    CHECK(places(".loc 3 4 3, function_name f, inlined_at 1 7 5\nret;\n", files) == Places{"k.h:4 k.cu:7"});
  }
  SECTION("as nvcc nests it: each call in front of what it calls") {
    const auto chain = [](const std::string& line) {
      return ".loc 1 " + line + " 3\n.loc 3 9 3, function_name f, inlined_at 1 " + line +
             " 3\n.loc 3 5 3, function_name g, inlined_at 3 9 3\n"
             ".loc 2 112 3, function_name h, inlined_at 3 5 3\nret;\n";
    };
    CHECK(places(chain("15") + chain("16"), files) == Places{"k.h:5 k.cu:15", "k.h:5 k.cu:16"});
  }
  SECTION("the calls of another function are forgotten") {
    const ptx::Module m = parse(
        ".entry a() {\n.loc 1 9 3, function_name f, inlined_at 1 15 3\nret; }\n"
        ".entry b() {\n.loc 1 5 3, function_name g, inlined_at 1 9 3\nret; }\n.file 1 \"k.cu\"\n");
    CHECK(m.functions.at(0).body.at(0).source.line == 9);
    CHECK(m.functions.at(0).body.at(0).source.caller_line == 15);
    CHECK(m.functions.at(1).body.at(0).source.line == 5);
    CHECK(m.functions.at(1).body.at(0).source.caller_line == 9);
  }
  SECTION("a function that is inlined into itself") {
    CHECK(places(".loc 1 9 3, function_name f, inlined_at 1 15 3\nret;\n"
                 ".loc 1 9 3, function_name f, inlined_at 1 9 3\nret;\n",
                 files) == Places{"k.cu:9 k.cu:15", "k.cu:9 k.cu:15"});
    CHECK(places(".loc 1 9 3, function_name f, inlined_at 1 9 3\nret;\n", files) == Places{"k.cu:9"});
  }
  SECTION("a kernel of the toolkit that calls a function of the user's") {
    CHECK(places(".loc 1 3 1, function_name f, inlined_at 2 40 1\nret;\n", files) == Places{"k.cu:3"});
    CHECK(places(".loc 2 41 1\nret;\n", files) ==
          Places{"/opt/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp:41"});
  }
  SECTION("unknown places") {
    CHECK(places(".loc 2 112 3, function_name f, inlined_at 9 7 5\nret;\n", ".file 2 \"k.h\"\n") == Places{"k.h:112"});
    CHECK(places(".loc 1 0 3\nret;\n.loc 2 1 1, function_name f, inlined_at 1 0 3\nret;\n", files) ==
          Places{"", "/opt/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp:1"});
    CHECK(places(".loc 1 0 3, function_name f, inlined_at 1 7 5\nret;\n", files) == Places{"k.cu:7"});
  }
  SECTION("text that is no place") {
    CHECK_THROWS_WITH(parse(".file 1 \"k.cu\"\n.loc 1 7 5, function_name f, inlined_at\n.entry k() { ret; }"),
                      "f.ptx:6:1: error: found '.entry', expected a file number");
  }
}

TEST_CASE("headers of the toolkit") {
  for (const char* path :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp", "/usr/include/c++/12/cmath",
        "/usr/lib/llvm-14/lib/clang/14.0.6/include/__clang_cuda_builtin_vars.h", "sm_20_atomic_functions.hpp",
        "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4\\include\\cub\\x.cuh", "sm_70_rt.hpp",
        "/v/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp", "math_functions.hpp"}) {
    CAPTURE(path);
    CHECK(ptx::is_toolkit_header(path));
  }
  for (const char* path : {"k.cu", "/home/me/cuda/include/k.cuh", "sm_80_gemm.hpp", "sm_intrinsics.hpp", "", "include/",
                           "math_functions.cu", "/home/targets/k.cu"}) {
    CAPTURE(path);
    CHECK_FALSE(ptx::is_toolkit_header(path));
  }
}

TEST_CASE("declarations, scopes and labels") {
  const std::vector<Statement> b = body(
      ".reg .pred %p<3>; .reg .b32 a, %r<17>; .local .align 16 .b8 __local_depot0[64]; .pragma \"nounroll\";"
      "{ .reg .b64 %tmp; .param .b32 param0; } $L__1: L2: ret;");
  REQUIRE(b.size() == 11);
  CHECK(b[0].registers.at(0).count == 3);
  CHECK(b[0].registers[0].type == ir::Type::pred);
  CHECK(b[1].registers.at(0).count == 0);
  CHECK(b[1].registers.at(1).name == "%r");
  CHECK(b[2].variables.at(0).space == ptx::Variable::Space::local);
  CHECK(b[3].kind == Statement::Kind::nounroll);
  CHECK(b[4].kind == Statement::Kind::open);
  CHECK(b[6].variables.at(0).space == ptx::Variable::Space::param);
  CHECK(b[7].kind == Statement::Kind::close);
  CHECK(b[8].kind == Statement::Kind::label);
  CHECK(b[9].mnemonic == "L2");
}

TEST_CASE("instructions and operands") {
  const std::vector<Statement> b = body(
      "@!%p1 setp.lt.and.s32 %p2|_, %r1, -7, !%p3;"
      "ld.global.nc.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16];"
      "mov.u32 %r1, %tid.x;"
      "st.shared.f32 [tile+12], 0fBF800000;"
      "mov.f64 %fd1, 0d400921FB54442D18;"
      "ld.u32 %r1, [4096];"
      "mov.u64 %rd1, tab+8;"
      "and.b32 %r1, 017, ~0x0F;"
      "shfl.sync.down.b32 %r1|%p1, %r2, 0b10, 31, -1;");
  REQUIRE(b.size() == 9);
  CHECK(b[0].name == "setp.lt.and.s32");
  CHECK(b[0].modifiers == std::vector<std::string>{"lt", "and", "s32"});
  CHECK(b[0].guard == "%p1");
  CHECK(b[0].guard_negated);
  REQUIRE(b[0].operands.size() == 4);
  CHECK(b[0].operands[0].kind == Operand::Kind::pair);
  CHECK(b[0].operands[0].second == "_");
  CHECK(static_cast<std::int64_t>(b[0].operands[2].bits) == -7);
  CHECK(b[0].operands[3].negated);
  REQUIRE(b[1].operands[0].elements.size() == 4);
  CHECK(b[1].operands[0].elements[2].kind == Operand::Kind::sink);
  CHECK(b[1].operands[1].name == "%rd1");
  CHECK(b[1].operands[1].offset == -16);
  CHECK(b[2].operands[1].name == "%tid.x");
  CHECK(b[3].operands[0].name == "tile");
  CHECK(b[3].operands[0].offset == 12);
  CHECK(b[3].operands[1].bits == 0xbf800000u);
  CHECK(b[4].operands[1].bits == 0x400921fb54442d18u);
  CHECK(b[5].operands[1].name.empty());
  CHECK(b[5].operands[1].offset == 4096);
  CHECK(b[6].operands[1].offset == 8);
  CHECK(b[7].operands[1].bits == 15);
  CHECK(b[7].operands[2].bits == ~std::uint64_t{15});
  CHECK(b[8].operands[2].bits == 2);
}

TEST_CASE("calls over several lines") {
  const std::vector<Statement> b = body(
      "call.uni (retval0),\n helper,\n (\n param0,\n param1\n );\n call g; call.uni h, (p0); call (r), %rd1, (a), "
      "proto;");
  REQUIRE(b.size() == 4);
  CHECK(b[0].call_results.size() == 1);
  CHECK(b[0].operands.at(0).name == "helper");
  CHECK(b[0].call_arguments.size() == 2);
  CHECK(b[1].call_arguments.empty());
  CHECK(b[2].call_arguments.size() == 1);
  CHECK(b[3].operands.at(0).name == "%rd1");
}

TEST_CASE("wrong text in a body stays with its function") {
  const ptx::Module m = parse(".entry bad() { add.s32 %r1 %r2; { } }\n.entry good() { ret; }");
  REQUIRE(m.functions.size() == 2);
  CHECK(m.functions[0].error == "f.ptx:4:28: error: found '%r2', expected ',' or ';' after an operand of 'add.s32'");
  CHECK(m.functions[1].error.empty());
  CHECK(m.functions[1].body.size() == 1);
}

TEST_CASE("number formats") {
  struct Row {
    const char* text;
    bool good, real, single;
    std::uint64_t bits;
  };
  const Row rows[] = {{"0", true, false, false, 0},
                      {"42", true, false, false, 42},
                      {"42U", true, false, false, 42},
                      {"0xFFu", true, false, false, 255},
                      {"017", true, false, false, 15},
                      {"0b101", true, false, false, 5},
                      {"18446744073709551615", true, false, false, ~std::uint64_t{0}},
                      {"0f3F800000", true, true, true, 0x3f800000},
                      {"0d3FF0000000000000", true, true, false, 0x3ff0000000000000},
                      {"1.5", true, true, false, 0x3ff8000000000000},
                      {"2e0", true, true, false, 0x4000000000000000},
                      {"18446744073709551616", false, false, false, 0},
                      {"08", false, false, false, 0},
                      {"0x", false, false, false, 0},
                      {"0f3F8", false, false, false, 0},
                      {"12ab", false, false, false, 0}};
  for (const Row& r : rows) {
    INFO(r.text);
    std::uint64_t bits = 0;
    bool real = false, single = false;
    CHECK(ptx::read_number(r.text, bits, real, single) == r.good);
    if (!r.good) continue;
    CHECK(bits == r.bits);
    CHECK(real == r.real);
    CHECK(single == r.single);
  }
}
