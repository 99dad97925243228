// SPDX-License-Identifier: Apache-2.0
//
// The load-store unit: what its address stage and the banks of shared memory take, where accesses go, what is counted.
#include "recorder.h"

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

std::uint64_t lsu(const Recording& r, const char* name) { return test::counter(r, "sm0.pipeline.lsu", name); }

assembly::MachineConfig with_lanes(unsigned lanes) {
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.lsu_lanes = lanes;
  return m;
}

/// Runs the instructions once, each with addresses of its own.
Recording run(TraceBuilder& b, const std::string& name, const std::vector<std::vector<std::uint64_t>>& addresses,
              const assembly::MachineConfig& m) {
  const auto done = b.exit();
  b.launch(1, 32, 16384);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < addresses.size(); ++i) b.execute(i, 0, addresses[i]);
  b.execute(done);
  b.end_warp();
  b.end_cta();
  return test::record(b, name, m);
}

std::uint64_t way(const Recording& r, std::uint32_t i) { return r.of(0, i).retired - r.of(0, i).dispatched; }

void address_stage(const std::string& name, unsigned lanes) {
  TraceBuilder b;
  for (unsigned i = 0; i < 6; ++i) b.load(MemorySpace::shared, 1 + i, 20);
  const assembly::MachineConfig m = with_lanes(lanes);
  const Recording r = run(b, name, std::vector<std::vector<std::uint64_t>>(6, test::strided(0, 4)), m);
  const std::uint64_t passes = 32 / lanes;
  // The last addresses reach the banks in the last pass.
  CHECK(way(r, 0) == m.sm.shared_latency + passes - 1 + test::write_cycles(m));
  for (unsigned i = 1; i < 6; ++i) CHECK(r.of(0, i).retired == r.of(0, 0).retired + i * passes);
}

}  // namespace

TEST_CASE("load-store unit: 32 addresses a cycle") { address_stage("addresses_32", 32); }
TEST_CASE("load-store unit: 8 addresses a cycle") { address_stage("addresses_8", 8); }
TEST_CASE("load-store unit: 1 address a cycle") { address_stage("addresses_1", 1); }

TEST_CASE("load-store unit: the banks of shared memory serve one pass a cycle, accesses one behind the other") {
  TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) b.load(MemorySpace::shared, 1 + i, 20);
  const assembly::MachineConfig m = test::one_scheduler();
  const Recording r =
      run(b, "passes", {test::strided(0, 128), test::strided(0, 4), test::strided(0, 8), test::strided(0, 4)}, m);
  const std::uint64_t free = r.of(0, 0).dispatched;
  const std::uint64_t rest = m.sm.shared_latency + test::write_cycles(m);
  CHECK(r.of(0, 0).retired == free + 31 + rest);
  CHECK(r.of(0, 1).retired == free + 32 + rest);          // behind 32 passes
  CHECK(r.of(0, 2).retired == free + 32 + 1 + 1 + rest);  // two passes
  CHECK(r.of(0, 3).retired == free + 32 + 1 + 2 + rest);
  CHECK(lsu(r, "shared_passes") == 32 + 1 + 2 + 1);
  CHECK(lsu(r, "shared_conflicts") == 2);
}

TEST_CASE("load-store unit: a line a cycle, and none before its last address is made") {
  TraceBuilder b;
  for (unsigned i = 0; i < 3; ++i) {
    b.op(OpClass::int_div, {21}, {21});  // so that each store finds the unit empty
    b.op(OpClass::int_add, {20}, {21});
    b.store(MemorySpace::global, 20, 22);
  }
  const std::vector<std::uint64_t> none;
  // One line, four lines of eight lanes each, and one line of which the first half's lanes are made first.
  const Recording r = run(b, "lines",
                          {none, none, test::strided(0x10000, 4), none, none, test::strided(0x20000, 16), none, none,
                           test::strided(0x30000, 4)},
                          with_lanes(8));
  // A store is done a cycle after its last line has gone, and then retires.
  CHECK(way(r, 2) == 3 + 2);
  CHECK(way(r, 5) == 3 + 2);
  CHECK(way(r, 8) == 3 + 2);
  CHECK(lsu(r, "requests") == 1 + 4 + 1);
  CHECK(lsu(r, "store_sectors") == 4 + 16 + 4);
}

TEST_CASE("load-store unit: with all addresses at once lines leave one a cycle") {
  TraceBuilder b;
  b.store(MemorySpace::global, 20, 22);
  b.op(OpClass::int_div, {21}, {21});
  b.op(OpClass::int_add, {20}, {21});
  b.store(MemorySpace::global, 20, 22);
  const Recording r =
      run(b, "one_a_cycle", {test::strided(0x10000, 4), {}, {}, test::strided(0x20000, 16)}, test::one_scheduler());
  CHECK(way(r, 0) == 2);
  CHECK(way(r, 3) == 3 + 2);
}

TEST_CASE("load-store unit: sectors are those of loads, of stores and of atomics") {
  TraceBuilder b;
  b.load(MemorySpace::global, 1, 20);
  b.store(MemorySpace::global, 20, 22);
  const auto atomic = b.load(MemorySpace::global, 2, 20);
  b.kernel().instructions[atomic].op_class = OpClass::atomic;
  b.kernel().instructions[atomic].writes_memory = true;
  const Recording r =
      run(b, "sectors", {test::strided(0x10000, 4), test::strided(0x20000, 8), test::strided(0x30000, 32)},
          test::one_scheduler());
  CHECK(lsu(r, "load_sectors") == 4);
  CHECK(lsu(r, "store_sectors") == 8);
  CHECK(lsu(r, "atomic_sectors") == 32);
  CHECK(lsu(r, "requests") == 1 + 2 + 8);
  CHECK(lsu(r, "global_instructions") == 3);
}

TEST_CASE("load-store unit: words of local memory at one offset share a line, and stay with the L1") {
  TraceBuilder b;
  b.kernel().local_bytes_per_thread = 16;
  for (unsigned i = 0; i < 2; ++i) {
    const auto load = b.load(MemorySpace::local, 1 + i, 20);
    b.kernel().instructions[load].bypasses_l1 = true;
  }
  const auto global = b.load(MemorySpace::global, 4, 20);
  b.kernel().instructions[global].bypasses_l1 = true;
  assembly::MachineConfig m = test::one_scheduler();
  m.l1.data_policy = m.l1.local_policy = "cache";
  // A thread's frame: 16 bytes.
  const Recording r = run(
      b, "local",
      {test::strided(trace::local_window, 16), test::strided(trace::local_window + 4, 16), test::strided(0x10000, 4)},
      m);
  CHECK(lsu(r, "local_instructions") == 2);
  CHECK(lsu(r, "requests") == 3);
  CHECK(lsu(r, "load_sectors") == 3 * 4);
  CHECK(test::counter(r, "sm0.l1", "accesses_local_load") == 2);
  CHECK(test::counter(r, "sm0.l1", "bypassed_reads") == 1);
}

TEST_CASE("load-store unit: generic lanes go to shared memory or beyond by their addresses") {
  TraceBuilder b;
  b.load(MemorySpace::generic, 1, 20);
  b.load(MemorySpace::generic, 2, 20);
  std::vector<std::uint64_t> both = test::strided(trace::shared_window, 128);
  for (unsigned lane = 16; lane < 32; ++lane) both[lane] = 0x40000 + lane * 4;
  const Recording r = run(b, "generic", {test::strided(trace::shared_window, 4), both}, test::one_scheduler());
  CHECK(lsu(r, "shared_instructions") == 2);
  CHECK(lsu(r, "shared_passes") == 1 + 16);
  CHECK(lsu(r, "requests") == 1);
  CHECK(lsu(r, "load_sectors") == 2);
}

TEST_CASE("load-store unit: warps have frames of local memory of their own") {
  TraceBuilder b;
  b.kernel().local_bytes_per_thread = 16;
  const auto first = b.load(MemorySpace::local, 1, 20);
  const auto second = b.load(MemorySpace::local, 2, 1);  // when the first is back
  const auto done = b.exit();
  b.launch(2, 32);
  for (unsigned cta = 0; cta < 2; ++cta) {
    b.begin_cta();
    b.begin_warp();
    const std::uint64_t frames = trace::local_window + std::uint64_t{cta} * 32 * 16;
    b.execute(first, 0, test::strided(frames, 16));
    b.execute(second, 0, test::strided(frames + 4, 16));
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
  assembly::MachineConfig m = test::one_scheduler();
  m.l1.local_policy = "cache";
  const Recording r = test::record(b, "frames", m);
  // Two offsets of two warps: a line each.
  CHECK(lsu(r, "requests") == 4);
  CHECK(test::counter(r, "sm0.l1", "fills") == 4);
}

TEST_CASE("load-store unit: warps of different SMs have frames of local memory of their own") {
  TraceBuilder b;
  b.kernel().local_bytes_per_thread = 4;
  const auto load = b.load(MemorySpace::local, 1, 20);
  const auto done = b.exit();
  b.launch(2, 32);
  for (unsigned cta = 0; cta < 2; ++cta) {
    b.begin_cta();
    b.begin_warp();
    b.execute(load, 0, test::strided(trace::local_window + std::uint64_t{cta} * 32 * 4, 4));
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
  const trace::Reader reader(b.write("frames_of_sms"));
  assembly::SchemeRegistry schemes = assembly::SchemeRegistry::with_baseline();
  assembly::SimulationOptions options;
  options.sms = 2;
  assembly::Simulation simulation(test::one_scheduler(), schemes.get("baseline"), options, reader);
  const assembly::SimulationResult r = simulation.run();
  REQUIRE(r.ending == assembly::Ending::completed);
  std::uint64_t requests[2] = {0, 0}, fetched = 0;
  for (const auto& [path, group] : r.stats.items()) {
    if (path == "sm0.pipeline.lsu") requests[0] = group.at("requests");
    if (path == "sm1.pipeline.lsu") requests[1] = group.at("requests");
    if (path.find("memory.l2_") == 0) fetched += group.at("bytes_fetched").get<std::uint64_t>();
  }
  CHECK(requests[0] == 1);
  CHECK(requests[1] == 1);
  CHECK(fetched == 2 * 128);
}

TEST_CASE("load-store unit: a wide access to local memory is one of words that lie a warp apart") {
  TraceBuilder b;
  b.kernel().local_bytes_per_thread = 16;
  b.load(MemorySpace::local, 1, 20, 8);
  const Recording r = run(b, "wide_local", {test::strided(trace::local_window + 8, 16)}, test::one_scheduler());
  CHECK(lsu(r, "requests") == 2);
  CHECK(lsu(r, "load_sectors") == 2 * 4);
}

TEST_CASE("load-store unit: atomics on one word of shared memory take turns, loads of it share it") {
  TraceBuilder b;
  b.load(MemorySpace::shared, 1, 20);
  const auto atomic = b.load(MemorySpace::shared, 2, 20);
  b.kernel().instructions[atomic].op_class = OpClass::atomic;
  b.kernel().instructions[atomic].writes_memory = true;
  const Recording r = run(b, "atomics", {test::strided(64, 0), test::strided(64, 0)}, test::one_scheduler());
  CHECK(lsu(r, "shared_passes") == 1 + 32);
}
