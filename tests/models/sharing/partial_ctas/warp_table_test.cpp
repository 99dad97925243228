// SPDX-License-Identifier: Apache-2.0
//
// The table of warps alone: which rows a warp gets, when they are free again, and how many are left.
#include <regatta/baseline/window_mapping.h>
#include <regatta/sharing/warp_table.h>

#include <random>
#include <set>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::RowRelease;
using models::WarpTable;

namespace {

/// Windows of 10 rows; CTAs of 3 warps.
struct TableBench {
  explicit TableBench(std::uint32_t rows, unsigned slices = 1, RowRelease release = RowRelease::warp)
      : launch(8, 3, 10), table("table", slices, release, test::clock(period)) {
    static_cast<models::WindowPolicy&>(table).kernel_started(rows, 10);
    static_cast<protocol::LifecycleListener&>(table).kernel_started(launch.context);
    mapping.start(rows, 10);
  }
  std::uint32_t start(unsigned warp) {
    const models::RegisterWindow window = table.assign(warp_at(warp));
    REQUIRE(mapping.map(warp_at(warp), window).empty());
    return window.base;
  }
  void end(unsigned warp) {
    mapping.unmap(warp_at(warp));
    table.release(warp_at(warp));
  }

  Launch launch;
  WarpTable table;
  models::WindowMapping mapping;
};

}  // namespace

TEST_CASE("warp table alone: a warp takes the lowest free window, whichever slot it has") {
  TableBench b(35);
  CHECK(b.table.free_windows(0) == 3);
  CHECK(b.start(7) == 0);
  CHECK(b.start(2) == 10);
  CHECK(b.start(20) == 20);
  CHECK(b.table.free_windows(0) == 0);
  b.end(2);
  CHECK(b.table.free_windows(0) == 1);
  CHECK(b.start(5) == 10);
  CHECK(stat_of(b.table, "assigned") == 4);
  CHECK(stat_of(b.table, "released") == 1);
  CHECK(stat_of(b.table, "rows_max") == 30);
}

TEST_CASE("warp table alone: a warp without a free window is an error") {
  TableBench b(40, 2);
  b.start(0);
  b.start(2);
  CHECK(b.table.free_windows(0) == 0);
  CHECK(b.table.free_windows(1) == 2);
  CHECK(error_of([&] { b.table.assign(warp_at(4)); }) ==
        "table in cycle 0: warp 4 starts, and all 2 windows of slice 0 are taken; expected a free one");
}

TEST_CASE("warp table alone: windows of a slice") {
  TableBench b(50, 2);  // 25 rows in a slice: two windows
  CHECK(b.table.slice_of(warp_at(5)) == 1);
  CHECK(b.start(5) == 25);
  CHECK(b.start(1) == 35);
  CHECK(b.start(4) == 0);
  CHECK(b.table.first_window(warp_at(3))->base == 35);
  CHECK_FALSE(b.table.first_window(warp_at(4)).has_value());
}

TEST_CASE("warp table alone: rows that are kept until the CTA ends") {
  TableBench b(60, 1, RowRelease::cta);
  for (unsigned w = 0; w < 6; ++w) b.start(w);
  for (unsigned w = 0; w < 3; ++w) b.end(w);
  CHECK(b.table.free_windows(0) == 0);
  b.table.cta_finished(b.launch.cta(0));
  CHECK(b.table.free_windows(0) == 3);
  CHECK(b.start(9) == 0);
}

TEST_CASE("warp table alone: rows in use, times cycles") {
  TableBench b(60);
  run_to(0);
  b.start(0);
  run_to(10);
  b.start(1);
  run_to(15);
  b.end(0);
  run_to(20);
  CHECK(b.table.row_cycles() == 10 * 10 + 5 * 20 + 5 * 10);
}

TEST_CASE("warp table alone: whatever starts and ends, no row belongs to two warps") {
  std::mt19937 dice(7);
  TableBench b(95, 3);
  std::set<unsigned> running;
  for (unsigned n = 0; n < 4000; ++n) {
    const unsigned warp = dice() % 24, slice = warp % 3;
    const auto in_slice = [&] {
      unsigned count = 0;
      for (const unsigned w : running) count += w % 3 == slice ? 1 : 0;
      return count;
    };
    if (running.erase(warp) == 1) {
      b.end(warp);
    } else if (b.table.free_windows(slice) != 0) {
      b.start(warp);
      running.insert(warp);
    }
    REQUIRE(b.table.free_windows(slice) == 3 - in_slice());
  }
}

TEST_CASE("warp table alone: bits of the tables") {
  // 48 warps of a file of 1,024 rows in units of 2: 9 bits of a row, 2 flags; 48 windows; a CTA of 8, if there is one.
  CHECK(models::warp_table_bits(8, 48, 1024, 2) == 48 * 11 + 48 + 1 + 3);
}
