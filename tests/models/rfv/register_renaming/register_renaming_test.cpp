// SPDX-License-Identifier: Apache-2.0
//
// The parts of register renaming alone: which row a register gets, which words the flag cache keeps, and that the
// throttle lets some CTA go on whatever warps ask for.
#include <regatta/rfv/release_flag_cache.h>
#include <regatta/rfv/rename_table.h>
#include <regatta/rfv/row_availability.h>
#include <regatta/rfv/row_throttle.h>

#include <random>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::RenamingConfig;
using models::RenamingPlan;
using models::RowThrottle;
using protocol::RegisterId;

namespace {

RegisterId reg_at(unsigned n) { return RegisterId(static_cast<std::uint8_t>(n)); }

/// Four banks of eight rows, sub-arrays of four.
RenamingConfig config_of_rows(unsigned rows, const char* mapping = "warp_interleaved", unsigned sub_cores = 1) {
  RenamingConfig c;
  c.file.banks = 4;
  c.file.registers = rows;
  c.file.mapping = mapping;
  c.file.sub_cores = sub_cores;
  c.subarray_rows = 4;
  return c;
}

/// Warps of a CTA that take rows one by one up to `most`, and end after they had them all.
struct Warps {
  Warps(unsigned ctas, unsigned warps, unsigned most, unsigned parts, unsigned rows) : most_(most), warps_(warps) {
    plan.parts = parts;
    plan.rows = rows;
    plan.warps_per_cta = warps;
    plan.resident_ctas = ctas;
    plan.cta_rows = most * ((warps + parts - 1) / parts);
    has.resize(ctas * warps);
  }
  /// Runs until every warp has had `most` rows, with a barrier at which each waits for its CTA; false: nobody can go
  /// on.
  bool run(std::mt19937& random, unsigned ctas, unsigned c) {
    throttle.begin(plan, c);
    for (unsigned i = 0; i < plan.resident_ctas; ++i) throttle.launched(cta_at(i));
    unsigned left = ctas;
    std::vector<unsigned> ended(plan.resident_ctas);
    while (left != 0) {
      std::vector<unsigned> able;
      for (unsigned w = 0; w < has.size(); ++w) {
        if (ended[w / warps_] == 0 && has[w] < most_ &&
            throttle.may_take(cta_at(w / warps_), plan.part_of(warp_at(w)), 1)) {
          able.push_back(w);
        }
      }
      if (able.empty()) return false;
      const unsigned w = able[random() % able.size()];
      throttle.took(cta_at(w / warps_), plan.part_of(warp_at(w)));
      ++has[w];
      const unsigned cta = w / warps_;
      bool all = true;
      for (unsigned i = 0; i < warps_; ++i) all = all && has[cta * warps_ + i] == most_;
      if (!all) continue;
      for (unsigned i = 0; i < warps_; ++i) {
        for (; has[cta * warps_ + i] != 0; --has[cta * warps_ + i]) {
          throttle.gave_back(cta_at(cta), plan.part_of(warp_at(cta * warps_ + i)));
        }
      }
      ended[cta] = --left < plan.resident_ctas ? 1 : 0;
      if (ended[cta] != 0) throttle.finished(cta_at(cta));
    }
    return true;
  }

  RenamingPlan plan;
  RowThrottle throttle;
  std::vector<unsigned> has;

 private:
  unsigned most_, warps_;
};

}  // namespace

TEST_CASE("row availability alone: the lowest row of the register's bank, then of the emptiest bank") {
  models::RowAvailability a("availability", config_of_rows(32), test::clock(period));
  run_to(1);
  a.begin(32);
  // Bank of warp w and register r: (w + r) mod 4. Row i of bank b is 4 i + b.
  CHECK(a.take(warp_at(0), reg_at(1)) == 1);
  CHECK(a.take(warp_at(1), reg_at(4)) == 5);
  CHECK(a.take(warp_at(2), reg_at(0)) == 2);
  a.give_back(1);
  CHECK(a.take(warp_at(0), reg_at(1)) == 1);
  for (unsigned i = 2; i < 8; ++i) CHECK(a.take(warp_at(0), reg_at(1)) == 4 * i + 1);
  CHECK(a.free_rows(1) == 0);
  // Banks 0 and 3 have eight free rows, bank 2 seven.
  CHECK(a.take(warp_at(0), reg_at(1)) == 0);
  CHECK(a.take(warp_at(0), reg_at(1)) == 3);
  CHECK(stat_of(a, "other_bank") == 2);
  CHECK(stat_of(a, "taken") == 12);
}

TEST_CASE("row availability alone: sub-arrays without a live row are off") {
  models::RowAvailability a("availability", config_of_rows(32), test::clock(period));
  run_to(1);
  a.begin(32);
  std::vector<std::uint32_t> rows;
  for (unsigned i = 0; i < 5; ++i) rows.push_back(a.take(warp_at(0), reg_at(0)));
  CHECK(a.powered_rows() == 8);
  run_to(11);
  CHECK(stat_of(a, "powered_cycles") == 80);
  CHECK(stat_of(a, "live_cycles") == 50);
  a.give_back(rows[4]);
  CHECK(a.powered_rows() == 4);
  const std::uint32_t reserved = a.reserve(warp_at(0), reg_at(1));
  CHECK(a.powered_rows() == 4);
  a.occupy(reserved, true);
  CHECK(a.powered_rows() == 8);
  a.occupy(reserved, false);
  for (unsigned i = 0; i < 4; ++i) a.give_back(rows[i]);
  CHECK(a.powered_rows() == 0);
  CHECK(a.live_rows() == 0);
}

TEST_CASE("row availability alone: a warp's rows lie in its part, and a part without a row is an error") {
  models::RowAvailability a("availability", config_of_rows(8, "sub_core", 2), test::clock(period));
  run_to(1);
  a.begin(32);
  for (unsigned i = 0; i < 4; ++i) CHECK(a.take(warp_at(1), reg_at(i)) % 4 >= 2);
  const std::string text = error_of([&] { a.take(warp_at(1), reg_at(5)); });
  CHECK(text.find("warp 1 takes a row for R5, and none of its part is free") != std::string::npos);
  CHECK(a.take(warp_at(0), reg_at(0)) % 4 < 2);
}

TEST_CASE("release flag cache alone: the word that was not used for longest leaves") {
  models::ReleaseFlagCache cache("cache", 2);
  cache.begin(5);
  CHECK_FALSE(cache.find(1));
  cache.fill(1);
  cache.fill(2);
  CHECK(cache.find(1));
  cache.fill(3);
  CHECK_FALSE(cache.find(2));
  CHECK(cache.find(1));
  CHECK(cache.find(3));
  cache.begin(5);
  CHECK_FALSE(cache.find(3));
  CHECK(stat_of(cache, "hits") == 3);
  CHECK(stat_of(cache, "lookups") == 6);
}

TEST_CASE("release flag cache alone: one without entries holds nothing") {
  models::ReleaseFlagCache cache("cache", 0);
  cache.begin(2);
  cache.fill(1);
  CHECK_FALSE(cache.find(1));
}

TEST_CASE("rename table alone: rows of registers, and bits") {
  models::RenameTable table("table", config_of_rows(32));
  RenamingPlan plan;
  plan.registers = 10;
  plan.section.exempt = 1;
  table.begin(plan, 4);
  CHECK(table.row(warp_at(3), reg_at(9)) == models::RowLookup::none);
  table.enter(warp_at(3), 9, 17);
  CHECK(table.row(warp_at(3), reg_at(9)) == 17);
  CHECK(table.row(warp_at(2), reg_at(9)) == models::RowLookup::none);
  table.enter(warp_at(3), 0, 1);
  CHECK(table.remove(warp_at(3), 9) == 17);
  CHECK(table.row(warp_at(3), reg_at(9)) == models::RowLookup::none);
  CHECK(table.row(warp_at(3), reg_at(255)) == models::RowLookup::none);
  CHECK(stat_of(table, "entered") == 1);
  // 64 warps, 10 registers, 5 bits of 32 rows and a flag.
  CHECK(stat_of(table, "bits") == 64 * 10 * 6);
}

TEST_CASE("row throttle alone: whatever warps ask for, some CTA has all it needs") {
  std::mt19937 random(1);
  for (unsigned n = 0; n < 300; ++n) {
    const unsigned parts = 1 + random() % 4, warps = 1 + random() % 6, most = 1 + random() % 9, ctas = 1 + random() % 5;
    const unsigned c = most * ((warps + parts - 1) / parts);
    Warps w(ctas, warps, most, parts, c + random() % (2 * c));
    CAPTURE(n, parts, warps, most, ctas, w.plan.rows);
    CHECK(w.run(random, ctas + random() % 12, c));
  }
}

TEST_CASE("row throttle alone: with one row too little of C it comes to a deadlock") {
  std::mt19937 random(1);
  unsigned stuck = 0;
  for (unsigned n = 0; n < 50; ++n) {
    Warps w(4, 4, 6, 1, 24);
    stuck += w.run(random, 12, 23) ? 0 : 1;
  }
  CHECK(stuck > 0);
}

TEST_CASE("renaming plan alone: warps of a CTA in a part, whichever slot it has") {
  RenamingPlan plan;
  plan.parts = 4;
  plan.warps_per_cta = 6;
  for (unsigned cta = 0; cta < 8; ++cta) {
    for (unsigned part = 0; part < 4; ++part) {
      unsigned count = 0;
      for (unsigned i = 0; i < 6; ++i) count += plan.part_of(warp_at(cta * 6 + i)) == part ? 1 : 0;
      CAPTURE(cta, part);
      CHECK(plan.warps_in(part, cta_at(cta)) == count);
    }
  }
}
