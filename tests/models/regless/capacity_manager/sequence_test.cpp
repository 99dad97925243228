// SPDX-License-Identifier: Apache-2.0
//
// What a capacity manager does in which cycle, by hand.
#include "bench.h"

using namespace regatta;
using models::CapacityManagerConfig;
using models::CapacityShard;
using test::Bench;
using test::region_of;
using test::RegionSpec;
using State = CapacityShard::State;
using Call = test::FakeStaging::Call;
using Cycles = std::vector<std::uint64_t>;
using Warps = std::vector<unsigned>;

TEST_CASE(
    "capacity manager: a region without preloads starts in the cycle after its words, its warp issues in the next") {
  Bench b({region_of(2, 3)});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
  });
  b.at(10, [&] {
    CHECK(b.is_closed(0));
    REQUIRE(b.decode(0, 0, 1));
    CHECK(b.state(0) == State::inactive);
  });
  b.at(11, [&] {
    CHECK(b.state(0) == State::active);
    CHECK(b.manager->shard(0).free_lines(0) == 13);
    CHECK(b.manager->shard(0).free_lines(1) == 16);
  });
  b.run();
  CHECK(b.openings(0) == Cycles{11});  // the pipeline makes it count from cycle 12 on
}

TEST_CASE("capacity manager: a warp issues when the last preload and invalidation is acknowledged") {
  unsigned delay = 4;
  RegionSpec spec = region_of(2, 3, {8, 16, 24});
  spec.words.entries.push_back({trace::RegionEntry::Kind::invalidate, 5});
  spec.words.entries[1].kind = trace::RegionEntry::Kind::invalidating_preload;
  Bench b({spec}, {}, 16, 1, [&] { return delay += 3; });
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
  });
  b.at(3, [&] { CHECK(b.state(0) == State::preloading); });
  b.run();
  REQUIRE(b.staging[0]->calls.size() == 4);
  unsigned preloads = 0;
  for (const Call& c : b.staging[0]->calls) {
    CHECK(c.cycle == 2);
    if (c.kind == Call::Kind::invalidate) {
      CHECK(c.reg == 5);
    } else {
      ++preloads;
      CHECK(c.last == (c.reg == 16));
    }
  }
  CHECK(preloads == 3);
  CHECK(b.openings(0) == Cycles{2 + 16});
  const models::RegionCounters counted = b.manager->regions();
  CHECK(counted.preloads == 3);
  CHECK(counted.preload_cycles == 16);
  CHECK(counted.invalidations == 1);
  CHECK(counted.preloads_from[8 % 5] + counted.preloads_from[16 % 5] + counted.preloads_from[24 % 5] == 3);
}

TEST_CASE(
    "capacity manager: a region ends with its last issue, keeps lines for pending writes, and lets go as they come") {
  RegionSpec first = region_of(3, 4);
  first.words.lines[3] = 4;  // the compact form has one number for all banks
  first.words.entries.push_back({trace::RegionEntry::Kind::erase_at_end, 70});
  first.writes = {{3}, {0, 8}, {11}};
  Bench b({first, region_of(1, 1)});
  auto free = [&](unsigned bank) { return b.manager->shard(0).free_lines(bank); };
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
    REQUIRE(b.decode(0, 3, 4));
  });
  b.at(5, [&] {
    CHECK(free(0) == 12);
    CHECK(free(3) == 12);
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK_FALSE(b.is_closed(0));
      b.issue(0, i, i + 1);
    }
    CHECK(b.is_closed(0));
    CHECK(b.state(0) == State::draining);
    // R0 and R8 of bank 0, R3 and R11 of bank 3 are to be written.
    CHECK(free(0) == 14);
    CHECK(free(3) == 14);
  });
  b.at(6, [&] {
    b.write_back(0, 0, 1);
    CHECK(free(3) == 15);
  });
  b.at(7, [&] {
    b.write_back(0, 1, 2);
    CHECK(free(0) == 16);
    CHECK(b.stack().empty());
  });
  b.at(9, [&] {
    b.write_back(0, 2, 3);
    CHECK(free(3) == 16);
    CHECK(b.state(0) == State::inactive);
    CHECK(b.stack() == Warps{0});
  });
  b.run();
  CHECK(b.openings(0) == Cycles{2, 10});
  const Call& ended = b.staging[0]->calls[3];
  REQUIRE(ended.kind == Call::Kind::ended);
  CHECK(ended.cycle == 5);
  CHECK(ended.erase == protocol::GeneralRegisters{0, std::uint64_t{1} << 6, 0, 0});
  CHECK(b.manager->regions().active_cycles == 3);  // cycles 3 to 5
  CHECK(b.manager->regions().drain_cycles == 4);   // and 6 to 9
}

TEST_CASE("capacity manager: branches and exits end a region without a word behind it") {
  RegionSpec first = region_of(2, 1);
  first.end = RegionSpec::End::branch;
  RegionSpec second = region_of(2, 1);
  second.end = RegionSpec::End::exit;
  Bench b({first, second});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
  });
  b.at(3, [&] {
    b.issue(0, 0, 1);
    CHECK(b.state(0) == State::active);
    b.issue(0, 1, 2);
    CHECK(b.state(0) == State::inactive);
    CHECK(b.stack() == Warps{0});
  });
  // It stays there until its next region's words have come: here, back to the first one.
  b.at(20, [&] { REQUIRE(b.decode(0, 0, 3)); });
  b.at(22, [&] {
    b.issue(0, 0, 3);
    b.issue(0, 1, 4);
  });
  b.at(30, [&] { REQUIRE(b.decode(0, 2, 5)); });
  b.at(33, [&] {
    b.issue(0, 2, 5);
    b.issue(0, 3, 6);
    CHECK(b.state(0) == State::inactive);
    b.finish_warp(0);
    CHECK(b.stack().empty());
  });
  b.run();
  CHECK(b.openings(0) == Cycles{2, 21, 31});
}

TEST_CASE("capacity manager: a region whose next one is fetched late ends when that is known") {
  Bench b({region_of(2, 1), region_of(1, 1)});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
  });
  b.at(3, [&] {
    b.issue(0, 0, 1);
    b.issue(0, 1, 2);
    CHECK(b.state(0) == State::active);
  });
  b.at(8, [&] {
    REQUIRE(b.decode(0, 2, 3));
    CHECK(b.state(0) == State::inactive);
  });
  b.run();
  CHECK(b.openings(0) == Cycles{2, 9});
}

TEST_CASE("capacity manager: an instruction of the next region does not issue in this one") {
  Bench b({region_of(1, 1, {8}), region_of(1, 1)}, {}, 16, 1, [] { return 5u; });
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
    REQUIRE(b.decode(0, 1, 2));
  });
  b.at(3, [&] { CHECK_FALSE(b.may_issue(0, 0, 1)); });  // preloading
  b.at(8, [&] {
    CHECK(b.may_issue(0, 0, 1));
    b.issue(0, 0, 1);
    CHECK_FALSE(b.may_issue(0, 1, 2));
  });
  b.run();
}

namespace {

/// Warp 8's region is large, warp 0's small; warp 16 holds most lines until cycle 100. Warp 8 is on top of warp 0.
void top_of_stack(unsigned fall_through, std::uint64_t small_starts) {
  RegionSpec large = region_of(1, 12);
  large.end = RegionSpec::End::branch;
  RegionSpec small = region_of(1, 2);
  small.end = RegionSpec::End::branch;
  CapacityManagerConfig config;
  config.fall_through = fall_through;
  Bench b({large, small}, config);
  b.at(1, [&] {
    b.start_kernel();
    for (unsigned w : {16u, 8u, 0u}) b.start_warp(w);  // the first is oldest: on top
    CHECK(b.stack() == Warps{0, 8, 16});
    REQUIRE(b.decode(16, 0, 1));
  });
  b.at(10, [&] {
    CHECK(b.state(16) == State::active);
    REQUIRE(b.decode(8, 0, 1));
    REQUIRE(b.decode(0, 1, 1));
  });
  b.at(100, [&] { b.issue(16, 0, 1); });
  b.run();
  CHECK(b.openings(8) == Cycles{101});
  CHECK(b.openings(0) == Cycles{small_starts});
}

}  // namespace

TEST_CASE("capacity manager: only the top of the stack is tested") { top_of_stack(0, 102); }
TEST_CASE("capacity manager: with fall-through the entry under the top is tried when that has waited") {
  top_of_stack(20, 31);
}

TEST_CASE("capacity manager: a warp that ran goes on top, those that never did stay in order of age") {
  RegionSpec spec = region_of(1, 16);
  spec.end = RegionSpec::End::branch;
  Bench b({spec});
  b.at(1, [&] {
    b.start_kernel();
    for (unsigned w = 0; w < 4; ++w) b.start_warp(8 * w);
    CHECK(b.stack() == Warps{24, 16, 8, 0});
    for (unsigned w = 0; w < 4; ++w) REQUIRE(b.decode(8 * w, 0, 1));
  });
  b.at(5, [&] {
    b.issue(0, 0, 1);
    CHECK(b.stack() == Warps{24, 16, 8, 0});
    b.start_warp(32);
    CHECK(b.stack() == Warps{32, 24, 16, 8, 0});
  });
  b.run();
  // Warp 0 has no words yet for what comes next, and does not hold up the one under it.
  CHECK(b.openings(0) == Cycles{2});
  CHECK(b.openings(8) == Cycles{6});
  CHECK(b.openings(16).empty());
}

TEST_CASE("capacity manager: one region starts per cycle") {
  Bench b({region_of(1, 1)});
  b.at(1, [&] {
    b.start_kernel();
    for (unsigned w = 0; w < 4; ++w) {
      b.start_warp(w);
      REQUIRE(b.decode(w, 0, 1));
    }
  });
  b.run();
  for (unsigned w = 0; w < 4; ++w) CHECK(b.openings(w) == Cycles{2 + w});
}

TEST_CASE("capacity manager: a warp at a barrier is off the stack; released together, the oldest comes on top") {
  RegionSpec meet = region_of(1, 1);
  meet.end = RegionSpec::End::barrier;
  meet.writes = {{}};
  Bench b({meet, region_of(1, 16)});
  b.at(1, [&] {
    b.start_kernel();
    for (unsigned w = 0; w < 4; ++w) {
      b.start_warp(8 * w);
      REQUIRE(b.decode(8 * w, 0, 1));
      REQUIRE(b.decode(8 * w, 1, 2));
    }
  });
  b.at(10, [&] {
    for (unsigned w : {2u, 0u, 3u, 1u}) {
      b.issue(8 * w, 0, 1);
      CHECK(b.state(8 * w) == State::inactive);
    }
    CHECK(b.stack().empty());
  });
  b.at(50, [&] {
    for (unsigned w : {2u, 0u, 3u, 1u}) b.manager->barrier_opened(b.info(8 * w));
    CHECK(b.stack() == Warps{24, 16, 8, 0});
  });
  b.run();
  CHECK(b.openings(0) == Cycles{2, 51});
  // One warp opens a cycle; the first one's second region then has all lines.
  CHECK(b.openings(8) == Cycles{3});
}

TEST_CASE("capacity manager: a warp whose barrier opens while it drains goes on the stack when it has") {
  RegionSpec meet = region_of(2, 1);
  meet.end = RegionSpec::End::barrier;
  meet.writes = {{0}};
  Bench b({meet, region_of(1, 1)});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
    REQUIRE(b.decode(0, 2, 3));
  });
  b.at(10, [&] {
    b.issue(0, 0, 1);
    b.issue(0, 1, 2);
    CHECK(b.state(0) == State::draining);
  });
  b.at(20, [&] {
    b.manager->barrier_opened(b.info(0));
    CHECK(b.stack().empty());
  });
  b.at(30, [&] {
    b.write_back(0, 0, 1);
    CHECK(b.stack() == Warps{0});
  });
  b.run();
  CHECK(b.openings(0) == Cycles{2, 31});
}

TEST_CASE("capacity manager: refuses what the staging unit has no lines for, and tells when it may have") {
  Bench b({region_of(1, 1)});
  bool full = true;
  b.staging[0]->refuses = [&](const protocol::DynamicInstruction&) { return full; };
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
  });
  b.at(5, [&] {
    CHECK_FALSE(b.may_issue(0, 0, 1));
    full = false;
    b.staging[0]->lines_available(6);
  });
  b.at(6, [&] { CHECK(b.may_issue(0, 0, 1)); });
  b.run();
  CHECK(b.asked_again == Cycles{6});
}

TEST_CASE("capacity manager: a word's place is free when nothing needs it any more") {
  RegionSpec spec = region_of(12, 1);
  spec.end = RegionSpec::End::branch;
  Bench b({spec});
  Bench* bench = &b;
  // header, uses; uses of instructions 9 to 11
  REQUIRE(b.kernel.inserted.size() == 3);
  b.at(1, [bench] {
    Bench& b = *bench;
    b.start_kernel();
    b.start_warp(0);
    protocol::DecodePoint& point = *b.manager;
    const protocol::WarpSlot warp = b.info(0).warp;
    CHECK(point.room(warp) == 16);
    REQUIRE(b.decode(0, 0, 1));
    CHECK(point.room(warp) == 14);
  });
  b.at(3, [bench] {  // active: the header is done with
    CHECK(bench->manager->room(bench->info(0).warp) == 15);
    REQUIRE(bench->decode(0, 9, 10));
    CHECK(bench->manager->room(bench->info(0).warp) == 14);
    for (std::uint32_t i = 0; i < 9; ++i) bench->issue(0, i, i + 1);
    CHECK(bench->manager->room(bench->info(0).warp) == 14);
    bench->issue(0, 9, 10);
    CHECK(bench->manager->room(bench->info(0).warp) == 15);
    bench->issue(0, 10, 11);
    bench->issue(0, 11, 12);
    CHECK(bench->manager->room(bench->info(0).warp) == 16);
  });
  b.run();
  CHECK(b.room_notified == 0);  // nobody had been refused
}

TEST_CASE("capacity manager: room that was refused is told of") {
  CapacityManagerConfig config;
  config.metadata_words = 2;
  Bench b({region_of(5, 1), region_of(5, 1)}, config);
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
    CHECK_FALSE(b.decode(0, 5, 6));
  });
  b.at(3, [&] {
    CHECK(b.room_notified == 1);  // the header has been acted upon
    CHECK(b.manager->room(b.info(0).warp) == 1);
  });
  b.run();
}

TEST_CASE("capacity manager: marks reach the operands that they are about") {
  using trace::LastUse;
  RegionSpec spec = region_of(10, 4);
  spec.reads.resize(10);
  spec.writes.resize(10);
  spec.reads[0] = {4, 7};
  spec.writes[0] = {9};
  spec.words.uses[0] = {LastUse::erase, LastUse::evict, LastUse::none};
  spec.reads[1] = {9};
  spec.writes[1] = {9};  // shares the slot: the mark is about the write
  spec.words.uses[1] = {LastUse::evict, LastUse::none, LastUse::none};
  spec.writes[9] = {2};
  spec.words.uses[9] = {LastUse::erase, LastUse::none, LastUse::none};
  Bench b({spec, region_of(1, 1)});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(0);
    REQUIRE(b.decode(0, 0, 1));
    REQUIRE(b.decode(0, 9, 10));
    REQUIRE(b.decode(0, 10, 11));
  });
  b.at(3, [&] {
    for (std::uint32_t i = 0; i < 10; ++i) b.issue(0, i, i + 1);
  });
  b.run();
  const std::vector<Call>& calls = b.staging[0]->calls;
  REQUIRE(calls.size() == 11);
  CHECK(calls[0].marks.reads[0] == LastUse::erase);
  CHECK(calls[0].marks.reads[1] == LastUse::evict);
  CHECK(calls[0].marks.writes[0] == LastUse::none);
  CHECK(calls[1].marks.reads[0] == LastUse::none);
  CHECK(calls[1].marks.writes[0] == LastUse::evict);
  for (std::size_t i = 2; i < 9; ++i) CHECK(calls[i].marks.writes[0] == LastUse::none);
  CHECK(calls[9].marks.writes[0] == LastUse::erase);
}

TEST_CASE("capacity manager: banks are counted as the warp's number turns them") {
  RegionSpec spec = region_of(1, 5);
  spec.words.lines[6] = 3;
  spec.words.uses.resize(5);  // too many for the compact form, which has one number for all banks
  Bench b({spec});
  b.at(1, [&] {
    b.start_kernel();
    b.start_warp(3);
    REQUIRE(b.decode(3, 0, 1));
  });
  b.at(2, [&] {
    CHECK(b.manager->shard(0).free_lines(3) == 11);
    CHECK(b.manager->shard(0).free_lines((6 + 3) % 8) == 13);
    CHECK(b.manager->shard(0).free_lines(0) == 16);
  });
  b.run();
}
