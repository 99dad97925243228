// SPDX-License-Identifier: Apache-2.0
//
// Every scheduler-cycle has one reason, and it is the one that holds: kernels that wait for one thing only.
#include "recorder.h"

using namespace regatta;
using protocol::Stall;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

std::uint64_t of(const assembly::SimulationResult& r, Stall s) { return r.stall_cycles[static_cast<unsigned>(s)]; }

std::uint64_t slots(const assembly::CycleStack& stack) {
  std::uint64_t sum = 0;
  for (const std::uint64_t s : stack) sum += s;
  return sum;
}

assembly::MachineConfig one_scheduler() {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.sp_units = 1;
  m.sm.sfu_units = 1;
  m.sm.fetch_width = 8;
  m.sm.buffer_entries = 16;
  return m;
}

std::vector<std::uint64_t> lines() {
  std::vector<std::uint64_t> all;
  for (unsigned lane = 0; lane < 64; ++lane) all.push_back(0x1000 + lane * 4);
  return all;
}

}  // namespace

TEST_CASE("cycles that wait for memory are memory's, slept through or not") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  const auto load = b.load(MemorySpace::global, 2, 1);
  const auto use = b.op(OpClass::int_add, {3}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all(lines());
  const auto r = test::record(b, "waits_memory", one_scheduler());
  REQUIRE(r.gap(load, use) > 100);
  REQUIRE(of(r.result, Stall::memory) == r.gap(load, use) - 1);
  REQUIRE(of(r.result, Stall::scoreboard) == r.gap(0, load) - 1);
  REQUIRE(slots(r.result.stall_cycles) == r.result.cycles);
}

TEST_CASE("cycles between dependent instructions are the scoreboard's") {
  TraceBuilder b;
  const auto first = b.op(OpClass::int_add, {1}, {0});
  std::uint32_t last = first;
  for (unsigned i = 0; i < 10; ++i) last = b.op(OpClass::int_mad, {1}, {1, 0});
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = one_scheduler();
  m.sm.fetch_width = 16;
  const auto r = test::record(b, "waits_scoreboard", m);
  REQUIRE(of(r.result, Stall::scoreboard) == r.gap(first, last) - 10);
  REQUIRE(of(r.result, Stall::memory) == 0);
}

TEST_CASE("cycles at a barrier are the barrier's") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  const auto div = b.op(OpClass::int_div, {2}, {0});
  b.op(OpClass::int_add, {2}, {2});
  const auto wait = b.barrier();
  b.exit();
  b.launch(1, 64);
  // Warp 0 arrives at once, warp 1 after a division.
  b.begin_cta();
  b.begin_warp();
  b.execute(0);
  b.execute(wait);
  b.execute(4);
  b.end_warp();
  b.begin_warp();
  for (std::uint32_t i = 0; i < 5; ++i) b.execute(i);
  b.end_warp();
  b.end_cta();
  assembly::MachineConfig m = one_scheduler();
  m.sm.schedulers = 2;
  m.sm.sp_units = 2;
  const auto r = test::record(b, "waits_barrier", m);
  // Its scheduler has no other warp. Less the cycle in which it opened, and what it took to fetch behind the branch.
  REQUIRE(of(r.result, Stall::barrier) > r.of(1, wait).issued - r.of(0, wait).issued - 2);
  REQUIRE(of(r.result, Stall::scoreboard) >= r.of(1, 2).issued - r.of(1, div).issued - 1);
  REQUIRE(slots(r.result.stall_cycles) == 2 * r.result.cycles);
}

namespace {

assembly::SimulationResult one_collector(OpClass c, const char* name) {
  TraceBuilder b;
  for (unsigned i = 0; i < 12; ++i) b.op(c, {1 + i}, {0});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = one_scheduler();
  m.sm.collectors = 1;
  m.sm.dp_units = 1;
  return test::record(b, name, m).result;
}

}  // namespace

TEST_CASE("a full collector is structural, by the unit of what waits for it: special functions") {
  const auto r = one_collector(OpClass::sfu, "structural_sfu");
  REQUIRE(of(r, Stall::structural_sfu) > 20);
  REQUIRE(of(r, Stall::structural_sp) == 0);
}

TEST_CASE("a full collector is structural, by the unit of what waits for it: double precision") {
  const auto r = one_collector(OpClass::fp64_mul, "structural_dp");
  REQUIRE(of(r, Stall::structural_dp) > 20);
  REQUIRE(of(r, Stall::structural_sfu) == 0);
}

TEST_CASE("a full collector is structural, by the unit of what holds it and not of what waits") {
  // Two slow functions fill the two generic units, again and again; the next instruction is an addition half of the
  // time.
  TraceBuilder b;
  for (unsigned i = 0; i < 24; ++i) b.op(i % 3 == 2 ? OpClass::int_add : OpClass::sfu, {1 + i}, {0});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = one_scheduler();
  m.sm.collectors = 2;
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = 40;
  const auto r = test::record(b, "holders", m).result;
  REQUIRE(of(r, Stall::structural_sfu) > 200);
  // One of each in the units, for a cycle or two, and a third that waits.
  REQUIRE(of(r, Stall::structural_sp) < 2 * 8);
}

TEST_CASE("outside its slot a scheduler meets what it would meet in it") {
  TraceBuilder b;
  for (unsigned i = 0; i < 12; ++i) b.op(OpClass::sfu, {1 + i}, {0});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = one_scheduler();
  m.sm.collectors = 1;
  m.sm.issue_interval = 4;
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = 40;
  const auto r = test::record(b, "slots", m).result;
  CHECK(of(r, Stall::structural_sfu) > 10 * 30);
  // After each instruction at most the rest of a round, before the first one a round.
  CHECK(of(r, Stall::structural_scheduler) <= 13 * 3);
  CHECK(of(r, Stall::structural_scheduler) > 0);
}

TEST_CASE("cycles without the next instruction are instruction fetch") {
  TraceBuilder b;
  for (unsigned i = 0; i < 20; ++i) b.op(OpClass::int_add, {1 + i}, {0});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = one_scheduler();
  m.sm.fetch_width = 1;
  m.sm.buffer_entries = 1;
  m.sm.fetch_latency = 30;
  const auto r = test::record(b, "waits_fetch", m);
  // Between two of the 21 instructions nothing but the fetch is waited for.
  REQUIRE(of(r.result, Stall::instruction_fetch) >= r.gap(0, 20) - 20);
  REQUIRE(of(r.result, Stall::scoreboard) == 0);
  REQUIRE(of(r.result, Stall::idle) < 40);
}

TEST_CASE("warp states are told when they change, and are what the reasons say") {
  struct States : protocol::Observer {
    std::vector<protocol::Event> interests() const override { return {protocol::Event::warp_state}; }
    void warp_state(protocol::Cycle now, const protocol::WarpInfo&, protocol::WarpState s) override {
      if (state == protocol::WarpState::memory) memory += now.value() - since;
      REQUIRE(s != state);
      state = s;
      since = now.value();
      ++changes;
    }
    protocol::WarpState state = protocol::WarpState::absent;
    std::uint64_t since = 0, memory = 0, changes = 0;
  };
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  b.load(MemorySpace::global, 2, 1);
  b.op(OpClass::int_add, {3}, {2});
  b.exit();
  b.launch(1, 32);
  b.run_all(lines());
  const std::string path = b.write("warp_states");
  struct Watched : assembly::Scheme {
    States* states = nullptr;
    std::string name() const override { return "watched"; }
    std::string help() const override { return "the baseline, watched"; }
    assembly::SmParts build(const assembly::BuildContext& c) override {
      assembly::SmParts parts = assembly::baseline_parts(c);
      auto own = std::make_unique<States>();
      states = own.get();
      parts.observers.push_back(std::move(own));
      return parts;
    }
  } scheme;
  const trace::Reader reader(path);
  assembly::Simulation simulation(one_scheduler(), scheme, {}, reader);
  const auto r = simulation.run();
  REQUIRE(r.ending == assembly::Ending::completed);
  REQUIRE(scheme.states->changes >= 6);
  REQUIRE(scheme.states->state == protocol::WarpState::drained);
  // The warp waits from the end of the cycle in which the load issued.
  REQUIRE(scheme.states->memory == of(r, Stall::memory) + 1);
}
