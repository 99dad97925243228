// SPDX-License-Identifier: Apache-2.0
//
// PTX in, IR out, side by side. Virtual registers are numbered by their first mention.
#include "support.h"

#include <algorithm>

using namespace regatta;
using namespace regatta::ptx::test;

namespace {

struct Row {
  const char* ptx;
  const char* ir;
};

void check(const Row* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    INFO(rows[i].ptx);
    const std::string expected = rows[i].ir;
    CHECK(first_lines(rows[i].ptx, static_cast<std::size_t>(std::count(expected.begin(), expected.end(), '\n')) + 1) ==
          expected);
  }
}

template <std::size_t N>
void check(const Row (&rows)[N]) {
  check(rows, N);
}

}  // namespace

TEST_CASE("integer arithmetic") {
  const Row rows[] = {
      {"add.s32 %r1, %r2, -1;", "add.s32 %v0, %v1, 0xffffffff;"},
      {"add.s16 %rs1, %rs2, -1;", "add.s16 %v0, %v1, 0xffff;"},
      {"add.s64 %rd1, %rd2, -8;", "add.s64 %v0.64, %v1.64, 0xfffffffffffffff8;"},
      {"add.sat.s32 %r1, %r2, %r3;", "add.sat.s32 %v0, %v1, %v2;"},
      {"sub.u64 %rd1, %rd2, %rd3;", "sub.u64 %v0.64, %v1.64, %v2.64;"},
      {"mul.lo.s32 %r1, %r2, %r3;", "mul.lo.s32 %v0, %v1, %v2;"},
      {"mul.hi.u32 %r1, %r2, %r3;", "mul.hi.u32 %v0, %v1, %v2;"},
      {"mul.wide.s32 %rd1, %r2, 4;", "mul.wide.s32 %v0.64, %v1, 0x4;"},
      {"mul.wide.u16 %r1, %rs2, 4;", "mul.wide.u16 %v0, %v1, 0x4;"},
      {"mad.lo.s32 %r1, %r2, %r3, %r4;", "mad.lo.s32 %v0, %v1, %v2, %v3;"},
      {"mad.wide.u32 %rd1, %r2, %r3, %rd4;", "mad.wide.u32 %v0.64, %v1, %v2, %v3.64;"},
      {"div.s32 %r1, %r2, %r3;", "div.s32 %v0, %v1, %v2;"},
      {"rem.u64 %rd1, %rd2, %rd3;", "rem.u64 %v0.64, %v1.64, %v2.64;"},
      {"neg.s32 %r1, %r2;", "neg.s32 %v0, %v1;"},
      {"max.u16 %rs1, %rs2, %rs3;", "max.u16 %v0, %v1, %v2;"},
      {"sad.u32 %r1, %r2, %r3, %r4;", "sad.u32 %v0, %v1, %v2, %v3;"},
      {"popc.b64 %r1, %rd2;", "popc.b64 %v0, %v1.64;"},
      {"clz.b32 %r1, %r2;", "clz.b32 %v0, %v1;"},
      {"brev.b32 %r1, %r2;", "brev.b32 %v0, %v1;"},
      {"bfe.u64 %rd1, %rd2, 3, %r4;", "bfe.u64 %v0.64, %v1.64, 0x3, %v2;"},
      {"bfi.b32 %r1, %r2, %r3, 8, 4;", "bfi.b32 %v0, %v1, %v2, 0x8, 0x4;"},
      {"bfind.shiftamt.u32 %r1, %r2;", "bfind.shiftamt.u32 %v0, %v1;"},
      {"prmt.b32 %r1, %r2, %r3, 0x3210;", "prmt.b32 %v0, %v1, %v2, 0x3210;"},
      {"shf.l.wrap.b32 %r1, %r2, %r3, 5;", "shf.l.wrap.b32 %v0, %v1, %v2, 0x5;"},
      {"shf.r.clamp.b32 %r1, %r2, %r3, 5;", "shf.r.clamp.b32 %v0, %v1, %v2, 0x5;"},
      {"bmsk.clamp.b32 %r1, %r2, %r3;", "shl.b32 %v0, 0x1, %v1;\nsub.u32 %v2, %v0, 0x1;\nshl.b32 %v3, %v2, %v4;"},
      {"add.cc.u32 %r1, %r2, %r3;\naddc.cc.u32 %r3, %r2, 0;\nsubc.u32 %r4, %r2, 1;",
       "add.cc.u32 %v0, %v1, %v2;\naddc.cc.u32 %v2, %v1, 0x0;\nsubc.u32 %v3, %v1, 0x1;"},
      {"mad.lo.cc.u32 %r1, %r2, %r3, %r4;\nmadc.hi.u32 %r3, %r2, %r1, 0;",
       "mul.lo.u32 %v0, %v1, %v2;\nadd.cc.u32 %v3, %v0, %v4;\nmul.hi.u32 %v5, %v1, %v3;\naddc.u32 %v2, %v5, 0x0;"},
  };
  check(rows);
}

TEST_CASE("floating point") {
  const Row rows[] = {
      {"add.f32 %f1, %f2, 0f3F800000;", "add.f32 %v0, %v1, 0x3f800000;"},
      {"add.rn.ftz.sat.f32 %f1, %f2, %f3;", "add.rn.ftz.sat.f32 %v0, %v1, %v2;"},
      {"mul.f64 %fd1, %fd2, 0d4000000000000000;", "mul.f64 %v0.64, %v1.64, 0x4000000000000000;"},
      {"mul.f64 %fd1, %fd2, 2.0;", "mul.f64 %v0.64, %v1.64, 0x4000000000000000;"},
      {"mul.f32 %f1, %f2, 2.0;", "mul.f32 %v0, %v1, 0x40000000;"},
      {"fma.rn.f32 %f1, %f2, %f3, %f4;", "fma.rn.f32 %v0, %v1, %v2, %v3;"},
      {"mad.f32 %f1, %f2, %f3, %f4;", "fma.f32 %v0, %v1, %v2, %v3;"},
      {"div.full.f32 %f1, %f2, %f3;", "div.full.f32 %v0, %v1, %v2;"},
      {"div.approx.ftz.f32 %f1, %f2, %f3;", "div.approx.ftz.f32 %v0, %v1, %v2;"},
      {"sqrt.rn.f64 %fd1, %fd2;", "sqrt.rn.f64 %v0.64, %v1.64;"},
      {"rcp.approx.ftz.f64 %fd1, %fd2;", "rcp.approx.ftz.f64 %v0.64, %v1.64;"},
      {"rsqrt.approx.f32 %f1, %f2;", "rsqrt.approx.f32 %v0, %v1;"},
      {"ex2.approx.ftz.f32 %f1, %f2;", "ex2.approx.ftz.f32 %v0, %v1;"},
      {"sin.approx.f32 %f1, %f2;", "sin.approx.f32 %v0, %v1;"},
      {"copysign.f32 %f1, %f2, %f3;",
       "and.b32 %v0, %v1, 0x80000000;\nand.b32 %v2, %v3, 0x7fffffff;\nor.b32 %v4, %v0, %v2;"},
  };
  check(rows);
}

TEST_CASE("logic, comparison and selection") {
  const Row rows[] = {
      {"and.b16 %rs1, %rs2, 255;", "and.b16 %v0, %v1, 0xff;"},
      {"not.b64 %rd1, %rd2;", "not.b64 %v0.64, %v1.64;"},
      {"shl.b64 %rd1, %rd2, %r3;", "shl.b64 %v0.64, %v1.64, %v2;"},
      {"shr.s16 %rs1, %rs2, 3;", "shr.s16 %v0, %v1, 0x3;"},
      {"xor.pred %p1, %p2, %p3;", "xor.pred %v0, %v1, %v2;"},
      {"not.pred %p1, %p2;", "not.pred %v0, %v1;"},
      {"mov.pred %p1, 1;", "mov.pred %v0, 0x1;"},
      {"setp.lt.s32 %p1, %r2, 5;", "setp.lt.s32 %v0, %v1, 0x5;"},
      {"setp.hs.u32 %p1, %r2, %r3;", "setp.hs.u32 %v0, %v1, %v2;"},
      {"setp.geu.ftz.f32 %p1, %f2, %f3;", "setp.geu.ftz.f32 %v0, %v1, %v2;"},
      {"setp.nan.f64 %p1|%p2, %fd2, %fd2;", "setp.nan.f64 %v0|%v1, %v2.64, %v2.64;"},
      {"setp.eq.or.b64 %p1, %rd2, 0, !%p3;", "setp.eq.or.b64 %v0, %v1.64, 0x0, !%v2;"},
      {"setp.lt.s32 %p1|%p7, %r2, 5;", "setp.lt.s32 %v0, %v1, 0x5;"},
      {"set.lt.u32.f32 %r1, %f2, %f3;", "set.lt.u32.f32 %v0, %v1, %v2;"},
      {"selp.f64 %fd1, %fd2, 0d0000000000000000, %p1;", "selp.f64 %v0.64, %v1.64, 0x0, %v2;"},
      {"@!%p3 mov.u32 %r1, 7;", "@!%v0 mov.u32 %v1, 0x7;"},
  };
  check(rows);
}

TEST_CASE("moves and conversions") {
  const Row rows[] = {
      {"mov.u32 %r1, %ctaid.y;", "mov.u32 %v0, %ctaid.y;"},
      {"mov.u64 %rd1, %clock64;", "mov.u64 %v0.64, %clock64;"},
      {"mov.u32 %r1, WARP_SZ;", "mov.u32 %v0, 0x20;"},
      {"mov.b32 %r1, %f2;", "mov.b32 %v0, %v1;"},
      {"mad.lo.s32 %r1, %ctaid.x, %ntid.x, 3;",
       "mov.u32 %v0, %ctaid.x;\nmov.u32 %v1, %ntid.x;\nmad.lo.s32 %v2, %v0, %v1, 0x3;"},
      {"mov.b64 %rd1, {%r2, %r3};", "pack.b64 %v0.64, {%v1, %v2};"},
      {"mov.b64 {%r1, %r2}, %rd2;", "unpack.b64 {%v0, %v1}, %v2.64;"},
      {"mov.b64 {_, %r2}, %fd2;", "unpack.b64 {%v0, %v1}, %v2.64;"},
      {"mov.b32 %r1, {%rs1, %rs2};", "pack.b32 %v0, {%v1, %v2};"},
      {"mov.b64 %rd1, {%rs1, %rs2, %rs3, %rs4};",
       "pack.b32 %v0, {%v1, %v2};\npack.b32 %v3, {%v4, %v5};\npack.b64 %v6.64, {%v0, %v3};"},
      {"cvt.rn.f32.s32 %f1, %r2;", "cvt.rn.f32.s32 %v0, %v1;"},
      {"cvt.rzi.s32.f32 %r1, %f2;", "cvt.rzi.s32.f32 %v0, %v1;"},
      {"cvt.sat.f32.f32 %f1, %f2;", "cvt.sat.f32.f32 %v0, %v1;"},
      {"cvt.s32.s8 %r1, %rs2;", "cvt.s32.s8 %v0, %v1;"},
      {"cvt.u16.u64 %rs1, %rd2;", "cvt.u16.u64 %v0, %v1.64;"},
      {"cvt.u16.u8 %rs1, %rd2;", "cvt.u32.u64 %v0, %v1.64;\ncvt.u16.u8 %v2, %v0;"},
      {"cvt.rn.f16.f32 %rs1, %f2;", "cvt.rn.f16.f32 %v0, %v1;"},
      {"cvta.to.global.u64 %rd1, %rd2;", "mov.u64 %v0.64, %v1.64;"},
      {"cvta.shared.u64 %rd1, %rd2;", "add.u64 %v0.64, %v1.64, 0x1000000000000;"},
      {"cvta.to.local.u64 %rd1, %rd2;", "sub.u64 %v0.64, %v1.64, 0x2000000000000;"},
      {"isspacep.shared %p1, %rd2;", "shr.u64 %v0.64, %v1.64, 0x30;\nsetp.eq.u64 %v2, %v0.64, 0x1;"},
  };
  check(rows);
}

TEST_CASE("between lanes and warps") {
  const Row rows[] = {
      {"bar.sync 0;", "bar.sync 0x0;"},
      {"barrier.sync.aligned 1, 64;", "bar.sync 0x1, 0x40;"},
      {"membar.gl;", "membar.gl;"},
      {"fence.acq_rel.gpu;", "membar.acq_rel.gpu;"},
      {"shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;", "shfl.sync.down.b32 %v0|%v1, %v2, 0x10, 0x1f, 0xffffffff;"},
      {"shfl.sync.idx.b32 %r1|%p7, %r2, %r3, 31, %r4;", "shfl.sync.idx.b32 %v0, %v1, %v2, 0x1f, %v3;"},
      {"vote.sync.ballot.b32 %r1, %p3, -1;", "vote.sync.ballot.b32 %v0, %v1, 0xffffffff;"},
      {"vote.sync.any.pred %p1, !%p3, %r2;", "vote.sync.any.pred %v0, !%v1, %v2;"},
      {"match.any.sync.b64 %r1, %rd2, -1;", "match.sync.any.b64 %v0, %v1.64, 0xffffffff;"},
      {"activemask.b32 %r1;", "activemask.b32 %v0;"},
      {"bar.warp.sync -1;", "bar.warp.sync 0xffffffff;"},
      {"trap;", "trap;"},
  };
  check(rows);
}

TEST_CASE("nested scopes redeclare registers") {
  CHECK(first_lines("mov.u32 %r1, 1;{ .reg .b32 %r<3>; mov.u32 %r1, 2; st.global.u32 [%rd1], %r1; }"
                    "{ .reg .b64 tmp; cvt.u64.u32 tmp, %r1; st.global.u64 [%rd1], tmp; }",
                    5) ==
        "mov.u32 %v0, 0x1;\nmov.u32 %v1, 0x2;\nst.global.u32 [%v2.64], %v1;\ncvt.u64.u32 %v3.64, %v0;\n"
        "st.global.u64 [%v2.64], %v3.64;");
}
