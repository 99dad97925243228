// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/read_window.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace regatta;
using models::ReadWindow;

namespace {

std::vector<unsigned> reserve(ReadWindow& w, std::vector<unsigned> banks, std::uint64_t first, unsigned cycles = 3) {
  std::array<std::uint8_t, ReadWindow::most_operands> slots{};
  if (!w.reserve(banks.data(), static_cast<unsigned>(banks.size()), first, cycles, slots.data())) return {99};
  return {slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(banks.size())};
}

}  // namespace

TEST_CASE("read window: the listing of MICRO 2025, section 5.3") {
  ReadWindow none(2, 1), one(2, 1), two(2, 1);
  for (ReadWindow* w : {&none, &one, &two}) CHECK(reserve(*w, {0, 0, 0}, 10) == std::vector<unsigned>{0, 1, 2});
  CHECK(reserve(none, {0, 1, 1}, 11) == std::vector<unsigned>{2, 0, 1});
  CHECK(reserve(one, {0, 0, 1}, 11) == std::vector<unsigned>{99});
  CHECK(reserve(one, {0, 0, 1}, 12) == std::vector<unsigned>{1, 2, 0});
  CHECK(reserve(two, {0, 0, 0}, 11) == std::vector<unsigned>{99});
  CHECK(reserve(two, {0, 0, 0}, 12) == std::vector<unsigned>{99});
  CHECK(reserve(two, {0, 0, 0}, 13) == std::vector<unsigned>{0, 1, 2});
}

TEST_CASE("read window: what does not fit reserves nothing") {
  ReadWindow w(2, 1);
  CHECK(reserve(w, {0, 0}, 5) == std::vector<unsigned>{0, 1});
  CHECK(reserve(w, {1, 1, 0, 0}, 5) == std::vector<unsigned>{99});
  CHECK(reserve(w, {1, 1, 1, 0}, 5) == std::vector<unsigned>{0, 1, 2, 2});
}

TEST_CASE("read window: any number of ports") {
  ReadWindow w(2, 0);
  for (unsigned i = 0; i < 20; ++i) CHECK(reserve(w, {0, 0, 0, 0, 0, 0}, 7, 1) == std::vector<unsigned>(6, 0));
}

TEST_CASE("read window: random requests against a search of all assignments") {
  std::mt19937 random(3);
  for (const unsigned ports : {1u, 2u, 3u}) {
    ReadWindow w(4, ports);
    std::map<std::pair<unsigned, std::uint64_t>, unsigned> taken;
    std::uint64_t now = 1000;
    for (unsigned step = 0; step < 20000; ++step) {
      now += random() % 3;
      const std::uint64_t first = now + random() % 3;
      const unsigned cycles = 1 + random() % 4;
      std::vector<unsigned> banks(random() % 7);
      for (unsigned& b : banks) b = random() % 4;
      // Banks are independent, and all operands of a bank have the same window: it is enough to count.
      bool fits = true;
      for (unsigned b = 0; b < 4; ++b) {
        unsigned room = 0;
        for (unsigned c = 0; c < cycles; ++c) room += ports - taken[{b, first + c}];
        fits = fits && static_cast<unsigned>(std::count(banks.begin(), banks.end(), b)) <= room;
      }
      const std::vector<unsigned> slots = reserve(w, banks, first, cycles);
      REQUIRE((slots != std::vector<unsigned>{99}) == fits);
      for (std::size_t i = 0; fits && i < slots.size(); ++i) {
        REQUIRE(slots[i] < cycles);
        REQUIRE(++taken[{banks[i], first + slots[i]}] <= ports);
      }
    }
  }
}
