// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/calendar.h>
#include <regatta/test/catch.h>

#include <map>
#include <random>
#include <vector>

using regatta::support::Calendar;
using regatta::support::no_cycle;

namespace {

std::vector<int> drained(Calendar<int>& c, std::uint64_t now) {
  std::vector<int> items;
  c.drain(now, [&](int item) { items.push_back(item); });
  return items;
}

}  // namespace

TEST_CASE("calendar: work comes in its cycle, in order of scheduling") {
  Calendar<int> c;
  CHECK(c.next() == no_cycle);
  c.schedule(5, 1);
  c.schedule(3, 2);
  c.schedule(5, 3);
  CHECK(c.next() == 3);
  CHECK(drained(c, 3) == std::vector<int>{2});
  CHECK(c.next() == 5);
  CHECK(drained(c, 4).empty());
  CHECK(drained(c, 5) == std::vector<int>{1, 3});
  CHECK(c.next() == no_cycle);
  CHECK(drained(c, 5).empty());
}

TEST_CASE("calendar: far work waits, and keeps its place among nearer work of the same cycle") {
  Calendar<int> c;
  c.schedule(5000, 1);
  c.schedule(1024, 2);
  c.schedule(5000, 3);
  c.schedule(100, 4);
  CHECK(c.next() == 100);
  CHECK(drained(c, 100) == std::vector<int>{4});
  CHECK(c.next() == 1024);
  CHECK(drained(c, 1024) == std::vector<int>{2});
  CHECK(c.next() == 5000);
  CHECK(drained(c, 4500).empty());
  c.schedule(5000, 5);  // in the ring by now, behind what was far
  CHECK(c.next() == 5000);
  CHECK(drained(c, 5000) == std::vector<int>{1, 3, 5});
  CHECK(c.next() == no_cycle);
}

TEST_CASE("calendar: slots of the ring are used again and again") {
  Calendar<int> c;
  for (std::uint64_t now = 0; now < 10000; now += 1023) {
    c.schedule(now + 1023, static_cast<int>(now));
    REQUIRE(c.next() == now + 1023);
    REQUIRE(drained(c, now + 1023) == std::vector<int>{static_cast<int>(now)});
  }
}

TEST_CASE("calendar: random work against a multimap") {
  std::mt19937_64 random(1);
  Calendar<int> c;
  std::multimap<std::uint64_t, int> expected;  // keeps the order of insertion among equals
  std::uint64_t now = 0;
  int name = 0;
  auto add = [&] {
    const std::uint64_t reach[] = {1, 3, 40, 1022, 1023, 1024, 1025, 3000, 20000};
    const std::uint64_t at = now + 1 + random() % reach[random() % 9];
    c.schedule(at, name);
    expected.emplace(at, name++);
  };
  for (unsigned step = 0; step < 30000; ++step) {
    for (std::uint64_t n = random() % 4; n != 0; --n) add();
    const std::uint64_t next = expected.empty() ? no_cycle : expected.begin()->first;
    REQUIRE(c.next() == next);
    if (next == no_cycle) continue;
    // Either straight to the work, or first to a cycle before it.
    now = random() % 3 == 0 ? now + 1 + random() % (next - now) : next;
    std::vector<int> wanted;
    for (auto i = expected.begin(); i != expected.end() && i->first == now;) {
      wanted.push_back(i->second);
      i = expected.erase(i);
    }
    std::vector<int> found;
    c.drain(now, [&](int item) {
      found.push_back(item);
      if (random() % 2 == 0) add();  // work begets work
    });
    REQUIRE(found == wanted);
  }
}
