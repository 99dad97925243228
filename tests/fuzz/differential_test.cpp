// SPDX-License-Identifier: Apache-2.0
//
// A few hundred of the differential fuzzer's programs, and proof that it sees faults.
#include <regatta/test/catch.h>
#include <regatta/test/patience.h>

#include <set>

#include "differential/compare.h"
#include "differential/generator.h"
#include "differential/operations.h"
#include "watchdog.h"

using namespace regatta::test;
using namespace regatta::test::differential;

namespace {

void check_programs(std::uint64_t first, std::uint64_t count) {
  Totals totals;
  Watchdog watchdog("nothing", std::chrono::seconds(60 * patience));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    watchdog.restart("the program of seed " + std::to_string(seed));
    const std::string difference = compare(generate(seed), &totals);
    INFO("seed " << seed);
    REQUIRE(difference == "");
  }
  CHECK(totals.programs == count);
  CHECK(totals.spilled > count / 2);
  CHECK(totals.divergent_branches > 100 * count);
}

/// Replaces every `from` of a text; false if there is none.
bool replace_all(std::string& text, const std::string& from, const std::string& to) {
  bool any = false;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    any = true;
  }
  return any;
}

}  // namespace

TEST_CASE("random programs mean the same in every variant, 1") { check_programs(1, 100); }
TEST_CASE("random programs mean the same in every variant, 2", REGATTA_MORE) { check_programs(101, 100); }
TEST_CASE("random programs mean the same in every variant, 3", REGATTA_MORE) { check_programs(201, 100); }

TEST_CASE("a seed gives the same program again, another seed another") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    texts.insert(print(generate(seed)));
    CHECK(print(generate(seed)) == print(generate(seed)));
  }
  CHECK(texts.size() == 20);
}

TEST_CASE("the programs use every operation and every kind of statement") {
  std::set<std::size_t> rows;
  std::set<Statement::Kind> kinds;
  const std::function<void(const std::vector<Statement>&)> visit = [&](const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      kinds.insert(s.kind);
      if (s.kind == Statement::Kind::operation) rows.insert(s.row);
      visit(s.body);
      visit(s.other);
    }
  };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) visit(generate(seed).body);
  CHECK(rows.size() == operations().size());
  CHECK(kinds.size() == static_cast<std::size_t>(Statement::Kind::exit) + 1);
}

// What a compiler could do wrong, done to the text it gets. A fault that needs one of many operations, and a negative
// value there, is in one of hundreds of programs.
TEST_CASE("a planted fault is seen and minimised") {
  constexpr std::uint64_t most_seeds = 3000;
  const std::vector<std::pair<std::string, std::string>> faults = {{"  xor.b32 ", "  or.b32 "},
                                                                   {"  mul.hi.u32 ", "  mul.hi.s32 "},
                                                                   {"addc.u32 ", "add.u32 "},
                                                                   {"shfl.sync.up.", "shfl.sync.down."},
                                                                   {"ld.local.s8 ", "ld.local.u8 "},
                                                                   // The first barrier of an exchange: a race.
                                                                   {"bar.sync 0;\n  add.u32 %t0", "add.u32 %t0"}};
  for (const auto& [from, to] : faults) {
    INFO(from << "-> " << to);
    const auto fails = [&, from = from, to = to](const Program& p) {
      std::string text = print(p);
      return replace_all(text, from, to) && compare(p, text) != "";
    };
    std::uint64_t seed = 1;
    while (seed < most_seeds && !fails(generate(seed))) ++seed;
    REQUIRE(seed < most_seeds);
    const Program program = generate(seed);
    const Program small = minimise(program, fails);
    CHECK(fails(small));
    CHECK(compare(small) == "");
    CHECK(statement_count(small) <= 6);
  }
}
