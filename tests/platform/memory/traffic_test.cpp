// SPDX-License-Identifier: Apache-2.0
// Random and saturating traffic: nothing is lost, bandwidth is what it should be, results do not depend on chance.
#include "driver.h"

#include <regatta/test/catch.h>

#include <map>
#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

memory::MemorySystemConfig tiny() {
  memory::MemorySystemConfig c;
  c.interconnect.latency = 3;
  c.interconnect.queue = 1;
  c.l2.size_bytes = 4096;
  c.machine_sms = 1;
  c.l2.partitions = 2;
  c.l2.ways = 2;
  c.l2.mshrs = 2;
  c.l2.merge_limit = 2;
  c.l2.queue = 1;
  c.l2.response_queue = 1;
  c.l2.dram_queue = 2;
  c.l2.latency = 30;
  c.dram.latency = 60;
  c.dram.queue = 2;
  c.clock_mhz = 1000;
  c.dram.bandwidth = 20000;
  c.dram.clock_mhz = 1000;
  c.dram.timing.cl = 8;
  return c;
}

memory::L1Config tiny_l1() {
  memory::L1Config l1;
  l1.size_bytes = 1024;
  l1.ways = 2;
  l1.mshrs = 2;
  l1.merge_limit = 2;
  l1.hit_latency = 4;
  l1.miss_queue = 1;
  l1.fill_queue = 1;
  l1.response_queue = 1;
  return l1;
}

}  // namespace

// A SystemC program elaborates once, so every variant is a test case of its own.
TEMPLATE_TEST_CASE_SIG("registers written through the L1 come back, whatever the traffic", "", ((unsigned Seed), Seed),
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) {
  const unsigned seed = Seed;
  std::mt19937 random(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  auto l1 = tiny_l1();
  l1.data_policy = seed % 2 ? "cache" : "bypass";
  if (seed % 3 == 0) l1.mshrs = 8;
  if (seed % 4 == 0) l1.miss_queue = l1.response_queue = 4;
  if (seed == 12) l1.enabled = false;
  auto config = tiny();
  config.machine_sms = config.simulated_sms = 1 + seed % 3;
  config.dram.bandwidth = 2000 + 7000 * (seed % 4);
  Bench bench(config, l1);
  std::uint64_t wrong = 0, reads = 0;
  std::vector<std::map<std::uint64_t, int>> model(bench.sms);
  for (unsigned s = 0; s < bench.sms; ++s) {
    Driver& d = *bench.drivers[s];
    d.response_delay = seed % 5 == 0 ? pick(6) : 0;
    std::uint64_t cycle = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      cycle += pick(8) == 0 ? pick(40) : pick(2);
      const std::uint64_t line = (std::uint64_t{s} << 24) + 0x800000 + 128 * pick(40);
      const std::uint64_t data = 128 * pick(200);
      switch (pick(8)) {
        case 0:
        case 1:
          d.add(cycle, AccessClass::register_write, line, 0xf, static_cast<unsigned char>(i % 251 + 1));
          break;
        case 2:
        case 3:
        case 4:
          d.add(cycle, AccessClass::register_read, line);
          break;
        case 5:
          d.add(cycle, AccessClass::data_load, data, static_cast<std::uint8_t>(1 + pick(15)));
          break;
        case 6:
          d.add(cycle, pick(2) ? AccessClass::data_store : AccessClass::atomic, data,
                static_cast<std::uint8_t>(1 + pick(15)));
          break;
        default:
          if (pick(3) == 0) d.add(cycle, AccessClass::register_invalidate, line);
          break;
      }
    }
    // The L1 takes requests in the order they are sent: what a read must return is known then. -1: undefined.
    d.on_send = [&, s](Request& r) {
      if (r.access == AccessClass::register_write) model[s][r.address] = r.fill;
      if (r.access == AccessClass::register_invalidate) model[s][r.address] = -1;
      if (r.access == AccessClass::register_read) {
        const auto found = model[s].find(r.address);
        r.cycle = found == model[s].end() ? 1000000
                  : found->second < 0     ? 2000000
                                          : static_cast<unsigned>(found->second);
      }
    };
    d.on_done = [&](Request& r) {
      if (r.access != AccessClass::register_read || r.cycle == 2000000) return;
      ++reads;
      for (unsigned i = 0; i < 128; ++i) {
        const unsigned char want = r.cycle == 1000000 ? 0 : byte_of(static_cast<unsigned char>(r.cycle), i);
        if (r.bytes[i] != want) {
          ++wrong;
          break;
        }
      }
    };
  }
  REQUIRE(bench.run() == "");
  CHECK(reads > 500 * bench.sms);
  CHECK(wrong == 0);
}

// The machine's share of L2 and DRAM is the same, the second SM only stands there.
TEMPLATE_TEST_CASE_SIG("an SM alone is timed as one with an idle neighbour", "", ((unsigned Seed), Seed), 1, 2, 3, 4, 5,
                       6, 7, 8, 9, 10) {
  const unsigned seed = Seed;
  std::mt19937 random(seed * 77);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  auto l1 = tiny_l1();
  l1.data_policy = pick(2) ? "cache" : "bypass";
  l1.mshrs = 1 + pick(16);
  l1.miss_queue = 1 + pick(4);
  auto config = tiny();
  config.interconnect.queue = 1 + pick(3);
  config.interconnect.flit_bytes = 8u << pick(4);
  config.interconnect.partition_flits = 1 + pick(3);
  config.interconnect.latency = 1 + pick(20);
  config.l2.latency = 90;
  config.dram.latency = 140;
  config.l2.partitions = 1 + pick(3);
  config.l2.queue = 1 + pick(4);
  config.l2.mshrs = 1 + pick(8);
  config.l2.dram_queue = 2 + pick(4);
  config.dram.queue = 2 + pick(6);
  config.dram.bandwidth = 4000 + 8000 * pick(3);
  config.machine_sms = 2;
  auto alone = config;
  alone.l2.size_bytes *= 2;
  alone.dram.bandwidth *= 2;
  config.simulated_sms = 2;
  Bench one(alone, l1, true, "one_"), two(config, l1, true, "two_");
  // Not at the same time: a driver is a process of its own, and the other system's events would change whether it runs
  // before or after the modules in a cycle.
  constexpr std::uint64_t later = 1000000;
  std::uint64_t cycle = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    if (pick(6) == 0) cycle += pick(60);
    const std::uint64_t address = 128 * pick(300);
    const auto access = pick(3) == 0 ? AccessClass::data_store : AccessClass::data_load;
    const auto sectors = static_cast<std::uint8_t>(1 + pick(15));
    one.driver().add(cycle, access, address, sectors);
    two.driver().add(later + cycle, access, address, sectors);
  }
  REQUIRE(one.run() == "");
  REQUIRE(two.left_over() == "");
  unsigned different = 0;
  for (std::size_t i = 0; i < one.driver().requests.size(); ++i) {
    const Request &a = one.driver().requests[i], &b = two.driver().requests[i];
    different += a.sent + later != b.sent || a.accepted + later != b.accepted || a.done + later != b.done;
  }
  CHECK(different == 0);
}

TEMPLATE_TEST_CASE_SIG("streaming loads reach the DRAM bandwidth and never exceed it", "", ((unsigned Sms), Sms), 1,
                       16) {
  memory::MemorySystemConfig config;
  config.simulated_sms = Sms;
  Bench bench(config, memory::L1Config{});
  const unsigned lines = 3000;
  for (unsigned s = 0; s < bench.sms; ++s) {
    for (unsigned i = 0; i < lines; ++i) {
      bench.drivers[s]->add(0, AccessClass::data_load, (std::uint64_t{s} << 28) + 128 * std::uint64_t{i}, 0xf);
    }
  }
  REQUIRE(bench.run() == "");
  std::uint64_t bytes = 0, last = 0;
  for (auto& dram : bench.dram) bytes += dram->bytes_moved();
  for (auto& d : bench.drivers) {
    for (auto& r : d->requests) last = std::max(last, r.done);
  }
  CHECK(bytes == std::uint64_t{lines} * 128 * bench.sms);
  const memory::Bandwidth b = config.channel_bandwidth();
  const double peak = static_cast<double>(b.bytes) / static_cast<double>(b.cycles) * config.l2.partitions;
  CHECK(peak > 12.4 * bench.sms);  // 224 GB/s at 1126 MHz over 16 SMs
  CHECK(peak < 12.5 * bench.sms);
  const double reached = static_cast<double>(bytes) / static_cast<double>(last - 350);
  INFO("reached " << reached << " of " << peak << " bytes per cycle");
  CHECK(reached <= peak);
  CHECK(reached >= 0.9 * peak);
  for (auto& dram : bench.dram) CHECK(Bench::stat(*dram, "queue_max") <= config.dram.queue);
}

TEST_CASE("L2 hits stream at the bandwidth of the SM's port") {
  memory::MemorySystemConfig config;
  config.simulated_sms = config.machine_sms = 1;
  Bench bench(config, memory::L1Config{});
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 2000; ++i) d.add(0, AccessClass::data_load, 128 * (i % 100), 0xf);
  REQUIRE(bench.run() == "");
  // 5 flits a line.
  std::uint64_t last = 0;
  for (auto& r : d.requests) last = std::max(last, r.done);
  CHECK(last >= 5 * 2000 + 216);
  CHECK(last <= 5 * 2000 + 600);
}

TEST_CASE("a slow SM holds everything up and nothing is lost") {
  Bench bench(tiny(), tiny_l1());
  Driver& d = bench.driver();
  d.response_delay = 50;
  for (unsigned i = 0; i < 300; ++i) d.add(0, AccessClass::data_load, 128 * (i % 64), 0xf);
  REQUIRE(bench.run() == "");
  CHECK(d.requests[299].done - d.requests[199].done >= 50 * 100);
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures") > 200);
  CHECK(Bench::stat(*bench.interconnect, "response_refusals") > 10);
}

TEST_CASE("cycles do not depend on the checkers nor on the order of construction") {
  auto config = tiny();
  config.machine_sms = config.simulated_sms = 2;
  auto l1 = tiny_l1();
  l1.data_policy = "cache";
  Bench a(config, l1, true, "a_", false);
  Bench b(config, l1, false, "b_", true);
  std::mt19937 random(3);
  for (unsigned i = 0; i < 2000; ++i) {
    const unsigned sm = random() % 2;
    const AccessClass access = random() % 4 ? AccessClass::data_load : AccessClass::data_store;
    const std::uint64_t address = 128 * (random() % 30);
    const std::uint64_t cycle = i * (1 + random() % 4);
    a.drivers[sm]->add(cycle, access, address);
    b.drivers[sm]->add(cycle, access, address);
  }
  REQUIRE(a.run() == "");
  REQUIRE(b.left_over() == "");
  for (unsigned sm = 0; sm < 2; ++sm) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.drivers[sm]->requests.size(); ++i) {
      different += a.drivers[sm]->requests[i].done != b.drivers[sm]->requests[i].done;
    }
    CHECK(different == 0);
  }
}
