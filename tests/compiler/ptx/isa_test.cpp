// SPDX-License-Identifier: Apache-2.0
//
// PTX 9 as a whole: isa_9.txt has every instruction of the ISA, each is accepted or refused in words.
#include "forms.h"

#include <regatta/ptx/ptx.h>
#include <regatta/trace/types.h>

#include <regatta/test/catch.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace regatta;

namespace {

struct Line {
  bool accepted = false;
  std::string what, statement;

  /// "ld.global.u32"; of a statement with a label in front, what is behind it.
  std::string name() const {
    const std::size_t start = statement.rfind("; ");
    const std::string last = start == std::string::npos ? statement : statement.substr(start + 2);
    return last.substr(0, last.find_first_of(" ;"));
  }
  std::string mnemonic() const { return name().substr(0, name().find('.')); }
};

std::vector<Line> lines() {
  std::ifstream in(REGATTA_ISA);
  std::vector<Line> list;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    Line line;
    line.accepted = text[0] == '+';
    const std::size_t bar = text.find(" | ");
    line.what = line.accepted ? "" : text.substr(2, bar - 2);
    line.statement = text.substr(line.accepted ? 2 : bar + 3);
    list.push_back(line);
  }
  return list;
}

/// What is wrong with a kernel of this one statement, empty: nothing.
std::string isa_message(const std::string& statement) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.global .texref image;\n.global .surfref map;\n"
      ".shared .align 8 .b64 buffer;\n.func function() { ret; }\n.visible .entry k()\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<8>;\n" +
      statement + "\nEND: ret;\n}\n";
  try {
    ptx::parse_module(text, "k.ptx");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

}  // namespace

TEST_CASE("PTX 9: every instruction is accepted, or refused in words and with its name") {
  for (const Line& line : lines()) {
    INFO(line.statement);
    const std::string message = isa_message(line.statement);
    if (line.accepted) {
      CHECK(message == "");
      continue;
    }
    INFO(message);
    CHECK(message.rfind("k.ptx:11:1: error: ", 0) == 0);
    CHECK(message.find("'" + line.name() + "'") != std::string::npos);
    CHECK(message.find(line.what) != std::string::npos);
  }
}

TEST_CASE("PTX 9: the list has every mnemonic of the ISA, of the table and of the refused families") {
  std::set<std::string> listed;
  for (const Line& line : lines()) listed.insert(line.mnemonic());
  // The instruction keywords of PTX ISA 9.0, section 4.3.1, as far as they are instructions.
  CHECK(listed.size() == 135);
  for (const ptx::Form& f : ptx::forms()) {
    INFO(f.name);
    const std::string name = f.name;
    CHECK(listed.count(name.substr(0, name.find('.'))) == 1);
  }
  for (const ptx::RefusedFamily& f : ptx::refused_families()) {
    for (const std::string& m : words_of(f.mnemonics)) {
      INFO(m);
      CHECK(listed.count(m) == 1);
      CHECK((ptx::is_known_mnemonic(m) != (f.modifiers[0] == '\0')));
    }
  }
}

TEST_CASE("PTX 9: a refused form is told from its accepted neighbours") {
  CHECK(isa_message("add.rn.f32x2 %d0, %d1, %d2;") ==
        "k.ptx:11:1: error: arithmetic on pairs of f32 (sm_100) 'add.rn.f32x2' is not supported");
  CHECK(isa_message("max.f32 %f0, %f1, %f2, %f3;") ==
        "k.ptx:11:1: error: minimum and maximum of three (sm_100) 'max.f32' is not supported");
  CHECK(isa_message("max.f64 %g0, %g1, %g2, %g3;") == "k.ptx:11:1: error: 'max.f64' has 4 operands, expected 3");
  CHECK(isa_message("redux.sync.add.f32 %f0, %f1, -1;") ==
        "k.ptx:11:1: error: reduction of f32 (sm_100) 'redux.sync.add.f32' is not supported");
  CHECK(isa_message("redux.sync.add.f64 %g0, %g1, -1;") ==
        "k.ptx:11:1: error: form 'redux.sync.add.f64' is not supported");
}

TEST_CASE("packed and video instructions: what is wrong with operands") {
  struct Wrong {
    const char* statement;
    const char* message;
  };
  const Wrong rows[] = {
      {"ld.global.u32 %r0, [%d0], %d1;", "11:1: error: 'ld.global.u32' has 3 operands, expected 2"},
      {"ld.global.L2::cache_hint.u32 %r0, [%d0];",
       "11:1: error: 'ld.global.L2::cache_hint.u32' has 2 operands, expected 3"},
      {"st.global.L2::cache_hint.u32 [%d0], %r0, %r1;",
       "11:42: error: '%r1' has type .b32, expected a 64-bit register"},
      {"atom.global.add.u32 %r0, [%d0], %r1, %d1;", "11:1: error: 'atom.global.add.u32' has 4 operands, expected 3"},
      {"atom.global.add.v2.f32 {%f0, %f1}, [%d0], {%f0, %f1, %f2};",
       "11:43: error: '{...}' in 'atom.global.add.v2.f32' is not a vector of 2 registers"},
      {"red.global.add.v4.f32 [%d0], %f1;",
       "11:30: error: '%f1' in 'red.global.add.v4.f32' is not a vector of 4 registers"},
      {"red.global.add.v4.f32 %d0, {%f0, %f1, %f2, %f3};", "11:23: error: '%d0' is not an address, expected '[...]'"},
      {"red.global.add.v2.u32 [%d0], {%r0, %r1};", "11:1: error: form 'red.global.add.v2.u32' is not supported"},
      {"createpolicy.range.L2::evict_last.b64 %d0, %d1, 1, 2;",
       "11:44: error: '%d1' is not an address, expected '[...]'"},
      {"discard.global.L2 [%d0], 64;", "11:26: error: '64' is not the size of a cache line, expected 128"},
      {"applypriority.global.L2::evict_normal %d0, 128;", "11:39: error: '%d0' is not an address"},
      {"testp.f32 %p0, %f1;",
       "11:1: error: 'testp.f32' has no property, expected .finite, .infinite, .number, .notanumber, .normal or "
       ".subnormal"},
      {"lop3.and.b32 %r0, %r1, %r2, %r3, 1, %p0;", "11:14: error: 'lop3.and.b32' has one result, expected d|p"},
      {"cvt.pack.sat.s32.b32 %r0, %r1, %r2, %r3;",
       "11:1: error: 'cvt.pack.sat.s32.b32' has no size, expected .u8, .s8, .u4, .s4, .u2 or .s2"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %r2;", ""},
      {"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %d2;", "11:39: error: '%d2' has type .b64, expected a 32-bit register"},
      {".reg .e4m3x2 %x;", "11:6: error: register type '.e4m3x2' is not supported"},
      {".local .tf32 x;", "11:8: error: type '.tf32' is not supported"},
      {"vadd4.u32.u32 %r0, %r1, %r2, %r3;", "11:1: error: 'vadd4.u32.u32' has 2 types, expected 3 of .u32 and .s32"},
      {"vset4.u32.u32 %r0, %r1, %r2, %r3;", "11:1: error: 'vset4.u32.u32' has no comparison operator"},
      {"vadd4.u32.u32.u32 %r0, %r1.b321, %r2, %r3;", "11:24: error: '%r1.b321' has no selector of 'vadd4.u32.u32.u32'"},
      {"vadd4.u32.u32.u32 %r0.b4, %r1, %r2, %r3;", "11:19: error: '%r0.b4' has no selector of 'vadd4.u32.u32.u32'"},
      {"vadd4.u32.u32.u32 %r0.b01, %r1, %r2, %r3;", "11:19: error: '%r0.b01' has no selector of 'vadd4.u32.u32.u32'"},
      {"vadd2.u32.u32.u32 %r0, %r1.b3210, %r2, %r3;",
       "11:24: error: '%r1.b3210' has no selector of 'vadd2.u32.u32.u32'"},
      {"vadd2.u32.u32.u32 %r0, %r1, %r2, %r3.h10;", "11:34: error: '%r3.h10' cannot have a selector"},
      {"vadd2.u32.u32.u32.sat.add %r0, %r1, %r2, %r3;",
       "11:1: error: 'vadd2.u32.u32.u32.sat.add' has both .sat and .add"},
      {"vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "11:1: error: 'vadd.u32.u32.u32' has 4 operands, expected 3"},
      {"vadd.u32.u32.u32.min %r0, %r1, %r2;", "11:1: error: 'vadd.u32.u32.u32.min' has 3 operands, expected 4"},
      {"vadd.u32.u32.u32.min %r0.b1, %r1, %r2, %r3;",
       "11:1: error: 'vadd.u32.u32.u32.min' has both a second operation and a selected result"},
      {"vshl.u32.u32.u32 %r0, %r1, %r2;", "11:1: error: 'vshl.u32.u32.u32' has no mode, expected .clamp or .wrap"},
  };
  for (const Wrong& w : rows) {
    INFO(w.statement);
    const std::string message = isa_message(w.statement);
    CHECK(message == (w.message[0] == '\0' ? "" : std::string("k.ptx:") + w.message));
  }
}
