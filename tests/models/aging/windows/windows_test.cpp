// SPDX-License-Identifier: Apache-2.0
//
// Which rows a warp gets: no row has two owners, whatever comes and goes, and the rows are those the papers say.
#include <regatta/aging/rotating_windows.h>
#include <regatta/aging/round_robin_windows.h>
#include <regatta/baseline/fixed_windows.h>
#include <regatta/test/catch.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

using namespace regatta;
using models::FixedWindows;
using models::RegisterWindow;
using models::RotatingWindows;
using models::RoundRobinWindows;
using models::Row;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

WarpSlot slot(unsigned w) { return WarpSlot(static_cast<std::uint16_t>(w)); }
std::uint32_t row(const RegisterWindow& w, unsigned r) {
  return w.row(RegisterId(static_cast<std::uint8_t>(r))).value();
}

/// Warps of `slots` slots come and go; every row of every window lies in the file and has one owner.
void no_overlap(models::WindowPolicy& policy, std::uint32_t rows, unsigned registers, unsigned slots,
                std::uint32_t seed) {
  std::mt19937 random(seed);
  policy.kernel_started(rows, registers);
  std::vector<std::optional<std::uint32_t>> owner(rows);
  std::map<unsigned, RegisterWindow> resident;
  for (unsigned step = 0; step < 2000; ++step) {
    const auto w = static_cast<unsigned>(random() % slots);
    const auto there = resident.find(w);
    if (there != resident.end()) {
      for (unsigned r = 0; r < registers; ++r) owner[row(there->second, r)].reset();
      policy.release(slot(w));
      resident.erase(there);
      continue;
    }
    const RegisterWindow window = policy.assign(slot(w));
    std::set<std::uint32_t> own;
    for (unsigned r = 0; r < registers; ++r) {
      REQUIRE(row(window, r) < rows);
      REQUIRE(own.insert(row(window, r)).second);
      REQUIRE_FALSE(owner[row(window, r)].has_value());
      owner[row(window, r)] = w;
    }
    resident.emplace(w, window);
  }
}

}  // namespace

TEST_CASE("register windows never overlap") {
  for (const unsigned registers : {1u, 4u, 13u, 20u, 64u, 256u}) {
    for (const unsigned slices : {1u, 4u}) {
      const std::uint32_t rows = 1024;
      const unsigned slots = std::min(64u, rows / slices / registers * slices);
      INFO(registers << " registers, " << slices << " slices");
      FixedWindows fixed(slices);
      no_overlap(fixed, rows, registers, slots, registers);
      RotatingWindows rotating(slices);
      no_overlap(rotating, rows, registers, slots, registers + 1);
      RoundRobinWindows round_robin(slices);
      no_overlap(round_robin, rows, registers, slots, registers + 2);
      // The same object for a kernel with other registers.
      no_overlap(rotating, rows, 8, 64, 7);
      no_overlap(round_robin, rows, 8, 64, 8);
    }
  }
}

TEST_CASE("a warp's window lies in its slice") {
  FixedWindows fixed(4);
  fixed.kernel_started(1024, 20);
  RotatingWindows rotating(4);
  rotating.kernel_started(1024, 20);
  RoundRobinWindows round_robin(4);
  round_robin.kernel_started(1024, 20);
  for (unsigned w = 0; w < 48; ++w) {
    for (models::WindowPolicy* policy :
         {static_cast<models::WindowPolicy*>(&fixed), static_cast<models::WindowPolicy*>(&rotating),
          static_cast<models::WindowPolicy*>(&round_robin)}) {
      const RegisterWindow window = policy->assign(slot(w));
      for (unsigned r = 0; r < 20; ++r) CHECK(row(window, r) / 256 == w % 4);
    }
  }
  CHECK(row(fixed.assign(slot(6)), 3) == 2 * 256 + 20 + 3);
}

TEST_CASE("rotation: the paper's example, and the modulo of its equation") {
  RotatingWindows windows;
  windows.kernel_started(256, 10);
  // The sixth window begins at row 50: logical register 9 is row 59, after a reassignment row 50.
  RegisterWindow w = windows.assign(slot(5));
  CHECK(row(w, 9) == 59);
  windows.release(slot(5));
  w = windows.assign(slot(5));
  CHECK(row(w, 9) == 50);
  CHECK(row(w, 0) == 51);
  for (unsigned s = 2; s < 40; ++s) {
    w = windows.assign(slot(5));
    for (unsigned r = 0; r < 10; ++r) CHECK(row(w, r) == 50 + (s + r) % 10);
  }
  // Another window's rotation is its own.
  CHECK(row(windows.assign(slot(4)), 9) == 49);
  // A window of one row cannot rotate.
  windows.kernel_started(256, 1);
  CHECK(row(windows.assign(slot(7)), 0) == 7);
  CHECK(row(windows.assign(slot(7)), 0) == 7);
}

TEST_CASE("round robin: every window in turn, occupied ones are passed over") {
  RoundRobinWindows windows(2);
  windows.kernel_started(64, 10);  // two slices of 32 rows: 3 windows each, 2 rows left over
  CHECK(windows.windows_per_slice() == 3);
  CHECK(row(windows.assign(slot(0)), 0) == 0);
  CHECK(row(windows.assign(slot(1)), 0) == 32);
  CHECK(row(windows.assign(slot(2)), 9) == 19);
  windows.release(slot(0));
  CHECK(row(windows.assign(slot(4)), 0) == 20);  // the third before the first again
  windows.release(slot(4));
  CHECK(row(windows.assign(slot(0)), 0) == 0);
  windows.release(slot(0));
  CHECK(row(windows.assign(slot(0)), 0) == 20);  // warp 2 has the second
  // With one warp at a time all windows get their share.
  windows.kernel_started(64, 10);
  std::map<std::uint32_t, unsigned> turns;
  for (unsigned n = 0; n < 30; ++n) {
    ++turns[row(windows.assign(slot(1)), 0)];
    windows.release(slot(1));
  }
  CHECK(turns == std::map<std::uint32_t, unsigned>{{32, 10}, {42, 10}, {52, 10}});
}

TEST_CASE("round robin: the pointer goes on from kernel to kernel, and over others with other windows") {
  RoundRobinWindows windows(2);
  windows.kernel_started(64, 4);  // 8 windows a slice
  for (unsigned n = 0; n < 3; ++n) {
    CHECK(row(windows.assign(slot(0)), 0) == n * 4);
    windows.release(slot(0));
  }
  CHECK(row(windows.assign(slot(1)), 0) == 32);  // a slice of its own
  windows.release(slot(1));
  windows.kernel_started(64, 4);
  CHECK(row(windows.assign(slot(0)), 0) == 3 * 4);
  windows.release(slot(0));
  CHECK(row(windows.assign(slot(1)), 0) == 32 + 4);
  windows.release(slot(1));
  windows.kernel_started(64, 6);  // 5 windows: the fourth place is there
  CHECK(row(windows.assign(slot(0)), 0) == 4 * 6);
  windows.release(slot(0));
  windows.kernel_started(64, 16);  // 2 windows
  CHECK(row(windows.assign(slot(0)), 0) == 0);
  windows.release(slot(0));
  windows.kernel_started(64, 4);
  CHECK(row(windows.assign(slot(0)), 0) == 4);
}

TEST_CASE("rotation: every launch begins at the first row") {
  RotatingWindows windows;
  windows.kernel_started(64, 8);
  for (unsigned n = 0; n < 3; ++n) CHECK(row(windows.assign(slot(2)), 0) == 16 + n);
  windows.kernel_started(64, 8);
  CHECK(row(windows.assign(slot(2)), 0) == 16);
  CHECK(row(windows.assign(slot(2)), 7) == 16);  // rotated by one
}

TEST_CASE("register windows: the first ones are those that warps get when all slots are taken in turn") {
  for (const unsigned registers : {4u, 13u, 20u}) {
    FixedWindows fixed(4);
    RotatingWindows rotating(4);
    RoundRobinWindows round_robin(4);
    for (models::WindowPolicy* policy :
         {static_cast<models::WindowPolicy*>(&fixed), static_cast<models::WindowPolicy*>(&rotating),
          static_cast<models::WindowPolicy*>(&round_robin)}) {
      CAPTURE(policy->name(), registers);
      for (unsigned launch = 0; launch < 3; ++launch) {  // the round-robin pointer stands elsewhere each time
        policy->kernel_started(1024, registers);
        const unsigned slots = 256 / registers * 4;
        CHECK(policy->first_window(slot(slots - 1)).has_value());
        CHECK_FALSE(policy->first_window(slot(slots)).has_value());
        std::vector<RegisterWindow> said;
        for (unsigned w = 0; w < 18; ++w) said.push_back(*policy->first_window(slot(w)));
        for (unsigned w = 0; w < 18; ++w) {
          const RegisterWindow got = policy->assign(slot(w));
          CHECK(row(got, 0) == row(said[w], 0));
          CHECK(row(got, registers - 1) == row(said[w], registers - 1));
        }
        for (unsigned w = 0; w < 18; ++w) policy->release(slot(w));
      }
    }
  }
}

TEST_CASE("register windows refuse a warp for which there are no rows") {
  FixedWindows fixed;
  fixed.kernel_started(64, 10);
  CHECK_THROWS_AS(fixed.assign(slot(6)), std::logic_error);
  RotatingWindows rotating;
  rotating.kernel_started(64, 10);
  CHECK_THROWS_AS(rotating.assign(slot(6)), std::logic_error);
  RoundRobinWindows round_robin;
  round_robin.kernel_started(64, 32);
  round_robin.assign(slot(0));
  round_robin.assign(slot(1));
  CHECK_THROWS_AS(round_robin.assign(slot(2)), std::logic_error);
}
