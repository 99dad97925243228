// SPDX-License-Identifier: Apache-2.0
//
// Indirect and recursive calls, against what the same functions compute in C++.
#include "harness.h"
#include "random_ptx.h"

#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

#include <array>
#include <string>
#include <vector>

using namespace regatta;
using namespace regatta::test;

namespace indirect_and_recursive_calls {
namespace {

using random_ptx::Dice;
using random_ptx::number;

/// A function of (depth, x) with six values v, four words of memory and two conditions. At depth 0 it gives 3x + its
/// number; otherwise it does its steps and gives v0 ^ v1.
struct Step {
  enum class Kind : unsigned { add, multiply, wide, store, load, compare, select, direct, guarded, indirect };
  Kind kind = Kind::add;
  unsigned to = 0, a = 0, b = 0;
  unsigned callee = 0;
};

constexpr unsigned value_count = 6;

struct Program {
  std::vector<std::vector<Step>> functions;
  /// Calls of each function go to those from this one on: with the function itself or lower ones among them they are
  /// recursive, otherwise not.
  std::vector<unsigned> lowest;
};

Program random_program(std::uint64_t seed) {
  Dice dice(seed);
  Program p;
  const unsigned count = 1 + dice.below(5);
  for (unsigned f = 0; f < count; ++f) {
    p.lowest.push_back(f + 1 < count && dice.below(3) == 0 ? f + 1 : dice.below(count));
    std::vector<Step> steps;
    unsigned calls = 0;
    for (unsigned s = 0, n = 5 + dice.below(12); s < n; ++s) {
      Step step;
      step.kind = static_cast<Step::Kind>(dice.below(10));
      step.to = dice.below(value_count);
      step.a = dice.below(value_count);
      step.b = dice.below(value_count);
      step.callee = p.lowest[f] + dice.below(count - p.lowest[f]);
      if (step.kind >= Step::Kind::direct && ++calls > 3) continue;
      steps.push_back(step);
    }
    p.functions.push_back(std::move(steps));
  }
  return p;
}

std::uint32_t evaluate(const Program& p, unsigned f, std::uint32_t depth, std::uint32_t x) {
  if (depth == 0) return 3 * x + f;
  std::array<std::uint32_t, value_count> v{};
  for (unsigned n = 0; n < value_count; ++n) v[n] = x + n;
  std::array<std::uint32_t, 4> words{};
  std::array<bool, 2> c{};
  std::uint64_t wide = x;
  for (const Step& s : p.functions[f]) {
    switch (s.kind) {
      case Step::Kind::add:
        v[s.to] = v[s.a] + v[s.b];
        break;
      case Step::Kind::multiply:
        v[s.to] = v[s.a] * 1664525u + v[s.b];
        break;
      case Step::Kind::wide:
        wide = wide * 0x5851f42d4c957f2dull + v[s.a];
        v[s.to] = static_cast<std::uint32_t>(wide >> 32);
        break;
      case Step::Kind::store:
        words[v[s.a] % 4] = v[s.b];
        break;
      case Step::Kind::load:
        v[s.to] = words[v[s.a] % 4];
        break;
      case Step::Kind::compare:
        c[s.to % 2] = v[s.a] < v[s.b];
        break;
      case Step::Kind::select:
        if (c[s.to % 2]) v[s.a] += 77;
        break;
      case Step::Kind::direct:
        v[s.to] = evaluate(p, s.callee, depth - 1, v[s.a]);
        break;
      case Step::Kind::guarded:
        if (c[s.to % 2]) v[s.to] = evaluate(p, s.callee, depth - 1, v[s.a]);
        break;
      case Step::Kind::indirect: {
        const auto n = static_cast<unsigned>(p.functions.size()) - p.lowest[f];
        v[s.to] = evaluate(p, p.lowest[f] + v[s.b] % n, depth - 1, v[s.a]);
        break;
      }
    }
  }
  return v[0] ^ v[1];
}

/// A call of `target`, with parameters in a structure, in two .param scalars or in registers, or, as a fourth style,
/// without a result: the callee stores it where a third parameter points.
std::string call_text(const std::string& guard, const std::string& target, const std::string& list, unsigned style,
                      unsigned to, unsigned a) {
  const std::string tail = list.empty() ? "" : ", " + list;
  if (style == 1) {
    return "{ .param .align 8 .b8 s[16]; .param .align 4 .b8 r[8]; st.param.u32 [s+4], %n1; st.param.u32 [s+8], %v" +
           number(a) + ";\n" + guard + "call (r), " + target + ", (s)" + tail + ";\n" + guard + "ld.param.u32 %v" +
           number(to) + ", [r+4]; }\n";
  }
  if (style == 2)
    return guard + "call (%v" + number(to) + "), " + target + ", (%n1, %v" + number(a) + ")" + tail + ";\n";
  if (style == 3) {
    return "{ .param .b32 d; .param .b32 x; .param .b64 at; st.param.b32 [d], %n1; st.param.b32 [x], %v" + number(a) +
           "; st.param.b64 [at], %home;\n" + guard + "call " + target + ", (d, x, at)" + tail + ";\n" + guard +
           "ld.u32 %v" + number(to) + ", [%home]; }\n";
  }
  return "{ .param .b32 d; .param .b32 x; .param .b32 r; st.param.b32 [d], %n1; st.param.b32 [x], %v" + number(a) +
         ";\n" + guard + "call (r), " + target + ", (d, x)" + tail + ";\n" + guard + "ld.param.b32 %v" + number(to) +
         ", [r]; }\n";
}

std::string header(unsigned f, unsigned style) {
  const std::string name = "f" + number(f);
  if (style == 1) return ".func (.param .align 4 .b8 r[8]) " + name + "(.param .align 8 .b8 s[16])";
  if (style == 2) return ".func (.reg .b32 %ret) " + name + "(.reg .b32 %depth, .reg .b32 %x)";
  if (style == 3) return ".func " + name + "(.param .b32 d, .param .b32 x, .param .b64 at)";
  return ".func (.param .b32 r) " + name + "(.param .b32 d, .param .b32 x)";
}

std::string prototype(const std::string& name, unsigned style) {
  if (style == 1) return name + ": .callprototype (.param .align 4 .b8 _[8]) _ (.param .align 8 .b8 _[16]);\n";
  if (style == 3) return name + ": .callprototype ()_ (.param .b32 _, .param .b32 _, .param .b64 _);\n";
  const std::string space = style == 2 ? ".reg" : ".param";
  return name + ": .callprototype (" + space + " .b32 _) _ (" + space + " .b32 _, " + space + " .b32 _) .noreturn;\n";
}

std::string function_text(const Program& p, unsigned f, unsigned style, Dice& dice) {
  std::string text =
      header(f, style) +
      "\n{\n.reg .b32 %v<6>, %t<4>, %n, %n1; .reg .b64 %w, %a<4>; .reg .pred %c<3>;\n"
      ".local .align 4 .b8 words[16], own[4]; .reg .b64 %home; mov.u64 %home, own; cvta.local.u64 %home, %home;\n";
  const auto result = [&](const std::string& value) {
    if (style == 1) return "st.param.u32 [r+4], " + value + "; ret;\n";
    if (style == 2) return "mov.u32 %ret, " + value + "; ret;\n";
    if (style == 3) return "ld.param.u64 %a3, [at]; st.u32 [%a3], " + value + "; ret;\n";
    return "st.param.b32 [r], " + value + "; ret;\n";
  };
  if (style == 1) text += "ld.param.u32 %n, [s+4]; ld.param.u32 %v0, [s+8];\n";
  if (style == 2) text += "mov.u32 %n, %depth; mov.u32 %v0, %x;\n";
  if (style == 0 || style == 3) text += "ld.param.u32 %n, [d]; ld.param.u32 %v0, [x];\n";
  text +=
      "setp.ne.u32 %c2, %n, 0; @%c2 bra GO;\nmad.lo.u32 %t1, %v0, 3, " + number(f) + ";\n" + result("%t1") + "GO:\n";
  for (unsigned n = 1; n < value_count; ++n) text += "add.u32 %v" + number(n) + ", %v0, " + number(n) + ";\n";
  text +=
      "cvt.u64.u32 %w, %v0; setp.ne.u32 %c0, 0, 0; setp.ne.u32 %c1, 0, 0; sub.u32 %n1, %n, 1; mov.u32 %t0, 0;\n"
      "mov.u64 %a0, words; cvta.local.u64 %a1, %a0;\n";
  for (unsigned n = 0; n < 4; ++n) text += "st.local.u32 [words+" + number(4 * n) + "], %t0;\n";
  unsigned lists = 0;
  for (const Step& s : p.functions[f]) {
    const std::string to = "%v" + number(s.to), a = "%v" + number(s.a), b = "%v" + number(s.b);
    const std::string c = "%c" + number(s.to % 2);
    switch (s.kind) {
      case Step::Kind::add:
        text += "add.u32 " + to + ", " + a + ", " + b + ";\n";
        break;
      case Step::Kind::multiply:
        text += "mad.lo.u32 " + to + ", " + a + ", 1664525, " + b + ";\n";
        break;
      case Step::Kind::wide:
        text +=
            "cvt.u64.u32 %a3, " + a + "; mad.lo.u64 %w, %w, 0x5851f42d4c957f2d, %a3; mov.b64 {%t1, " + to + "}, %w;\n";
        break;
      case Step::Kind::store:
        text +=
            "and.b32 %t1, " + a + ", 3; mul.wide.u32 %a2, %t1, 4; add.u64 %a2, %a2, %a1; st.u32 [%a2], " + b + ";\n";
        break;
      case Step::Kind::load:
        text += "and.b32 %t1, " + a + ", 3; mul.wide.u32 %a2, %t1, 4; add.u64 %a2, %a2, %a0; ld.local.u32 " + to +
                ", [%a2];\n";
        break;
      case Step::Kind::compare:
        text += "setp.lt.u32 " + c + ", " + a + ", " + b + ";\n";
        break;
      case Step::Kind::select:
        text += "@" + c + " add.u32 " + a + ", " + a + ", 77;\n";
        break;
      case Step::Kind::direct:
        text += call_text("", "f" + number(s.callee), "", style, s.to, s.a);
        break;
      case Step::Kind::guarded:
        text += call_text("@" + c + " ", "f" + number(s.callee), "", style, s.to, s.a);
        break;
      case Step::Kind::indirect: {
        const auto count = static_cast<unsigned>(p.functions.size());
        const std::string list = "list" + number(lists++);
        if (dice.below(2) == 0) {
          text += prototype(list, style);
        } else {
          text += list + ": .calltargets f" + number(p.lowest[f]);
          for (unsigned n = p.lowest[f] + 1; n < count; ++n) text += ", f" + number(n);
          text += ";\n";
        }
        text += "rem.u32 %t1, " + b + ", " + number(count - p.lowest[f]) + "; add.u32 %t1, %t1, " +
                number(p.lowest[f]) + "; mul.wide.u32 %a2, %t1, 8;\n";
        switch (dice.below(3)) {
          case 0:
            text += "mov.u64 %a3, table; add.u64 %a2, %a2, %a3; ld.global.u64 %a2, [%a2];\n";
            break;
          case 1:
            text += "mov.u64 %a3, bytes; add.u64 %a2, %a2, %a3; ld.const.u64 %a2, [%a2];\n";
            break;
          default:
            text += "mov.u64 %a2, f" + number(p.lowest[f]) + ";\n";
            for (unsigned n = p.lowest[f] + 1; n < count; ++n)
              text += "setp.eq.u32 %c2, %t1, " + number(n) + "; @%c2 mov.u64 %a2, f" + number(n) + ";\n";
        }
        text += call_text("", "%a2", list, style, s.to, s.a);
        break;
      }
    }
  }
  return text + "xor.b32 %t1, %v0, %v1;\n" + result("%t1") + "}\n";
}

std::string module_of(const Program& p, unsigned style, std::uint64_t seed, unsigned most_depth) {
  Dice dice(seed);
  std::string before;
  const auto count = static_cast<unsigned>(p.functions.size());
  for (unsigned f = 0; f < count; ++f) before += header(f, style) + ";\n";
  before += ".global .align 8 .u64 table[" + number(count) + "] = {";
  for (unsigned f = 0; f < count; ++f) before += (f == 0 ? "f" : ", f") + number(f);
  // As nvcc writes a structure with pointers.
  before += "};\n.const .align 8 .b8 bytes[" + number(8 * count) + "] = {";
  for (unsigned f = 0; f < count; ++f) {
    for (unsigned b = 0; b < 8; ++b) {
      before += f + b == 0 ? "" : ", ";
      before += "0xFF" + std::string(2 * b, '0') + "(f" + number(f) + ")";
    }
  }
  before += "};\n";
  for (unsigned f = 0; f < count; ++f) before += function_text(p, f, style, dice);
  std::string body =
      ".local .align 4 .b8 own[4]; .reg .b64 %home; mov.u64 %home, own; cvta.local.u64 %home, %home;\n"
      ".reg .b64 %p<4>; .reg .b32 %v<6>, %n1, %r<4>; .reg .pred %c<3>;\nmov.u32 %r1, %tid.x; ld.param.u64 %p1, [out];\n"
      "mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2; and.b32 %n1, %r1, 3; min.u32 %n1, %n1, " +
      number(most_depth) + "; mul.lo.u32 %v1, %r1, 2654435761; mov.u32 %v2, 0;\n";
  body += call_text("", "f0", "", style, 2, 1);
  body += "add.u32 %v3, %v2, %r1; setp.lt.u32 %c1, %v3, 3000000000;\n";
  body += call_text("@%c1 ", "f" + number(count - 1), "", style, 2, 3);
  return module_text(".param .u64 out", body + "st.global.u32 [%p1], %v2; ret;\n", before);
}

std::uint32_t expected(const Program& p, std::uint32_t thread, unsigned most_depth) {
  const std::uint32_t depth = std::min(thread & 3u, most_depth);
  const std::uint32_t first = evaluate(p, 0, depth, thread * 2654435761u);
  const std::uint32_t x = first + thread;
  return x < 3000000000u ? evaluate(p, static_cast<unsigned>(p.functions.size()) - 1, depth, x) : first;
}

void check(std::uint64_t seed, unsigned registers, unsigned warp_size, bool barriers) {
  const Program p = random_program(seed);
  const auto style = static_cast<unsigned>(seed % 4);
  constexpr unsigned most_depth = 3, threads = 96;
  const std::string text = module_of(p, style, seed, most_depth);
  INFO("seed " << seed << "\n" << text);
  Machine m(text, warp_size, registers);
  const std::uint64_t out = m.buffer("out", 4 * threads);
  m.parameter(out);
  m.request.block = {threads, 1, 1};
  m.options.divergence = barriers ? emulator::Divergence::barriers : emulator::Divergence::stack;
  m.run();
  const auto found = m.read<std::uint32_t>(out, threads);
  for (std::uint32_t t = 0; t < threads; ++t) REQUIRE(found[t] == expected(p, t, most_depth));
}

/// The error of a kernel that calls address `value`.
std::string error_of_call(const std::string& functions, const std::string& value, const std::string& list) {
  Machine m(
      module_text(".param .u64 out",
                  ".reg .b64 %p; .reg .b32 %r<3>; ld.param.u64 %p, [out];\n" + list + "\n" + value +
                      "\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1;\ncall (b), %p, (a), list; }\nret;\n",
                  functions));
  m.parameter(m.buffer("out", 64));
  return m.error();
}

}  // namespace

TEST_CASE("functions that call each other directly and through tables compute what they compute in C++") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) check(seed, 255, seed % 2 == 0 ? 32 : 64, false);
}

TEST_CASE("frames and spills share local memory") {
  for (std::uint64_t seed = 1000; seed <= 1040; ++seed) check(seed, 16, 32, seed % 2 == 0);
}

TEST_CASE("a call of an address that is none of a function ends the run") {
  const std::string list = "list: .callprototype (.param .b32 _) _ (.param .b32 _);";
  const std::string f = ".func (.param .b32 r) f(.param .b32 x)\n{ .reg .b32 %r; st.param.b32 [r], 1; ret; }\n";
  const std::string g = ".func (.param .b32 r) g(.param .b32 x)\n{ .reg .b32 %r; st.param.b32 [r], 1; ret; }\n";
  const std::string data = ".global .u64 table[2] = {f, g};\n", one = ".global .u64 table = f;\n";
  const std::string where = ": error: kernel 'k', CTA (0,0,0), thread (0,0,0): indirect call of address ";
  CHECK(error_of_call(f + one, "mov.u64 %p, f;", list).empty());
  CHECK(error_of_call(f + one, "mov.u64 %p, 0;", list) == "k.ptx:13:1" + where + "0x0, expected that of 'f'");
  CHECK(error_of_call(f + g + data, "add.u64 %p, %p, 24;", list) ==
        "k.ptx:15:1" + where + "0x1000001218, expected that of 'f' or 'g'");
  CHECK(error_of_call(f + g + data, "mov.u64 %p, g;", "list: .calltargets f;") ==
        "k.ptx:15:1" + where + "0x20, expected that of 'f'");
  CHECK(error_of_call(f + one, "mov.u64 %p, 16;", "list: .callprototype (.param .b32 _) _ (.param .b64 _);") ==
        "k.ptx:13:1" + where + "0x10, and the module takes the address of no function that 'list' admits");
  // Functions that cannot be called do no harm until they are.
  const std::string declared = ".extern .func (.param .b32 r) e(.param .b32 x);\n";
  CHECK(error_of_call(declared + f + ".global .u64 table[2] = {e, f};\n", "mov.u64 %p, f;", list).empty());
  CHECK(error_of_call(declared + f + ".global .u64 table[2] = {e, f};\n", "mov.u64 %p, e;", list) ==
        "k.ptx:14:1" + where + "0x10, that of 'e', which has no body here");
  CHECK(error_of_call(f + ".func (.param .b32 r) bad(.param .b32 x)\n{ .reg .b32 %r; add.s32 %r, }\n.global .u64 "
                          "table[2] = {bad, f};\n",
                      "mov.u64 %p, bad;", list)
            .find("0x20, that of 'bad', which cannot be compiled: k.ptx:") != std::string::npos);
}

namespace {

/// What f(n), which calls itself n times over, gives: the sum of the numbers up to n. Each frame has `bytes` of memory
/// in it. On an error, its message.
std::string deep(unsigned bytes, unsigned depth) {
  const std::string local = bytes == 0 ? "" : ".local .align 4 .b8 memory[" + number(bytes) + "];\n";
  const std::string use = bytes == 0 ? "" : "mov.u64 %d, memory; cvta.local.u64 %d, %d; st.u32 [%d], %n;\n";
  Machine m(module_text(".param .u64 out",
                        ".reg .b64 %p; .reg .b32 %r<3>; ld.param.u64 %p, [out];\n{ .param .b32 a; .param .b32 b;\n"
                        "st.param.b32 [a], " +
                            number(depth) +
                            ";\ncall (b), f, (a);\nld.param.b32 %r1, [b]; }\nst.global.u32 [%p], %r1;\nret;\n",
                        ".func (.param .b32 r) f(.param .b32 x)\n{\n" + local +
                            ".reg .b32 %n, %m; .reg .b64 %d; .reg .pred %q;\nld.param.u32 %n, [x];\n" + use +
                            "setp.eq.u32 %q, %n, 0; mov.u32 %m, 0; @%q bra END;\nsub.u32 %m, %n, 1;\n"
                            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %m;\ncall (b), f, (a);\n"
                            "ld.param.b32 %m, [b]; }\nadd.u32 %m, %m, %n;\nEND: st.param.b32 [r], %m; ret;\n}\n"));
  const std::uint64_t out = m.buffer("out", 64);
  m.parameter(out);
  const std::string error = m.error();
  return error.empty() ? number(m.read<std::uint32_t>(out, 1)[0]) : error;
}

}  // namespace

TEST_CASE("the stack of frames is as large as it is said to be") {
  // A frame has %n and the place of the call: 8 bytes, and so 16.
  constexpr unsigned most = ir::default_stack_bytes / 16;
  const std::string text =
      "stack overflow: frames of recursive functions take more than the 4096 bytes that a thread has "
      "for them (--stack-bytes, cudaLimitStackSize)";
  CHECK(deep(0, most - 1) == number((most - 1) * most / 2));
  CHECK(deep(0, most + 1) == "k.ptx:11:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): " + text);
  CHECK(deep(1000, 3) == "6");
  CHECK(deep(1000, 4) == "k.ptx:4:23: error: kernel 'k', CTA (0,0,0), thread (0,0,0): " + text);
}

TEST_CASE("what recursive functions cannot have is refused") {
  const auto error = [](const std::string& before) {
    try {
      ptx::parse_module(module_text("", ".reg .b32 %r1; call f;\nret;\n", before), "k.ptx");
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error(".func f() { call f; ret; }\n").empty());
  CHECK(error(".reg .b32 %g;\n.func f() { call f; ret; }\n") ==
        "k.ptx:5:7: error: recursive function 'f' in a module with registers outside of functions is not supported");
  CHECK(
      error(".func g(.reg .v2 .b32 %v) { .reg .v2 .b32 %w; call g, (%w); ret; }\n.func f() { .reg .v2 .b32 %w; call g, "
            "(%w); ret; }\n") ==
      "k.ptx:4:23: error: parameter '%v' of recursive function 'g' is a vector or a predicate: not supported");
}

}  // namespace indirect_and_recursive_calls
