// SPDX-License-Identifier: Apache-2.0
//
// Exact messages of refusals. Bodies begin on line 7 of the module that entry() makes.
#include "support.h"

using namespace regatta;
using namespace regatta::ptx::test;

namespace {

struct Refused {
  const char* body;
  const char* message;
};

}  // namespace

TEST_CASE("instructions that are not supported are refused by name") {
  const Refused rows[] = {
      {"tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f4}];",
       "7:1: error: texture access of cube layers, samples or sparse textures 'tex.acube.v4.f32.f32' is not supported"},
      {"sust.p.1d.v4.b32.trap [%rd1, {%r1}], {%r1, %r2, %r3, %r4};",
       "7:1: error: formatted surface access 'sust.p.1d.v4.b32.trap' is not supported"},
      {"sured.b.add.1d.u32.trap [%rd1, {%r1}], %r1;",
       "7:1: error: surface instruction 'sured.b.add.1d.u32.trap' is not supported"},
      {"istypep.texref %p1, %rd1;", "7:1: error: texture instruction 'istypep.texref' is not supported"},
      {"  tcgen05.commit.cta_group::1.b64 [%rd1];",
       "7:3: error: tensor core instruction of sm_100 'tcgen05.commit.cta_group::1.b64' is not supported"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 3;",
       "7:42: error: 'cp.async.ca.shared.global' copies 3 bytes, expected 4, 8 or 16"},
      {"mbarrier.init.shared.b32 [%r1], 1;", "7:1: error: form 'mbarrier.init.shared.b32' is not supported"},
      {"ret;\nbrx.idx %r1, ts;", "8:14: error: 'ts' is not a list of .branchtargets"},
      {"A: ts: .branchtargets A, B; brx.idx %r1, ts;", "7:26: error: label 'B' is not defined"},
      {"A: ts: .branchtargets A; { brx.idx %r1, A; }", "7:41: error: 'A' is not a list of .branchtargets"},
      {"ret;\n.branchtargets A;", "8:1: error: a list of targets without a name, expected 'NAME: .branchtargets ...'"},
      {"ts: .branchtargets 7;", "7:20: error: found '7', expected a label"},
      {"ts: .branchtargets A", "8:1: error: found '}', expected ';' after a list of targets"},
      {"A: ts: .branchtargets A; brx.idx %rd1, ts;", "7:34: error: '%rd1' has type .b64, expected a 32-bit register"},
      {"A: ts: .branchtargets A; brx %r1, ts;", "7:26: error: form 'brx' is not supported"},
      {"frobnicate.u32 %r1;", "7:1: error: instruction 'frobnicate.u32' is not supported"},
      {"add.rz.bf16x2 %r1, %r2, %r3;", "7:1: error: form 'add.rz.bf16x2' is not supported"},
      {"bar.red.popc.u64 %r1, 0, %p1;", "7:1: error: form 'bar.red.popc.u64' is not supported"},
      {"bmsk.b32 %r1, 0, 1;", "7:1: error: 'bmsk.b32' has no mode, expected .clamp or .wrap"},
      {"shl.f32 %f1, %f2, 1;", "7:1: error: form 'shl.f32' is not supported"},
      {"mov.u32 %r1, %envreg32;",
       "7:14: error: '%envreg32' is neither a declared register nor a supported special register"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    CHECK(message_of(entry(r.body)) == std::string("k.ptx:") + r.message);
  }
}

TEST_CASE("wrong operands") {
  const Refused rows[] = {
      {"add.s32 %r1, %r2;", "7:1: error: 'add.s32' has 2 operands, expected 3"},
      {"bar.sync 0, 32, 64;", "7:1: error: 'bar.sync' has 3 operands, expected 1 to 2"},
      {"add.s32 %r1, %rd2, 1;", "7:14: error: '%rd2' has type .b64, expected a 32-bit register"},
      {"add.s32 %p1, %r2, 1;", "7:9: error: '%p1' has type .pred, expected a 32-bit register"},
      {"and.pred %p1, %r2, %p2;", "7:15: error: '%r2' is not a predicate"},
      {"setp.eq.s32 %r1, %r2, 0;", "7:13: error: '%r1' is not a declared predicate"},
      {"setp.s32 %p1, %r2, 0;", "7:1: error: 'setp.s32' has no comparison operator"},
      {"add.s32 %r1, %r77, 1;", "7:14: error: '%r77' is neither a declared register nor a supported special register"},
      {"@%p77 ret;", "7:2: error: guard '%p77' is not a declared predicate"},
      {"@%r1 ret;", "7:2: error: guard '%r1' is not a declared predicate"},
      {"bra NOWHERE;", "7:5: error: label 'NOWHERE' is not defined"},
      {"{ L: ret; } bra L;", "7:17: error: label 'L' is not defined"},
      {"L: ret; L: ret;", "7:9: error: label 'L' is already defined in this scope"},
      {".reg .b32 %r1; .reg .b32 %r1;", "7:26: error: '%r1' is already declared in this scope"},
      {"add.s16 %rs1, %rs2, 0f3F800000;", "7:21: error: '0f3F800000' is a floating-point number, expected an integer"},
      {"add.s32 %r1, !%r2, 1;", "7:14: error: '!%r2': '!' is for predicates only"},
      {"mov.u64 %rd1, %tid.x;", "7:15: error: '%tid.x' has 32 bits, expected a 64-bit register"},
      {"mov.u32 %r1, %clock64;", "7:14: error: '%clock64' has 64 bits, expected a 32-bit register"},
      {"lop3.b32 %r1, %r2, %r3, %r1, 256;",
       "7:30: error: '256' is no table of 'lop3.b32', expected a number from 0 to 255"},
      {"lop3.b32 %r1, %r2, %r3, %r1, %r2;",
       "7:30: error: '%r2' is no table of 'lop3.b32', expected a number from 0 to 255"},
      {"prefetch.global.L1 %rd1;", "7:20: error: '%rd1' is not an address"},
      {"nanosleep.u32 %rd1;", "7:15: error: '%rd1' has type .b64, expected a 32-bit register"},
      {"mov.b64 %rd1, {%r1, %r2, %r3};", "7:15: error: 'mov.b64' cannot take a vector of 3 registers"},
      {"bar.sync 16;", "7:10: error: barrier 16 does not exist, expected 0 to 15"},
      {"shfl.sync.b32 %r1, %r2, 1, 31, -1;",
       "7:1: error: 'shfl.sync.b32' has no mode, expected .up, .down, .bfly or .idx"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    CHECK(message_of(entry(r.body)) == std::string("k.ptx:") + r.message);
  }
}

TEST_CASE("wrong memory operands") {
  const Refused rows[] = {
      {"ld.global.u32 %r1, %rd1;", "7:20: error: '%rd1' is not an address, expected '[...]'"},
      {"ld.global.u32 %r1, [%r2];",
       "7:20: error: '%r2' has type .b32, expected a 64-bit address register (.address_size 64)"},
      {"ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];",
       "7:1: error: 'ld.global.v4.f64' moves more than 16 bytes per thread"},
      {"ld.global.v2.u32 %r1, [%rd1];", "7:18: error: 'ld.global.v2.u32' has 1 data registers, expected 2"},
      {"ld.global.v2.u32 {%r1, %r1}, [%rd1];", "7:24: error: '%r1' is loaded twice"},
      {"ld.param.u64 %rd1, [n];", "7:20: error: '[n+0]' is outside parameter 'n' of 4 bytes"},
      {"ld.shared.u32 %r1, [n];", "7:20: error: 'n' is in state space .param, not .shared"},
      {"st.param.u32 [n], %r1;", "7:1: error: 'st.param.u32' stores to a kernel parameter"},
      {"ld.global.u32 %r1, [nothing];", "7:20: error: 'nothing' is not declared"},
      {"atom.global.add.s64 %rd1, [%rd2], %r1;", "7:35: error: '%r1' has type .b32, expected a 64-bit register"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    std::string expected = std::string("k.ptx:") + r.message;
    CHECK(message_of(entry(r.body)) == expected);
  }
}

TEST_CASE("wrong syntax") {
  const Refused rows[] = {
      {"add.s32 %r1, , %r2;", "7:14: error: found ',', expected an operand"},
      {"add.s32 %r1, %r2, %r3", "8:1: error: found '}', expected ',' or ';' after an operand of 'add.s32'"},
      {"ld.global.u32 %r1, [%rd1;", "7:25: error: found ';', expected '+', '-' or ']' in an address"},
      {".reg .b32 %x<100000000>;", "7:14: error: register range '%x<100000000>' is not of 1 to 1048576 registers"},
      {".reg .b128 %q;", "7:6: error: register type '.b128' is not supported"},
      {"mov.u32 %r1, 0x1G;", "7:14: error: found '0x1G', expected a number"},
      {".shared .align 3 .b8 x[4];", "7:16: error: alignment 3 is not a power of two of at most 4096"},
      {"= 3;", "7:1: error: found '=', expected an instruction, a label, a declaration or '}'"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    CHECK(message_of(entry(r.body)) == std::string("k.ptx:") + r.message);
  }
}

TEST_CASE("wrong modules") {
  const Refused rows[] = {
      {"hello", "1:1: error: found 'hello', expected a directive such as .version, .global, .entry or .func"},
      {".bogus 1;", "1:1: error: found '.bogus', expected a PTX directive"},
      {".address_size 16", "1:15: error: .address_size 16 is not supported, expected 32 or 64"},
      {".entry k(.param .u64 .ptr .global .align 8 a) { ret;", "1:47: error: '{' is never closed"},
      {".global .u32 x[2] = {1, 2, 3};", "1:28: error: more initial values than the 2 of 'x'"},
      {".global .u64 x = nothing;", "1:18: error: initial value 'nothing' is not a variable of this module"},
      {".global .u32 x;\n.global .u32 x;", "2:14: error: variable 'x' is already defined at line 1"},
      {".global .b8 x[4294967296];", "1:15: error: array size 4294967296 is too large"},
      {".entry k() { ret; }\n.entry k() { ret; }", "2:8: error: function 'k' is already defined at line 1"},
      {".entry k() { .local .b8 x[524289]; ret; }",
       "1:25: error: the .local variables take more than 512 KiB per thread"},
      {".entry k(.param .texref t) { ret; }", "1:25: error: parameter 't' of type '.texref' is not supported"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    CHECK(message_of(r.body) == std::string("k.ptx:") + r.message);
  }
}

TEST_CASE("parse_entries goes on after a refused entry") {
  const ptx::ModuleResult r = ptx::parse_entries(
      ".entry a() { ret; }\n.entry b() { tex.acube x; }\n.entry c() { mov.u32 ) ; }\n.entry d() { bar.sync 0; }",
      "k.ptx");
  REQUIRE(r.entries.size() == 4);
  CHECK(r.entries[0].accepted);
  CHECK_FALSE(r.entries[1].accepted);
  CHECK(r.entries[1].name == "b");
  CHECK(r.entries[1].message ==
        "k.ptx:2:14: error: texture access of cube layers, samples or sparse textures 'tex.acube' is not supported");
  CHECK(r.entries[2].message == "k.ptx:3:22: error: found ')', expected an operand");
  CHECK(r.entries[3].accepted);
  CHECK(r.entries[3].function.instruction_count() == 2);
  CHECK_THROWS_AS(ptx::parse_entries(".entry a() {", "k.ptx"), trace::InputError);
}
