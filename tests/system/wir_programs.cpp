// SPDX-License-Identifier: Apache-2.0
#include "wir_programs.h"

namespace regatta::test::wir {

const char* const exchange = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry exchange(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  .shared .align 4 .b8 box[512];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, box;
  add.s32 %r5, %r4, %r3;
  add.s32 %r6, %r1, 32;
  and.b32 %r7, %r6, 127;
  shl.b32 %r8, %r7, 2;
  add.s32 %r9, %r4, %r8;
  mov.u32 %r10, 0;
  and.b32 %r11, %r1, 31;
  and.b32 %r16, %r2, 1;
  add.s32 %r11, %r11, %r16;
LOOP:
  st.shared.u32 [%r5], %r11;
  bar.sync 0;
  ld.shared.u32 %r12, [%r9];
  ld.shared.u32 %r13, [%r4];
  ld.shared.u32 %r14, [%r4+4];
  bar.sync 0;
  add.s32 %r11, %r12, %r13;
  add.s32 %r11, %r11, %r14;
  and.b32 %r11, %r11, 255;
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, 40;
  @%p1 bra LOOP;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  mad.lo.s32 %r15, %r2, 128, %r1;
  mul.wide.u32 %d3, %r15, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r11;
  ret;
}
)";

const char* const across = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry across(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<30>;
  .reg .b64 %d<20>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  mul.wide.u32 %d5, %r3, 4;
  add.s64 %d6, %d3, %d5;
  ld.global.u32 %r4, [%d6];
  ld.global.u32 %r5, [%d6+4];
  add.s32 %r6, %r4, %r5;
  shl.b32 %r7, %r2, 6;
  add.s32 %r8, %r7, %r1;
  mul.wide.u32 %d7, %r8, 4;
  add.s64 %d8, %d4, %d7;
  xor.b32 %r9, %r1, 32;
  add.s32 %r10, %r7, %r9;
  mul.wide.u32 %d9, %r10, 4;
  add.s64 %d10, %d4, %d9;
  mov.u32 %r11, 0;
LOOP:
  ld.global.u32 %r12, [%d8];
  add.s32 %r13, %r12, %r6;
  st.global.u32 [%d8], %r13;
  ld.global.u32 %r14, [%d8];
  ld.global.u32 %r15, [%d6];
  bar.sync 0;
  ld.global.u32 %r16, [%d10];
  ld.global.u32 %r17, [%d10];
  add.s32 %r6, %r16, %r17;
  membar.gl;
  bar.sync 0;
  ld.global.u32 %r18, [%d8];
  add.s32 %r6, %r6, %r18;
  add.s32 %r6, %r6, %r14;
  add.s32 %r6, %r6, %r15;
  atom.global.add.u32 %r19, [%d8], 1;
  ld.global.u32 %r20, [%d8];
  add.s32 %r6, %r6, %r20;
  and.b32 %r6, %r6, 1023;
  add.s32 %r11, %r11, 1;
  setp.lt.u32 %p1, %r11, 6;
  @%p1 bra LOOP;
  bar.sync 0;
  st.global.u32 [%d8], %r6;
  ret;
}
)";

const char* const diverge = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry diverge(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<6>;
  .reg .b32 %r<30>;
  .reg .b64 %d<10>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  mov.u32 %r4, 3;
  mov.u32 %r5, 3;
  add.s32 %r6, %r3, 5;
  add.s32 %r7, %r3, 5;
  mov.u32 %r8, 0;
  mov.u32 %r9, 0;
LOOP:
  and.b32 %r10, %r8, 4;
  shr.u32 %r11, %r3, %r10;
  and.b32 %r12, %r11, 1;
  setp.eq.u32 %p1, %r12, 0;
  @%p1 bra ELSE;
  add.s32 %r4, %r4, 1;
  add.s32 %r6, %r6, %r4;
  setp.gt.u32 %p2, %r3, 20;
  @%p2 add.s32 %r7, %r7, %r4;
  @%p2 bra JOIN;
  mov.u32 %r5, %r4;
  bra.uni JOIN;
ELSE:
  add.s32 %r5, %r5, %r3;
  add.s32 %r6, %r6, 7;
JOIN:
  add.s32 %r13, %r4, %r5;
  add.s32 %r14, %r6, %r7;
  add.s32 %r15, %r4, %r5;
  add.s32 %r9, %r9, %r13;
  add.s32 %r9, %r9, %r14;
  add.s32 %r9, %r9, %r15;
  and.b32 %r4, %r4, 7;
  and.b32 %r5, %r5, 7;
  setp.lt.u32 %p3, %r8, 9;
  @%p3 mov.u32 %r6, 11;
  add.s32 %r8, %r8, 1;
  setp.lt.u32 %p4, %r8, 24;
  @%p4 bra LOOP;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  shl.b32 %r16, %r2, 6;
  add.s32 %r17, %r16, %r1;
  mul.wide.u32 %d3, %r17, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r9;
  ret;
}
)";

const char* const carry = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry carry(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  shr.u32 %r4, %r1, 5;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
LOOP:
  add.s32 %r7, %r4, %r5;
  and.b32 %r8, %r7, 1;
  setp.eq.u32 %p1, %r8, 0;
  selp.b32 %r9, 4294967295, 1, %p1;
  add.cc.u32 %r10, %r9, 5;
  addc.u32 %r11, %r3, 0;
  add.s32 %r6, %r6, %r11;
  add.s32 %r12, %r3, 7;
  add.s32 %r6, %r6, %r12;
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 8;
  @%p2 bra LOOP;
  shl.b32 %r13, %r2, 7;
  add.s32 %r14, %r13, %r1;
  mul.wide.u32 %d3, %r14, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r6;
  ret;
}
)";

const char* const flags = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry flags(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  and.b32 %r3, %r1, 31;
  mul.wide.u32 %d5, %r3, 4;
  add.s64 %d6, %d3, %d5;
  mul.wide.u32 %d7, %r1, 4;
  add.s64 %d8, %d4, %d7;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r2, 1;
  @%p1 bra FIRST;
  @%p2 bra SECOND;
THIRD:
  ld.acquire.gpu.global.u32 %r4, [%d3+1028];
  setp.eq.u32 %p3, %r4, 257;
  @%p3 bra THIRD;
  mov.u32 %r5, 0;
PAUSE:
  ld.volatile.global.u32 %r6, [%d3+2048];
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 6;
  @%p4 bra PAUSE;
  ld.global.u32 %r7, [%d6+3072];
  st.global.u32 [%d8], %r7;
  ret;
FIRST:
  ld.global.u32 %r7, [%d6+3072];
  st.global.u32 [%d8], %r7;
  st.release.gpu.global.u32 [%d3+1024], 1;
  ret;
SECOND:
  ld.acquire.gpu.global.u32 %r4, [%d3+1024];
  setp.eq.u32 %p3, %r4, 256;
  @%p3 bra SECOND;
  mov.u32 %r8, 1;
  st.global.u32 [%d6+3072], %r8;
  st.release.gpu.global.u32 [%d3+1028], 1;
  ret;
}
)";

const char* const racy = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry racy(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
  setp.lt.u32 %p1, %r1, 32;
LOOP:
  ld.global.u32 %r5, [%d3];
  add.s32 %r4, %r4, %r5;
  add.s32 %r4, %r4, 1;
  @!%p1 bra SKIP;
  st.global.u32 [%d3], %r4;
SKIP:
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 6;
  @%p2 bra LOOP;
  shl.b32 %r6, %r2, 7;
  add.s32 %r7, %r6, %r1;
  mul.wide.u32 %d5, %r7, 4;
  add.s64 %d6, %d4, %d5;
  st.global.u32 [%d6], %r4;
  ret;
}
)";

const char* const variables = R"(
.version 6.4
.target sm_75
.address_size 64
.global .align 4 .u32 first[4] = {11, 12, 13, 14};
.global .align 4 .u32 second[4] = {21, 22, 23, 24};
.visible .entry variables(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
  ld.param.u64 %d1, [in];
  cvta.to.global.u64 %d2, %d1;
LOOP:
  ld.global.u32 %r5, [first];
  ld.global.u32 %r6, [second];
  ld.global.u32 %r7, [first+4];
  ld.global.u32 %r8, [%d2];
  ld.global.u32 %r9, [%d2+4];
  ld.global.u32 %r10, [%d2+8];
  mul.lo.u32 %r4, %r4, 3;
  add.u32 %r4, %r4, %r5;
  mul.lo.u32 %r6, %r6, 5;
  add.u32 %r4, %r4, %r6;
  mul.lo.u32 %r7, %r7, 7;
  add.u32 %r4, %r4, %r7;
  mul.lo.u32 %r8, %r8, 9;
  add.u32 %r4, %r4, %r8;
  mul.lo.u32 %r9, %r9, 11;
  add.u32 %r4, %r4, %r9;
  mul.lo.u32 %r10, %r10, 13;
  add.u32 %r4, %r4, %r10;
  and.b32 %r4, %r4, 1023;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 6;
  @%p1 bra LOOP;
  mov.u64 %d3, first;
  mov.u64 %d4, second;
  sub.u64 %d5, %d4, %d3;
  cvt.u32.u64 %r11, %d5;
  add.u32 %r4, %r4, %r11;
  ld.param.u64 %d6, [out];
  cvta.to.global.u64 %d7, %d6;
  shl.b32 %r12, %r2, 6;
  add.s32 %r13, %r12, %r1;
  mul.wide.u32 %d8, %r13, 4;
  add.s64 %d9, %d7, %d8;
  st.global.u32 [%d9], %r4;
  ret;
}
)";

const char* const wide = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry wide(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<20>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  mov.u32 %r4, 0;
  ld.param.u64 %d1, [in];
  cvta.to.global.u64 %d2, %d1;
  mov.u64 %d9, 1;
LOOP:
  and.b32 %r5, %r4, 1;
  mul.wide.u32 %d3, %r3, 8;
  add.s64 %d4, %d2, %d3;
  ld.global.u64 %d5, [%d4];
  ld.global.v2.u32 {%r6, %r7}, [%d4];
  mad.wide.u32 %d6, %r3, %r5, %d5;
  mul.lo.u64 %d7, %d6, %d5;
  add.s64 %d9, %d9, %d7;
  add.s64 %d10, %d5, %d6;
  add.s64 %d9, %d9, %d10;
  cvt.u64.u32 %d11, %r6;
  add.s64 %d9, %d9, %d11;
  cvt.u64.u32 %d12, %r7;
  add.s64 %d9, %d9, %d12;
  shr.u64 %d9, %d9, 3;
  add.s32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 8;
  @%p1 bra LOOP;
  cvt.u32.u64 %r8, %d9;
  ld.param.u64 %d13, [out];
  cvta.to.global.u64 %d14, %d13;
  shl.b32 %r9, %r2, 6;
  add.s32 %r10, %r9, %r1;
  mul.wide.u32 %d15, %r10, 4;
  add.s64 %d16, %d14, %d15;
  st.global.u32 [%d16], %r8;
  ret;
}
)";

}  // namespace regatta::test::wir
