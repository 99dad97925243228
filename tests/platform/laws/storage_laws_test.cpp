// SPDX-License-Identifier: Apache-2.0
//
// Laws of register banks and shared memory, and of the two-level exchange.
#include <algorithm>
#include <numeric>

#include "laws.h"

using namespace regatta;
using assembly::MachineConfig;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

unsigned read_ports(const MachineConfig& m) { return m.register_file.ports == "2r1w" ? 2 : 1; }

/// Operands that lie in one bank come one after the other; a register wanted twice comes once.
void bank_conflicts(const std::string& name, const MachineConfig& m) {
  const unsigned stride = test::bank_stride(m);
  TraceBuilder b(test::lanes(m));
  std::vector<std::pair<std::uint32_t, unsigned>> ways;
  for (unsigned n : {1u, 2u, 3u, 4u}) {
    std::vector<unsigned> sources;
    for (unsigned i = 0; i < n; ++i) sources.push_back(3 + i * stride);
    // What went before is awaited, so that nothing else uses the bank.
    b.op(OpClass::int_add, {1}, {1});
    b.op(OpClass::int_add, {3}, {1});
    ways.emplace_back(b.op(OpClass::int_add, {1}, sources), n);
    b.op(OpClass::int_add, {1}, {1});
    ways.emplace_back(b.op(OpClass::int_add, {1}, {1, 1, 1}), 1);
  }
  b.op(OpClass::int_add, {1}, {1});
  b.exit();
  b.launch(1, test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  const std::uint64_t latency = test::pipelines(m, OpClass::int_add).latency;
  for (const auto& [index, n] : ways) {
    CAPTURE(index, n);
    const std::uint64_t turns = (n + read_ports(m) - 1) / read_ports(m);
    CHECK(r.of(0, index).dispatched - r.of(0, index).issued == test::read_cycles(m) + turns - 1);
    CHECK(r.of(0, index + 1).issued - r.of(0, index).issued ==
          test::to_slot(m, test::read_cycles(m) + turns - 1 + latency + test::write_cycles(m)));
  }
}

/// Operands in different banks come together.
void no_bank_conflicts(const std::string& name, const MachineConfig& m) {
  REQUIRE(test::bank_stride(m) >= 4);
  TraceBuilder b(test::lanes(m));
  constexpr unsigned count = 20;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1}, {1, 2, 3, 4});
  b.exit();
  b.launch(1, test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  CHECK(r.gap(0, count - 1) == (count - 1) * test::dependent_step(m, test::pipelines(m, OpClass::int_add).latency));
}

/// Where one kind of access goes first, a lone warp waits for its own only, and a write is arbitrated like a read.
void priority_chain(const std::string& name, MachineConfig m, const std::string& priority) {
  m.register_file.priority = priority;
  TraceBuilder b(test::lanes(m));
  constexpr unsigned count = 20;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1}, {1, 2});
  b.exit();
  b.launch(1, test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  const std::uint64_t arbitrated = m.register_file.ports == "1rw" ? 1 : 0;
  CHECK(r.gap(0, count - 1) ==
        (count - 1) * (m.register_file.arbitration + m.register_file.latency +
                       test::pipelines(m, OpClass::int_add).latency + arbitrated + m.register_file.latency));
}
void read_priority_chain(const std::string& name, const MachineConfig& m) { priority_chain(name, m, "read"); }
void write_priority_chain(const std::string& name, const MachineConfig& m) { priority_chain(name, m, "write"); }

/// A bank's bandwidth: many warps that all read one bank get one register a cycle and port.
void bank_bandwidth(const std::string& name, MachineConfig m) {
  m.register_file.mapping = "register";
  constexpr unsigned count = 60;
  const unsigned banks = m.register_file.banks;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {}, {0, banks});  // both in bank 0
  b.exit();
  const unsigned warps = 4 * m.sm.schedulers;
  b.launch(warps / 4, 4 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  std::vector<std::uint64_t> dispatched;
  for (const auto& p : r.passages) {
    if (p.index < count) dispatched.push_back(p.dispatched);
  }
  std::sort(dispatched.begin(), dispatched.end());
  const std::size_t from = dispatched.size() / 4;
  const std::size_t instructions = dispatched.size() / 2;
  CHECK(dispatched[from + instructions] - dispatched[from] == instructions * 2 / read_ports(m));
}

/// A conflict of n ways occupies the banks for n passes; the last pass' lanes come n - 1 cycles later.
void shared_conflicts(const std::string& name, const MachineConfig& m) {
  const unsigned lanes = test::lanes(m);
  const unsigned banks = m.sm.shared_banks;
  const unsigned groups = (lanes + banks - 1) / banks;  // of lanes that go together
  TraceBuilder b(lanes);
  const unsigned ways[] = {1, 2, 4, 8, 16, 32, 1};
  std::vector<std::uint32_t> loads;
  for (unsigned i = 0; i < std::size(ways); ++i) loads.push_back(b.load(MemorySpace::shared, 1, 1));
  const std::uint32_t end = b.exit();
  b.launch(1, lanes, 16384);
  b.begin_cta();
  b.begin_warp();
  for (unsigned i = 0; i < std::size(ways); ++i) {
    std::vector<std::uint64_t> addresses;
    for (unsigned lane = 0; lane < lanes; ++lane) addresses.push_back(std::uint64_t{lane} * 4 * ways[i]);
    b.execute(loads[i], 0, addresses);
  }
  b.execute(end);
  b.end_warp();
  b.end_cta();
  const Recording r = test::record(b, name, m);
  for (unsigned i = 0; i + 1 < std::size(ways); ++i) {
    const unsigned passes = groups * std::min(ways[i], std::min(lanes, banks));
    CAPTURE(ways[i], passes);
    CHECK(r.gap(loads[i], loads[i + 1]) == test::dependent_step(m, m.sm.shared_latency + passes - 1));
  }
}

/// Where a warp's addresses take longer than the banks, the last ones have the latency before them.
void shared_addresses(const std::string& name, MachineConfig m) {
  m.sm.shared_latency = 2;
  m.sm.lsu_lanes = test::lanes(m) / 8;
  constexpr unsigned count = 10;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.load(MemorySpace::shared, 1, 1);
  b.exit();
  b.launch(1, test::lanes(m), 4096);
  b.begin_cta();
  b.begin_warp();
  for (unsigned i = 0; i < count; ++i) {
    std::vector<std::uint64_t> addresses;
    for (unsigned lane = 0; lane < test::lanes(m); ++lane) addresses.push_back(std::uint64_t{lane} * 4);
    b.execute(i, 0, addresses);
  }
  b.execute(count);
  b.end_warp();
  const Recording r = test::record(b, name, m);
  CHECK(r.gap(0, count - 1) == (count - 1) * test::dependent_step(m, m.sm.shared_latency + 8 - 1));
}

/// Independent shared accesses follow each other as the banks, the address stage, the issue slots or the collector
/// units, each of which is taken while operands are read, let them.
void shared_bandwidth(const std::string& name, MachineConfig m, unsigned way) {
  m.sm.buffer_entries = 16;
  m.sm.fetch_width = 8;
  const unsigned lanes = test::lanes(m);
  constexpr unsigned count = 20;
  TraceBuilder b(lanes);
  for (unsigned i = 0; i < count; ++i) b.load(MemorySpace::shared, 1 + i, 40);
  b.exit();
  b.launch(1, lanes, 16384);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < lanes; ++lane) addresses.push_back(std::uint64_t{lane} * 4 * way);
  b.run_all(addresses);
  const Recording r = test::record(b, name, m);
  const unsigned passes = (lanes + m.sm.shared_banks - 1) / m.sm.shared_banks * way;
  const unsigned address_cycles = (lanes + m.sm.lsu_lanes - 1) / m.sm.lsu_lanes;
  const unsigned collectors = test::collectors(m, protocol::Unit::lsu);
  const std::uint64_t each = std::max({passes, address_cycles, m.sm.issue_interval});
  const std::uint64_t group = std::max(collectors * each, test::read_cycles(m));  // for as many accesses as collectors
  for (unsigned i = count / 2; i < count; ++i) {
    CAPTURE(i);
    CHECK(r.of(0, i).retired - r.of(0, i - collectors).retired == group);
  }
}
void shared_bandwidth_1(const std::string& name, const MachineConfig& m) { shared_bandwidth(name, m, 1); }
void shared_bandwidth_4(const std::string& name, const MachineConfig& m) { shared_bandwidth(name, m, 4); }

/// One scheduler's arithmetic delivers more than write-back takes while another's warp loads. Memory first: the load
/// takes as long as alone. Pipelines first: it waits until they have no more. In order of completion: for those before
/// it.
void writeback_order(const std::string& name, MachineConfig m, const std::string& order) {
  m.sm.writeback_width = 1;
  m.sm.writeback_queue = 4096;
  m.sm.writeback_order = order;
  constexpr unsigned count = 60;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {}, {});
  for (unsigned i = 0; i < 8; ++i) b.op(OpClass::int_add, {}, {});
  const std::uint32_t load = b.load(MemorySpace::shared, 1, 1);
  const std::uint32_t end = b.exit();
  // Every warp but the last streams; that one adds a little, so that there is a queue, and loads.
  const unsigned warps = 4 * m.sm.schedulers;
  b.launch(1, warps * test::lanes(m), 4096);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(4 * lane);
  b.begin_cta();
  for (unsigned w = 0; w < warps; ++w) {
    b.begin_warp();
    for (unsigned i = 0; w + 1 < warps && i < count; ++i) b.execute(i);
    for (unsigned i = count; w + 1 == warps && i < load; ++i) b.execute(i);
    if (w + 1 == warps) b.execute(load, 0, addresses);
    b.execute(end);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, name, m);
  const test::Passage& l = r.of(warps - 1, load);
  const std::uint64_t alone = test::read_cycles(m) + m.sm.shared_latency + test::write_cycles(m);
  // Adds that were done before the load was, and those that were still to come when it was written.
  const std::uint64_t ready = l.issued + alone - test::write_cycles(m);
  const std::uint64_t latency = test::pipelines(m, OpClass::int_add).latency;
  std::uint64_t before = 0, last = 0;
  for (const test::Passage& p : r.passages) {
    if (p.index == load) continue;
    const std::uint64_t done = p.index == end ? p.issued + 1 : p.dispatched + latency;
    if (done < ready && p.retired > ready) ++before;
    if (p.index != end) last = std::max(last, p.retired);
  }
  REQUIRE(before > 20);
  if (order == "memory") CHECK(l.retired - l.issued == alone);
  if (order == "pipelines") CHECK(l.retired > last);
  if (order == "completion") {
    CHECK(l.retired - l.issued >= alone + before - 1);
    CHECK(l.retired - l.issued <= alone + before + m.sm.schedulers);
  }
}
void writeback_memory_first(const std::string& name, const MachineConfig& m) { writeback_order(name, m, "memory"); }
void writeback_pipelines_first(const std::string& name, const MachineConfig& m) {
  writeback_order(name, m, "pipelines");
}
void writeback_by_completion(const std::string& name, const MachineConfig& m) {
  writeback_order(name, m, "completion");
}

/// A warp that begins a long wait gives its place to the oldest ready pending one, which issues after the exchange.
void two_level_exchange(const std::string& name, MachineConfig m) {
  m.sm.scheduler = "two_level";
  m.scheduler.active_warps = 1;
  m.sm.schedulers = 1;
  m.sm.sub_cores = 1;
  constexpr unsigned before = 12;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < before; ++i) b.op(OpClass::int_add, {1}, {2});
  const std::uint32_t load = b.load(MemorySpace::global, 3, 4);
  const std::uint32_t use = b.op(OpClass::int_add, {5}, {3});
  const std::uint32_t end = b.exit();
  b.launch(1, 3 * test::lanes(m));
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back((std::uint64_t{1} << 20) + 4 * lane);
  b.run_all(addresses);
  const Recording r = test::record(b, name, m);
  // The exchange takes a cycle: the next warp issues in the second one after the load.
  CHECK(r.of(1, 0).issued == r.of(0, load).issued + 2);
  CHECK(r.of(2, 0).issued == r.of(1, load).issued + 2);
  // Nobody runs beside the active warp; data that is there does not bring its warp back before there is a place.
  CHECK(r.of(0, use).issued > r.of(2, load).issued);
  CHECK(r.of(1, use).issued > r.of(0, end).issued);
  if (r.of(0, load).retired > r.of(2, load).issued + 1) {
    // All three wait: the first to be served goes on a cycle after its data.
    CHECK(r.of(0, use).issued == r.of(0, load).retired + 1);
  }
}

/// The same at a barrier.
void two_level_barrier(const std::string& name, MachineConfig m) {
  m.sm.scheduler = "two_level";
  m.scheduler.active_warps = 1;
  m.sm.schedulers = 1;
  m.sm.sub_cores = 1;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < 12; ++i) b.op(OpClass::int_add, {1}, {2});
  const std::uint32_t wait = b.barrier();
  const std::uint32_t after = b.op(OpClass::int_add, {5}, {3});
  b.exit();
  b.launch(1, 2 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  CHECK(r.of(1, 0).issued == r.of(0, wait).issued + 2);
  const std::uint64_t open = r.of(1, wait).issued + m.sm.barrier_latency;
  CHECK(r.of(0, after).issued == open + 1);  // both places are free: the older one's turn
}

}  // namespace

REGATTA_LAW(bank_conflicts, "gtx980")
REGATTA_LAW(bank_conflicts, "gtx480")
REGATTA_LAW(bank_conflicts, "k20x")
REGATTA_LAW(bank_conflicts, "hd7770")
TEST_CASE("law: bank_conflicts with banks divided among the sub-cores on gtx980") {
  MachineConfig m = test::machine("gtx980");
  m.register_file.mapping = "sub_core";
  bank_conflicts("bank_conflicts_sub_core", m);
}
TEST_CASE("law: bank_conflicts with two read ports on gtx480") {
  MachineConfig m = test::machine("gtx480");
  m.register_file.ports = "2r1w";
  bank_conflicts("bank_conflicts_two_ports", m);
}
REGATTA_LAW(no_bank_conflicts, "gtx980")
REGATTA_LAW(no_bank_conflicts, "gtx480")
REGATTA_LAW(no_bank_conflicts, "k20x")
REGATTA_LAW(read_priority_chain, "gtx980")
REGATTA_LAW(read_priority_chain, "gtx480")
REGATTA_LAW(write_priority_chain, "gtx980")
REGATTA_LAW(write_priority_chain, "k20x")
TEST_CASE("law: bank_bandwidth under read priority on gtx980") {
  MachineConfig m = test::machine("gtx980");
  m.register_file.priority = "read";
  bank_bandwidth("bank_bandwidth_read", m);
}
REGATTA_LAW(bank_bandwidth, "gtx980")
REGATTA_LAW(bank_bandwidth, "gtx480")
REGATTA_LAW(bank_bandwidth, "hd7770")
REGATTA_LAW(shared_addresses, "gtx980")
REGATTA_LAW(shared_addresses, "gtx480")
REGATTA_LAW(shared_addresses, "hd7770")
REGATTA_LAW(shared_conflicts, "gtx980")
REGATTA_LAW(shared_conflicts, "gtx480")
REGATTA_LAW(shared_conflicts, "k20x")
REGATTA_LAW(shared_conflicts, "hd7770")
REGATTA_LAW(shared_bandwidth_1, "gtx980")
REGATTA_LAW(shared_bandwidth_1, "gtx480")
REGATTA_LAW(shared_bandwidth_1, "hd7770")
REGATTA_LAW(shared_bandwidth_4, "gtx980")
REGATTA_LAW(shared_bandwidth_4, "hd7770")
REGATTA_LAW(writeback_memory_first, "gtx980")
REGATTA_LAW(writeback_memory_first, "gtx480")
REGATTA_LAW(writeback_pipelines_first, "gtx980")
REGATTA_LAW(writeback_pipelines_first, "gtx480")
REGATTA_LAW(writeback_by_completion, "gtx980")
REGATTA_LAW(writeback_by_completion, "gtx480")
REGATTA_LAW(two_level_exchange, "gtx980")
REGATTA_LAW(two_level_exchange, "gtx480")
REGATTA_LAW(two_level_exchange, "k20x")
REGATTA_LAW(two_level_barrier, "gtx980")
REGATTA_LAW(two_level_barrier, "gtx480")
