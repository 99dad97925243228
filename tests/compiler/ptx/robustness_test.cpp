// SPDX-License-Identifier: Apache-2.0
//
// Whatever the text: accepted or refused with InputError, never a crash, a hang or another exception.
#include "support.h"

#include <fstream>
#include <random>
#include <sstream>

using namespace regatta;

namespace {

std::string sample() {
  std::ifstream in(std::string(REGATTA_PTX_SAMPLES) + "/plain.clang.sm35.ptx");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void survives(const std::string& text) {
  try {
    const ptx::ModuleResult r = ptx::parse_entries(text, "fuzz.ptx");
    for (const ptx::EntryResult& e : r.entries)
      if (!e.accepted && e.message.rfind("fuzz.ptx:", 0) != 0) FAIL("message without a place: " + e.message);
  } catch (const trace::InputError& e) {
    if (std::string(e.what()).rfind("fuzz.ptx:", 0) != 0) FAIL(std::string("message without a place: ") + e.what());
  }
}

}  // namespace

TEST_CASE("truncated text") {
  const std::string text = sample();
  REQUIRE(text.size() > 1000);
  for (std::size_t n = 0; n < text.size(); n += 37) survives(text.substr(0, n));
}

TEST_CASE("text with changed, lost and doubled pieces") {
  const std::string text = sample();
  std::mt19937 random(7);
  const std::string spice = "{}[]();,.%@!|<>+-=:0123456789abrfx_\"\n$";
  for (int round = 0; round < 400; ++round) {
    std::string t = text;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % t.size();
      const std::size_t length = random() % 40;
      switch (random() % 3) {
        case 0:
          t[at] = spice[random() % spice.size()];
          break;
        case 1:
          t.erase(at, length);
          break;
        default:
          t.insert(random() % t.size(), t.substr(at, length));
          break;
      }
    }
    survives(t);
  }
}

TEST_CASE("deep nesting and large numbers") {
  survives(".entry k() {" + std::string(100000, '{'));
  survives(".entry k() {" + std::string(100000, '{') + std::string(100001, '}'));
  survives(".global .u32 x[2] = " + std::string(100000, '{'));
  survives(".global .u32 x = " + std::string(100000, '-') + "1;");
  survives(".entry k() { mov.u32 %r1, " + std::string(100000, '-') + "1; }");
  survives(".entry k() { mov.b64 %r1, " + std::string(100000, '{') + "1; }");
  survives(".global .u64 x[1000000][1000000][1000000];");
  survives(".global .u64 x[2000000000];");
  survives(".const .u64 x[200000000]; .const .u64 y[200000000]; .const .u64 z[200000000];");
  survives(".entry k() { .local .b8 x[2147483648]; .local .b8 y[2147483648]; ret; }");
  survives(".entry k() { .reg .b32 %r<1048576>; .reg .b32 %r1<1048576>; mov.u32 %r11, %r1048575; }");
  // 2^40 calls of functions that do nothing.
  std::string calls = ".func f0() { ret; }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    calls += ".func f" + std::to_string(i) + "() { call " + callee + "; call " + callee + "; }\n";
  }
  survives(calls + ".entry k() { call f39; }");
}
