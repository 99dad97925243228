// SPDX-License-Identifier: Apache-2.0
//
// Textures and surfaces: what nvcc and clang write becomes, and what is refused.
#include "support.h"

using namespace regatta;
using namespace regatta::ptx::test;

namespace {

const char* const wanted =
    "\n st.global.f32 [%rd9], %f1; st.global.f32 [%rd9], %f2; st.global.f32 [%rd9], %f3; "
    "st.global.f32 [%rd9], %f4; st.global.u32 [%rd9], %r1;";

/// The first instruction on a texture or surface that a body becomes.
std::string access(const std::string& body) {
  for (const ir::Block& b : lower(body + wanted).blocks) {
    for (const ir::Instruction& i : b.instructions) {
      if (ir::takes_texture(i.op)) return ir::to_text(i, false);
    }
  }
  return "";
}

/// With the numbers of registers taken out.
std::string shape(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != 'v' || i == 0 || text[i - 1] != '%') continue;
    while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return out;
}

}  // namespace

TEST_CASE("texture fetches") {
  CHECK(shape(access("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];")) ==
        "tex.1d.rgba.f32.s32 {%v, %v, %v, %v}, [%v, %v];");
  CHECK(shape(access("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];")) ==
        "tex.2d.rgba.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v}];");
  CHECK(shape(access("tex.3d.v4.f32.f32 {%f1, _, %f3, _}, [%rd1, {%f1, %f2, %f3, %f3}];")) ==
        "tex.3d.rb.f32.f32 {%v, %v}, [%v, {%v, %v, %v}];");
  CHECK(shape(access("tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %f1, %f2, %f2}];")) ==
        "tex.a2d.rgba.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v, %v}];");
  CHECK(shape(access("tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f5;")) ==
        "tex.level.2d.rgba.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v}], %v;");
  // Level 0 is no operand, and gradients are none.
  CHECK(shape(access("tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], 0f00000000;")) ==
        "tex.2d.rgba.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v}];");
  CHECK(shape(access("tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%f3, %f4}, {%f5, %f6};")) ==
        "tex.2d.rgba.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v}];");
  CHECK(shape(access("tld4.g.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];")) ==
        "tld4.g.2d.0123.f32.f32 {%v, %v, %v, %v}, [%v, {%v, %v}];");
  CHECK(shape(access("@%p1 txq.width.b32 %r1, [%rd1];")) == "@%v txq.width.b32 %v, %v;");
}

TEST_CASE("surface accesses") {
  CHECK(shape(access("suld.b.2d.v2.b32.clamp {%r1, %r2}, [%rd1, {%r3, %r4}];")) ==
        "suld.b.2d.v2.b32.clamp {%v, %v}, [%v, {%v, %v}];");
  CHECK(shape(access("suld.b.1d.b32 {%r1}, [%rd1, {%r3}];")) == "suld.b.1d.b32.trap %v, [%v, %v];");
  CHECK(shape(access("sust.b.a1d.v4.b8.zero [%rd1, {%r3, %r4}], {%rs1, %rs2, %rs1, 0};")) ==
        "sust.b.a1d.v2.b8.zero [%v, {%v, %v}], {%v, %v};");
  CHECK(shape(access("sust.b.1d.v4.b32.trap [%rd1, {%r3}], {%r1, %r2, %r3, %r4};")) ==
        "sust.b.1d.v4.b32.trap [%v, %v], {%v, %v, %v, %v};");
  // More than six registers: two halves.
  const ir::Function f = lower("sust.b.3d.v4.b32.trap [%rd1, {%r3, %r4, %r5, %r5}], {%r1, %r2, %r3, %r4};");
  std::vector<std::string> stores;
  for (const ir::Instruction& i : f.blocks[0].instructions) {
    if (i.op == ir::Opcode::sust) stores.push_back(shape(ir::to_text(i, false)));
  }
  CHECK(stores == std::vector<std::string>{"sust.b.3d.v2.b32.trap [%v, {%v, %v, %v}], {%v, %v};",
                                           "sust.b.3d.v2.b32.trap [%v, {%v, %v, %v}+0x8], {%v, %v};"});
}

TEST_CASE("texture and surface references are variables of the module") {
  const ir::Module m = ptx::parse_module(
      ".version 8.0\n.target sm_35\n.address_size 64\n.global .texref image;\n.global .surfref plane;\n"
      ".global .samplerref s;\n.tex .u32 old;\n"
      ".entry k() { .reg .b32 %r<9>; .reg .b64 %d<3>; tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, %r5];\n"
      "mov.u64 %d1, image; tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}]; ret; }",
      "k.ptx");
  REQUIRE(m.variables.size() == 3);
  for (const ir::ModuleVariable& v : m.variables) CHECK(v.is_texture_reference);
  CHECK(m.variables[2].name == "old");
}

TEST_CASE("textures and surfaces that are refused") {
  struct Refused {
    const char* body;
    const char* message;
  };
  const Refused rows[] = {
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];",
       "7:41: error: 'tex.2d.v4.f32.f32' has 1 coordinates, expected 2"},
      {"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3}];",
       "7:41: error: 'tex.3d.v4.f32.f32' has 3 coordinates, expected 4"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3}, [%rd1, {%f1, %f2}];",
       "7:19: error: 'tex.2d.v4.f32.f32' has 3 data registers, expected 4"},
      {"tex.1d.v4.f32.f32 {%f1, %f1, %f3, %f4}, [%rd1, {%f1}];", "7:25: error: '%f1' is loaded twice"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f1}];",
       "7:41: error: '%r1' is not a texture or surface, expected a .texref, a .surfref or a 64-bit register"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1+4, {%f1}];",
       "7:41: error: '[%rd1+4]' is not a texture or surface"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, %rd1;",
       "7:41: error: '%rd1' is not a texture or surface, expected '[...]'"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f1}];",
       "7:52: error: found ',', expected ']': a sampler beside the texture (texmode_independent) is not supported"},
      {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%rd1}];",
       "7:49: error: '%rd1' has type .b64, expected a 32-bit register"},
      {"tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];",
       "7:1: error: 'tex.level.1d.v4.f32.f32' has 2 operands, expected 3"},
      {"tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%f1}, {%f1, %f2};",
       "7:66: error: 'tex.grad.2d.v4.f32.f32' has 1 data registers, expected 2"},
      {"tld4.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
       "7:1: error: 'tld4.2d.v4.f32.f32' names 0 channels, expected one of .r .g .b .a"},
      {"suld.b.1d.v4.b64.trap {%rd1, %rd2, %rd3, %rd4}, [%rd1, {%r1}];",
       "7:1: error: 'suld.b.1d.v4.b64.trap' moves more than 16 bytes per thread"},
      {"suld.b.1d.v2.b32.trap {%r1, %r1}, [%rd1, {%r1}];", "7:29: error: '%r1' is loaded twice"},
      {"sust.b.1d.v2.b32.trap [%rd1, {%r1}], {%r1};",
       "7:38: error: 'sust.b.1d.v2.b32.trap' has 1 data registers, expected 2"},
      {"txq.width.b32 %r1, [%rd1, {%r1}];", "7:20: error: 'txq.width.b32' takes no coordinates"},
      {"ld.global.u32 %r1, [%rd1, {%r2}];", "7:20: error: 'ld.global.u32' takes no coordinates"},
  };
  for (const Refused& r : rows) {
    INFO(r.body);
    CHECK(message_of(entry(r.body)) == std::string("k.ptx:") + r.message);
  }
  const auto with = [](const char* variable, const char* body) {
    return message_of(std::string(variable) + "\n.entry k() { .reg .b32 %r<9>; .reg .b64 %d<3>;\n" + body + " ret; }");
  };
  CHECK(with(".global .texref t[4];", "") == "k.ptx:1:17: error: 't' is an array of .texref: not supported");
  CHECK(with(".global .texref t;", "ld.global.u32 %r1, [t];") ==
        "k.ptx:3:20: error: 't' is a texture or surface reference, expected a variable");
  CHECK(with(".global .texref t;", "mov.u64 %d1, t+8;") ==
        "k.ptx:3:14: error: 't+8' is beside a texture or surface reference");
  CHECK(with(".global .samplerref s;", "txq.width.b32 %r1, [s];") ==
        "k.ptx:3:20: error: 's' is a sampler: not supported, expected a texture with its sampler");
}
