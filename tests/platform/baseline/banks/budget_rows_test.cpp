// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/budget_rows.h>
#include <regatta/test/catch.h>

#include <random>
#include <set>

using namespace regatta;
using models::BudgetRows;
using protocol::CtaSlot;
using protocol::RegisterId;
using protocol::WarpInfo;
using protocol::WarpSlot;

namespace {

WarpInfo warp(unsigned slot, unsigned per_cta) {
  WarpInfo w;
  w.warp = WarpSlot(static_cast<std::uint16_t>(slot));
  w.cta = CtaSlot(static_cast<std::uint16_t>(slot / per_cta));
  return w;
}

std::uint32_t row(const BudgetRows& rows, unsigned slot, unsigned reg) {
  return rows.row(WarpSlot(static_cast<std::uint16_t>(slot)), RegisterId(static_cast<std::uint8_t>(reg)));
}

protocol::KernelContext context(unsigned ctas, unsigned warps, unsigned most) {
  protocol::KernelContext c;
  c.resident_ctas = ctas;
  c.warps_per_cta = warps;
  c.most_registers_per_warp = most;
  return c;
}

}  // namespace

TEST_CASE("budget rows: a register keeps its row while its warp has it") {
  BudgetRows rows;
  rows.start(context(2, 2, 64), 1);
  for (unsigned w = 0; w < 4; ++w) rows.warp_started(warp(w, 2), 32 * w, 32);
  CHECK(row(rows, 1, 31) == 63);
  CHECK(row(rows, 1, 32) == BudgetRows::no_row);
  CHECK(rows.change(warp(0, 2), 32, 24));
  CHECK(row(rows, 0, 23) == 23);
  CHECK(row(rows, 0, 24) == BudgetRows::no_row);
  // The CTA has 8 rows: more are not to be had, and another CTA has none.
  CHECK(!rows.change(warp(1, 2), 32, 48));
  CHECK(!rows.change(warp(2, 2), 32, 40));
  CHECK(rows.change(warp(1, 2), 32, 40));
  CHECK(row(rows, 1, 32) == 24);
  CHECK(row(rows, 1, 39) == 31);
  CHECK(row(rows, 1, 31) == 63);
  // The next CTA of the slot begins as the first did.
  rows.cta_finished(CtaSlot(0));
  rows.warp_started(warp(1, 2), 32, 32);
  CHECK(row(rows, 1, 32) == BudgetRows::no_row);
}

TEST_CASE("budget rows: no two registers ever have one row") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 200; ++round) {
    const unsigned slices = round % 2 == 0 ? 1 : 4, warps = 8, ctas = 2, launch = 40, most = 248;
    BudgetRows rows;
    rows.start(context(ctas, warps, most), slices);
    std::vector<unsigned> has(ctas * warps, launch), free(ctas * slices, 0);
    for (unsigned w = 0; w < ctas * warps; ++w) rows.warp_started(warp(w, warps), launch * w, launch);
    for (unsigned step = 0; step < 60; ++step) {
      const unsigned w = random() % (ctas * warps), wanted = 24 + 8 * (random() % 28);
      unsigned& pool = free[w / warps * slices + w % slices];
      const bool possible = wanted <= has[w] + pool;
      CHECK(rows.change(warp(w, warps), has[w], wanted) == possible);
      if (possible) {
        pool = pool + has[w] - wanted;
        has[w] = wanted;
      }
      std::set<std::uint32_t> taken;
      for (unsigned v = 0; v < ctas * warps; ++v)
        for (unsigned r = 0; r < most; ++r) {
          const std::uint32_t at = row(rows, v, r);
          REQUIRE((at != BudgetRows::no_row) == (r < has[v]));
          if (r < has[v]) REQUIRE(taken.insert(at).second);
        }
    }
  }
}
