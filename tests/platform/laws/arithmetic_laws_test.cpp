// SPDX-License-Identifier: Apache-2.0
//
// Laws of issue and execution units.
#include "laws.h"

using namespace regatta;
using assembly::MachineConfig;
using test::Passage;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// n instructions, each of which needs the one before: n times (operand read + latency + write-back).
void dependent_chain(const std::string& name, const MachineConfig& m, OpClass c) {
  constexpr unsigned count = 40;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(c, {1}, {1});
  b.exit();
  b.launch(1, test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  CHECK(r.gap(0, count - 1) == (count - 1) * test::dependent_step(m, test::pipelines(m, c).latency));
}
void chain_of_adds(const std::string& name, const MachineConfig& m) { dependent_chain(name, m, OpClass::int_add); }
void chain_of_fused(const std::string& name, const MachineConfig& m) { dependent_chain(name, m, OpClass::fp32_mad); }
void chain_of_roots(const std::string& name, const MachineConfig& m) { dependent_chain(name, m, OpClass::sfu); }
void chain_of_doubles(const std::string& name, const MachineConfig& m) { dependent_chain(name, m, OpClass::fp64_mul); }
void chain_of_divisions(const std::string& name, const MachineConfig& m) { dependent_chain(name, m, OpClass::int_div); }

/// Warps enough to hide everything, without registers: as many issues a cycle as schedulers have slots, unless the
/// pipelines take fewer.
void independent_stream(const std::string& name, MachineConfig m) {
  m.sm.scheduler = "lrr";  // so that all warps last until the end
  constexpr unsigned count = 150;
  constexpr unsigned warps_per_scheduler = 8;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {}, {});
  b.exit();
  const unsigned warps = warps_per_scheduler * m.sm.schedulers;
  b.launch(warps / 4, 4 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  const test::Pipelines p = test::pipelines(m, OpClass::int_add);
  // Issues in a time that both intervals divide, whatever the phase, in the middle of the run.
  const std::uint64_t window = 60 * std::uint64_t{m.sm.issue_interval} * p.initiation;
  const std::uint64_t by_issue = window * m.sm.schedulers * m.sm.issue_width / m.sm.issue_interval;
  const std::uint64_t by_units = window * p.count / p.initiation;
  const std::size_t first = r.passages.size() / 4;
  const std::uint64_t begin = r.passages[first].issued;
  std::uint64_t issued = 0;
  for (const Passage& passage : r.passages) issued += passage.issued >= begin && passage.issued < begin + window;
  REQUIRE(r.passages.back().issued > begin + 2 * window);
  CHECK(issued == std::min(by_issue, by_units));
}

/// One warp's independent instructions: a pipeline takes one per initiation interval.
void initiation(const std::string& name, MachineConfig m, OpClass c) {
  m.sm.buffer_entries = 16;
  m.sm.fetch_width = 8;
  constexpr unsigned count = 24;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(c, {}, {});
  b.exit();
  b.launch(1, test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  const test::Pipelines p = test::pipelines(m, c);
  // All pipelines are kept busy, or the scheduler has no more slots than that.
  const std::uint64_t expected =
      std::max<std::uint64_t>(p.initiation, std::uint64_t{p.reachable} * m.sm.issue_interval);
  for (unsigned i = p.reachable; i < count; ++i) {
    CAPTURE(i);
    REQUIRE(r.of(0, i).dispatched - r.of(0, i - p.reachable).dispatched == expected);
  }
}
void initiation_sfu(const std::string& name, const MachineConfig& m) { initiation(name, m, OpClass::sfu); }
void initiation_dp(const std::string& name, const MachineConfig& m) { initiation(name, m, OpClass::fp64_max); }
void initiation_sp(const std::string& name, const MachineConfig& m) { initiation(name, m, OpClass::int64); }

/// A scheduler issues in its slots alone, and a narrow pipeline is taken for as many cycles as it has passes.
void slots_and_passes(const std::string& name, const MachineConfig& m) {
  constexpr unsigned count = 30;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1 + i % 20}, {30 + i % 7});
  b.exit();
  b.launch(2, 4 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  for (const Passage& p : r.passages) REQUIRE(p.issued % m.sm.issue_interval == p.scheduler % m.sm.issue_interval);
  // Per scheduler: no more dispatches in any stretch than its pipelines take.
  const test::Pipelines units = test::pipelines(m, OpClass::int_add);
  for (unsigned s = 0; s < m.sm.schedulers; ++s) {
    std::vector<std::uint64_t> dispatched;
    for (const Passage& p : r.passages) {
      if (p.scheduler == s && p.index < count) dispatched.push_back(p.dispatched);
    }
    std::sort(dispatched.begin(), dispatched.end());
    REQUIRE(dispatched.size() == count * 8 / m.sm.schedulers);
    for (std::size_t i = units.reachable; i < dispatched.size(); ++i) {
      REQUIRE(dispatched[i] - dispatched[i - units.reachable] >= units.initiation);
    }
  }
}

/// No more results a cycle than write-back takes, whatever the units deliver.
void writeback_width(const std::string& name, MachineConfig m, unsigned width) {
  m.sm.scheduler = "lrr";
  m.sm.writeback_width = width;
  constexpr unsigned count = 150;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {}, {});
  b.exit();
  b.launch(2 * m.sm.schedulers, 4 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  std::vector<std::uint64_t> retired;
  for (const Passage& p : r.passages) {
    if (p.index < count) retired.push_back(p.retired);
  }
  std::sort(retired.begin(), retired.end());
  const std::size_t quarter = retired.size() / 4;
  const test::Pipelines p = test::pipelines(m, OpClass::int_add);
  REQUIRE(width * m.sm.issue_interval < m.sm.schedulers);
  REQUIRE(width * p.initiation < p.count);
  CHECK(retired[3 * quarter] - retired[quarter] == 2 * quarter / width);
}
void writeback_one(const std::string& name, const MachineConfig& m) { writeback_width(name, m, 1); }
void writeback_two(const std::string& name, const MachineConfig& m) { writeback_width(name, m, 2); }

/// A collector unit is taken from issue to dispatch: with too few of them, that many instructions per operand read.
void collector_bound(const std::string& name, MachineConfig m) {
  m.sm.scheduler = "lrr";
  m.sm.collectors = 1;
  m.sm.sp_collectors = 0;
  m.register_file.arbitration = 5;
  constexpr unsigned count = 100;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {}, {5});
  b.exit();
  b.launch(m.sm.schedulers, 4 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  for (unsigned s = 0; s < m.sm.schedulers; ++s) {
    std::vector<std::uint64_t> issued;
    for (const Passage& p : r.passages) {
      if (p.scheduler == s && p.index < count) issued.push_back(p.issued);
    }
    REQUIRE(issued.size() == 4 * count);
    CHECK(issued[300] - issued[100] == 200 * test::to_slot(m, test::read_cycles(m)));
  }
}

/// Two sides of a branch, half of the lanes each: one after the other, and each as long as for all lanes.
void divergence(const std::string& name, const MachineConfig& m) {
  constexpr unsigned side = 12;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < side; ++i) b.op(OpClass::int_add, {1}, {1});
  for (unsigned i = 0; i < side; ++i) b.op(OpClass::int_add, {1}, {1});
  b.exit();
  b.launch(2, test::lanes(m));
  const trace::LaneMask low = trace::all_lanes(test::lanes(m) / 2);
  const trace::LaneMask all = trace::all_lanes(test::lanes(m));
  // Two CTAs, on schedulers of their own: one goes both ways, the other one way.
  for (const bool diverges : {true, false}) {
    b.begin_cta();
    b.begin_warp();
    for (unsigned i = 0; i < side; ++i) b.execute(i, diverges ? low : all);
    for (unsigned i = side; diverges && i < 2 * side; ++i) b.execute(i, all & ~low);
    b.execute(2 * side, all);
    b.end_warp();
    b.end_cta();
  }
  const Recording r = test::record(b, name, m);
  const std::uint64_t step = test::dependent_step(m, test::pipelines(m, OpClass::int_add).latency);
  CHECK(r.of(1, side - 1).issued - r.of(1, 0).issued == (side - 1) * step);
  CHECK(r.gap(0, 2 * side - 1) == (2 * side - 1) * step);
}

/// Everyone leaves a barrier when the last one has come, barrier_latency later.
void barrier(const std::string& name, MachineConfig m) {
  m.sm.scheduler = "lrr";  // so that no warp goes on to its end before the others have left
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < 10; ++i) b.op(OpClass::int_add, {1}, {1});  // the late warp's way
  const std::uint32_t wait = b.barrier();
  const std::uint32_t after = b.op(OpClass::int_add, {2}, {3});
  const std::uint32_t end = b.exit();
  constexpr unsigned warps = 6;
  b.launch(1, warps * test::lanes(m));
  b.begin_cta();
  for (unsigned w = 0; w < warps; ++w) {
    b.begin_warp();
    for (unsigned i = 0; w == 3 && i < 10; ++i) b.execute(i);
    b.execute(wait);
    b.execute(after);
    b.execute(end);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, name, m);
  std::uint64_t last = 0;
  for (unsigned w = 0; w < warps; ++w) last = std::max(last, r.of(w, wait).issued);
  REQUIRE(last == r.of(3, wait).issued);
  // Released together; of the warps of one scheduler one goes in each of its slots.
  for (unsigned s = 0; s < m.sm.schedulers; ++s) {
    std::vector<std::uint64_t> issued;
    for (unsigned w = s; w < warps; w += m.sm.schedulers) issued.push_back(r.of(w, after).issued);
    std::sort(issued.begin(), issued.end());
    const std::uint64_t open = last + m.sm.barrier_latency;
    const std::uint64_t n = m.sm.issue_interval;
    const std::uint64_t slot = open + (n + s % n - open % n) % n;
    for (std::size_t i = 0; i < issued.size(); ++i) {
      CAPTURE(s, i);
      CHECK(issued[i] == slot + i * n);
    }
  }
}

/// Two pairs of warps, each at the barrier whose number, and for as many threads as, registers say: the pair with a
/// late warp does not keep the other, and a warp has arrived when its operands have.
void barrier_in_registers(const std::string& name, MachineConfig m) {
  constexpr unsigned way = 40;
  TraceBuilder b(test::lanes(m));
  unsigned warp = 0;
  const std::uint32_t number = b.op(OpClass::int_add, {1}, {});
  const std::uint32_t threads = b.op(OpClass::int_add, {2}, {});
  const std::uint32_t late = b.op(OpClass::int_add, {4}, {4});
  for (unsigned i = 1; i < way; ++i) b.op(OpClass::int_add, {4}, {4});
  const std::uint32_t wait = b.op(OpClass::barrier, {}, {1, 2});
  b.kernel().instructions[wait].operands = {{trace::Operand::Kind::reg, 1, false, 1},
                                            {trace::Operand::Kind::reg, 1, false, 2}};
  const std::uint32_t after = b.op(OpClass::int_add, {5}, {5});
  const std::uint32_t end = b.exit();
  b.set_rule([&](std::uint32_t index, unsigned, const std::vector<std::uint32_t>&) {
    return index == number ? 3 + 4 * (warp / 2) : index == threads ? 2 * test::lanes(m) : 0;
  });
  b.launch(1, 4 * test::lanes(m));
  b.begin_cta();
  for (warp = 0; warp < 4; ++warp) {
    b.begin_warp();
    b.execute(number);
    b.execute(threads);
    for (unsigned i = 0; warp == 3 && i < way; ++i) b.execute(late + i);
    b.execute(wait);
    b.execute(after);
    b.execute(end);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, name, m);
  for (const unsigned first : {0u, 2u}) {
    CAPTURE(first);
    const std::uint64_t last = std::max(r.of(first, wait).dispatched, r.of(first + 1, wait).dispatched);
    for (unsigned w = first; w < first + 2; ++w) {
      CHECK(r.of(w, wait).dispatched >= r.of(w, wait).issued + test::read_cycles(m));
      CHECK(r.of(w, after).issued >= last + m.sm.barrier_latency);
      CHECK(r.of(w, after).issued <= test::to_slot(m, last + m.sm.barrier_latency) + 2 * m.sm.issue_interval);
    }
  }
  CHECK(r.of(1, after).issued < r.of(3, wait).issued);
}

/// Two instructions of one warp in a cycle: of any two units, if the second needs nothing of the first and finds a
/// collector unit.
void dual_issue(const std::string& name, MachineConfig m) {
  m.sm.issue_width = 2;
  m.sm.fetch_width = 4;
  m.sm.buffer_entries = 8;
  TraceBuilder b(test::lanes(m));
  auto add = [&](unsigned kind, unsigned destination, unsigned source) {
    switch (kind) {
      case 0:
        return b.op(OpClass::int_add, {destination}, {source});
      case 1:
        return b.op(OpClass::sfu, {destination}, {source});
      case 2:
        return b.op(OpClass::fp64_add, {destination, destination + 1}, {source, source + 1});
      default:
        return b.load(trace::MemorySpace::shared, destination, source);
    }
  };
  using protocol::Unit;
  const Unit units[] = {Unit::sp, Unit::sfu, Unit::dp, Unit::lsu};
  struct Pair {
    std::uint32_t first, second;
    bool independent, together;
  };
  std::vector<Pair> pairs;
  for (unsigned x = 0; x < 4; ++x) {
    for (unsigned y = 0; y < 4; ++y) {
      for (const bool independent : {true, false}) {
        // All that went before is awaited, so that both are in the buffer and every unit is idle.
        b.op(OpClass::sfu, {1}, {1});
        b.op(OpClass::int_add, {2}, {1});
        b.op(OpClass::int_add, {3}, {2});
        const std::uint32_t first = add(x, 4, 3);
        const std::uint32_t second = add(y, 8, independent ? 12 : 4);
        b.op(OpClass::int_add, {1}, {4, 8});
        const bool together = x != y || test::collectors(m, units[x]) > 1;
        pairs.push_back({first, second, independent, together});
      }
    }
  }
  b.exit();
  b.launch(1, test::lanes(m), 4096);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(4 * lane);
  b.run_all(addresses);
  const Recording r = test::record(b, name, m);
  for (const Pair& p : pairs) {
    CAPTURE(p.first, p.second, p.independent);
    if (p.independent) {
      // The second waits until the first has left its collector unit.
      CHECK(r.gap(p.first, p.second) == (p.together ? 0 : test::read_cycles(m)));
    } else {
      CHECK(r.of(0, p.second).issued >= r.of(0, p.first).retired);
    }
  }
}

MachineConfig with_interval(MachineConfig m, unsigned interval) {
  m.sm.issue_interval = interval;
  return m;
}

}  // namespace

REGATTA_LAW(chain_of_adds, "gtx980")
REGATTA_LAW(chain_of_adds, "gtx480")
REGATTA_LAW(chain_of_adds, "k20x")
REGATTA_LAW(chain_of_adds, "hd7770")
REGATTA_LAW(chain_of_fused, "gtx980")
REGATTA_LAW(chain_of_fused, "gtx480")
REGATTA_LAW(chain_of_roots, "gtx980")
REGATTA_LAW(chain_of_roots, "gtx480")
REGATTA_LAW(chain_of_roots, "k20x")
REGATTA_LAW(chain_of_roots, "hd7770")
REGATTA_LAW(chain_of_doubles, "gtx980")
REGATTA_LAW(chain_of_doubles, "gtx480")
REGATTA_LAW(chain_of_doubles, "hd7770")
REGATTA_LAW(chain_of_divisions, "gtx480")
REGATTA_LAW(chain_of_divisions, "k20x")
REGATTA_LAW(independent_stream, "gtx980")
REGATTA_LAW(independent_stream, "gtx480")
REGATTA_LAW(independent_stream, "k20x")
REGATTA_LAW(independent_stream, "hd7770")
TEST_CASE("law: independent_stream through pipelines half a warp wide on gtx980") {
  MachineConfig m = test::machine("gtx980");
  m.sm.sp_lanes = 16;
  independent_stream("independent_stream_halves", m);
}
TEST_CASE("law: independent_stream with a slot in three cycles on gtx480") {
  independent_stream("independent_stream_slots", with_interval(test::machine("gtx480"), 3));
}
REGATTA_LAW(initiation_sfu, "gtx980")
REGATTA_LAW(initiation_sfu, "gtx480")
REGATTA_LAW(initiation_sfu, "k20x")
REGATTA_LAW(initiation_sfu, "hd7770")
REGATTA_LAW(initiation_dp, "gtx980")
REGATTA_LAW(initiation_dp, "gtx480")
REGATTA_LAW(initiation_dp, "k20x")
REGATTA_LAW(initiation_dp, "hd7770")
REGATTA_LAW(initiation_sp, "gtx980")
REGATTA_LAW(initiation_sp, "hd7770")
REGATTA_LAW(slots_and_passes, "hd7770")
TEST_CASE("law: slots_and_passes with a slot in three cycles on gtx980") {
  slots_and_passes("slots_and_passes_three", with_interval(test::machine("gtx980"), 3));
}
REGATTA_LAW(writeback_one, "gtx980")
REGATTA_LAW(writeback_one, "gtx480")
REGATTA_LAW(writeback_two, "gtx980")
REGATTA_LAW(writeback_two, "k20x")
REGATTA_LAW(collector_bound, "gtx980")
REGATTA_LAW(collector_bound, "gtx480")
REGATTA_LAW(collector_bound, "hd7770")
REGATTA_LAW(divergence, "gtx980")
REGATTA_LAW(divergence, "gtx480")
REGATTA_LAW(divergence, "hd7770")
REGATTA_LAW(barrier_in_registers, "gtx980")
REGATTA_LAW(barrier_in_registers, "gtx480")
REGATTA_LAW(barrier_in_registers, "k20x")
REGATTA_LAW(barrier_in_registers, "hd7770")
REGATTA_LAW(barrier, "gtx980")
REGATTA_LAW(barrier, "gtx480")
REGATTA_LAW(barrier, "k20x")
REGATTA_LAW(barrier, "hd7770")
TEST_CASE("law: a slow barrier on gtx980") {
  MachineConfig m = test::machine("gtx980");
  m.sm.barrier_latency = 17;
  barrier("barrier_slow", m);
}
REGATTA_LAW(dual_issue, "gtx980")
REGATTA_LAW(dual_issue, "gtx480")
REGATTA_LAW(dual_issue, "k20x")
