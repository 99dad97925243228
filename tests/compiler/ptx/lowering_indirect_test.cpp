// SPDX-License-Identifier: Apache-2.0
//
// Indexed branches become search trees.
#include "support.h"

using namespace regatta;
using namespace regatta::ptx::test;

namespace {

/// A kernel that goes to one of the blocks A, B, C by %r1.
std::string to_blocks(const std::string& list, const std::string& branch) {
  return branch + "\nts: .branchtargets " + list +
         ";\n"
         "A: st.global.u32 [%rd1], 1; ret;\nB: st.global.u32 [%rd1], 2; ret;\nC: st.global.u32 [%rd1], 3; ret;";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("an indexed branch is a search tree, and its end is checked") {
  const ir::Function f = lower(to_blocks("A, B, C", "brx.idx %r1, ts;"));
  CHECK(text_of(f) ==
        "setp.ge.u32 %v0, %v1, 0x1;\n@%v0 bra B2;\n"
        "B1:\nbra B5;\n"
        "B2:\nsetp.ge.u32 %v2, %v1, 0x2;\n@%v2 bra B4;\n"
        "B3:\nbra B6;\n"
        "B4:\nsetp.ge.u32 %v3, %v1, 0x3;\n@%v3 trap %v1, 0x0;\nbra B7;\n"
        "B5:\nst.global.u32 [%v4.64], 0x1;\nexit;\n"
        "B6:\nst.global.u32 [%v4.64], 0x2;\nexit;\n"
        "B7:\nst.global.u32 [%v4.64], 0x3;\nexit;\n");
  CHECK(f.trap_texts == std::vector<std::string>{"brx.idx with index %, expected less than 3"});
}

TEST_CASE("neighbours with one target are one leaf of the tree") {
  const std::string text = text_of(lower(to_blocks("A, A, A, B, B, A, A, A", "brx.idx.uni %r1, ts;")));
  INFO(text);
  CHECK(count(text, "setp.ge.u32") == 3);
  CHECK(text.find(", 0x3;") != std::string::npos);
  CHECK(text.find(", 0x5;") != std::string::npos);
  CHECK(text.find(", 0x8;") != std::string::npos);
}

TEST_CASE("a guarded indexed branch is branched around") {
  const std::string text = text_of(lower(to_blocks("A, B", "@%p1 brx.idx %r1, ts; st.global.u32 [%rd1], 9; ret;")));
  INFO(text);
  CHECK(text.find("@!%v0 bra") == 0);
  CHECK(count(text, "trap") == 1);
}

TEST_CASE("a list may stand in front of its branch, in an outer scope, and in a function that is called twice") {
  CHECK(message_of(entry("ts: .branchtargets A, B; A: { { brx.idx %r1, ts; } } B: ret;")).empty());
  CHECK(message_of(entry("{ ts: .branchtargets A; A: ret; } { ts: .branchtargets B; B: brx.idx %r1, ts; }")).empty());
  std::string text = entry("call.uni f, (%r1); call.uni f, (%r2);");
  text.insert(text.find(".visible"),
              ".func f(.reg .b32 %a) { brx.idx %a, ts; ts: .branchtargets A, B; A: ret; B: ret; }\n");
  CHECK(message_of(text).empty());
}
