// SPDX-License-Identifier: Apache-2.0
//
// A few hundred of the differential fuzzer's programs, and proof that it sees faults.
#include <regatta/test/catch.h>
#include <regatta/test/patience.h>

#include <map>
#include <set>

#include "differential/compare.h"
#include "differential/generator.h"
#include "differential/matrix.h"
#include "differential/operations.h"
#include "watchdog.h"

using namespace regatta::test;
using namespace regatta::test::differential;

namespace {

void check_programs(std::uint64_t first, std::uint64_t count, Instructions instructions = Instructions::plain) {
  Totals totals;
  Watchdog watchdog("nothing", std::chrono::seconds(60 * patience));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    watchdog.restart("the program of seed " + std::to_string(seed));
    const std::string difference = compare(generate(seed, instructions), &totals);
    INFO("seed " << seed);
    REQUIRE(difference == "");
  }
  CHECK(totals.programs == count);
  CHECK(totals.spilled > count / 2);
  // Half of the statements of a modern program need the whole warp.
  CHECK(totals.divergent_branches > (instructions == Instructions::plain ? 100 : 50) * count);
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

/// Plants the fault in the first program in which it matters.
void see_fault(const std::string& from, const std::string& to, Instructions instructions) {
  constexpr std::uint64_t most_seeds = 3000;
  INFO(from << "-> " << to);
  const auto fails = [&](const Program& p) {
    std::string text = print(p);
    return replace_all(text, from, to) && compare(p, text) != "";
  };
  std::uint64_t seed = 1;
  while (seed < most_seeds && !fails(generate(seed, instructions))) ++seed;
  REQUIRE(seed < most_seeds);
  const Program program = generate(seed, instructions);
  const Program small = minimise(program, fails);
  CHECK(fails(small));
  CHECK(compare(small) == "");
  CHECK(statement_count(small) <= 6);
}

}  // namespace

TEST_CASE("random programs mean the same in every variant, 1") { check_programs(1, 100); }
TEST_CASE("random programs mean the same in every variant, 2", REGATTA_MORE) { check_programs(101, 100); }
TEST_CASE("random programs mean the same in every variant, 3", REGATTA_MORE) { check_programs(201, 100); }

TEST_CASE("random programs with matrices and asynchronous copies mean the same in every variant, 1") {
  check_programs(1, 60, Instructions::modern);
}
TEST_CASE("random programs with matrices and asynchronous copies mean the same in every variant, 2", REGATTA_MORE) {
  check_programs(101, 200, Instructions::modern);
}

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
  for (std::uint64_t seed = 1; seed <= 300; ++seed) visit(generate(seed, Instructions::modern).body);
  CHECK(kinds.size() == Statement::kinds);
}

TEST_CASE("the programs use every form of mma, and wmma, and every kind of copy and wait") {
  std::string all;
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const std::string text = print(generate(seed, Instructions::modern));
    count_modern(text, counts);
    all += text;
  }
  for (const MatrixForm& f : matrix_forms()) {
    CAPTURE(f.text());
    CHECK(all.find("  " + f.text() + " ") != std::string::npos);
  }
  for (const char* types :
       {"f32.f32 ", "f16.f16 ", "f32.bf16.bf16.f32 ", "s32.s8.s8.s32 ", "s32.s8.s8.s32.satfinite ", "s32.u8.u8.s32 "}) {
    CAPTURE(types);
    CHECK(all.find(std::string(".m16n16k16.") + types) != std::string::npos);
  }
  CHECK(counts.size() == 17);
  for (const auto& [name, programs] : counts) {
    CAPTURE(name);
    CHECK(programs > 20);
  }
}

// Known answers: what the emulator's test (matrix_test.cpp) compares with an H100 is here the oracle's.
TEST_CASE("the oracle's products") {
  const MatrixForm half{16, 8, 8, MatrixElement::f16, MatrixElement::f16, MatrixElement::f32};
  const auto dot = [](const MatrixForm& f, std::vector<std::uint64_t> a, std::vector<std::uint64_t> b,
                      std::uint64_t c) {
    a.resize(f.k);
    b.resize(f.k);
    return product_element(f, a, b, c);
  };
  CHECK(dot(half, {0x3c00, 0x4000}, {0x3c00, 0x4200}, 0x3f800000) == 0x41000000);  // 1 + 2 * 3 + 1
  CHECK(dot(half, {0x3c00}, {0x3c00}, 0x33000000) == 0x3f800000);                  // 1 + 2^-25: cut off
  CHECK(dot(half, {0x3c00}, {0xbc00}, 0x33000000) == 0xbf7fffff);                  // -1 + 2^-25: cut off towards 0
  CHECK(dot(half, {0x7c00}, {0x0000}, 0) == 0x7fffffff);
  CHECK(dot(half, {0x7c00}, {0xbc00}, 0) == 0xff800000);
  const MatrixForm half_sum{16, 8, 8, MatrixElement::f16, MatrixElement::f16, MatrixElement::f16};
  CHECK(dot(half_sum, {0x3c00, 0x3c00}, {0x6800, 0x3800}, 0) == 0x6800);  // 2048 + 0.5 to the nearest
  CHECK(dot(half_sum, {0x7bff}, {0x4000}, 0) == 0x7c00);
  const MatrixForm bytes{16, 8, 32, MatrixElement::e4m3, MatrixElement::e5m2, MatrixElement::f32};
  CHECK(dot(bytes, {0x7e}, {0x3c}, 0) == 0x43e00000);  // 448 * 1
  CHECK(dot(bytes, {0x7f}, {0x3c}, 0) == 0x7fffffff);
  const MatrixForm saturated{16, 8, 16, MatrixElement::s8, MatrixElement::u8, MatrixElement::s32, true};
  CHECK(dot(saturated, {0x80}, {0xff}, 0x80000001) == 0x80000000);
  CHECK(dot(saturated, {0x7f}, {0xff}, 0x7fffffff) == 0x7fffffff);
  const MatrixForm bits{8, 8, 128, MatrixElement::b1, MatrixElement::b1, MatrixElement::s32, false, '^'};
  CHECK(dot(bits, {1, 1, 0}, {1, 0, 1}, 5) == 7);
}

// What a compiler could do wrong, done to the text it gets. A fault that needs one of many operations, and a negative
// value there, is in one of hundreds of programs.
TEST_CASE("a planted fault is seen and minimised") {
  const std::vector<std::pair<std::string, std::string>> faults = {{"  xor.b32 ", "  or.b32 "},
                                                                   {"  mul.hi.u32 ", "  mul.hi.s32 "},
                                                                   {"addc.u32 ", "add.u32 "},
                                                                   {"shfl.sync.up.", "shfl.sync.down."},
                                                                   {"ld.local.s8 ", "ld.local.u8 "},
                                                                   // The first barrier of an exchange: a race.
                                                                   {"bar.sync 0;\n  add.u32 %t0", "add.u32 %t0"}};
  for (const auto& [from, to] : faults) see_fault(from, to, Instructions::plain);
}

TEST_CASE("a planted fault in a modern instruction is seen and minimised") {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"movmatrix.sync.aligned.m8n8.trans.b16 ", "mov.b32 "},
      {"ldmatrix.sync.aligned.m8n8.x2.trans", "ldmatrix.sync.aligned.m8n8.x2"},
      {"stmatrix.sync.aligned.m8n8.x4.", "stmatrix.sync.aligned.m8n8.x4.trans."},
      {".f32.e4m3.e4m3.f32 ", ".f32.e4m3.e5m2.f32 "},
      {".s32.u4.s4.s32 ", ".s32.s4.s4.s32 "},
      {".xor.popc", ".and.popc"},
      {"wmma.load.b.sync.aligned.col", "wmma.load.b.sync.aligned.row"},
      // Reads of what has not arrived, and races.
      {"cp.async.wait_group 0;", "cp.async.wait_group 3;"},
      {"cp.async.bulk.wait_group 0;", ""},
      {"  fence.proxy.async;\n  bar.sync 0;\n  sub.s32", "  bar.sync 0;\n  sub.s32"},
      {"  cp.async.mbarrier.arrive.noinc.shared.b64 [phase];\n", "  mbarrier.arrive.shared.b64 _, [phase];\n"},
  };
  for (const auto& [from, to] : faults) see_fault(from, to, Instructions::modern);
}
