// SPDX-License-Identifier: Apache-2.0
//
// Moves that a gate puts before instructions: when they issue, what follows them, and that values survive them.
#include "recorder.h"

#include <regatta/support/clock_domain.h>
#include <regatta/test/clock.h>

#include <map>
#include <set>
#include <vector>

using namespace regatta;
using test::Passage;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

const sc_core::sc_time period = assembly::MachineConfig{}.clock_period();

/// Wants a move of the first destination once before every instruction that has one and reads something, and, where it
/// is told to, of a register before a move too, which nobody gets.
class MovesFirst : public protocol::IssueGate, public protocol::MoveRequester {
 public:
  explicit MovesFirst(unsigned refuse_moves_for = 0) : refusals_(refuse_moves_for) {}
  bool keeps_cycle_time() const override { return true; }
  void inject_through(protocol::Injector& injector) override { injector_ = &injector; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (d.injected) {
      ++asked_about_moves;
      if (refusals_ == 0) return true;
      --refusals_;
      injector_->move(d.warp, protocol::RegisterId(0));
      changed_.notify(sc_core::SC_ZERO_TIME);
      return false;
    }
    if (d.traits->write_count == 0 || d.traits->read_count == 0) return true;
    if (moved_[d.warp.value()] == d.sequence) return true;
    injector_->move(d.warp, d.traits->writes[0]);
    return false;
  }
  void issued(const protocol::DynamicInstruction& d) override {
    if (!d.injected) return;
    CHECK(moved_[d.warp.value()] != d.sequence);
    moved_[d.warp.value()] = d.sequence;
  }
  void written_back(const protocol::DynamicInstruction& d) override {
    if (!d.injected) return;
    for (unsigned lane = 0; lane < 32; ++lane) CHECK(d.results[0].lane[lane] == d.operands[0].lane[lane]);
  }
  const sc_core::sc_event& changed() const override { return changed_; }

  unsigned asked_about_moves = 0;

 private:
  unsigned refusals_;
  protocol::Injector* injector_ = nullptr;
  std::map<unsigned, std::uint64_t> moved_;  ///< by warp: the sequence that a move went before
  sc_core::sc_event changed_{"moves_changed"};
};

/// R1 .. R4 defined, then an instruction onto each of them, and one that reads them all.
void some_kernel(TraceBuilder& b, std::uint64_t ctas, unsigned threads) {
  for (unsigned r = 1; r <= 4; ++r) b.op(OpClass::constant_load, {r}, {});
  for (unsigned r = 1; r <= 4; ++r) b.op(OpClass::int_add, {r}, {r, 1 + r % 4});
  b.op(OpClass::int_mad, {4}, {1, 2, 3});
  b.op(OpClass::sfu, {1}, {4});
  b.exit();
  b.launch(ctas, threads);
  b.run_all();
}

/// Passages of a warp, a move and the instruction behind it having the same sequence.
std::map<std::uint64_t, std::vector<Passage>> by_sequence(const Recording& r, unsigned warp) {
  std::map<std::uint64_t, std::vector<Passage>> all;
  for (const Passage& p : r.passages) {
    if (p.warp == warp) all[p.sequence].push_back(p);
  }
  return all;
}

}  // namespace

TEST_CASE("injector: a move issues in place of the instruction, which follows when it is written") {
  TraceBuilder b;
  some_kernel(b, 1, 32);
  const Recording r = test::record(
      b, "injector", {}, [](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<MovesFirst>()); });
  const auto passages = by_sequence(r, 0);
  REQUIRE(passages.size() == 11);
  for (const auto& [sequence, p] : passages) {
    const bool moved = sequence >= 5 && sequence <= 10;
    INFO("instruction " << sequence);
    REQUIRE(p.size() == (moved ? 2u : 1u));
    if (!moved) continue;
    CHECK(p[0].index == p[1].index);  // of the same place
    CHECK(p[0].dispatched > p[0].issued);
    CHECK(p[1].issued == p[0].retired);
  }
  CHECK(r.result.warp_instructions == 11);
  CHECK(r.result.stall_cycles[static_cast<unsigned>(protocol::Stall::none)] == 11 + 6);
}

TEST_CASE("injector: many warps, two instructions a cycle, partial warps") {
  TraceBuilder b;
  some_kernel(b, 8, 208);  // the last warp of a CTA has 16 threads
  assembly::MachineConfig m;
  m.sm.issue_width = 2;
  const Recording r = test::record(
      b, "injector_many", m, [](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<MovesFirst>()); });
  CHECK(r.result.warp_instructions == 8 * 7 * 11);
  CHECK(r.passages.size() == 8 * 7 * (11 + 6));
}

TEST_CASE("injector: the gates are asked about a move, and a move that they refuse is wanted again") {
  TraceBuilder b;
  some_kernel(b, 1, 32);
  unsigned asked = 0;
  class Counting : public MovesFirst {
   public:
    explicit Counting(unsigned& asked) : MovesFirst(5), asked_(asked) {}
    ~Counting() override { asked_ = asked_about_moves; }

   private:
    unsigned& asked_;
  };
  const Recording r = test::record(b, "injector_refused", {}, [&](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<Counting>(asked));
  });
  CHECK(asked == 6 + 5);
  // The first move goes out five cycles later than the first refusal, and all of them once.
  CHECK(r.passages.size() == 11 + 6);
}

TEST_CASE("injector: a move waits for a collector unit of the SP pipelines") {
  TraceBuilder b;
  for (unsigned r = 1; r <= 2; ++r) b.op(OpClass::constant_load, {r}, {});
  for (unsigned n = 0; n < 8; ++n) b.load(trace::MemorySpace::global, 3 + n, 1);
  b.exit();
  b.launch(1, 128);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(lane * 4);
  b.run_all(addresses);
  assembly::MachineConfig m;
  m.sm.collectors = 1;
  m.sm.memory_collectors = 16;
  const Recording r = test::record(b, "injector_collectors", m, [](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<MovesFirst>());
  });
  CHECK(r.passages.size() == 4 * (2 + 8 + 1 + 8));
}

TEST_CASE("injector: a move waits for a unit of the SP pipelines while the instruction behind it has one of its own") {
  // Warp 0 fills the only SP unit; a gate wants a move before warp 1's special function.
  TraceBuilder b;
  for (unsigned i = 0; i < 2; ++i) b.op(OpClass::int_add, {}, {20});
  const auto sfu = b.op(OpClass::sfu, {3}, {21});
  const auto done = b.exit();
  b.launch(2, 32);
  for (unsigned warp = 0; warp < 2; ++warp) {
    b.begin_cta();
    b.begin_warp();
    if (warp == 0) {
      b.execute(0);
      b.execute(1);
    } else {
      b.execute(sfu);
    }
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
  assembly::MachineConfig m;
  m.sm.schedulers = m.sm.sp_units = m.sm.sfu_units = m.sm.dp_units = 1;
  m.sm.scheduler = "lrr";
  m.sm.collectors = 0;
  m.sm.sp_collectors = m.sm.sfu_collectors = m.sm.dp_collectors = m.sm.memory_collectors = 1;
  m.sm.timing[static_cast<unsigned>(OpClass::int_add)].initiation = 60;
  // The gate speaks when the second addition is in the unit.
  class Late : public MovesFirst, public protocol::GateReporter {
   public:
    bool may_issue(const protocol::DynamicInstruction& d) override {
      if (d.warp.value() == 1 && !d.injected && test::machine_clock().now() < 20) {
        changed_soon();
        return false;
      }
      return MovesFirst::may_issue(d);
    }
    void connect(protocol::GateListener& listener) override { listener_ = &listener; }

   private:
    void changed_soon() { listener_->reconsider(protocol::Cycle(test::machine_clock().now() + 1)); }
    protocol::GateListener* listener_ = nullptr;
  };
  const Recording r = test::record(b, "injector_sp", m,
                                   [](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Late>()); });
  const std::uint64_t free = r.of(0, 1).dispatched;
  REQUIRE(free > 40);
  const auto p = by_sequence(r, 1).at(1);
  REQUIRE(p.size() == 2);
  CHECK(p[0].issued == free);  // the move
  CHECK(p[1].issued == p[0].retired);
}
