// SPDX-License-Identifier: Apache-2.0
//
// The gate of shared memory multiplexing, alone, with its table and release bits: which CTAs get a place, which wait,
// and in which order they go on.
#include <regatta/sharing/allocation_gate.h>
#include <regatta/sharing/allocation_table.h>
#include <regatta/sharing/release_table.h>
#include <regatta/test/clock.h>
#include <regatta/trace/sharing.h>

#include <memory>
#include <random>
#include <set>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using trace::MemorySpace;
using trace::OpClass;

namespace {

class FixedMultiplex : public sc_core::sc_module, public models::Multiplex {
 public:
  FixedMultiplex(const sc_core::sc_module_name& name, unsigned ctas, unsigned places)
      : sc_module(name), plan_{ctas, places} {}
  const models::MultiplexPlan& plan() const override { return plan_; }

 private:
  models::MultiplexPlan plan_;
};

/// Five CTAs of two warps and four lanes, 16 bytes are private.
struct AllocationBench {
  static constexpr unsigned ctas = 5, warps_per_cta = 2;

  explicit AllocationBench(unsigned places = 2, bool relssp = false)
      : multiplex("multiplex", ctas, places),
        boundary("boundary", ctas, 0, 16, 64),
        table("table", test::clock(period)),
        bits("bits"),
        gate("gate", models::Threshold::parse("t", "0.25"), relssp ? trace::relssp_optimal_scheme : "",
             test::clock(period)),
        launch(ctas, warps_per_cta, 8),
        fence(trace::relssp_instruction(trace::relssp_optimal_scheme, 0)) {
    table.multiplex.bind(multiplex);
    gate.multiplex.bind(multiplex);
    gate.boundary.bind(boundary);
    gate.places.bind(table.places);
    if (relssp) gate.release_bits.bind(bits.bits);
    gate.connect(closed);
    closed.may_pause = true;
    access.space = MemorySpace::shared;
    access.access_bytes = 4;
    access.opcode = "ld.shared.u32";
    traits.resize(1);
    traits[0].is_memory = traits[0].has_addresses = true;
    traits[0].info = &access;
    fence_traits.info = &fence;
    launch.context.traits = &traits;
    if (relssp) {
      trace::SharingLayout layout;
      layout.t = *trace::parse_share("0.25");
      launch.kernel.annotations.push_back(
          {trace::sharing_section, trace::sharing_section_version, trace::encode(layout)});
    }
    sc_core::sc_report_handler::set_actions("regatta/scratchpad_locks", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
    table.kernel_started(launch.context);
    bits.kernel_started(launch.context);
    gate.kernel_started(launch.context);
    for (unsigned cta = 0; cta < ctas; ++cta) begin(cta);
  }
  void begin(unsigned cta) {
    gate.cta_launched(launch.cta(cta));
    bits.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](WarpInfo w) {
      w.lanes = 0xf;
      gate.warp_started(w);
      bits.warp_started(w);
    });
  }
  protocol::DynamicInstruction make(unsigned cta, unsigned number, std::uint64_t first) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(cta * warps_per_cta + number);
    d.cta = cta_at(cta);
    d.traits = &traits[0];
    d.info = &access;
    d.active = 0xf;
    for (unsigned lane = 0; lane < 4; ++lane) d.addresses[lane] = trace::shared_window + first + 4 * lane;
    return d;
  }
  bool issue(const protocol::DynamicInstruction& d) {
    const bool may = gate.may_issue(d);
    REQUIRE(gate.may_issue(d) == may);
    if (may) gate.issued(d);
    return may;
  }
  bool own(unsigned cta, unsigned number = 0) { return issue(make(cta, number, 0)); }
  bool common(unsigned cta, unsigned number = 0) { return issue(make(cta, number, 32)); }
  void done(unsigned cta, unsigned number = 0) { gate.written_back(make(cta, number, 32)); }
  void relssp(unsigned cta, unsigned number) {
    protocol::DynamicInstruction d = make(cta, number, 0);
    d.traits = &fence_traits;
    d.info = &fence;
    d.injected = true;
    REQUIRE(issue(d));
  }
  void finish(unsigned cta) {
    launch.for_warps(cta, [&](WarpInfo w) {
      w.lanes = 0xf;
      gate.warp_finished(w);
    });
    gate.cta_finished(launch.cta(cta));
  }
  std::optional<unsigned> place(unsigned cta) { return table.place(cta_at(cta)); }

  FixedMultiplex multiplex;
  FixedPairs boundary;
  models::AllocationTable table;
  models::ReleaseTable bits;
  models::AllocationGate gate;
  Launch launch;
  trace::StaticInstruction access, fence;
  std::vector<protocol::InstructionTraits> traits;
  protocol::InstructionTraits fence_traits;
  Closed closed;
};

using Waiting = std::set<unsigned>;

}  // namespace

TEST_CASE("allocation alone: a CTA has a place from its first access of the common part to its end") {
  AllocationBench b;
  CHECK(b.own(3));
  CHECK_FALSE(b.place(3).has_value());
  CHECK(b.common(3));
  CHECK(b.place(3) == 0u);
  CHECK(b.common(3, 1));
  CHECK(b.common(1));
  CHECK(b.place(1) == 1u);
  CHECK(b.table.free_places() == 0);
  CHECK(stat_of(b.gate, "acquires") == 2);
  b.done(3);
  b.done(3, 1);
  CHECK(b.place(3) == 0u);
  b.finish(3);
  CHECK_FALSE(b.place(3).has_value());
  CHECK(b.common(0));
  CHECK(b.place(0) == 0u);
}

TEST_CASE("allocation alone: CTAs that find no place wait, and go on in the order in which they came") {
  AllocationBench b;
  CHECK(b.common(0));
  CHECK(b.common(1));
  CHECK_FALSE(b.common(4, 1));
  CHECK_FALSE(b.common(2));
  CHECK_FALSE(b.common(4, 0));
  CHECK(b.own(2));
  CHECK(b.closed.warps == Waiting{4, 8, 9});
  run_to(20);
  b.finish(1);
  CHECK(b.closed.warps == Waiting{4});  // both warps of CTA 4
  CHECK(b.place(4) == 1u);
  CHECK_FALSE(b.common(2, 1));  // no place is left for a CTA that comes later
  CHECK(b.common(4, 1));
  b.finish(0);
  CHECK(b.closed.warps.empty());
  CHECK(b.common(2));
  CHECK(stat_of(b.gate, "acquires") == 2);
  CHECK(stat_of(b.gate, "queued") == 2);
  CHECK(stat_of(b.gate, "granted") == 2);
  CHECK(stat_of(b.gate, "waits") == 4);
  CHECK(stat_of(b.gate, "wait_cycles") == 2 * 19 + 19 + 0);
  CHECK(stat_of(b.table, "takes") == 4);
}

TEST_CASE("allocation alone: after relssp of all threads, the next CTA has the place from the next cycle on") {
  AllocationBench b(1, true);
  CHECK(b.common(0));
  CHECK_FALSE(b.common(1));
  b.done(0);
  b.relssp(0, 0);
  CHECK(b.place(0) == 0u);
  b.relssp(0, 1);
  CHECK(b.place(1) == 0u);
  CHECK(b.closed.warps.empty());
  CHECK_FALSE(b.common(1));
  CHECK(b.closed.paused.at(2) == 2);
  run_to(2);
  CHECK(b.common(1));
  CHECK(stat_of(b.gate, "releases") == 1);
  CHECK(error_of([&] {
          b.gate.may_issue(b.make(0, 1, 32));
        }).find("after all threads of its CTA have released it; expected no access behind relssp") !=
        std::string::npos);
}

TEST_CASE("allocation alone: with a place for every CTA, each has that of its slot, and nothing waits") {
  AllocationBench b(5);
  for (unsigned cta = 0; cta < 5; ++cta) {
    CHECK(b.place(cta) == cta);
    CHECK(b.common(cta));
  }
  for (unsigned cta = 0; cta < 5; ++cta) b.finish(cta);
  CHECK(stat_of(b.gate, "checks") == 0);
  CHECK(stat_of(b.table, "takes") == 0);
}

TEST_CASE("allocation alone: wrong calls of the table are named") {
  AllocationBench b(1);
  b.table.take(cta_at(2));
  CHECK(error_of([&] { b.table.take(cta_at(2)); }) ==
        "table in cycle 1: CTA slot 2 takes a place; expected a CTA that has none");
  CHECK(error_of([&] { b.table.take(cta_at(3)); }) ==
        "table in cycle 1: CTA slot 3 takes a place, and CTAs have all 1; expected that one is free");
  CHECK(error_of([&] { b.table.give_back(cta_at(0)); }) ==
        "table in cycle 1: CTA slot 0 gives a place back; expected a CTA that has one");
}

TEST_CASE("allocation alone: whatever CTAs do, places are never two CTAs' and all that wait go on") {
  AllocationBench b(2);
  std::mt19937 dice(3);
  std::uint64_t at = 1, finished = 0;
  for (unsigned n = 0; n < 5000; ++n) {
    run_to(++at);
    const unsigned cta = dice() % AllocationBench::ctas;
    const bool waits = b.closed.warps.count(cta * 2) != 0 || b.closed.warps.count(cta * 2 + 1) != 0;
    if (b.place(cta) && dice() % 3 == 0) {
      b.finish(cta);
      b.begin(cta);
      ++finished;
    } else if (!waits) {
      b.common(cta, dice() % 2);
    }
    std::set<unsigned> places;
    unsigned with_place = 0;
    for (unsigned c = 0; c < AllocationBench::ctas; ++c) {
      if (!b.place(c)) continue;
      ++with_place;
      places.insert(*b.place(c));
    }
    REQUIRE(places.size() == with_place);
    REQUIRE(with_place + b.table.free_places() == 2);
    if (!b.closed.warps.empty()) REQUIRE(b.table.free_places() == 0);
  }
  CHECK(finished > 500);
  CHECK(stat_of(b.gate, "queued") > 200);
  CHECK(stat_of(b.gate, "queued") - stat_of(b.gate, "granted") <= 3);
}

TEST_CASE("allocation alone: bits of the table") { CHECK(models::allocation_bits(8) == 8 * (2 * 4) + 8); }
