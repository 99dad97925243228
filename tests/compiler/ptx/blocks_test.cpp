// SPDX-License-Identifier: Apache-2.0
#include "support.h"

using namespace regatta;
using namespace regatta::ptx::test;
using List = std::vector<std::uint32_t>;

TEST_CASE("a loop with an early exit") {
  const ir::Function f = lower(
      "setp.eq.s32 %p1, %r1, 0; @%p1 bra DONE;\nLOOP: add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;\n"
      "setp.lt.s32 %p2, %r2, %r1; @%p2 bra LOOP;\nbra.uni DONE;\nadd.s32 %r3, %r3, 1;\nDONE: ret;");
  CHECK(text_of(f) ==
        "setp.eq.s32 %v0, %v1, 0x0;\n@%v0 exit;\n"
        "B1:\nadd.s32 %v2, %v2, 0x1;\nst.global.u32 [%v3.64], %v2;\nsetp.lt.s32 %v4, %v2, %v1;\n@%v4 bra B1;\n"
        "B2:\nexit;\n");
  CHECK(f.blocks[0].successors == List{1});
  CHECK(f.blocks[1].successors == List{1, 2});
  CHECK(f.blocks[2].successors.empty());
  CHECK(f.blocks[1].label == "LOOP");
}

TEST_CASE("only the last instruction of a block is a branch or an exit") {
  const ir::Function f = lower(
      "@%p1 ret; st.global.u32 [%rd1], %r1; @%p2 exit; bra A; B: st.global.u32 [%rd1], 2; bra C; A: bra B; C: trap;");
  for (const ir::Block& b : f.blocks) {
    REQUIRE_FALSE(b.instructions.empty());
    for (std::size_t i = 0; i + 1 < b.instructions.size(); ++i) {
      CHECK(b.instructions[i].op != ir::Opcode::bra);
      CHECK(b.instructions[i].op != ir::Opcode::exit);
    }
  }
  CHECK(f.blocks.back().instructions.back().op == ir::Opcode::exit);
}

TEST_CASE("code that runs off the end returns") {
  CHECK(text_of(lower("")) == "exit;\n");
  CHECK(text_of(lower("@%p1 bra END; st.global.u32 [%rd1], 1; END:")) ==
        "@%v0 exit;\nB1:\nst.global.u32 [%v1.64], 0x1;\nexit;\n");
}

TEST_CASE("a branch to a return is a return") {
  const std::string guarded = "@%v0 exit;\nB1:\nst.global.u32 [%v1.64], 0x1;\nexit;\n";
  const std::string negated = "@!" + guarded.substr(1);
  CHECK(text_of(lower("@%p1 bra A; st.global.u32 [%rd1], 1; bra A; A: bra B; B: ret;")) == guarded);
  CHECK(text_of(lower("@!%p1 bra A; st.global.u32 [%rd1], 1; ret; A: ret;")) == negated);
  // A branch past a return, also where that is the end of all.
  CHECK(text_of(lower("@%p1 bra A; ret; A: st.global.u32 [%rd1], 1;")) == negated);
  CHECK(text_of(lower("@%p1 bra A; bra.uni B; A: st.global.u32 [%rd1], 1; B: ret;")) == negated);
  CHECK(text_of(lower("@!%p1 bra A; bra B; A: st.global.u32 [%rd1], 1; bra B; B: exit;")) == guarded);
  // Not if others fall into it.
  CHECK(text_of(lower("L: st.global.u32 [%rd1], 1; @%p1 bra L; ret;")) ==
        "st.global.u32 [%v0.64], 0x1;\n@%v1 bra B0;\nB1:\nexit;\n");
}

TEST_CASE("an endless loop needs no exit") {
  const ir::Function f = lower("L: st.global.u32 [%rd1], 1; bra L; ret;");
  REQUIRE(f.blocks.size() == 1);
  CHECK(f.blocks[0].successors == List{0});
}

TEST_CASE("results that nobody reads are dropped, effects are kept") {
  CHECK(text_of(lower("add.s32 %r1, %r2, 1; mul.lo.s32 %r3, %r1, %r1; ld.param.u32 %r4, [n];")) == "exit;\n");
  CHECK(text_of(lower("ld.global.u32 %r1, [%rd1]; atom.global.add.u32 %r2, [%rd1], 1; mov.u32 %r3, %clock;")) ==
        "ld.global.u32 %v0, [%v1.64];\natom.global.add.u32 %v2, [%v1.64], 0x1;\nmov.u32 %v3, %clock;\nexit;\n");
}

TEST_CASE("labels are local to their scope") {
  CHECK(
      lower("{ L: st.global.u32 [%rd1], 1; @%p1 bra L; } { L: st.global.u32 [%rd1], 2; @%p2 bra L; }").blocks.size() ==
      3);
}

TEST_CASE("instructions know their place in PTX and source") {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n\n.entry k()\n.maxntid 64, 2, 1\n{\n"
      "\t.loc 7 30 2\n\tbar.sync \t0;\n}\n.file 3 \"k.h\"\n.file 7 \"k.cu\"\n";
  const ir::Module m = ptx::parse_module(text, "k.ptx");
  const ir::Function& f = m.functions.at(0);
  CHECK(f.source_files == std::vector<std::string>{"k.h", "k.cu"});
  CHECK(f.ptx_file == "k.ptx");
  CHECK(f.bounds.block == std::array<std::uint32_t, 3>{64, 2, 1});
  const ir::Location& where = f.blocks[0].instructions[0].where;
  CHECK(where.line == 9);
  CHECK(where.column == 2);
  CHECK(where.source_file == 1);
  CHECK(where.source_line == 30);
}
