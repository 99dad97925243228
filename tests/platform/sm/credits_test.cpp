// SPDX-License-Identifier: Apache-2.0
//
// Queues and pools of the pipeline at the place where they are just full, and which of several goes first.
#include "recorder.h"

#include <set>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

/// Enough collectors that credits alone hold instructions back.
assembly::MachineConfig many_collectors() {
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.collectors = 16;
  return m;
}

sm::ClassTiming& timing(assembly::MachineConfig& m, OpClass c) { return m.sm.timing[static_cast<unsigned>(c)]; }

constexpr unsigned kept = 100;

/// Keeps every result for a while, in which it takes a place of the write-back queue.
class Keeps : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  explicit Keeps(const sc_core::sc_module_name& name) : sc_module(name) {}
  unsigned arrive(protocol::DynamicInstruction& d) override {
    if (!seen_.insert(&d).second) {
      seen_.erase(&d);
      return 0;
    }
    return kept;
  }
  Decision decide(protocol::DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  std::set<protocol::DynamicInstruction*> seen_;
  sc_core::sc_event changed_{"changed"};
};

Recording record_kept(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m) {
  return test::record(b, name, m,
                      [](assembly::SmParts& parts) { parts.writeback_point = std::make_unique<Keeps>("keeps"); });
}

}  // namespace

namespace {

/// Additions, one at a time, into a queue of so many places.
void full_queue(const std::string& name, unsigned places) {
  TraceBuilder b;
  for (unsigned i = 0; i < 8; ++i) b.op(OpClass::int_add, {1 + i}, {20});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = many_collectors();
  m.sm.writeback_queue = places;
  timing(m, OpClass::int_add) = {4, 4};
  const Recording r = record_kept(b, name, m);
  const std::uint64_t first = r.of(0, 0).dispatched;
  for (unsigned i = 0; i < places; ++i) CHECK(r.of(0, i).dispatched == first + i * 4);
  // The first result came a latency after its dispatch, and left when it had been kept; likewise the second.
  CHECK(r.of(0, places).dispatched == first + 4 + kept);
  if (places > 1) CHECK(r.of(0, places + 1).dispatched == first + 8 + kept);
}

}  // namespace

TEST_CASE("write-back queue of one place: a unit waits for it") { full_queue("queue_of_1", 1); }
TEST_CASE("write-back queue: units stop when it is just full, and go on with the first place") {
  full_queue("queue_of_5", 5);
}

TEST_CASE("write-back queue: a full one holds the load-store unit in the middle of a store") {
  TraceBuilder b;
  const auto add = b.op(OpClass::int_add, {1}, {20});
  const auto store = b.store(MemorySpace::global, 21, 22);
  const auto done = b.exit();
  b.launch(2, 32);
  for (unsigned warp = 0; warp < 2; ++warp) {
    b.begin_cta();
    b.begin_warp();
    if (warp == 0) b.execute(add);
    if (warp == 1) b.execute(store, 0, test::strided(0x10000, 128));
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
  assembly::MachineConfig m = many_collectors();
  m.sm.writeback_queue = 1;
  timing(m, OpClass::int_add).latency = 12;
  const Recording r = record_kept(b, "queue_lsu", m);
  const std::uint64_t full = r.of(0, add).dispatched + 12;
  const std::uint64_t begun = r.of(1, store).dispatched;
  REQUIRE(begun + 4 < full);
  // 32 lines, one a cycle, of which some go before the queue is full and the rest after; a store is done a cycle after
  // its last line has gone, and retires in the next.
  CHECK(r.of(1, store).retired == begun + 31 + kept + 2);
}

TEST_CASE("load-store queue: instructions are taken until it is just full") {
  TraceBuilder b;
  for (unsigned i = 0; i < 6; ++i) b.load(MemorySpace::shared, 1 + i, 20);
  b.exit();
  b.launch(1, 32, 8192);
  b.run_all(test::strided(0, 128));  // 32 passes each
  assembly::MachineConfig m = many_collectors();
  m.sm.lsu_queue = 2;
  const Recording r = test::record(b, "lsu_queue", m);
  const std::uint64_t first = r.of(0, 0).dispatched;
  // The first is in the banks at once, two wait, the next has room when the second begins.
  CHECK(r.of(0, 1).dispatched == first + 1);
  CHECK(r.of(0, 2).dispatched == first + 2);
  CHECK(r.of(0, 3).dispatched == first + 32 + 1);
  CHECK(r.of(0, 4).dispatched == first + 64 + 1);
}

TEST_CASE("collectors: an instruction takes a unit of its own kind and leaves the generic one") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {20});
  b.op(OpClass::fp64_add, {30, 31}, {20, 21});  // meanwhile the addition leaves its unit
  const auto second = b.op(OpClass::int_add, {2}, {30});
  const auto sfu = b.op(OpClass::sfu, {3}, {20});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = many_collectors();
  m.sm.collectors = 1;
  m.sm.sp_collectors = 1;
  timing(m, OpClass::int_add).initiation = 80;
  const Recording r = test::record(b, "own_kind", m);
  // The second addition waits for its pipeline in the unit of its kind.
  REQUIRE(r.of(0, second).dispatched == r.of(0, 0).dispatched + 80);
  CHECK(r.gap(second, sfu) == 1);
}

TEST_CASE("collectors: a pipeline's operands are there when the last of them is, wherever it stands") {
  assembly::MachineConfig m = many_collectors();
  const unsigned banks = m.register_file.banks;
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {1});                // 0
  b.op(OpClass::int_add, {1}, {1, 1 + banks, 2});  // 1: the second is the last
  b.op(OpClass::int_add, {1}, {1});                // 2
  b.op(OpClass::int_add, {1}, {1, 2, 1, 3, 2});    // 3: three registers
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "last_operand", m);
  CHECK(r.gap(1, 2) == r.gap(0, 1) + 1);
  CHECK(test::counter(r, "sm0.pipeline.collectors", "reads") == 1 + 3 + 1 + 3);
  CHECK(test::counter(r, "sm0.pipeline.collectors", "duplicate_operands") == 2);
}

namespace {

/// Warps 0 and 1, on schedulers of their own, finish a shared load and an addition in the same cycle.
Recording load_and_add(const std::string& order, unsigned width) {
  TraceBuilder b;
  const auto load = b.load(MemorySpace::shared, 1, 20);
  const auto add = b.op(OpClass::int_add, {2}, {20});
  const auto done = b.exit();
  b.launch(2, 32, 4096);
  for (unsigned warp = 0; warp < 2; ++warp) {
    b.begin_cta();
    b.begin_warp();
    if (warp == 0) b.execute(load, 0, test::strided(0, 4));
    if (warp == 1) b.execute(add);
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
  assembly::MachineConfig m;
  m.sm.writeback_width = width;
  m.sm.writeback_order = order;
  timing(m, OpClass::int_add).latency = m.sm.shared_latency;
  const Recording r = test::record(b, "order_of_" + order, m);
  REQUIRE(r.of(0, load).dispatched == r.of(1, add).dispatched);
  return r;
}

std::int64_t load_behind_add(const Recording& r) {
  return static_cast<std::int64_t>(r.of(0, 0).retired) - static_cast<std::int64_t>(r.of(1, 1).retired);
}

}  // namespace

TEST_CASE("write-back order: memory first") { CHECK(load_behind_add(load_and_add("memory", 1)) == -1); }
TEST_CASE("write-back order: pipelines first") { CHECK(load_behind_add(load_and_add("pipelines", 1)) == 1); }
TEST_CASE("write-back width: two results a cycle are not in each other's way") {
  CHECK(load_behind_add(load_and_add("pipelines", 2)) == 0);
}

TEST_CASE("write-back: a result that back-pressure holds stays the next one, whatever comes") {
  // Doubles and loads into a single bank with room for one write: heads of both queues are held with one register sent.
  TraceBuilder b;
  for (unsigned i = 0; i < 60; ++i) {
    const unsigned d = 1 + 2 * (i % 12);
    if (i % 3 == 0) {
      b.load(MemorySpace::shared, d, 30, 8);
    } else {
      b.op(OpClass::fp64_add, {d, d + 1}, {30, 31});
    }
  }
  b.exit();
  b.launch(4, 128, 4096);
  b.run_all(test::strided(0, 8));
  assembly::MachineConfig m;
  m.register_file.banks = 1;
  m.register_file.write_queue = 1;
  m.sm.writeback_order = "memory";
  const Recording r = test::record(b, "held_head", m);
  CHECK(test::counter(r, "sm0.pipeline.writeback", "held_attempts") > 1000);
  CHECK(test::counter(r, "sm0.pipeline.writeback", "writes") == 16 * 60 * 2);
}

TEST_CASE("write-back: what no lane executes is dropped, what some lanes execute is written in part") {
  TraceBuilder b;
  b.set_predicate(0, {20});
  const auto all = b.guarded_op(OpClass::int_add, 0, {1}, {20});
  const auto some = b.guarded_op(OpClass::int_add, 0, {2}, {20});
  const auto none = b.guarded_op(OpClass::fp64_add, 0, {4, 5}, {20, 21});
  const auto done = b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  b.execute(0);
  b.execute(all, ~0u);
  b.execute(some, 0xff00);
  b.execute(none, 0);
  b.execute(done);
  b.end_warp();
  b.end_cta();
  const Recording r = test::record(b, "parts", many_collectors());
  CHECK(test::counter(r, "sm0.pipeline.writeback", "writes") == 2);
  CHECK(test::counter(r, "sm0.pipeline.writeback", "partial_writes") == 1);
  CHECK(test::counter(r, "sm0.pipeline.writeback", "dropped") == 2);
  CHECK(test::counter(r, "sm0.register_file", "writes") == 2);
  // Lanes that cost energy are those that execute.
  CHECK(test::counter(r, "sm0.pipeline.execution", "fp64_lanes") == 0);
  CHECK(test::counter(r, "sm0.pipeline.execution", "integer_lanes") == 32 + 32 + 8);
}

TEST_CASE("write-back: an instruction retires with the last of its registers, wherever that stands") {
  assembly::MachineConfig m = many_collectors();
  const unsigned banks = m.register_file.banks;
  timing(m, OpClass::fp64_add) = {10, 1};
  timing(m, OpClass::int_add) = {11, 1};
  TraceBuilder b;
  b.op(OpClass::fp64_add, {2, 3}, {20, 21});  // 0: nobody in its way
  b.op(OpClass::int_div, {9}, {9});           // 1
  b.op(OpClass::int_add, {9}, {9});           // 2
  b.op(OpClass::int_add, {6 + banks}, {9});   // 3: writes the bank of R6 in the cycle of the next one
  b.op(OpClass::fp64_add, {6, 7}, {20, 21});  // 4
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "last_register", m);
  const auto way = [&](unsigned i) { return r.of(0, i).retired - r.of(0, i).dispatched; };
  REQUIRE(r.of(0, 4).dispatched == r.of(0, 3).dispatched + 1);
  CHECK(way(3) == 11 + test::write_cycles(m));
  CHECK(way(4) == way(0) + 1);
}

namespace {

/// Bypasses every addition, with the trace's result.
class Bypasses : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  Bypasses(const sc_core::sc_module_name& name, unsigned cycles, unsigned latency)
      : sc_module(name), cycles_(cycles), latency_(latency) {}
  unsigned latency() const override { return latency_; }
  Decision decide(protocol::DynamicInstruction& d) override {
    return d.info->op_class == OpClass::int_add ? Decision::bypass : Decision::execute;
  }
  unsigned bypass_latency() const override { return cycles_; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned cycles_, latency_;
  sc_core::sc_event changed_{"changed"};
};

/// Cycles from a bypassed addition's issue to that of an instruction that needs it.
void bypassed(const std::string& name, unsigned cycles, unsigned latency) {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {20});
  const auto user = b.op(OpClass::int_mul, {2}, {1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const assembly::MachineConfig m = many_collectors();
  const Recording r = test::record(b, name, m, [=](assembly::SmParts& parts) {
    parts.reuse_point = std::make_unique<Bypasses>("bypasses", cycles, latency);
  });
  CHECK(r.gap(0, user) == latency + cycles + test::write_cycles(m));
}

}  // namespace

TEST_CASE("reuse: a bypassed result is there after its latency and the write") { bypassed("bypass_1", 1, 0); }
TEST_CASE("reuse: a bypassed result of a slow reuse point") { bypassed("bypass_9", 9, 0); }
TEST_CASE("reuse: a reuse point that is asked some cycles after issue") { bypassed("bypass_late", 2, 4); }
