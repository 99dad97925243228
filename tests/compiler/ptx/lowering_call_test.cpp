// SPDX-License-Identifier: Apache-2.0
//
// Calls are inlined.
#include "support.h"

using namespace regatta;
using namespace regatta::ptx::test;

namespace {

const char* callee =
    ".func (.param .b32 func_retval0) half(.param .b32 half_param_0)\n"
    "{ .reg .pred %p<2>; .reg .b32 %r<9>;\n"
    "ld.param.u32 %r1, [half_param_0]; setp.ge.s32 %p1, %r1, 0; @%p1 bra L; neg.s32 %r1, %r1;\n"
    "st.param.b32 [func_retval0+0], %r1; ret;\n"
    "L: shr.s32 %r2, %r1, 1; st.param.b32 [func_retval0+0], %r2; ret; }\n";

std::string with_callee(const std::string& function, const std::string& body) {
  std::string text = entry(body);
  return text.insert(text.find(".visible"), function);
}

std::string call(const std::string& guard = "") {
  return "{ .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;\n" + guard +
         "call.uni (retval0), half, (param0); ld.param.b32 %r1, [retval0+0]; }\n";
}

}  // namespace

TEST_CASE("a call becomes the callee's blocks") {
  const ir::Module m = ptx::parse_module(with_callee(callee, call() + "st.global.u32 [%rd1], %r1;"), "k.ptx");
  REQUIRE(m.functions.size() == 1);
  CHECK(text_of(m.functions[0]) ==
        "mov.u32 %v0, %v1;\nmov.u32 %v2, %v0;\nsetp.ge.s32 %v3, %v2, 0x0;\n@%v3 bra B2;\n"
        "B1:\nneg.s32 %v2, %v2;\nmov.u32 %v4, %v2;\nbra B3;\n"
        "B2:\nshr.s32 %v5, %v2, 0x1;\nmov.u32 %v4, %v5;\n"
        "B3:\nmov.u32 %v6, %v4;\nst.global.u32 [%v7.64], %v6;\nexit;\n");
}

TEST_CASE("two calls of one function use different registers and labels") {
  const ir::Module m = ptx::parse_module(
      with_callee(callee, call() + "mov.u32 %r2, %r1;\n" + call() + "st.global.u32 [%rd1], %r1;"), "k.ptx");
  CHECK(m.functions[0].blocks.size() == 7);
}

TEST_CASE("a guarded call is branched around") {
  const ir::Module m = ptx::parse_module(with_callee(callee, call("@%p3 ") + "st.global.u32 [%rd1], %r1;"), "k.ptx");
  const std::string text = text_of(m.functions[0]);
  CHECK(text.find("@!%v2 bra B4;") != std::string::npos);
}

TEST_CASE("structures are passed in local memory") {
  const char* function =
      ".func (.param .b32 r) pick(.param .align 8 .b8 p[16], .param .b32 i)\n"
      "{ .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u32 %r1, [i]; mov.b64 %rd1, p; cvt.u64.u32 %rd2, %r1;\n"
      "add.s64 %rd3, %rd1, %rd2; ld.param.u32 %r2, [%rd3]; ld.param.u32 %r3, [p+4]; add.s32 %r2, %r2, %r3;\n"
      "st.param.b32 [r+0], %r2; ret; }\n";
  const std::string body =
      "{ .param .align 8 .b8 param0[16]; st.param.v2.b32 [param0+0], {%r1, %r2}; st.param.b64 [param0+8], %rd1;\n"
      ".param .b32 param1; st.param.b32 [param1+0], 8; .param .b32 retval0;\n"
      "call.uni (retval0), pick, (param0, param1); ld.param.b32 %r1, [retval0+0]; } st.global.u32 [%rd2], %r1;";
  const ir::Module m = ptx::parse_module(with_callee(function, body), "k.ptx");
  const std::string text = text_of(m.functions.at(0));
  INFO(text);
  CHECK(m.functions[0].local_bytes == 16);
  CHECK(text.find("st.local.v2.b32 [0x0], {") != std::string::npos);
  CHECK(text.find("st.local.b64 [0x0+0x8]") != std::string::npos);
  CHECK(text.find("ld.local.u32") != std::string::npos);
  CHECK(text.find("mov.b64 %v5.64, 0x2000000000000;") != std::string::npos);
}

TEST_CASE("calls of the device runtime become instructions") {
  const char* assertion =
      ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n";
  CHECK(text_of(ptx::parse_module(
                    with_callee(assertion,
                                "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;"
                                "st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], %r1;"
                                "st.param.b64 [p3], %rd3; st.param.b64 [p4], 1;"
                                "call.uni __assertfail, (p0, p1, p2, p3, p4); }"),
                    "k.ptx")
                    .functions.at(0)) ==
        "mov.u64 %v0.64, %v1.64;\nmov.u64 %v2.64, %v3.64;\nmov.u32 %v4, %v5;\n"
        "trap %v0.64, %v2.64, %v4;\nexit;\n");
  const char* print = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";
  const auto call = [&](const std::string& arguments) {
    return with_callee(print,
                       "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; st.param.b64 [p0], %rd1;"
                       "st.param.b64 [p1], 0;\ncall.uni (p2), vprintf, (" +
                           arguments + "); ld.param.b32 %r1, [p2]; st.global.u32 [%rd1], %r1; }");
  };
  CHECK(text_of(ptx::parse_module(call("p0, p1"), "k.ptx").functions.at(0)) ==
        "mov.u64 %v0.64, %v1.64;\nmov.u64 %v2.64, 0x0;\nprint %v3, %v0.64, %v2.64;\nmov.u32 %v4, %v3;\n"
        "st.global.u32 [%v1.64], %v4;\nexit;\n");
  CHECK(message_of(call("p0")) == "k.ptx:9:16: error: call of 'vprintf' with 1 arguments, expected 2");
  CHECK(message_of(call("p0, p2")) ==
        "k.ptx:9:30: error: 'p2' in a call of 'vprintf' is not a .param variable of 8 bytes");
}

TEST_CASE("calls that cannot be inlined are refused") {
  CHECK(message_of(with_callee(".extern .func ext();\n", "call.uni ext;")) ==
        "k.ptx:8:10: error: call of 'ext', which has no body here, is not supported");
  CHECK(message_of(entry("call (_), %rd1, (), proto;")) ==
        "k.ptx:7:1: error: 'proto' is neither a .callprototype nor a list of .calltargets before this call");
  CHECK(message_of(entry("call %rd1;")) ==
        "k.ptx:7:6: error: indirect call through '%rd1' without a .callprototype or a list of .calltargets");
  CHECK(message_of(entry("l: .calltargets f;\ncall %rd1, l;")) == "k.ptx:7:17: error: 'f' in 'l' is not a function");
  CHECK(message_of(entry(".calltargets f;")) ==
        "k.ptx:7:1: error: a list of targets without a name, expected 'NAME: .calltargets ...'");
  CHECK(message_of(entry("p: .callprototype (.param .b32 _) (.param .b32 _);")) ==
        "k.ptx:7:35: error: found '(', expected '_' in a prototype");
  CHECK(message_of(with_callee(".func f() { ret; }\n", "ld.u32 %r1, [f]; mov.u64 %rd1, f;")) ==
        "k.ptx:8:13: error: 'f' is a function, expected a variable");
  CHECK(message_of(with_callee(".func f() { ret; }\n", "mov.u64 %rd1, k;")) ==
        "k.ptx:8:15: error: address of entry 'k' is not supported");
  CHECK(message_of(entry("call.uni nowhere;")) == "k.ptx:7:10: error: function 'nowhere' is not declared");
  CHECK(message_of(with_callee(callee, "call.uni half;")) ==
        "k.ptx:12:10: error: call of 'half' with 0 results, expected 1");
}

TEST_CASE("data with the address of an entry is refused where it is used, not where it is") {
  const std::string data =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry f() { ret; }\n"
      ".global .align 8 .u64 table[3] = {other, later, 7};\n"
      ".global .align 8 .u64 later = {methods};\n"
      ".global .align 4 .u32 other = 3;\n"
      ".global .align 8 .u64 methods[2] = {other, f};\n";
  const auto entry_using = [](const std::string& name, const std::string& variable) {
    return ".visible .entry " + name + "() { .reg .b64 %rd<2>; mov.u64 %rd1, " + variable +
           "; st.global.u64 [%rd1], 0; ret; }\n";
  };
  const std::string text = data + entry_using("plain", "other") + entry_using("direct", "methods") +
                           entry_using("through", "later") + entry_using("twice_through", "table");
  const ptx::ModuleResult result = ptx::parse_entries(text, "k.ptx");
  REQUIRE(result.entries.size() == 5);
  CHECK(result.entries[1].accepted);
  const std::string reason = "k.ptx:8:44: error: address of entry 'f' is not supported, and '";
  CHECK(result.entries[2].message == reason + "methods' leads to it");
  CHECK(result.entries[3].message == reason + "later' leads to it");
  CHECK(result.entries[4].message == reason + "table' leads to it");
  // A program that runs one of the entries: the data is laid out all the same.
  CHECK(ptx::parse_module(data + entry_using("plain", "other"), "k.ptx").variables.size() == 4);
  CHECK(message_of(data + entry_using("direct", "methods")) == reason + "methods' leads to it");
}
