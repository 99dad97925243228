// SPDX-License-Identifier: Apache-2.0
//
// The scratchpad gate alone, with a lock table and release bits: which warps may issue, which wait, when a CTA gives
// the common part up.
#include <regatta/sharing/release_table.h>
#include <regatta/sharing/scratchpad_gate.h>
#include <regatta/sharing/scratchpad_lock_table.h>
#include <regatta/support/config.h>
#include <regatta/test/clock.h>
#include <regatta/trace/sharing.h>

#include <memory>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using trace::MemorySpace;
using trace::OpClass;

namespace {

/// One CTA that shares nothing in slot 0; pairs of slots 1 and 3, 2 and 4; two warps each. 16 bytes are private.
struct ScratchpadGateBench {
  static constexpr unsigned warps_per_cta = 2;
  enum Index : unsigned { arithmetic, access, generic, global, wide, leave };

  explicit ScratchpadGateBench(bool relssp = false)
      : pairs("pairs", 1, 2, 16, 64),
        table("table", test::clock(period)),
        bits("bits"),
        owners("owners"),
        gate("gate", models::Threshold::parse("t", "0.25"), relssp ? trace::relssp_optimal_scheme : "",
             test::clock(period)),
        launch(5, warps_per_cta, 8),
        infos(6),
        traits(6),
        fence(trace::relssp_instruction(trace::relssp_optimal_scheme, 0)) {
    table.pairs.bind(pairs);
    gate.pairs.bind(pairs);
    gate.boundary.bind(pairs);
    gate.locks.bind(table.locks);
    gate.owners.bind(owners);
    if (relssp) gate.release_bits.bind(bits.bits);
    gate.connect(closed);
    const auto memory = [&](Index i, MemorySpace space, unsigned bytes) {
      infos[i].space = space;
      infos[i].access_bytes = static_cast<std::uint8_t>(bytes);
      traits[i].is_memory = traits[i].has_addresses = true;
    };
    memory(access, MemorySpace::shared, 4);
    memory(generic, MemorySpace::generic, 4);
    memory(global, MemorySpace::global, 4);
    memory(wide, MemorySpace::shared, 8);
    infos[access].opcode = "ld.shared.u32";
    traits[leave].is_exit = true;
    infos[leave].op_class = OpClass::exit;
    for (unsigned i = 0; i < traits.size(); ++i) {
      traits[i].index = i;
      traits[i].info = &infos[i];
    }
    fence_traits.info = &fence;
    launch.context.traits = &traits;
    owners.owners = {1, 2};
    sc_core::sc_report_handler::set_actions("regatta/scratchpad_locks", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
  }
  void start() {
    table.kernel_started(launch.context);
    bits.kernel_started(launch.context);
    gate.kernel_started(launch.context);
    for (unsigned cta = 0; cta < 5; ++cta) begin(cta);
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
  static unsigned warp(unsigned cta, unsigned number) { return cta * warps_per_cta + number; }
  protocol::DynamicInstruction make(unsigned cta, unsigned number, Index index,
                                    const std::vector<std::uint64_t>& addresses = {}, protocol::LaneMask lanes = 0xf) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp(cta, number));
    d.cta = cta_at(cta);
    d.traits = &traits[index];
    d.info = &infos[index];
    d.active = lanes;
    for (std::size_t i = 0; i < addresses.size(); ++i) d.addresses[i] = addresses[i];
    return d;
  }
  bool issue(const protocol::DynamicInstruction& d) {
    const bool may = gate.may_issue(d);
    REQUIRE(gate.may_issue(d) == may);
    if (may) gate.issued(d);
    return may;
  }
  /// Offsets into shared memory of four lanes.
  static std::vector<std::uint64_t> at(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
    const std::uint64_t w = trace::shared_window;
    return {w + a, w + b, w + c, w + d};
  }
  bool common(unsigned cta, unsigned number) { return issue(make(cta, number, access, at(16, 20, 24, 28))); }
  bool own(unsigned cta, unsigned number) { return issue(make(cta, number, access, at(0, 4, 8, 12))); }
  void done(unsigned cta, unsigned number) { gate.written_back(make(cta, number, access, at(16, 20, 24, 28))); }
  void relssp(unsigned cta, unsigned number, protocol::LaneMask lanes = 0xf) {
    protocol::DynamicInstruction d = make(cta, number, arithmetic, {}, lanes);
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
  std::optional<CtaSlot> holder(unsigned pair) { return table.holder(pair); }
  double stat(const std::string& name) { return stat_of(gate, name); }

  FixedPairs pairs;
  models::ScratchpadLockTable table;
  models::ReleaseTable bits;
  Owners owners;
  models::ScratchpadGate gate;
  Launch launch;
  std::vector<trace::StaticInstruction> infos;
  std::vector<protocol::InstructionTraits> traits;
  trace::StaticInstruction fence;
  protocol::InstructionTraits fence_traits;
  Closed closed;
};

using B = ScratchpadGateBench;
using WarpSet = std::set<unsigned>;

void with_section(B& b, const char* t) {
  trace::SharingLayout layout;
  layout.t = *trace::parse_share(t);
  layout.common_accesses.assign(b.launch.kernel.instructions.size(), false);
  b.launch.kernel.annotations.push_back(
      {trace::sharing_section, trace::sharing_section_version, trace::encode(layout)});
}

}  // namespace

TEST_CASE("scratchpad gate alone: private bytes and CTAs that share nothing need no lock") {
  B b;
  b.start();
  for (unsigned cta = 0; cta < 5; ++cta) {
    CHECK(b.own(cta, 0));
    CHECK(b.issue(b.make(cta, 0, B::arithmetic)));
    CHECK(b.issue(b.make(cta, 0, B::global, {100, 200, 300, 400})));
  }
  CHECK(b.common(0, 0));
  CHECK(b.stat("acquires") == 0);
  CHECK(b.stat("checks") == 4);
}

TEST_CASE("scratchpad gate alone: the lock is the CTA's, and its partner waits until it ends") {
  B b;
  b.start();
  CHECK(b.common(1, 0));
  CHECK(b.common(1, 1));
  CHECK(b.holder(0) == cta_at(1));
  CHECK(b.own(3, 0));
  CHECK_FALSE(b.common(3, 0));
  CHECK_FALSE(b.common(3, 1));
  CHECK(b.closed.warps == WarpSet{6, 7});
  CHECK(b.common(2, 0));  // the other pair
  run_for(10);
  b.finish(1);
  CHECK(b.closed.warps.empty());
  CHECK(b.stat("wait_cycles") == 20);
  CHECK(b.stat("waits") == 2);
  b.owners.owners.insert(3);
  run_for(1);
  CHECK(b.common(3, 1));
  CHECK(b.holder(0) == cta_at(3));
  CHECK(b.stat("acquires") == 3);
}

TEST_CASE("scratchpad gate alone: one lane in the common part is enough") {
  B b;
  b.start();
  REQUIRE(b.common(1, 0));
  CHECK_FALSE(b.issue(b.make(3, 0, B::access, B::at(0, 16, 4, 8))));
  CHECK(b.issue(b.make(3, 1, B::access, B::at(0, 16, 4, 8), 0b1101)));  // that lane is not active
  CHECK(b.issue(b.make(3, 1, B::access, B::at(0, 16, 4, 8), 0)));
}

TEST_CASE("scratchpad gate alone: an access that reaches over the boundary") {
  B b;
  b.start();
  REQUIRE(b.common(1, 0));
  CHECK(b.issue(b.make(3, 0, B::wide, B::at(0, 8, 0, 8))));
  CHECK_FALSE(b.issue(b.make(3, 0, B::wide, B::at(0, 12, 0, 8))));
}

TEST_CASE("scratchpad gate alone: addresses with one stride, up and down") {
  B b;
  b.start();
  REQUIRE(b.common(1, 0));
  const auto strided = [&](const std::vector<std::uint64_t>& addresses, protocol::LaneMask lanes) {
    protocol::DynamicInstruction d = b.make(3, 0, B::access, addresses, lanes);
    d.affine_addresses = true;
    return b.gate.may_issue(d);
  };
  CHECK(strided(B::at(0, 4, 8, 12), 0xf));
  CHECK(strided(B::at(8, 12, 16, 20), 0b0011));
  CHECK(strided(B::at(20, 16, 12, 8), 0b1100));
  CHECK_FALSE(strided(B::at(20, 16, 12, 8), 0b1010));
}

TEST_CASE("scratchpad gate alone: generic accesses count where they lie in shared memory") {
  B b;
  b.start();
  REQUIRE(b.common(1, 0));
  std::vector<std::uint64_t> addresses = B::at(0, 4, 8, 12);
  addresses[2] = 1000000;  // global
  CHECK(b.issue(b.make(3, 0, B::generic, addresses)));
  addresses[1] = trace::shared_window + 16;
  CHECK_FALSE(b.issue(b.make(3, 0, B::generic, addresses)));
}

TEST_CASE("scratchpad gate alone: the lock goes back when all threads have executed relssp") {
  B b(true);
  with_section(b, "0.25");
  b.start();
  REQUIRE(b.common(1, 0));
  b.done(1, 0);
  REQUIRE_FALSE(b.common(3, 0));
  b.relssp(1, 0);
  b.relssp(1, 1, 0b0111);
  CHECK(b.holder(0) == cta_at(1));
  CHECK(b.closed.warps == WarpSet{6});
  run_for(5);
  b.relssp(1, 1, 0b1000);
  CHECK_FALSE(b.holder(0).has_value());
  CHECK(b.closed.warps.empty());
  CHECK(b.owners.releases == std::vector<unsigned>{1});
  // The partner may take it from the next cycle on.
  b.closed.may_pause = true;
  CHECK_FALSE(b.gate.may_issue(b.make(3, 1, B::access, B::at(16, 20, 24, 28))));
  CHECK(b.closed.paused == std::map<unsigned, std::uint64_t>{{7, cycle() + 1}});
  run_for(1);
  b.owners.lost = WarpRole::unshared;
  CHECK(b.common(3, 0));
  CHECK(b.holder(0) == cta_at(3));
  CHECK(b.stat("releases") == 1);
  CHECK(b.stat("relssp") == 3);
  // The first CTA ends without the lock.
  b.finish(1);
  CHECK(b.holder(0) == cta_at(3));
}

TEST_CASE("scratchpad gate alone: an exit releases too, once the warp's accesses are complete") {
  B b(true);
  with_section(b, "0.25");
  b.start();
  REQUIRE(b.common(1, 0));
  REQUIRE(b.common(1, 0));
  b.relssp(1, 1);
  CHECK(b.issue(b.make(1, 0, B::leave, {}, 0b0011)));
  CHECK(b.issue(b.make(1, 0, B::leave, {}, 0b1100)));
  b.done(1, 0);
  CHECK(b.holder(0) == cta_at(1));
  b.done(1, 0);
  CHECK_FALSE(b.holder(0).has_value());
}

TEST_CASE("scratchpad gate alone: without relssp exits release nothing") {
  B b;
  b.start();
  REQUIRE(b.common(1, 0));
  b.done(1, 0);
  for (unsigned w = 0; w < 2; ++w) REQUIRE(b.issue(b.make(1, w, B::leave)));
  CHECK(b.holder(0) == cta_at(1));
  b.finish(1);
  CHECK_FALSE(b.holder(0).has_value());
}

TEST_CASE("scratchpad gate alone: a CTA in a slot that was released starts anew") {
  B b(true);
  with_section(b, "0.25");
  b.start();
  for (unsigned w = 0; w < 2; ++w) b.relssp(1, w);
  CHECK(b.stat("releases") == 1);
  b.finish(1);
  CHECK(b.stat("releases") == 1);
  b.owners.owners = {2, 3};
  b.begin(1);
  CHECK(b.common(1, 0));
  b.finish(1);
  CHECK(b.stat("releases") == 2);
}

TEST_CASE("scratchpad gate alone: an access behind the release is an error") {
  B b(true);
  with_section(b, "0.25");
  b.start();
  for (unsigned w = 0; w < 2; ++w) b.relssp(1, w);
  CHECK(b.own(1, 0));
  CHECK(
      error_of([&] { b.common(1, 0); }) ==
      "gate in cycle 1: warp 2 (CTA slot 1) accesses the common part of shared memory at PC 0x8, ld.shared.u32, after "
      "all threads of its CTA have released it; expected no access behind relssp");
}

TEST_CASE("scratchpad gate alone: who takes the lock must be the owner, or beside one that has released") {
  B b;
  b.start();
  b.owners.deaf = true;
  CHECK(error_of([&] { b.common(3, 0); }) ==
        "gate in cycle 1: CTA slot 3 takes the lock of pair 0 and is not the owner; expected that it is now");
}

TEST_CASE("scratchpad gate alone: a partner that has not inherited") {
  B b;
  b.start();
  CHECK(error_of([&] {
          b.finish(1);
          b.begin(1);
        }) ==
        "gate in cycle 1: CTA slot 1 gets a CTA, and its partner in slot 3 is not the owner; expected that "
        "ownership has passed to it");
}

TEST_CASE("scratchpad gate alone: traces that are not annotated for the share are refused") {
  B b(true);
  CHECK(error_of([&] { b.start(); }) ==
        "kernel k has no section 'sharing', which relssp_optimal needs: annotate it with --scratchpad-layout 0.25");
}

TEST_CASE("scratchpad gate alone: traces that are annotated for another share are refused") {
  B b(true);
  with_section(b, "0.2");
  CHECK(error_of([&] { b.start(); }) ==
        "kernel k is annotated for --scratchpad-layout 1/5, and scratchpad_sharing.t is 0.25: expected the same share");
}

TEST_CASE("scratchpad lock table alone: a lock is taken once and returned by its holder") {
  B b;
  b.start();
  b.table.take(1, cta_at(4));
  CHECK(error_of([&] { b.table.take(1, cta_at(2)); }) ==
        "table in cycle 1: CTA slot 2 takes the lock of pair 1, which CTA slot 4 holds; expected a free lock");
  CHECK(error_of([&] { b.table.give_back(1, cta_at(2)); }) ==
        "table in cycle 1: CTA slot 2 returns the lock of pair 1, which CTA slot 4 holds; expected a lock of its own");
  b.table.give_back(1, cta_at(4));
  CHECK_FALSE(b.table.holder(1).has_value());
}
