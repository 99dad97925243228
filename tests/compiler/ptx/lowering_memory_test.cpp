// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <regatta/ir/address_windows.h>

using namespace regatta;
using namespace regatta::ptx::test;

TEST_CASE("parameters lie one behind the other at their alignment") {
  const ir::Function f = lower("ret;");
  REQUIRE(f.parameters.size() == 3);
  CHECK(f.parameters[0].offset == 0);
  CHECK(f.parameters[1].offset == 8);
  CHECK(f.parameters[2].offset == 16);
  CHECK(f.parameters[2].bytes == 24);
  CHECK(f.parameters[2].alignment == 8);
}

TEST_CASE("loads and stores") {
  CHECK(first_lines("ld.param.u64 %rd1, [a];", 1) == "ld.param.u64 %v0.64, [0x0];");
  CHECK(first_lines("ld.param.f32 %f1, [s+20];", 1) == "ld.param.f32 %v0, [0x10+0x14];");
  CHECK(first_lines("mov.b64 %rd1, s;\nld.param.u32 %r1, [%rd1+4];", 2) ==
        "mov.b64 %v0.64, 0x10;\nld.param.u32 %v1, [%v0.64+0x4];");
  CHECK(first_lines("ld.global.nc.v2.f32 {%f1, %f2}, [%rd2+-8];", 1) ==
        "ld.global.nc.v2.f32 {%v0, %v1}, [%v2.64-0x8];");
  CHECK(first_lines("ld.volatile.shared.u32 %r1, [%r2];", 1) == "ld.volatile.shared.u32 %v0, [%v1];");
  CHECK(first_lines("ld.acquire.gpu.u32 %r1, [%rd2];", 1) == "ld.volatile.u32 %v0, [%v1.64];");
  CHECK(first_lines("st.global.v2.u32 [%rd1], {%r1, %r2};", 1) == "st.global.v2.u32 [%v0.64], {%v1, %v2};");
  CHECK(first_lines("st.u32 [%rd1], 5;", 1) == "st.u32 [%v0.64], 0x5;");
}

TEST_CASE("registers wider than the access are narrowed and widened") {
  CHECK(first_lines("ld.global.u8 %rs1, [%rd2];", 1) == "ld.global.u8 %v0, [%v1.64];");
  CHECK(first_lines("ld.global.s8 %rd1, [%rd2];", 2) == "ld.global.s8 %v0, [%v1.64];\ncvt.s64.s8 %v2.64, %v0;");
  CHECK(first_lines("ld.global.b32 %rd1, [%rd2];", 2) == "ld.global.b32 %v0, [%v1.64];\ncvt.u64.u32 %v2.64, %v0;");
  CHECK(first_lines("st.global.u8 [%rd2], %rd1;", 2) == "cvt.u32.u64 %v0, %v1.64;\nst.global.u8 [%v2.64], %v0;");
}

TEST_CASE("vector elements get registers of their own") {
  CHECK(first_lines("st.global.v2.u32 [%rd1], {%r1, 7};", 2) ==
        "mov.b32 %v0, 0x7;\nst.global.v2.u32 [%v1.64], {%v2, %v0};");
  CHECK(first_lines("st.global.v2.f64 [%rd1], {%fd1, %fd1};", 2) ==
        "mov.b64 %v0.64, %v1.64;\nst.global.v2.f64 [%v2.64], {%v1.64, %v0.64};");
  CHECK(first_lines("ld.global.v2.u32 {%r1, _}, [%rd2];", 1) == "ld.global.v2.u32 {%v0, %v1}, [%v2.64];");
}

TEST_CASE("atomics") {
  CHECK(first_lines("atom.global.add.u32 %r1, [%rd2+4], 1;", 1) == "atom.global.add.u32 %v0, [%v1.64+0x4], 0x1;");
  CHECK(first_lines("atom.shared.cas.b32 %r1, [%r2], %r3, %r4;", 1) == "atom.shared.cas.b32 %v0, [%v1], %v2, %v3;");
  CHECK(first_lines("atom.global.add.f32 _, [%rd2], %f1;", 1) == "red.global.add.f32 [%v0.64], %v1;");
  CHECK(first_lines("red.relaxed.gpu.global.or.b32 [%rd2], %r1;", 1) == "red.global.or.b32 [%v0.64], %v1;");
  CHECK(first_lines("atom.or.acq_rel.cta.b32 %r1, [%rd2], 1;", 1) == "atom.or.b32 %v0, [%v1.64], 0x1;");
}

TEST_CASE("shared variables are laid out by alignment, dynamic ones behind them") {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n"
      ".shared .align 4 .b8 unused[400];\n.shared .align 8 .b8 common[12];\n"
      ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd<3>; .shared .align 4 .b8 first[20];\n"
      "mov.u32 %r1, dyn; mov.u32 %r2, common; ld.shared.u32 %r3, [dyn+4]; ld.shared.u32 %r4, [first+8];\n"
      "add.s32 %r5, %r1, %r2; st.shared.u32 [%r5], %r3; st.shared.u32 [%r5], %r4; }";
  const ir::Module m = ptx::parse_module(text, "k.ptx");
  const ir::Function& f = m.functions.at(0);
  CHECK(f.static_shared_bytes == 48);
  REQUIRE(f.shared_variables.size() == 3);
  CHECK(f.shared_variables[0].name == "first");
  CHECK(f.shared_variables[1].name == "common");
  CHECK(f.shared_variables[1].offset == 24);
  CHECK(f.shared_variables[2].name == "dyn");
  CHECK(f.shared_variables[2].offset == 48);
  CHECK(f.shared_variables[2].bytes == 0);
  CHECK(text_of(f) ==
        "mov.u32 %v0, 0x30;\nmov.u32 %v1, 0x18;\nld.shared.u32 %v2, [0x30+0x4];\nld.shared.u32 %v3, [0x0+0x8];\n"
        "add.s32 %v4, %v0, %v1;\nst.shared.u32 [%v4], %v2;\nst.shared.u32 [%v4], %v3;\nexit;\n");
}

TEST_CASE("local variables and their generic addresses") {
  const ir::Function f = lower(
      ".local .align 16 .b8 __local_depot0[40]; .reg .b64 %SP; .reg .b64 %SPL;\n"
      "mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SP, 8; st.u32 [%rd1], %r1;");
  CHECK(f.local_bytes == 40);
  CHECK(text_of(f) ==
        "mov.u64 %v0.64, 0x0;\nadd.u64 %v1.64, %v0.64, 0x2000000000000;\nadd.u64 %v2.64, %v1.64, 0x8;\n"
        "st.u32 [%v2.64], %v3;\nexit;\n");
}

TEST_CASE("module variables: places, initial bytes and relocations") {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".const .align 4 .f32 filter[3] = {0f3F800000, 2.0, 1};\n.const .align 16 .b8 more[16];\n"
      ".global .align 2 .s16 table[4] = {-1, 2};\n.global .u64 pointers[2] = {generic(more), table+2};\n"
      ".extern .global .u32 elsewhere;\n"
      ".entry k() { .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b64 %rd<3>;\n"
      "ld.const.f32 %f1, [filter+8]; mov.u64 %rd1, table; st.global.f32 [table+4], %f1; st.global.f32 [%rd1], %f1;\n"
      "mov.u64 %rd2, more; st.global.u64 [pointers], %rd2; }";
  const ir::Module m = ptx::parse_module(text, "k.ptx");
  REQUIRE(m.variables.size() == 5);
  CHECK(m.variables[0].space == trace::MemorySpace::constant);
  CHECK(m.variables[0].offset == 0);
  CHECK(m.variables[0].initial == std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3f});
  CHECK(m.variables[1].offset == 16);
  CHECK(m.variables[1].initial.empty());
  CHECK(m.variables[2].initial == std::vector<std::uint8_t>{255, 255, 2, 0, 0, 0, 0, 0});
  REQUIRE(m.variables[3].relocations.size() == 2);
  CHECK(m.variables[3].relocations[0].symbol == "more");
  CHECK(m.variables[3].relocations[0].generic);
  CHECK(m.variables[3].relocations[1].offset == 8);
  CHECK(m.variables[3].relocations[1].addend == 2);
  CHECK(m.variables[4].external);
  const ir::Function& f = m.functions.at(0);
  CHECK(text_of(f) ==
        "ld.const.f32 %v0, [0x0+0x8];\nmov.u64 %v1.64, table;\nst.global.f32 [table+0x4], %v0;\n"
        "st.global.f32 [%v1.64], %v0;\nmov.u64 %v2.64, 0x10;\nst.global.u64 [pointers], %v2.64;\nexit;\n");
  CHECK(f.blocks[0].instructions[1].sources[0].symbol == "table");
}

TEST_CASE("the generic windows do not overlap") {
  CHECK(ir::shared_window == 0x0001000000000000u);
  CHECK(ir::local_window == 0x0002000000000000u);
  CHECK((ir::constant_window & ir::window_offset_mask) == 0);
  CHECK((ir::param_window & ir::window_offset_mask) == 0);
}
