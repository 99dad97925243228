// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/shell_words.h>
#include <regatta/test/catch.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace regatta::base;

namespace {

/// The words that a shell makes of a text, each ended by "|".
std::string by_shell(const std::string& text) {
  const std::string command = "printf '%s|' " + text;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;) out.append(buffer, got);
  ::pclose(pipe);
  return out;
}

}  // namespace

TEST_CASE("words of a command line as a shell takes them") {
  CHECK(shell_word("--max-registers") == "--max-registers");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
  CHECK(shell_text({"a", "", "c d"}) == "a '' 'c d'");
  CHECK(shell_words("  a   'b c'd  ") == std::vector<std::string>{"a", "b cd"});
  CHECK(shell_words("").value().empty());
  CHECK_FALSE(shell_words("a 'b"));
}

TEST_CASE("words come back from their text, and a shell agrees") {
  std::mt19937 random(3);
  const std::string letters = "ab \t'\"\\$`*?[]{}()<>|&;#~!=-/.%";
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<std::string> words(1 + random() % 4);
    std::string expected;
    for (std::string& word : words) {
      for (unsigned n = random() % 6; n > 0; --n) word += letters[random() % letters.size()];
      expected += word + "|";
    }
    const std::string text = shell_text(words);
    INFO(text);
    CHECK(shell_words(text) == words);
    if (round % 4 == 0) CHECK(by_shell(text) == expected);
  }
}
