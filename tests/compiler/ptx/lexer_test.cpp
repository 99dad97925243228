// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <regatta/test/catch.h>
#include <regatta/trace/types.h>

using namespace regatta;
using ptx::Token;

namespace {

std::string lexer_message(const std::string& text) {
  try {
    ptx::lex(text, "f.ptx");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("tokens with their positions") {
  const std::string text = "@!%p1 ld.global.v2.u32\t{%r1, _}, [%rd2+-4];\n  $L__BB0_1: // note\n/* a\nb */ .reg";
  const std::vector<Token> t = ptx::lex(text, "f.ptx");
  struct Row {
    Token::Kind kind;
    const char* text;
    std::uint32_t line, column;
  };
  using K = Token::Kind;
  const Row rows[] = {
      {K::punctuation, "@", 1, 1},   {K::punctuation, "!", 1, 2},     {K::identifier, "%p1", 1, 3},
      {K::identifier, "ld", 1, 7},   {K::directive, ".global", 1, 9}, {K::directive, ".v2", 1, 16},
      {K::directive, ".u32", 1, 19}, {K::punctuation, "{", 1, 24},    {K::identifier, "%r1", 1, 25},
      {K::punctuation, ",", 1, 28},  {K::identifier, "_", 1, 30},     {K::punctuation, "}", 1, 31},
      {K::punctuation, ",", 1, 32},  {K::punctuation, "[", 1, 34},    {K::identifier, "%rd2", 1, 35},
      {K::punctuation, "+", 1, 39},  {K::punctuation, "-", 1, 40},    {K::number, "4", 1, 41},
      {K::punctuation, "]", 1, 42},  {K::punctuation, ";", 1, 43},    {K::identifier, "$L__BB0_1", 2, 3},
      {K::punctuation, ":", 2, 12},  {K::directive, ".reg", 4, 6},    {K::end, "", 4, 10}};
  REQUIRE(t.size() == sizeof(rows) / sizeof(rows[0]));
  for (std::size_t i = 0; i < t.size(); ++i) {
    INFO(i);
    CHECK(t[i].kind == rows[i].kind);
    CHECK(std::string(t[i].text) == rows[i].text);
    CHECK(t[i].at.line == rows[i].line);
    CHECK(t[i].at.column == rows[i].column);
  }
}

TEST_CASE("numbers, strings and double-colon modifiers are one token each") {
  for (const char* text : {"0f3F800000", "0d400921FB54442D18", "0x1Fu", "017", "1.5e-10", "9.0", "12U", "\"a b\"",
                           ".shared::cta", ".1d"}) {
    INFO(text);
    const std::string held = text;
    const std::vector<Token> t = ptx::lex(held, "f.ptx");
    REQUIRE(t.size() == 2);
    CHECK(std::string(t[0].text) == text);
  }
}

TEST_CASE("Windows line ends do not move positions") {
  const std::string text = "ret;\r\nexit;";
  const std::vector<Token> t = ptx::lex(text, "f.ptx");
  CHECK(t[2].at.line == 2);
  CHECK(t[2].at.column == 1);
}

TEST_CASE("text that is no token is refused with its position") {
  CHECK(lexer_message("ret;\n  ` ") == "f.ptx:2:3: error: '`' starts no PTX token");
  CHECK(lexer_message("a\x01") == "f.ptx:1:2: error: byte 0x01 starts no PTX token");
  CHECK(lexer_message("x /* y\n") == "f.ptx:1:3: error: comment is never closed, expected '*/'");
  CHECK(lexer_message(".file 1 \"abc\n") == "f.ptx:1:9: error: string is never closed, expected '\"'");
}
