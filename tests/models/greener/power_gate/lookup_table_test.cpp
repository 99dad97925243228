// SPDX-License-Identifier: Apache-2.0
//
// The run-time table: hand-made cases, and random ones against a list without a bound.
#include <regatta/greener/lookup_table.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <deque>
#include <random>

using namespace regatta;
using models::LookupTable;
using models::PowerPlan;
using protocol::RegisterId;

namespace {

PowerPlan names(std::initializer_list<unsigned> registers) {
  PowerPlan plan;
  for (const unsigned r : registers) plan.recorded[r / 64] |= std::uint64_t{1} << (r % 64);
  return plan;
}

}  // namespace

TEST_CASE("lookup table: another instance of the same warp that names the register") {
  const std::vector<PowerPlan> plans = {names({1, 200}), names({2})};
  LookupTable table(4, 2);
  table.start(plans);
  CHECK_FALSE(table.finds(0, 1, RegisterId(1), false));
  table.insert(0, 7, 0, 10);
  CHECK(table.finds(0, 6, RegisterId(1), false));
  CHECK(table.finds(0, 6, RegisterId(200), false));
  CHECK_FALSE(table.finds(0, 6, RegisterId(2), false));
  CHECK_FALSE(table.finds(1, 6, RegisterId(1), false));  // another warp's
  CHECK_FALSE(table.finds(0, 7, RegisterId(1), false));  // itself
  CHECK(table.finds(0, 8, RegisterId(1), false));
  CHECK_FALSE(table.finds(0, 8, RegisterId(1), true));  // older
  CHECK(table.finds(0, 6, RegisterId(1), true));
  // The next round of a loop is another instance of the same instruction.
  table.insert(0, 8, 0, 11);
  CHECK(table.finds(0, 7, RegisterId(1), true));
  // Full: the newest is not taken, and its removal is none.
  table.insert(0, 9, 1, 12);
  CHECK(table.overflows() == 1);
  CHECK_FALSE(table.finds(0, 7, RegisterId(2), false));
  table.remove(0, 9, 13);
  CHECK(table.held(0) == 2);
  table.remove(0, 7, 20);
  CHECK(table.held(0) == 1);
  CHECK(table.entry_cycles() == 10);
  table.insert(0, 10, 1, 21);
  CHECK(table.finds(0, 8, RegisterId(2), false));
  table.clear(0);
  CHECK(table.held(0) == 0);
}

TEST_CASE("lookup table: as a list of what is decoded and not written back") {
  std::mt19937 random(5);
  std::vector<PowerPlan> plans;
  for (unsigned i = 0; i < 12; ++i) plans.push_back(names({i, (i * 5) % 12, 100 + i % 3}));
  for (const unsigned entries : {1u, 2u, 3u, 8u}) {
    LookupTable table(1, entries);
    table.start(plans);
    struct Entry {
      std::uint64_t sequence;
      std::uint32_t instruction;
    };
    std::vector<Entry> list;
    std::deque<std::uint64_t> flying;
    std::uint64_t sequence = 0, overflows = 0, found = 0;
    for (unsigned step = 0; step < 20000; ++step) {
      if (random() % 2 == 0) {
        const auto instruction = static_cast<std::uint32_t>(random() % plans.size());
        table.insert(0, ++sequence, instruction, step);
        flying.push_back(sequence);
        if (list.size() < entries) {
          list.push_back({sequence, instruction});
        } else {
          ++overflows;
        }
      } else if (!flying.empty()) {
        // Results come in any order.
        const std::size_t which = random() % flying.size();
        const std::uint64_t done = flying[which];
        flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
        table.remove(0, done, step);
        list.erase(std::remove_if(list.begin(), list.end(), [&](const Entry& e) { return e.sequence == done; }),
                   list.end());
      }
      const std::uint64_t asks = 1 + random() % (sequence + 1);
      const RegisterId reg(static_cast<std::uint8_t>(random() % 2 == 0 ? random() % 12 : 100 + random() % 3));
      const bool younger = random() % 2 == 0;
      const bool expected = std::any_of(list.begin(), list.end(), [&](const Entry& e) {
        const auto& named = plans[e.instruction].recorded;
        const bool counts = younger ? e.sequence > asks : e.sequence != asks;
        return counts && ((named[reg.value() / 64] >> (reg.value() % 64)) & 1) != 0;
      });
      found += expected;
      REQUIRE(table.finds(0, asks, reg, younger) == expected);
      REQUIRE(table.held(0) == list.size());
    }
    CHECK(table.overflows() == overflows);
    CHECK(found > 1000);
  }
}
