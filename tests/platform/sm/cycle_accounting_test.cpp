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
  const auto r = test::record(b, "waits_memory", test::one_scheduler());
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::MachineConfig m = test::one_scheduler();
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
  assembly::Simulation simulation(test::one_scheduler(), scheme, {}, reader);
  const auto r = simulation.run();
  REQUIRE(r.ending == assembly::Ending::completed);
  REQUIRE(scheme.states->changes >= 6);
  REQUIRE(scheme.states->state == protocol::WarpState::drained);
  // The warp waits from the end of the cycle in which the load issued.
  REQUIRE(scheme.states->memory == of(r, Stall::memory) + 1);
}

TEST_CASE("an SM is active from the launch of its first CTA to the end of its last one") {
  struct Times {
    std::uint64_t launched = 0, finished = 0;
  } times;
  struct Watch : protocol::Observer {
    explicit Watch(Times& t) : times(t) {}
    std::vector<protocol::Event> interests() const override {
      return {protocol::Event::cta_launched, protocol::Event::cta_finished};
    }
    void cta_launched(protocol::Cycle now, const protocol::CtaInfo&) override {
      if (times.launched == 0) times.launched = now.value();
    }
    void cta_finished(protocol::Cycle now, const protocol::CtaInfo&) override { times.finished = now.value(); }
    Times& times;
  };
  TraceBuilder b;
  b.load(MemorySpace::global, 2, 1);
  b.op(OpClass::int_add, {3}, {2});
  b.store(MemorySpace::global, 1, 3);  // on its way when the CTA has ended
  b.exit();
  b.launch(1, 32);
  b.run_all(lines());
  const auto r = test::record(b, "active", test::one_scheduler(), [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Watch>(times));
  });
  REQUIRE(r.result.cycles > times.finished + 20);
  CHECK(r.result.stats.at("sm0.pipeline").at("active_cycles") == times.finished - times.launched);
  CHECK(of(r.result, Stall::idle) >= r.result.cycles - times.finished);
}

TEST_CASE("resident CTAs and registers are means over the active cycles, slept through or not") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  b.load(MemorySpace::global, 7, 1);
  b.op(OpClass::int_add, {3}, {7});
  b.exit();
  b.launch(3, 64);
  b.run_all(lines());
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.register_granularity = 8;
  const auto r = test::record(b, "resident", m);
  const auto& pipeline = r.result.stats.at("sm0.pipeline");
  // Six warps of 8 registers, launched in one cycle; they end a few cycles one behind the other.
  CHECK(pipeline.at("resident_registers_max") == 6 * 8);
  CHECK(pipeline.at("resident_ctas_mean").get<double>() > 2.8);
  CHECK(pipeline.at("resident_ctas_mean").get<double>() <= 3);
  CHECK(pipeline.at("resident_registers_mean").get<double>() > 2.8 * 16);
  const double active = pipeline.at("active_cycles").get<double>();
  CHECK(pipeline.at("resident_cta_cycles").get<double>() == pipeline.at("resident_ctas_mean").get<double>() * active);
  CHECK(pipeline.at("resident_warp_cycles") == 2 * pipeline.at("resident_cta_cycles").get<std::uint64_t>());
}

TEST_CASE("a pipeline is busy for the initiation intervals of what it takes") {
  TraceBuilder b;
  for (unsigned i = 0; i < 5; ++i) b.op(OpClass::sfu, {1 + i}, {0});
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::int_add, {10 + i}, {0});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)] = {30, 7};
  m.sm.timing[static_cast<unsigned>(OpClass::int_add)] = {9, 2};
  const auto r = test::record(b, "busy", m);
  const auto& execution = r.result.stats.at("sm0.pipeline.execution");
  CHECK(execution.at("sfu_busy") == 5 * 7);
  CHECK(execution.at("sp_busy") == 3 * 2);
}

TEST_CASE("the lanes of a CTA's last warp are those that have a thread") {
  struct Watch : protocol::Observer {
    explicit Watch(std::vector<protocol::LaneMask>& l) : lanes(l) {}
    std::vector<protocol::Event> interests() const override { return {protocol::Event::warp_started}; }
    void warp_started(protocol::Cycle, const protocol::WarpInfo& w) override { lanes.push_back(w.lanes); }
    std::vector<protocol::LaneMask>& lanes;
  };
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  b.exit();
  b.launch(1, 70);
  b.run_all();
  std::vector<protocol::LaneMask> lanes;
  const auto r = test::record(b, "last_lanes", test::one_scheduler(), [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Watch>(lanes));
  });
  CHECK(lanes == std::vector<protocol::LaneMask>{~0u, ~0u, 0x3f});
  CHECK(r.result.thread_instructions == 2 * 70);
}

TEST_CASE("thread instructions count the lanes that execute, without those that a guard switches off") {
  TraceBuilder b;
  b.set_predicate(0, {100});
  b.guarded_op(OpClass::int_add, 0, {1}, {101});
  b.guarded_op(OpClass::int_add, 0, {2}, {102});
  b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  b.execute(0);
  b.execute(1, 0x0000ffff);
  b.execute(2, 0);
  b.execute(3);
  b.end_warp();
  b.end_cta();
  const auto r = test::record(b, "guarded_lanes", test::one_scheduler());
  CHECK(test::counter(r, "sm0.pipeline", "thread_instructions") == 32 + 16 + 0 + 32);
  CHECK(test::counter(r, "sm0.pipeline", "warp_instructions") == 4);
}

TEST_CASE("an instruction accesses the constant bank once, as a load or with an operand") {
  TraceBuilder b;
  trace::Operand constant;
  constant.kind = trace::Operand::Kind::constant_bank;
  b.op(OpClass::constant_load, {1}, {});  // with an operand of the bank
  b.kernel().instructions.back().operands = {constant};
  b.op(OpClass::constant_load, {2}, {});  // without: a special register
  b.op(OpClass::int_add, {3}, {100});     // with an operand of the bank
  b.kernel().instructions.back().operands = {constant};
  b.op(OpClass::int_add, {4}, {101});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const auto r = test::record(b, "constant_uses", test::one_scheduler());
  CHECK(test::counter(r, "sm0.pipeline.execution", "constant_instructions") == 3);
}
