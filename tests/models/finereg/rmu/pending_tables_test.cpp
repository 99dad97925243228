// SPDX-License-Identifier: Apache-2.0
//
// The free space monitor and the pointer table by themselves, driven over their ports.
#include <regatta/finereg/pending_tables.h>

#include <random>
#include <set>

#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::ChainPointers;
using models::FreeEntries;
using models::FreeSpaceMonitor;
using models::PointerTable;

namespace {

struct TablesUser : sc_core::sc_module {
  sc_core::sc_port<FreeEntries> entries;
  sc_core::sc_port<ChainPointers> pointers;
  explicit TablesUser(const sc_core::sc_module_name& name)
      : sc_module(name), entries("entries"), pointers("pointers") {}
};

struct TablesBench {
  explicit TablesBench(unsigned entries, unsigned ctas = 4) : monitor("monitor", entries), table("table", ctas) {
    user.entries.bind(monitor.access);
    user.pointers.bind(table.access);
    run_to(0);
  }
  FreeSpaceMonitor monitor;
  PointerTable table;
  TablesUser user{"user"};
};

}  // namespace

TEST_CASE("free space monitor alone: the lowest free entry is taken") {
  TablesBench b(3);
  CHECK(b.user.entries->free() == 3);
  CHECK(b.user.entries->take().value() == 0);
  CHECK(b.user.entries->take().value() == 1);
  b.user.entries->give_back(0);
  CHECK(b.user.entries->free() == 2);
  CHECK_FALSE(b.user.entries->taken(0));
  CHECK(b.user.entries->taken(1));
  CHECK(b.user.entries->take().value() == 0);
  CHECK(b.user.entries->take().value() == 2);
  CHECK_FALSE(b.user.entries->take().has_value());
  CHECK(b.user.entries->free() == 0);
  CHECK(stat_of(b.monitor, "updates") == 5);
  CHECK(stat_of(b.monitor, "taken_max") == 3);
}

TEST_CASE("free space monitor alone: only what is taken is given back") {
  TablesBench b(3);
  b.user.entries->take();
  const std::string expected = " is given back, expected one that is taken";
  CHECK(error_of([&] { b.user.entries->give_back(1); }) == "monitor: entry 1" + expected);
  CHECK(error_of([&] { b.user.entries->give_back(3); }) == "monitor: entry 3" + expected);
  b.user.entries->give_back(0);
  CHECK(error_of([&] { b.user.entries->give_back(0); }) == "monitor: entry 0" + expected);
}

TEST_CASE("free space monitor alone: a launch may have a part of the entries") {
  TablesBench b(4);
  b.user.entries->take();
  b.user.entries->limit(2);
  CHECK(b.user.entries->free() == 2);
  CHECK(b.user.entries->take().value() == 0);
  CHECK(b.user.entries->take().value() == 1);
  CHECK_FALSE(b.user.entries->take().has_value());
  CHECK(error_of([&] { b.user.entries->give_back(2); }) ==
        "monitor: entry 2 is given back, expected one that is taken");
  b.user.entries->limit(4);
  CHECK(b.user.entries->free() == 4);
}

TEST_CASE("free space monitor alone: against a set, at random") {
  TablesBench b(100);
  std::mt19937 random(11);
  std::set<unsigned> taken;
  for (unsigned n = 0; n < 20000; ++n) {
    if (random() % 100 < (n / 1000 % 2 == 0 ? 60u : 40u)) {
      unsigned lowest = 0;
      while (taken.count(lowest) != 0) ++lowest;
      const auto entry = b.user.entries->take();
      REQUIRE(entry.has_value() == (lowest < 100));
      if (!entry) continue;
      REQUIRE(*entry == lowest);
      taken.insert(*entry);
    } else if (!taken.empty()) {
      auto one = taken.begin();
      std::advance(one, random() % taken.size());
      b.user.entries->give_back(*one);
      taken.erase(one);
    }
    REQUIRE(b.user.entries->free() == 100 - taken.size());
  }
}

TEST_CASE("pointer table alone: an entry for each CTA slot, at first without registers") {
  TablesBench b(3, 128);
  CHECK(b.user.pointers->get(cta_at(127)).count == 0);
  b.user.pointers->set(cta_at(127), models::PendingChain{1000, 1024});
  b.user.pointers->set(cta_at(0), models::PendingChain{5, 1});
  CHECK(b.user.pointers->get(cta_at(127)).first == 1000);
  CHECK(b.user.pointers->get(cta_at(127)).count == 1024);  // 11 bits: more than the paper's 6 hold
  CHECK(b.user.pointers->get(cta_at(0)).first == 5);
  CHECK(b.user.pointers->get(cta_at(1)).count == 0);
  CHECK(stat_of(b.table, "accesses") == 7);
}
