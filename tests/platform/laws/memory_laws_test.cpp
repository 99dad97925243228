// SPDX-License-Identifier: Apache-2.0
//
// Laws of the memory side: what a load costs by where it finds its line, what waits for what, and what the buses carry.
#include "laws.h"

#include <regatta/memory/dram_banks.h>

#include <algorithm>

using namespace regatta;
using assembly::MachineConfig;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

constexpr std::uint64_t heap = std::uint64_t{1} << 30;

double stat(const Recording& r, const std::string& path, const std::string& name) {
  return r.result.stats.at(path).at(name).get<double>();
}

double sum(const Recording& r, const std::string& prefix, const std::string& name) {
  double total = 0;
  for (const auto& [path, group] : r.result.stats.items()) {
    if (path.compare(0, prefix.size(), prefix) == 0 && group.contains(name)) total += group.at(name).get<double>();
  }
  return total;
}

/// From a load's leaving the collector, when the load-store unit makes its first addresses, to its result.
std::uint64_t load_latency(const Recording& r, const MachineConfig& m, std::uint32_t index) {
  const test::Passage& p = r.of(0, index);
  return p.retired - p.dispatched - test::write_cycles(m);
}

/// Until the last address of a warp is made, from the first.
std::uint64_t last_address(const MachineConfig& m) {
  return (test::lanes(m) + m.sm.lsu_lanes - 1) / m.sm.lsu_lanes - 1;
}

/// The machine as one SM of it is simulated.
memory::MemorySystemConfig scaled(const MachineConfig& m) {
  memory::MemorySystemConfig c = m.memory;
  c.machine_sms = m.sms;
  c.simulated_sms = 1;
  c.clock_mhz = m.clock_mhz;
  return c;
}

/// A chain of loads, each of one sector and each needing the one before, of these addresses.
Recording chase(const std::string& name, const MachineConfig& m, const std::vector<std::uint64_t>& addresses) {
  TraceBuilder b(test::lanes(m));
  for (std::size_t i = 0; i < addresses.size(); ++i) b.load(MemorySpace::global, 1, 1);
  b.exit();
  b.launch(1, test::lanes(m));
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < addresses.size(); ++i) b.execute(i, 0, {addresses[i]});
  b.execute(static_cast<std::uint32_t>(addresses.size()));
  b.end_warp();
  return test::record(b, name, m);
}

/// A line leaves when the last address in it is made, the lines of a warp in their order.
void addresses_in_passes(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "cache";
  const unsigned lanes = test::lanes(m);
  m.sm.lsu_lanes = lanes / 8;
  TraceBuilder b(lanes);
  for (unsigned i = 0; i < 4; ++i) b.load(MemorySpace::global, 1, 1);
  b.exit();
  b.launch(1, lanes);
  b.begin_cta();
  b.begin_warp();
  // Two lines of a half each, the other way round, in turns; each hits in the L1 after the first load.
  const auto execute = [&](std::uint32_t index, auto&& half) {
    std::vector<std::uint64_t> addresses;
    for (unsigned lane = 0; lane < lanes; ++lane) addresses.push_back(heap + (half(lane) ? m.l1.line_bytes : 0));
    b.execute(index, 0, addresses);
  };
  execute(0, [&](unsigned lane) { return lane >= lanes / 2; });
  execute(1, [&](unsigned lane) { return lane >= lanes / 2; });
  execute(2, [&](unsigned lane) { return lane % 2 != 0; });
  execute(3, [&](unsigned lane) { return lane != 0; });
  b.execute(4);
  b.end_warp();
  const Recording r = test::record(b, name, m);
  CHECK(load_latency(r, m, 1) == 7 + m.l1.hit_latency);      // passes 3 and 7
  CHECK(load_latency(r, m, 2) == 7 + 1 + m.l1.hit_latency);  // both in pass 7, one line a cycle
  CHECK(load_latency(r, m, 3) == 7 + m.l1.hit_latency);      // passes 0 and 7
}

void l1_hit(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "cache";
  const Recording r = chase(name, m, {heap, heap + 32, heap + 4});
  CHECK(load_latency(r, m, 1) == last_address(m) + m.l1.hit_latency);
  CHECK(load_latency(r, m, 2) == last_address(m) + m.l1.hit_latency);
  CHECK(stat(r, "sm0.l1", "read_hits") == 2);
}

/// Loads that bypass the L1 cost a trip to the L2 each on a machine that caches, and what was cached is fetched anew.
void l1_bypassed(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "cache";
  m.l1.fill = "sector";
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < 4; ++i) b.load(MemorySpace::global, 1, 1);
  b.kernel().instructions[1].bypasses_l1 = b.kernel().instructions[2].bypasses_l1 = true;
  b.exit();
  b.launch(1, test::lanes(m));
  b.begin_cta();
  b.begin_warp();
  for (unsigned i = 0; i < 4; ++i) b.execute(i, 0, {heap});
  b.execute(4);
  b.end_warp();
  const Recording r = test::record(b, name, m);
  for (unsigned i = 1; i < 4; ++i) CHECK(load_latency(r, m, i) == m.memory.l2.latency);
  CHECK(stat(r, "sm0.l1", "bypassed_reads") == 2);
}

void l2_hit(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "bypass";
  const Recording r = chase(name, m, {heap, heap, heap});
  CHECK(load_latency(r, m, 1) == last_address(m) + m.memory.l2.latency);
  CHECK(load_latency(r, m, 2) == last_address(m) + m.memory.l2.latency);
}

/// A line, another of its row, one of another row of its bank: all in one partition, in different L2 lines.
std::vector<std::uint64_t> row_addresses(const memory::MemorySystemConfig& c) {
  const memory::DramMapping place(c);
  const memory::PartitionMap map = c.partition_map();
  const std::uint64_t first = heap;
  const auto home = place(first);
  std::vector<std::uint64_t> found{first};
  for (const bool same_row : {true, false}) {
    for (std::uint64_t a = first + c.l2.line_bytes;; a += c.l2.line_bytes) {
      REQUIRE(a < first + (std::uint64_t{1} << 28));
      if (map.partition(a) != map.partition(first)) continue;
      const auto p = place(a);
      if (p.bank != home.bank || (p.row == home.row) != same_row) continue;
      found.push_back(a);
      break;
    }
  }
  return found;
}

/// Where the command clock is the SM's, every cycle is known: a closed row costs an activate, an open one nothing,
/// another one a precharge and an activate.
void dram_rows(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "bypass";
  m.memory.dram.scheduler = "fr_fcfs";
  m.memory.dram.clock_mhz = m.clock_mhz;
  const memory::MemorySystemConfig c = scaled(m);
  const memory::Bandwidth b = c.dram_bandwidth();
  const std::uint64_t bus = (32 * b.cycles + b.bytes - 1) / b.bytes;
  const memory::DramTiming& t = c.dram.timing;
  const Recording r = chase(name, m, row_addresses(c));
  CHECK(load_latency(r, m, 0) == c.dram.latency + t.rcd + bus);         // closed
  CHECK(load_latency(r, m, 1) == c.dram.latency + bus);                 // open
  CHECK(load_latency(r, m, 2) == c.dram.latency + t.rp + t.rcd + bus);  // conflict
  CHECK(sum(r, "memory.dram_", "row_misses") == 1);
  CHECK(sum(r, "memory.dram_", "row_hits") == 1);
  CHECK(sum(r, "memory.dram_", "row_conflicts") == 1);
}

/// With a clock of its own the same to within the whole cycles of either clock, and never faster.
void dram_rows_other_clock(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "bypass";
  const memory::MemorySystemConfig c = scaled(m);
  const memory::Bandwidth b = c.channel_bandwidth();
  const double ratio = static_cast<double>(c.clock_mhz) / c.dram.clock_mhz;
  const double bus = 32.0 * static_cast<double>(b.cycles) / static_cast<double>(b.bytes);
  const memory::DramTiming& t = c.dram.timing;
  const Recording r = chase(name, m, row_addresses(c));
  const unsigned more[] = {t.rcd, 0, t.rp + t.rcd};
  for (unsigned i = 0; i < 3; ++i) {
    CAPTURE(i);
    const double least = c.dram.latency + more[i] * ratio + bus;
    CHECK(static_cast<double>(load_latency(r, m, i)) >= least);
    CHECK(static_cast<double>(load_latency(r, m, i)) <= least + 2 + 2 * ratio);
  }
}

/// n warps that want one line: it is fetched once, and all n are answered within the cycles that n answers take.
void merging(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "cache";
  m.memory.dram.scheduler = "fixed";
  const unsigned n = std::min(8u, m.l1.merge_limit);
  TraceBuilder b(test::lanes(m));
  b.load(MemorySpace::global, 1, 1);
  b.exit();
  b.launch(1, n * test::lanes(m));
  b.run_all({heap});
  const Recording r = test::record(b, name, m);
  CHECK(stat(r, "sm0.l1", "mshr_merges") == n - 1);
  CHECK(stat(r, "sm0.l1", "fills") == 1);
  CHECK(sum(r, "memory.l2_", "fetches") == 1);
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (unsigned w = 0; w < n; ++w) {
    first = std::min(first, r.of(w, 0).retired);
    last = std::max(last, r.of(w, 0).retired);
  }
  CHECK(last - first == n - 1);  // one answer a cycle
}

/// Of n + 1 misses to different lines and n MSHRs the last one leaves when the first is back.
void exhaustion(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "cache";
  m.l1.mshrs = 3;
  m.sm.buffer_entries = 16;
  const unsigned n = m.l1.mshrs;
  const unsigned line = m.l1.line_bytes;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i <= n; ++i) b.load(MemorySpace::global, 1 + i, 40);
  b.exit();
  // The first launch brings the lines into the L2; the L1 starts empty at the second.
  for (unsigned launch = 0; launch < 2; ++launch) {
    b.launch(1, test::lanes(m));
    b.begin_cta();
    b.begin_warp();
    for (unsigned i = 0; i <= n; ++i) b.execute(i, 0, {heap + std::uint64_t{i} * line * 8});
    b.execute(n + 1);
    b.end_warp();
  }
  const Recording r = test::record(b, name, m);
  REQUIRE(r.passages.size() == 2 * (n + 2));
  const test::Passage* second = &r.passages[n + 2];
  // A whole line comes: more flits than the one sector of l2.latency.
  const memory::MemorySystemConfig c = scaled(m);
  const std::uint64_t latency = c.l2.latency + c.packet_flits(line / 32) - c.packet_flits(1);
  CHECK(second[0].retired - second[0].dispatched - test::write_cycles(m) == last_address(m) + latency);
  // The MSHR is free in the cycle in which the answer is on its way to the SM, one before it is there.
  CHECK(second[n].retired - test::write_cycles(m) == second[0].retired - test::write_cycles(m) - 1 + latency);
  CHECK(stat(r, "sm0.l1", "reservation_failures_mshr") == 2);  // once in each launch
}

/// Loads of whole lines by many warps: between 85 and 100 % of the configured DRAM bandwidth.
void streaming(const std::string& name, MachineConfig m) {
  m.l1.data_policy = "bypass";
  constexpr unsigned ctas = 48, warps = 8, loads = 4;
  const unsigned bytes = test::lanes(m) * 4;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < loads; ++i) b.load(MemorySpace::global, 1 + i, 40);
  b.exit();
  b.launch(ctas, warps * test::lanes(m));
  std::uint64_t next = heap;
  for (unsigned cta = 0; cta < ctas; ++cta) {
    b.begin_cta();
    for (unsigned w = 0; w < warps; ++w) {
      b.begin_warp();
      for (unsigned i = 0; i < loads; ++i) {
        std::vector<std::uint64_t> addresses;
        for (unsigned lane = 0; lane < test::lanes(m); ++lane) addresses.push_back(next + 4 * lane);
        b.execute(i, 0, addresses);
        next += bytes;
      }
      b.execute(loads);
      b.end_warp();
    }
  }
  const Recording r = test::record(b, name, m);
  const std::uint64_t moved = next - heap;
  CHECK(sum(r, "memory.dram_", "bytes_read") == static_cast<double>(moved));
  const memory::MemorySystemConfig c = scaled(m);
  const memory::Bandwidth channel = c.channel_bandwidth();
  const double peak = static_cast<double>(channel.bytes) / static_cast<double>(channel.cycles) * c.l2.partitions;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const test::Passage& p : r.passages) {
    if (p.index >= loads) continue;
    first = std::min(first, p.dispatched);
    last = std::max(last, p.retired);
  }
  // Data moves from the first access to DRAM until the last answer leaves it.
  const double reached = static_cast<double>(moved) / static_cast<double>(last - first - c.dram.latency);
  INFO("reached " << reached << " of " << peak << " bytes per cycle");
  CHECK(reached <= peak);
  CHECK(reached >= 0.85 * peak);
}

/// Data of the L2's size, read by two launches: all of it comes from DRAM for the first and nothing for the second,
/// with the machine's whole L2 as with one SM's part of it. A round of chunks more than that, and lines give way.
void l2_capacity(const std::string& name, MachineConfig m, unsigned machine_sms, bool fits) {
  m.l1.data_policy = "bypass";
  m.sms = machine_sms;
  const memory::MemorySystemConfig c = scaled(m);
  const unsigned line = c.l2.line_bytes;
  const std::uint64_t round = std::uint64_t{c.l2.interleave_bytes} * c.l2.partitions;
  std::uint64_t bytes = c.partition_sets() * c.l2.ways * line * c.l2.partitions;
  REQUIRE(bytes % round == 0);
  if (!fits) bytes += round;
  const std::uint64_t first = (heap + round - 1) / round * round;
  constexpr unsigned warps = 8;
  TraceBuilder b(test::lanes(m));
  b.load(MemorySpace::global, 1, 40);
  const std::uint32_t back = b.branch(0);
  b.exit();
  for (unsigned launch = 0; launch < 2; ++launch) {
    b.launch(1, warps * test::lanes(m));
    b.begin_cta();
    for (unsigned w = 0; w < warps; ++w) {
      b.begin_warp();
      for (std::uint64_t at = w * line; at < bytes; at += warps * line) {
        std::vector<std::uint64_t> addresses;
        for (unsigned lane = 0; lane < test::lanes(m); ++lane) addresses.push_back(first + at + 4 * lane % line);
        b.execute(0, 0, addresses);
        b.execute(back);
      }
      b.execute(back + 1);
      b.end_warp();
    }
  }
  const Recording r = test::record(b, name, m);
  const double lines = static_cast<double>(bytes / line), fetched = sum(r, "memory.dram_", "bytes_read") / line;
  CHECK(sum(r, "memory.l2_", "reads") == 2 * lines);
  if (fits) {
    CHECK(fetched == lines);
  } else {
    // The sets that the round adds to lose all their lines to the least recently used order, the others keep theirs.
    CHECK(fetched > lines);
    CHECK(fetched <= lines + static_cast<double>(round / line) * (c.l2.ways + 1));
  }
}
void l2_holds_its_share(const std::string& name, const MachineConfig& m) { l2_capacity(name, m, m.sms, true); }
void l2_holds_its_size(const std::string& name, const MachineConfig& m) { l2_capacity(name, m, 1, true); }
void l2_gives_way(const std::string& name, const MachineConfig& m) { l2_capacity(name, m, m.sms, false); }
void l2_in_long_chunks(const std::string& name, MachineConfig m) {
  m.memory.l2.interleave_bytes = 1024;
  m.memory.dram.row_bytes = 2048;
  l2_capacity(name, m, 1, true);
}

/// A launch whose code is not in the instruction cache begins later by the way of a line from DRAM.
void instruction_miss(const std::string& name, MachineConfig m) {
  m.sm.icache = MachineConfig{}.sm.icache;
  m.sm.icache.enabled = true;
  m.sm.icache.line_bytes = m.l1.line_bytes;
  m.sm.icache.latency = 3;
  m.memory.dram.scheduler = "fixed";
  TraceBuilder b(test::lanes(m));
  b.op(OpClass::int_add, {1}, {});
  b.exit();
  for (unsigned launch = 0; launch < 2; ++launch) {
    b.launch(1, test::lanes(m));
    b.run_all();
  }
  const Recording r = test::record(b, name, m);
  const memory::MemorySystemConfig c = scaled(m);
  const memory::Bandwidth channel = c.channel_bandwidth();
  const unsigned sectors = m.l1.line_bytes / 32;
  const std::uint64_t bus = (m.l1.line_bytes * channel.cycles + channel.bytes - 1) / channel.bytes;
  const std::uint64_t line = c.dram.latency + bus + c.packet_flits(sectors) - c.packet_flits(1);
  // The request leaves in the cycle after the fetch that missed. The second launch's warp finds its line in the cache.
  CHECK(r.result.launches[0].cycles - r.result.launches[1].cycles == 1 + line - m.sm.icache.latency);
  CHECK(stat(r, "sm0.pipeline.icache", "misses") == 1);
}

/// Code that goes round in a loop: fetched once when it fits into the instruction cache, every time when it is one line
/// too long for a set (LRU).
void instruction_loop(const std::string& name, MachineConfig m, bool fits) {
  constexpr unsigned rounds = 5;
  m.sm.icache = MachineConfig{}.sm.icache;
  m.sm.icache.enabled = true;
  m.sm.icache.line_bytes = 32;
  m.sm.icache.ways = 4;
  m.sm.icache.size_bytes = 32 * 4;  // one set
  const unsigned lines = m.sm.icache.ways + (fits ? 0 : 1);
  const unsigned per_line = m.sm.icache.line_bytes / trace::bytes_per_instruction;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < lines * per_line - 2; ++i) b.op(OpClass::int_add, {1}, {2});
  const std::uint32_t back = b.branch(0);
  b.exit();
  b.launch(1, test::lanes(m));
  b.begin_cta();
  b.begin_warp();
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i <= back; ++i) b.execute(i);
  }
  b.execute(back + 1);
  b.end_warp();
  const Recording r = test::record(b, name, m);
  CHECK(stat(r, "sm0.pipeline.icache", "misses") == (fits ? lines : lines * rounds));
  CHECK(stat(r, "sm0.pipeline.icache", "fills") == (fits ? lines : lines * rounds));
}
void instruction_loop_fits(const std::string& name, const MachineConfig& m) { instruction_loop(name, m, true); }
void instruction_loop_thrashes(const std::string& name, const MachineConfig& m) { instruction_loop(name, m, false); }

/// Constants are fetched a line at a time, once.
void constants(const std::string& name, MachineConfig m) {
  m.sm.constant_cache = MachineConfig{}.sm.constant_cache;
  m.sm.constant_cache.enabled = true;
  m.sm.constant_cache.line_bytes = 64;
  constexpr unsigned lines = 5, each = 4;
  TraceBuilder b(test::lanes(m));
  for (unsigned i = 0; i < lines * each; ++i) {
    const std::uint32_t index = b.op(OpClass::int_add, {1}, {2});
    trace::Operand o;
    o.kind = trace::Operand::Kind::constant_bank;
    o.value = std::uint64_t{i} * 64 / each;
    b.kernel().instructions[index].operands.push_back(o);
  }
  b.exit();
  b.launch(1, 2 * test::lanes(m));
  b.run_all();
  const Recording r = test::record(b, name, m);
  CHECK(stat(r, "sm0.pipeline.constant_cache", "fills") == lines);
  CHECK(stat(r, "sm0.pipeline.lsu", "cache_lines") == lines);
}

}  // namespace

#define REGATTA_MEMORY_LAW(LAW) \
  REGATTA_LAW(LAW, "gtx980")    \
  REGATTA_LAW(LAW, "gtx480")    \
  REGATTA_LAW(LAW, "k20x")

REGATTA_MEMORY_LAW(addresses_in_passes)
REGATTA_MEMORY_LAW(l1_hit)
REGATTA_MEMORY_LAW(l1_bypassed)
REGATTA_MEMORY_LAW(l2_hit)
REGATTA_MEMORY_LAW(dram_rows)
REGATTA_MEMORY_LAW(dram_rows_other_clock)
REGATTA_MEMORY_LAW(merging)
REGATTA_MEMORY_LAW(exhaustion)
REGATTA_MEMORY_LAW(streaming)
REGATTA_MEMORY_LAW(l2_holds_its_share)
REGATTA_MEMORY_LAW(l2_holds_its_size)
REGATTA_MEMORY_LAW(l2_gives_way)
REGATTA_MEMORY_LAW(l2_in_long_chunks)
REGATTA_MEMORY_LAW(instruction_miss)
REGATTA_MEMORY_LAW(instruction_loop_fits)
REGATTA_MEMORY_LAW(instruction_loop_thrashes)
REGATTA_MEMORY_LAW(constants)
// Without DRAM banks, and with wavefronts that give their addresses in passes.
REGATTA_LAW(addresses_in_passes, "hd7770")
REGATTA_LAW(l1_hit, "hd7770")
REGATTA_LAW(l2_hit, "hd7770")
REGATTA_LAW(merging, "hd7770")
REGATTA_LAW(exhaustion, "hd7770")
REGATTA_LAW(streaming, "hd7770")
REGATTA_LAW(l2_holds_its_share, "hd7770")
REGATTA_LAW(l2_holds_its_size, "hd7770")
REGATTA_LAW(instruction_miss, "hd7770")
REGATTA_LAW(instruction_loop_fits, "hd7770")
REGATTA_LAW(instruction_loop_thrashes, "hd7770")
REGATTA_LAW(constants, "hd7770")
