// SPDX-License-Identifier: Apache-2.0
//
// Where a warp's registers lie: windows that are mapped, moved and shared, and what is refused.
#include <regatta/baseline/fixed_windows.h>
#include <regatta/baseline/window_mapping.h>
#include <regatta/test/catch.h>

#include <map>
#include <random>
#include <set>

using namespace regatta;
using models::RegisterWindow;
using models::Row;
using models::WindowMapping;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

WarpSlot warp(unsigned slot) { return WarpSlot(static_cast<std::uint16_t>(slot)); }
RegisterId reg(unsigned r) { return RegisterId(static_cast<std::uint8_t>(r)); }
/// Registers below `split` from row `base` on, the others from row `rest` on.
RegisterWindow window(std::uint32_t base, unsigned split, std::uint32_t rest) {
  return RegisterWindow{base, rest - split, static_cast<std::uint16_t>(split)};
}
RegisterWindow whole(std::uint32_t base) { return RegisterWindow{base, base, 256}; }
std::optional<std::uint32_t> row(const WindowMapping& m, unsigned slot, unsigned r) {
  const std::optional<Row> place = m.place(warp(slot), reg(r));
  const std::uint32_t raw = m.row(warp(slot), reg(r));
  CHECK((place ? place->value() : WindowMapping::no_row) == raw);
  return place ? std::make_optional(place->value()) : std::nullopt;
}

}  // namespace

TEST_CASE("mapping: a register has a row while its warp has a window") {
  WindowMapping m;
  m.start(64, 8);
  CHECK_FALSE(row(m, 3, 0));
  CHECK(m.map(warp(3), whole(16)).empty());
  CHECK(row(m, 3, 0) == 16u);
  CHECK(row(m, 3, 7) == 23u);
  CHECK_FALSE(row(m, 3, 8));    // outside its window
  CHECK_FALSE(row(m, 2, 0));    // in a slot that has none
  CHECK_FALSE(row(m, 900, 0));  // in a slot nobody ever had
  m.unmap(warp(3));
  CHECK_FALSE(m.mapped(warp(3)));
  for (unsigned r = 0; r < 256; ++r) CHECK_FALSE(row(m, 3, r));
  m.start(64, 8);
  CHECK_FALSE(row(m, 3, 0));
}

TEST_CASE("mapping: a window in two parts, moved while its warp is resident") {
  WindowMapping m;
  m.start(64, 8);
  CHECK(m.map(warp(0), window(60, 4, 0)).empty());
  CHECK(row(m, 0, 3) == 63u);
  CHECK(row(m, 0, 4) == 0u);
  // Onto rows that are partly its own.
  CHECK(m.rebase(warp(0), whole(2)).empty());
  CHECK(row(m, 0, 0) == 2u);
  CHECK(row(m, 0, 7) == 9u);
  // What it left is free.
  CHECK(m.map(warp(1), window(60, 4, 10)).empty());
  CHECK(m.map(warp(2), whole(14)).empty());
}

TEST_CASE("mapping: what is refused, and that nothing changes then") {
  WindowMapping m;
  m.start(64, 8);
  REQUIRE(m.map(warp(0), whole(0)).empty());
  CHECK(m.map(warp(0), whole(8)) == "warp 0 has a window already");
  CHECK(m.map(warp(1), whole(7)) == "the window of warp 1 has row 7 for R0, which is warp 0's");
  CHECK(m.map(warp(1), window(8, 4, 3)) == "the window of warp 1 has row 3 for R4, which is warp 0's");
  CHECK(m.map(warp(1), whole(57)) == "the window of warp 1 has row 64 for R7, which the file has not");
  CHECK_FALSE(m.mapped(warp(1)));
  CHECK(m.rebase(warp(1), whole(8)) == "warp 1 has no window to move");
  REQUIRE(m.map(warp(1), whole(8)).empty());
  CHECK(m.rebase(warp(1), whole(4)) == "the window of warp 1 has row 4 for R0, which is warp 0's");
  CHECK(row(m, 1, 0) == 8u);
}

TEST_CASE("mapping: two warps name one row when that was declared, a third does not") {
  WindowMapping m;
  m.start(64, 8);
  m.alias(warp(5), warp(2));
  m.alias(warp(5), warp(9));
  m.alias(warp(9), warp(2));
  REQUIRE(m.map(warp(2), window(0, 4, 32)).empty());
  REQUIRE(m.map(warp(5), window(8, 4, 32)).empty());
  CHECK(row(m, 2, 4) == 32u);
  CHECK(row(m, 5, 4) == 32u);
  CHECK(m.map(warp(9), window(16, 4, 32)) ==
        "the window of warp 9 has row 32 for R4, which is shared by warps 2 and 5 already");
  CHECK(m.map(warp(7), window(16, 4, 34)) == "the window of warp 7 has row 34 for R4, which is warp 2's");
  // The one that stays keeps the rows.
  m.unmap(warp(2));
  CHECK(m.map(warp(7), window(16, 4, 32)) == "the window of warp 7 has row 32 for R4, which is warp 5's");
  CHECK(m.map(warp(9), window(16, 4, 32)).empty());
  // A declaration holds for one launch.
  m.start(64, 8);
  REQUIRE(m.map(warp(2), whole(0)).empty());
  CHECK(m.map(warp(5), whole(0)) == "the window of warp 5 has row 0 for R0, which is warp 2's");
}

TEST_CASE("mapping: the conventional windows are warp slot times registers") {
  WindowMapping m;
  m.start(2048, 32);
  models::FixedWindows windows;
  windows.kernel_started(2048, 32);
  for (unsigned slot = 0; slot < 64; ++slot) REQUIRE(m.map(warp(slot), windows.assign(warp(slot))).empty());
  for (unsigned slot = 0; slot < 64; ++slot) {
    for (unsigned r = 0; r < 32; ++r) REQUIRE(row(m, slot, r) == slot * 32 + r);
  }
}

TEST_CASE("mapping: random windows, against a table of every register") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    constexpr unsigned rows = 48, registers = 6, slots = 8;
    WindowMapping m;
    m.start(rows, registers);
    std::map<unsigned, std::vector<std::uint32_t>> table;  // by slot, the row of each register
    std::set<std::pair<unsigned, unsigned>> aliases;
    const auto aliased = [&](unsigned a, unsigned b) { return aliases.count({std::min(a, b), std::max(a, b)}) != 0; };
    unsigned mapped = 0, refused = 0;
    for (unsigned step = 0; step < 2000; ++step) {
      const unsigned slot = random() % slots;
      const unsigned split = random() % (registers + 1);
      const RegisterWindow w = window(random() % (rows + 2), split, random() % (rows + 2));
      std::vector<std::uint32_t> wanted;
      for (unsigned r = 0; r < registers; ++r) wanted.push_back(w.row(reg(r)).value());
      // Rows of its own twice are no window.
      if (std::set<std::uint32_t>(wanted.begin(), wanted.end()).size() != registers) continue;
      const auto fits = [&] {
        for (const std::uint32_t at : wanted) {
          if (at >= rows) return false;
          unsigned others = 0;
          for (const auto& [other, has] : table) {
            if (other == slot || std::find(has.begin(), has.end(), at) == has.end()) continue;
            if (!aliased(slot, other) || ++others > 1) return false;
          }
        }
        return true;
      };
      const bool there = table.count(slot) != 0;
      switch (random() % 8) {
        case 0:
          if (there) {
            m.unmap(warp(slot));
            table.erase(slot);
          }
          break;
        case 1: {
          const unsigned other = random() % slots;
          if (other != slot && random() % 4 == 0) {
            m.alias(warp(slot), warp(other));
            aliases.insert({std::min(slot, other), std::max(slot, other)});
          }
          break;
        }
        case 2:
        case 3: {
          const bool expected = there && fits();
          REQUIRE(m.rebase(warp(slot), w).empty() == expected);
          if (expected) table[slot] = wanted;
          break;
        }
        default: {
          const bool expected = !there && fits();
          REQUIRE(m.map(warp(slot), w).empty() == expected);
          if (expected) table[slot] = wanted;
          ++(expected ? mapped : refused);
        }
      }
      for (unsigned s = 0; s < slots; ++s) {
        const auto has = table.find(s);
        for (unsigned r = 0; r < registers; ++r) {
          REQUIRE(row(m, s, r) == (has == table.end() ? std::nullopt : std::optional<std::uint32_t>(has->second[r])));
        }
      }
    }
    CHECK(mapped > 20);
    CHECK(refused > 20);
  }
}
