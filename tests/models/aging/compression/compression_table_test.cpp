// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/compression_entries.h>
#include <regatta/test/catch.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace regatta::models::aging;

TEST_CASE("compression table: the refresh period of the paper, and entries that are kept for ever with it") {
  CompressionEntries table(256, 119048, 0);
  CHECK(table.refresh_period() == 465);
  CHECK(table.refreshes(465 * 3) == 3);
  CHECK(table.refreshes(465 * 3 - 1) == 2);
  table.write(9, DeltaCode{5, 1, 2}, 100);
  REQUIRE(table.find(9, 50'000'000) != nullptr);
  CHECK(*table.find(9, 50'000'000) == DeltaCode{5, 1, 2});
  CHECK(table.find(8, 100) == nullptr);
  table.clear(9, 200);
  CHECK(table.find(9, 200) == nullptr);
}

TEST_CASE("compression table: a refresh takes the write port for a cycle, and writes take one each") {
  CompressionEntries table(4, 400, 100);
  CHECK(table.write(0, {}, 99) == 99);
  CHECK(table.write(1, {}, 100) == 101);  // behind the refresh of cycle 100
  CHECK(table.refresh_conflicts() == 1);
  CHECK(table.clear(2, 101) == 102);  // behind the write
  CHECK(table.write(3, {}, 199) == 199);
  CHECK(table.write(3, {}, 199) == 201);  // 200 is a refresh
  CHECK(table.refresh_conflicts() == 2);
}

TEST_CASE("compression table: an entry that is not refreshed in time is lost, cycle by cycle") {
  // Against the cells' charge, kept cycle by cycle.
  constexpr std::uint32_t entries = 5;
  std::mt19937 random(3);
  for (const std::uint64_t period : {3u, 7u, 10u, 16u}) {
    for (const std::uint64_t retention : {30u, 40u, 60u}) {
      CompressionEntries table(entries, retention, period);
      std::vector<std::uint64_t> charged(entries, 0);
      std::vector<bool> valid(entries, false);
      unsigned lost = 0;
      for (std::uint64_t now = 1; now < 4000; ++now) {
        if (now % period == 0) {
          const auto e = static_cast<std::uint32_t>(now / period % entries);
          if (now - charged[e] <= retention) charged[e] = now;
        } else if (random() % 40 == 0) {
          const auto e = static_cast<std::uint32_t>(random() % entries);
          CHECK(table.write(e, DeltaCode{static_cast<std::uint32_t>(now), 1, 1}, now) == now);
          charged[e] = now;
          valid[e] = true;
        }
        for (std::uint32_t e = 0; e < entries; ++e) {
          const bool kept = valid[e] && now - charged[e] <= retention;
          lost += valid[e] && !kept ? 1 : 0;
          CHECK((table.find(e, now) != nullptr) == kept);
        }
      }
      CHECK((lost != 0) == (period * entries > retention));
    }
  }
}
