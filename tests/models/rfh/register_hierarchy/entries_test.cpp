// SPDX-License-Identifier: Apache-2.0
//
// The operand register file and the last-result file alone, and which warp has which of their entries.
#include "hierarchy_bench.h"

using namespace regatta;
using namespace regatta::test::hierarchy;
using models::EntrySlots;

namespace {

HierarchyKernel one_instruction(unsigned entries = 3) {
  HierarchyKernel k(entries);
  k.op({{1, in_main}}, {{0, in_main}}, true);
  k.done();
  return k;
}

WarpValue read_entry(models::EntryFile& file, unsigned slot, unsigned entry, LaneMask lanes = 0xffffffff,
                     std::uint64_t at = 100, std::uint64_t expected = 101) {
  WarpValue value{};
  CHECK(file.read(slot, entry, lanes, value.lane.data(), at) == expected);
  return value;
}

}  // namespace

TEST_CASE("register hierarchy, entries: each slot has its own, with the lanes that were written") {
  HierarchyKernel k(2);
  k.op({{1, in_main}}, {{0, in_main}}, true);
  k.done();
  EntriesBench b(k, 3, true);
  b.start();
  for (unsigned slot = 0; slot < 3; ++slot) {
    for (unsigned e = 0; e < 2; ++e) b.orf.write(slot, e, 0xffffffff, pattern(10 * slot + e).lane.data(), 0);
  }
  b.orf.write(1, 1, 0x0000ff00, pattern(77).lane.data(), 0);
  for (unsigned slot = 0; slot < 3; ++slot) {
    for (unsigned e = 0; e < 2; ++e) {
      const WarpValue value = read_entry(b.orf, slot, e);
      for (unsigned lane = 0; lane < 32; ++lane) {
        const bool merged = slot == 1 && e == 1 && lane >= 8 && lane < 16;
        CHECK(value.lane[lane] == pattern(merged ? 77 : 10 * slot + e).lane[lane]);
      }
    }
  }
  CHECK(stat_of(b.orf, "reads") == 6);
  CHECK(stat_of(b.orf, "writes") == 7);
  CHECK(stat_of(b.orf, "lost_reads") == 0);
  CHECK(b.orf.bits() == 3 * 2 * 32 * 32);
}

TEST_CASE("register hierarchy, entries: a lane that was not written since the strand began gets a wrong value") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 1, true);
  b.start();
  b.orf.write(0, 2, 0xffffffff, pattern(5).lane.data(), 0);
  b.orf.lose(0);
  b.orf.write(0, 2, 0x0000ffff, pattern(6).lane.data(), 0);
  // Lanes that do not execute find whatever is there.
  CHECK(read_entry(b.orf, 0, 2, 0x0000ffff).lane[3] == pattern(6).lane[3]);
  CHECK(stat_of(b.orf, "lost_reads") == 0);
  const WarpValue value = read_entry(b.orf, 0, 2);
  CHECK(value.lane[15] == pattern(6).lane[15]);
  CHECK(value.lane[16] == ~pattern(5).lane[16]);
  CHECK(stat_of(b.orf, "lost_reads") == 1);
}

TEST_CASE("register hierarchy, entries: a copy can be read when it has arrived from the main file") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 1, true, 2);
  b.start();
  b.orf.write(0, 0, 0xffffffff, pattern(1).lane.data(), 105);
  read_entry(b.orf, 0, 0, 0xffffffff, 101, 107);
  read_entry(b.orf, 0, 0, 0xffffffff, 105, 107);
  read_entry(b.orf, 0, 0, 0xffffffff, 110, 112);
  CHECK(stat_of(b.orf, "late_reads") == 1);
}

TEST_CASE("register hierarchy, slots: a warp has one while it is in the active set, and loses what it holds") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 2, true);
  run_to(1);
  b.start();
  for (unsigned w = 0; w < 4; ++w) {
    b.active.warp_started(k.warp(w));
    CHECK(b.slot(w) == EntrySlots::none);
  }
  b.enter(0);
  b.enter(1);
  CHECK(b.slot(0) != b.slot(1));
  b.lrf.write(b.slot(0), 0, 0xffffffff, pattern(3).lane.data(), 0);
  b.lrf.write(b.slot(1), 0, 0xffffffff, pattern(4).lane.data(), 0);
  const unsigned left = b.slot(0);
  run_for(10);
  b.leave(0);
  CHECK(b.slot(0) == EntrySlots::none);
  b.enter(3);
  CHECK(b.slot(3) == left);
  CHECK(read_entry(b.lrf, b.slot(3), 0).lane[0] == ~pattern(3).lane[0]);
  CHECK(read_entry(b.lrf, b.slot(1), 0).lane[0] == pattern(4).lane[0]);
  // Where a strand begins, a warp keeps its slot and loses the rest.
  b.active.strand_begins(warp_at(1));
  CHECK(read_entry(b.lrf, b.slot(1), 0).lane[0] == ~pattern(4).lane[0]);
  b.active.warp_finished(k.warp(1));
  b.active.warp_finished(k.warp(0));
  b.active.warp_finished(k.warp(3));
  CHECK(stat_of(b.active, "given") == 3);
  CHECK(stat_of(b.active, "returned") == 3);
  CHECK(stat_of(b.active, "slots_max") == 2);
  CHECK(stat_of(b.active, "slot_cycles") == 20);
}

TEST_CASE("register hierarchy, slots: without an active set a warp has one from its start to its end") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 8, false);
  run_to(1);
  b.start();
  std::set<unsigned> slots;
  for (unsigned w = 0; w < 8; ++w) {
    b.active.warp_started(k.warp(w));
    slots.insert(b.slot(w));
  }
  CHECK(slots.size() == 8);
  CHECK(slots.count(EntrySlots::none) == 0);
  protocol::CtaInfo cta;
  cta.cta = cta_at(1);
  cta.warps = 4;
  b.active.cta_switched(cta, false);
  CHECK(b.slot(5) != EntrySlots::none);
  for (unsigned w = 0; w < 8; ++w) b.active.warp_finished(k.warp(w));
  CHECK(stat_of(b.active, "returned") == 8);
}

TEST_CASE("register hierarchy, slots: warps of a CTA that is switched out leave the active set") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 4, true);
  run_to(1);
  b.start();
  for (const unsigned w : {0u, 2u, 4u, 7u}) b.enter(w);
  protocol::CtaInfo cta;
  cta.cta = cta_at(1);
  cta.warps = 4;
  b.active.cta_switched(cta, false);
  CHECK(b.slot(4) == EntrySlots::none);
  CHECK(b.slot(7) == EntrySlots::none);
  CHECK(b.slot(0) != EntrySlots::none);
  CHECK(b.slot(2) != EntrySlots::none);
}

TEST_CASE("register hierarchy, slots: more active warps than slots are reported") {
  HierarchyKernel k = one_instruction();
  EntriesBench b(k, 2, true);
  run_to(1);
  b.start();
  b.enter(0);
  b.enter(1);
  CHECK(error_of([&] { b.enter(2); }) ==
        "active_entries in cycle 1: warp 2 finds no entries, expected at most 2 warps to have some");
}

TEST_CASE("register hierarchy, levels: reads are by distinct register, copies and the last read are known") {
  HierarchyKernel k;
  k.op({{1, main_and_orf(2)}, {2, in_last}}, {{5, in_main}, {4, main_and_orf(1)}, {5, in_main}, {3, in_last}}, true);
  k.op({}, {});
  k.done();
  const auto levels = models::operand_levels(models::rfh_plan_of(k.kernel), k.context);
  CHECK(levels[0].reads[0] == models::level_main);
  CHECK(levels[0].reads[1] == (models::level_main | models::level_orf | 1));
  CHECK(levels[0].reads[2] == models::level_last);
  CHECK(levels[0].last_read == 2);
  CHECK(levels[0].copies == 2);
  CHECK(levels[0].writes[0] == (models::level_main | models::level_orf | 2));
  CHECK(levels[0].writes[1] == models::level_last);
  CHECK(levels[1].copies == 0);
  k.kernel.annotations.clear();
  CHECK(error_of([&] { models::rfh_plan_of(k.kernel); }) ==
        "kernel k: its trace has no levels of operands (section 'rfh'), which RFH needs: annotate it with --for "
        "rfh");
}
