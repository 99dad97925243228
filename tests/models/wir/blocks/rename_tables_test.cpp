// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include <regatta/test/clock.h>
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

TEST_CASE("rename tables alone: entries of sources are answered, and each valid one is held") {
  RenameBench b;
  block_run_to(1);
  b.write(3, 2, 5);
  b.write(3, 4, 7, true);
  CHECK(b.references.take() == CallLog{"replace none", "replace none"});

  block_run_to(2);
  const RenamedSources s = b.user.get(RenameBench::request(3, {4, 1, 2}, 1));
  CHECK(s.entries[0].reg == physical_at(7));
  CHECK(s.entries[0].pinned);
  CHECK_FALSE(s.entries[1].valid());
  CHECK(s.entries[2].reg == physical_at(5));
  CHECK_FALSE(s.entries[2].pinned);
  CHECK(s.further_cycles == 0);
  CHECK(b.references.take() == CallLog{"hold 7", "hold 5"});

  // In the same cycle, in the order of the calls: the table is as of acceptance.
  b.write(3, 2, 9);
  CHECK(b.references.take() == CallLog{"replace 5"});
  CHECK(b.user.get(RenameBench::request(3, {2})).entries[0].reg == physical_at(9));
  CHECK(b.references.take() == CallLog{"hold 9"});

  // Another warp has a table of its own. Destinations are read, but not held.
  CHECK_FALSE(b.user.get(RenameBench::request(2, {2})).entries[0].valid());
  b.user.get(RenameBench::request(3, {}, 2));
  CHECK(b.references.take().empty());
  CHECK(stat_of(b.tables, "reads") == 4 + 1 + 1 + 2);
  CHECK(stat_of(b.tables, "writes") == 3);
}

TEST_CASE("rename tables alone: registers beyond the ports of a cycle take further cycles") {
  WirMachine two = block_config();
  two.rename_ports = 2;
  RenameTables narrow("narrow", two, test::clock(block_period));
  RenameUser narrow_user("narrow_user");
  narrow_user.lookups.bind(narrow.lookups);
  narrow_user.access.bind(narrow.access);
  narrow_user.keeper.bind(narrow.keeper);
  LoggedReferences ignored("ignored");
  narrow.references.bind(ignored.in);
  RenameBench b;
  narrow.kernel_started(b.launch.context);

  struct Case {
    unsigned destinations, four_ports, two_ports;
  };
  // Three sources each.
  for (const Case& c : {Case{0, 0, 1}, Case{1, 0, 1}, Case{2, 1, 2}, Case{4, 1, 3}, Case{5, 1, 3}, Case{6, 2, 4}}) {
    CAPTURE(c.destinations);
    const RenameRequest request = RenameBench::request(0, {1, 2, 3}, c.destinations);
    CHECK(b.user.get(request).further_cycles == c.four_ports);
    CHECK(narrow_user.get(request).further_cycles == c.two_ports);
  }
  CHECK(stat_of(b.tables, "long_renames") == 4);
  CHECK(stat_of(narrow, "long_renames") == 6);
  CHECK(stat_of(b.tables, "reads") == 6 * 3 + 0 + 1 + 2 + 4 + 5 + 6);
}

TEST_CASE("rename tables alone: a write gives up the earlier register unless it stays") {
  RenameBench b;
  block_run_to(1);
  b.write(0, 1, 10);
  b.write(0, 2, 10);
  b.write(1, 1, 11);
  CHECK(b.references.take() == CallLog{"replace none", "replace none", "replace none"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{10, 10, 11});
  b.write(0, 1, 12);
  CHECK(b.references.take() == CallLog{"replace 10"});
  b.write(0, 1, 12, true, true);
  CHECK(b.references.take().empty());
  CHECK(b.user.access->view().at(warp_at(0), logical_at(1)).pinned);
  CHECK(b.user.access->view().place(warp_at(0), logical_at(1)) == regatta::models::Row(12));
  CHECK_FALSE(b.user.access->view().place(warp_at(0), logical_at(3)).has_value());
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{10, 11, 12});
  CHECK(stat_of(b.tables, "writes") == 5);
  CHECK(stat_of(b.tables, "reads") == 0);
}

TEST_CASE("rename tables alone: a half has one write per cycle") {
  RenameBench b;
  block_run_to(10);
  CHECK(b.user.access->book_write(0) == 10);
  CHECK(b.user.access->book_write(0) == 11);
  CHECK(b.user.access->book_write(0) == 12);
  CHECK(b.user.access->book_write(1) == 10);
  CHECK(b.user.access->book_write(1) == 11);
  block_run_to(12);
  CHECK(b.user.access->book_write(1) == 12);
  CHECK(b.user.access->book_write(0) == 13);
  block_run_to(20);
  CHECK(b.user.access->book_write(0) == 20);
}

TEST_CASE("rename tables alone: a warp that ends gives up its valid entries and no others") {
  RenameBench b;
  block_run_to(1);
  b.write(1, 7, 20);
  b.write(1, 0, 21);
  b.write(1, 3, 20);
  b.write(2, 0, 22);
  b.references.take();
  WarpInfo warp;
  warp.warp = warp_at(1);
  b.tables.warp_finished(warp);
  CHECK(b.references.take() == CallLog{"settle", "release 21", "release 20", "release 20"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{22});
  CHECK_FALSE(b.user.get(RenameBench::request(1, {0})).entries[0].valid());
  b.tables.warp_finished(warp);
  CHECK(b.references.take() == CallLog{"settle"});
}
