// SPDX-License-Identifier: Apache-2.0
#include "wir_programs.h"

namespace regatta::test::wir {

namespace {

const char* const handover_text = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry handover(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<10>;
  .reg .b32 %r<30>;
  .reg .b64 %d<20>;
  .shared .align 8 .b8 counters[8];
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shr.u32 %r3, %r1, 5;
  and.b32 %r4, %r1, 31;
  shl.b32 %r5, %r2, 9;
  cvt.u64.u32 %d5, %r5;
  add.s64 %d6, %d4, %d5;
  mul.wide.u32 %d7, %r4, 4;
  add.s64 %d8, %d6, %d7;
  add.s64 %d9, %d3, %d7;
  $address
  setp.eq.u32 %p1, %r3, 0;
  setp.eq.u32 %p2, %r4, 0;
  setp.ne.u32 %p3, %r1, 0;
  setp.ne.u32 %p8, %r3, 3;
  @%p3 bra ZEROED;
  mov.u32 %r6, 0;
  st.$space.u32 [$at], %r6;
  st.$space.u32 [$at+4], %r6;
ZEROED:
  bar.sync 0;
  mov.u32 %r7, 0;
  mov.u32 %r8, 0;
LOOP:
  @%p8 bra IN_TIME;
  xor.b32 %r22, %r8, %r2;
  $late
  setp.eq.u32 %p9, %r22, 0;
  @%p9 add.u32 %r8, %r8, 1;
IN_TIME:
  ld.global.u32 %r9, [%d8];
  ld.global.u32 %r10, [%d9];
  ld.global.u32 %r11, [%d9+128];
  add.u32 %r8, %r8, %r9;
  add.u32 %r8, %r8, %r10;
  add.u32 %r8, %r8, %r11;
  membar.gl;
  bar.warp.sync 0xffffffff;
  @%p2 atom.$space.add.u32 %r12, [$at], 1;
  add.u32 %r13, %r7, 1;
  shl.b32 %r14, %r13, 2;
  @!%p1 bra READER;
ALL:
  @%p2 atom.$space.add.u32 %r15, [$at], 0;
  shfl.sync.idx.b32 %r15, %r15, 0, 31, 0xffffffff;
  setp.lt.u32 %p4, %r15, %r14;
  @%p4 bra ALL;
  membar.gl;
  mad.lo.u32 %r16, %r9, 3, %r4;
  add.u32 %r16, %r16, %r13;
  and.b32 %r16, %r16, 255;
  st.global.u32 [%d8], %r16;
  membar.gl;
  bar.warp.sync 0xffffffff;
  @%p2 atom.$space.add.u32 %r17, [$at+4], 1;
  bra.uni TOGETHER;
READER:
  @%p2 atom.$space.add.u32 %r18, [$at+4], 0;
  shfl.sync.idx.b32 %r18, %r18, 0, 31, 0xffffffff;
  setp.lt.u32 %p5, %r18, %r13;
  @%p5 bra READER;
  membar.gl;
  ld.global.u32 %r19, [%d8];
  add.u32 %r8, %r8, %r19;
TOGETHER:
  bar.sync 0;
  ld.global.u32 %r20, [%d8];
  add.u32 %r8, %r8, %r20;
  mov.u32 %r7, %r13;
  setp.lt.u32 %p6, %r7, 5;
  @%p6 bra LOOP;
  setp.ge.u32 %p7, %r1, 32;
  @%p7 bra DONE;
  st.global.u32 [%d8+256], %r8;
DONE:
  ret;
}
)";

}  // namespace

std::string handover(const std::string& space) {
  const bool shared = space == "shared";
  std::string text = handover_text;
  const auto put = [&](const std::string& name, const std::string& what) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), what);
    }
  };
  // Few steps, but slow ones: in the trace, where every instruction is a step, the last warp is hardly late. In the
  // machine it reads behind all others.
  std::string late;
  for (unsigned n = 0; n < 128; ++n) {
    late += "div.u32 %r22, %r22, 3;\n  mad.lo.u32 %r22, %r22, 2654435761, " + std::to_string(n) + ";\n  ";
  }
  put("$late", late);
  put("$address", shared ? "mov.u32 %r21, counters;" : "add.s64 %d10, %d6, 128;");
  put("$at", shared ? "%r21" : "%d10");
  put("$space", space);
  return text;
}

}  // namespace regatta::test::wir
