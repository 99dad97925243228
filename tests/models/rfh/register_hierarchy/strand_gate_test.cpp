// SPDX-License-Identifier: Apache-2.0
//
// The gate at which strands begin, told of instructions as the pipeline would.
#include <regatta/test/clock.h>
#include "hierarchy_bench.h"

using namespace regatta;
using namespace regatta::test::hierarchy;

namespace {

class GateListener : public protocol::GateListener {
 public:
  void closed(WarpSlot warp, bool is_closed) override {
    if (is_closed) {
      CHECK(kept.insert(warp.value()).second);
    } else {
      CHECK(kept.erase(warp.value()) == 1);
    }
  }
  void pause(WarpSlot, protocol::Cycle) override { FAIL("no warp is paused"); }
  void reconsider(protocol::Cycle at) override { again = at.value(); }
  std::set<unsigned> kept;  ///< warp slots
  std::uint64_t again = 0;
};

/// Entries of a split last-result file: 0 writes bank A, 1 bank C.
struct BankKernel : HierarchyKernel {
  BankKernel() {
    plan.split = true;
    op({{1, in_bank(1)}}, {}, true);
    op({{2, in_bank(3)}}, {});
    done();
  }
};

/// 0, 1: loads; 2 writes ORF 0; 3 copies to it; 4 reads it; 5 begins a strand.
struct StrandKernel : HierarchyKernel {
  StrandKernel() {
    load(1, 0, true);
    load(2, 0);
    op({{3, in_orf(0)}}, {{0, in_main}});
    op({{4, in_main}}, {{0, main_and_orf(0)}});
    op({{4, in_main}}, {{0, in_orf(0)}});
    op({{5, main_and_last}}, {{1, in_main}}, true);
    done();
  }
};

struct GateBench {
  explicit GateBench(bool waits = true) : entries(k, 8, true), gate("strand_gate", waits, test::clock(period)) {
    gate.slots.bind(entries.active.slots);
    watch.on(gate.changed());
    gate.connect(listener);
    run_to(1);
    entries.start();
    gate.kernel_started(k.context);
    for (unsigned w = 0; w < 8; ++w) {
      gate.warp_started(k.warp(w));
      entries.enter(w);
    }
  }
  bool issue(unsigned warp, std::uint32_t index) {
    const auto d = k.made(warp, index);
    if (!gate.may_issue(d)) return false;
    gate.issued(d);
    return true;
  }
  void complete(unsigned warp, std::uint32_t index) { gate.written_back(k.made(warp, index)); }
  double stat(const std::string& name) { return stat_of(gate, name); }

  StrandKernel k;
  EntriesBench entries;
  models::StrandGate gate;
  GateListener listener;
  Watch watch{"watch"};
};

}  // namespace

TEST_CASE("strand gate: a warp waits for all its loads where a strand begins, and is closed meanwhile") {
  GateBench b;
  CHECK(b.issue(1, 0));
  CHECK(b.issue(1, 1));
  CHECK(b.issue(1, 4));
  CHECK_FALSE(b.issue(1, 5));
  CHECK_FALSE(b.issue(1, 5));
  CHECK(b.listener.kept == std::set<unsigned>{1});
  CHECK(b.listener.again == 2);
  CHECK(b.issue(2, 5));  // another warp has none
  run_for(30);
  b.complete(1, 0);
  CHECK(b.listener.kept.size() == 1);
  b.complete(1, 1);
  CHECK(b.listener.kept.empty());
  CHECK(b.issue(1, 5));
  CHECK(b.stat("strands") == 3);
  CHECK(b.stat("waits") == 1);
  CHECK(b.stat("wait_cycles") == 30);
}

TEST_CASE("strand gate: it leaves the wait to the scoreboard if told so") {
  GateBench b(false);
  CHECK(b.issue(1, 0));
  CHECK(b.issue(1, 5));
  CHECK(b.listener.kept.empty());
}

TEST_CASE("strand gate: entries are lost when the first instruction of a strand issues") {
  GateBench b;
  models::EntryFile& orf = b.entries.orf;
  const unsigned slot = b.entries.slot(3);
  WarpValue value{};
  const auto kept = [&] {
    orf.read(slot, 1, 0xffffffff, value.lane.data(), 1);
    return value.lane == pattern(9).lane;
  };
  orf.write(slot, 1, 0xffffffff, pattern(9).lane.data(), 0);
  CHECK(b.issue(3, 1));
  CHECK(kept());
  CHECK(b.issue(2, 5));
  CHECK(kept());
  CHECK_FALSE(b.issue(3, 5));
  CHECK(kept());
  b.complete(3, 1);
  CHECK(b.issue(3, 5));
  CHECK_FALSE(kept());
}

TEST_CASE("strand gate: an entry with a result on its way is not written, and a notification tells when it has come") {
  GateBench b;
  CHECK(b.issue(0, 2));
  CHECK_FALSE(b.issue(0, 2));
  CHECK_FALSE(b.issue(0, 3));
  CHECK(b.issue(0, 4));  // a read: the scoreboard's
  CHECK(b.issue(1, 2));  // another warp's entry
  CHECK(b.listener.kept.empty());
  run_for(5);
  const std::size_t before = b.watch.cycles.size();
  b.complete(0, 2);
  run_for(1);
  CHECK(b.watch.cycles.size() == before + 1);
  CHECK(b.issue(0, 3));
  CHECK(b.issue(0, 3));  // a copy is there when it issues
  CHECK(b.stat("entry_waits") == 2);
}

TEST_CASE("strand gate: each bank of a split last-result file has a result on its way or not") {
  BankKernel k;
  EntriesBench entries(k, 8, true);
  models::StrandGate gate("strand_gate", true, test::clock(period));
  gate.slots.bind(entries.active.slots);
  run_to(1);
  entries.start();
  gate.kernel_started(k.context);
  gate.warp_started(k.warp(0));
  gate.issued(k.made(0, 0));
  CHECK(gate.may_issue(k.made(0, 1)));
  gate.issued(k.made(0, 1));
  CHECK_FALSE(gate.may_issue(k.made(0, 1)));
  gate.written_back(k.made(0, 0));
  CHECK_FALSE(gate.may_issue(k.made(0, 1)));
  gate.written_back(k.made(0, 1));
  CHECK(gate.may_issue(k.made(0, 1)));
}

TEST_CASE("strand gate: a warp that waits at what another scheme inserted stays in the active set") {
  GateBench b;
  trace::StaticInstruction fence;
  fence.op_class = trace::OpClass::fence;
  fence.scheme = "other";
  protocol::InstructionTraits inserted;
  inserted.info = &fence;
  CHECK(b.gate.keeps_active(b.k.warp(0), inserted));
  for (const std::uint32_t index : {4u, 5u}) CHECK_FALSE(b.gate.keeps_active(b.k.warp(0), b.k.traits[index]));
}

TEST_CASE("strand gate: a strand in whose middle its warp left the active set is counted") {
  GateBench b;
  const auto leave = [&](unsigned warp) { b.gate.active_set_changed(b.k.warp(warp), false); };
  leave(0);
  CHECK(b.issue(0, 5));
  CHECK(b.issue(0, 2));
  CHECK(b.stat("torn_strands") == 0);
  leave(0);
  CHECK(b.issue(0, 4));
  CHECK(b.issue(0, 4));
  CHECK(b.stat("torn_strands") == 1);
}
