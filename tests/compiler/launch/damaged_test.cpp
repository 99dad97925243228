// SPDX-License-Identifier: Apache-2.0
//
// Damaged launch files with expressions, structures and pointers: each is accepted, or refused with a place.
#include <regatta/launch/launch_file.h>
#include <regatta/test/catch.h>

#include <fstream>
#include <random>
#include <sstream>

using namespace regatta;

TEST_CASE("4,000 damaged files with expressions, structures and pointers") {
  std::ifstream file(REGATTA_SOURCE_DIR "/tests/fuzz/seeds/values.toml");
  std::stringstream text;
  text << file.rdbuf();
  const std::string good = text.str();
  REQUIRE(good.size() > 1000);
  REQUIRE_NOTHROW(launch::parse_launch_file(good, "l.toml"));
  const std::vector<std::string> words{"0",     "-1",    "9223372036854775807",
                                       "\"",    "(",     ")",
                                       "k",     "n",     "[",
                                       "]",     "{ ",    " }",
                                       "/ ",    "<<",    "min(1,",
                                       "'''\n", "= 1\n", ".",
                                       ",",     "%"};
  std::mt19937_64 random(4747);
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = good;
    for (int n = 0; n <= round % 3; ++n) {
      const std::size_t at = random() % damaged.size(), length = random() % 4;
      damaged.replace(at, length, random() % 4 == 0 ? "" : words[random() % words.size()]);
    }
    INFO(damaged);
    try {
      launch::parse_launch_file(damaged, "l.toml");
      ++accepted;
    } catch (const trace::InputError& e) {
      REQUIRE(std::string(e.what()).rfind("l.toml:", 0) == 0);
      ++refused;
    }
  }
  CHECK(accepted > 100);
  CHECK(refused > 1000);
}
