// SPDX-License-Identifier: Apache-2.0
//
// The renaming gate alone: when a register gets a row, when it gives it back, and when nothing may be taken.
#include "renaming_bench.h"

using namespace regatta;
using namespace regatta::test::renaming;

namespace {

/// 0 writes R1; 1 reads R1 for the last time and R0, and writes R2; 2 writes R1 again; then a block where R2 is
/// released, with 3, which writes R3. R0 is there from the start.
struct ShortKernel : RenamedKernel {
  explicit ShortKernel(unsigned warps_per_cta = 1) : RenamedKernel(warps_per_cta) {
    op({1}, {0});
    op({2}, {1, 0}, 0b001);
    op({1}, {0});
    block(bit(2));
    op({3}, {0});
    section.at_start = bit(0);
    section.most = 4;
    done();
  }
};

}  // namespace

TEST_CASE("renaming gate: a register has a row from its first write to its last read") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  CHECK(b.parts.of == std::map<Rows::Key, std::uint32_t>{{{0, 0}, 0}});
  CHECK(b.stat("at_start") == 1);
  b.decode(0, 0);
  CHECK(b.issue(0, 0));
  CHECK(b.parts.of.at({0, 1}) == 1);
  b.read(0, 0);
  b.write(0, 0);
  CHECK(b.issue(0, 1));
  CHECK(b.parts.has(0, 2));
  // The release waits for the operand.
  CHECK(b.parts.has(0, 1));
  CHECK(b.stat("flag_releases") == 1);
  b.read(0, 0);
  CHECK(b.parts.has(0, 1));
  b.read(0, 1);
  CHECK_FALSE(b.parts.has(0, 1));
  CHECK(b.parts.taken == std::set<std::uint32_t>{0, 2});
  b.write(0, 1);
  // Written again, it gets another row. R0, whose reads are over but which nothing released, keeps its own.
  CHECK(b.issue(0, 2));
  CHECK(b.parts.of.at({0, 1}) == 3);
  CHECK(b.parts.has(0, 0));
  CHECK(b.stat("allocations") == 4);
  CHECK(b.stat("delayed_releases") == 0);
  CHECK(b.stat("cancelled_releases") == 0);
}

TEST_CASE("renaming gate: a write of a register that has a row goes to the same row") {
  RenamedKernel k;
  k.op({1}, {});
  k.op({1}, {});
  k.section.most = 1;
  k.done();
  GateBench b(k);
  b.start(0);
  CHECK(b.issue(0, 0));
  CHECK(b.issue(0, 1));
  CHECK(b.parts.of == std::map<Rows::Key, std::uint32_t>{{{0, 1}, 0}});
  CHECK(b.stat("allocations") == 1);
}

TEST_CASE("renaming gate: a release at a block waits for a write in flight") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  CHECK(b.issue(0, 0));
  CHECK(b.issue(0, 1));
  CHECK(b.issue(0, 2));
  for (const unsigned reg : {0u, 1u, 0u, 0u}) b.read(0, reg);
  b.write(0, 0);
  b.write(0, 2);
  // All before the block have issued: its word acts when it is decoded. The result of 1 is on its way.
  b.decode(0, 3);
  CHECK(b.gate.room(warp_at(0)) == 4);
  CHECK(b.stat("block_releases") == 1);
  CHECK(b.parts.has(0, 2));
  b.write(0, 1);
  CHECK_FALSE(b.parts.has(0, 2));
  CHECK(b.stat("delayed_releases") == 1);
}

TEST_CASE("renaming gate: a release waits for every read in flight, not for the first") {
  RenamedKernel k;
  k.op({1}, {});
  k.op({2}, {1});
  k.op({3}, {1}, 0b001);
  k.section.most = 3;
  k.done();
  GateBench b(k);
  b.start(0);
  b.decode(0, 0);
  CHECK(b.issue(0, 0));
  b.write(0, 0);
  CHECK(b.issue(0, 1));
  CHECK(b.issue(0, 2));
  CHECK(b.stat("flag_releases") == 1);
  b.read(0, 1);
  CHECK(b.parts.has(0, 1));
  b.read(0, 1);
  CHECK_FALSE(b.parts.has(0, 1));
}

TEST_CASE("renaming gate: a word at a block acts when the instruction before it issues") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  CHECK(b.issue(0, 0));
  CHECK(b.issue(0, 1));
  b.write(0, 1);
  b.decode(0, 3);
  CHECK(b.gate.room(warp_at(0)) == 3);
  CHECK(b.parts.has(0, 2));
  CHECK(b.issue(0, 2));
  CHECK_FALSE(b.parts.has(0, 2));
  CHECK(b.gate.room(warp_at(0)) == 4);
}

TEST_CASE("renaming gate: a write before a release takes effect cancels it") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  b.decode(0, 0);
  CHECK(b.issue(0, 0));
  b.write(0, 0);
  CHECK(b.issue(0, 1));
  // R1 is still to be read when it is written again.
  CHECK(b.issue(0, 2));
  CHECK(b.stat("cancelled_releases") == 1);
  CHECK(b.parts.of.at({0, 1}) == 1);
  b.read(0, 1);
  b.write(0, 2);
  CHECK(b.parts.of.at({0, 1}) == 1);
  CHECK(b.stat("allocations") == 3);
}

TEST_CASE("renaming gate: releasing a register without a row is counted and does nothing") {
  RenamedKernel k;
  k.op({1}, {});
  k.block(bit(5));
  k.op({2}, {});
  k.section.most = 2;
  k.done();
  GateBench b(k);
  b.start(0);
  CHECK(b.issue(0, 0));
  b.decode(0, 1);
  CHECK(b.stat("void_releases") == 1);
  CHECK(b.stat("block_releases") == 0);
  CHECK(b.parts.of.size() == 1);
}

TEST_CASE("renaming gate: moves and inserted instructions take nothing") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  protocol::DynamicInstruction d = k.made(0, 0);
  d.injected = true;
  CHECK(b.gate.may_issue(d));
  b.gate.issued(d);
  b.gate.written_back(d);
  CHECK(b.parts.of.size() == 1);
}

namespace {

/// Three rows a warp at most, and CTAs of one warp: 0 writes R1, 1 R2, 2 R3; 3 reads R1 for the last time.
struct ThreeRows : RenamedKernel {
  ThreeRows() {
    op({1}, {});
    op({2}, {});
    op({3}, {});
    op({}, {1}, 0b001);
    section.most = 3;
    done();
  }
};

}  // namespace

TEST_CASE("renaming gate: a warp that may not take a row is closed until enough come back") {
  ThreeRows k;
  GateBench b(k, 4);
  b.start(0);
  b.start(1);
  CHECK(b.issue(0, 0));
  CHECK(b.issue(0, 1));
  CHECK(b.issue(1, 0));
  // The last row is what CTA 0 may still need.
  CHECK_FALSE(b.issue(1, 1));
  CHECK(b.listener.warps == std::set<unsigned>{1});
  CHECK(b.listener.again == 2);
  CHECK(b.stat("refusals") == 1);
  CHECK(b.gate.describe_stuck() ==
        "  renaming_gate: warp 1 (CTA slot 1) waits for 1 rows of part 0, which has 1 free; its CTA has 1 of at most "
        "3\n");
  CHECK(b.issue(0, 2));
  run_for(20);
  b.decode(0, 0);
  for (const std::uint32_t index : {0u, 1u, 2u}) b.write(0, index);
  CHECK(b.issue(0, 3));
  CHECK(b.listener.warps == std::set<unsigned>{1});
  // One row comes back. CTA 0, which has two, may need it again.
  b.read(0, 1);
  CHECK(b.listener.warps == std::set<unsigned>{1});
  CHECK_FALSE(b.gate.describe_stuck().empty());
  b.end(0);
  CHECK(b.listener.warps.empty());
  CHECK(b.gate.describe_stuck().empty());
  CHECK(b.stat("throttled_cycles") == 20);
  CHECK(b.stat("end_releases") == 2);
  CHECK(b.issue(1, 1));
  CHECK(b.issue(1, 2));
}

TEST_CASE("renaming gate: a warp ends with all its rows, and with releases that wait") {
  ShortKernel k;
  GateBench b(k);
  b.start(0);
  b.start(1);
  b.decode(0, 0);
  CHECK(b.issue(0, 0));
  CHECK(b.issue(0, 1));
  CHECK(b.issue(1, 0));
  b.end(0);
  CHECK(b.stat("end_releases") == 3);
  CHECK(b.parts.of.size() == 2);
  CHECK(b.parts.has(1, 0));
  CHECK(b.parts.has(1, 1));
  // The slot's next warp begins with R0, and nothing is left of the release that waited.
  b.start(0);
  CHECK(b.issue(0, 0));
  b.write(0, 0);
  CHECK(b.parts.has(0, 1));
  CHECK(b.stat("cancelled_releases") == 0);
}

TEST_CASE("renaming gate: a CTA is launched when rows for the start of its warps are free") {
  RenamedKernel k;
  k.op({1}, {0});
  k.op({}, {0}, 0b001);
  k.section.at_start = bit(0);
  k.section.most = 2;
  k.done();
  GateBench b(k, 2);
  CHECK(b.gate.room_for_ctas->may_launch(cta_at(0)));
  b.start(0);
  CHECK(b.issue(0, 0));
  CHECK_FALSE(b.gate.room_for_ctas->may_launch(cta_at(1)));
  CHECK(b.stat("launches_refused") == 1);
  run_for(3);
  CHECK(b.launches.cycles.empty());
  b.end(0);
  run_for(1);
  CHECK(b.launches.cycles.size() == 1);
  CHECK(b.gate.room_for_ctas->may_launch(cta_at(1)));
}

TEST_CASE("renaming gate: exempt registers have a row without the pool's, and are live with their warp") {
  RenamedKernel k;
  k.op({1}, {0});
  k.op({2}, {1}, 0b001);
  k.section.exempt = bit(1);
  k.section.at_start = bit(0);
  k.section.most = 3;
  k.section.table_entries = 7;
  k.releases.flags[1] = 0;  // no word names an exempt register
  k.done();
  GateBench b(k);
  CHECK(b.parts.reserved == 2);  // a warp slot each
  CHECK(b.parts.of.size() == 2);
  CHECK(b.parts.occupied.empty());
  b.start(1);
  CHECK(b.parts.occupied.size() == 1);
  CHECK(b.issue(1, 0));
  CHECK(b.parts.taken.size() == 1);  // R0
  CHECK(b.issue(1, 1));
  CHECK(b.parts.taken.size() == 2);
  b.end(1);
  CHECK(b.parts.occupied.empty());
  CHECK(b.parts.taken.empty());
  CHECK(b.stat("end_releases") == 2);
}

TEST_CASE("renaming gate: words wait for their instructions, and a full ring notifies when it has room") {
  ShortKernel k;
  REQUIRE(k.kernel.inserted.size() == 2);  // flags in front of 0, registers in front of 3
  GateBench b(k, 64, 2);
  b.start(0);
  CHECK(b.flags.count == 2);
  CHECK(b.gate.room(warp_at(0)) == 2);
  CHECK_FALSE(b.gate.held(warp_at(0), 0));
  b.decode(0, 0);
  CHECK(b.gate.held(warp_at(0), 0));  // of another warp, or of a later round, it is not fetched again
  CHECK(b.gate.held(warp_at(1), 0));
  CHECK(b.gate.room(warp_at(0)) == 1);
  b.decode(0, 3);
  CHECK_FALSE(b.gate.held(warp_at(0), 1));
  CHECK(b.gate.room(warp_at(0)) == 0);
  CHECK(b.gate.room(warp_at(1)) == 2);
  run_for(3);
  const std::size_t before = b.watch.cycles.size();
  CHECK(b.issue(0, 0));
  CHECK(b.gate.room(warp_at(0)) == 0);
  b.write(0, 0);
  CHECK(b.issue(0, 1));  // the last flag of its word
  CHECK(b.gate.room(warp_at(0)) == 1);
  run_for(1);
  CHECK(b.watch.cycles.size() == before + 1);
  CHECK(b.stat("pir_words") == 1);
  CHECK(b.stat("pbr_words") == 1);
}
