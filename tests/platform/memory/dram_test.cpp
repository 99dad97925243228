// SPDX-License-Identifier: Apache-2.0
// A DRAM channel by itself: the fixed access time against a few lines of arithmetic, and what holds for every
// scheduler.
#include "driver.h"

#include <regatta/memory/dram_banks.h>

#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <random>
#include <set>

using namespace regatta;
using namespace regatta::test;

namespace {

struct Channel {
  explicit Channel(const memory::MemorySystemConfig& config) : dram("dram", config, test::clock(cycle_time())) {
    driver.socket.bind(check.in);
    check.out.bind(dram.upstream);
  }
  void add(std::uint64_t cycle, bool write, std::uint64_t address, std::uint8_t sectors) {
    driver.add(cycle, write ? AccessClass::data_store : AccessClass::data_load, address, sectors);
  }
  void run() {
    sc_core::sc_start();
    REQUIRE(driver.finished == driver.requests.size());
    REQUIRE(driver.outstanding() == 0);
    CHECK(dram.idle());
    check.finish();
    CHECK(check.rules().violations() == 0);
  }
  Driver driver{"driver"};
  Bench::Checker check{"check"};
  memory::DramChannel dram;
};

const char* const schedulers[] = {"fixed", "fcfs", "fr_fcfs"};

}  // namespace

TEST_CASE("with a fixed access time every read is answered when arithmetic says so") {
  memory::MemorySystemConfig config;
  config.dram.scheduler = "fixed";
  Channel channel(config);
  std::mt19937 random(11);
  std::uint64_t cycle = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    cycle += 40 + (random() % 4 == 0 ? random() % 400 : random() % 60);  // less than the bus can do on average
    channel.add(cycle, random() % 3 == 0, 128 * std::uint64_t{i}, static_cast<std::uint8_t>(1 + random() % 15));
  }
  channel.run();
  const memory::Bandwidth b = config.channel_bandwidth();
  const auto access = static_cast<std::uint64_t>(config.dram_access_cycles());
  std::uint64_t bus = 0, answer = 0;  // bus: in units of 1 / b.bytes cycles
  std::size_t different = 0;
  for (const Request& r : channel.driver.requests) {
    const std::uint64_t arrived = r.sent + 1;
    const std::uint64_t earliest = std::max(arrived, bus / b.bytes > access ? bus / b.bytes - access : 0);
    const std::uint64_t data = (earliest + access) * b.bytes;
    if (bus / b.bytes < earliest + access) bus = data;
    bus += std::uint64_t{32} * static_cast<unsigned>(__builtin_popcount(r.sectors)) * b.cycles;
    if (r.access != AccessClass::data_load) continue;
    answer = std::max((bus + b.bytes - 1) / b.bytes, answer) + 1;
    different += r.done != answer;
  }
  CHECK(different == 0);
}

TEST_CASE("an answer comes when its last data are there, to the cycle, whatever the clocks' phase") {
  memory::MemorySystemConfig config;
  config.dram.scheduler = "fr_fcfs";
  Channel channel(config);
  std::mt19937 random(5);
  std::uint64_t cycle = 0;
  for (unsigned i = 0; i < 300; ++i) {
    cycle += 700 + random() % 50;  // the bus and all banks are idle again
    channel.add(cycle, false, 128 * std::uint64_t{random() % 4096}, static_cast<std::uint8_t>(1 + random() % 15));
  }
  channel.run();
  // The same requests on banks alone: by when their data have moved, in DRAM cycles.
  const auto clock = config.dram_clock();
  memory::DramBanks banks(config);
  std::set<std::int64_t> offsets;
  for (const Request& r : channel.driver.requests) {
    memory::DramRequest request;
    request.key = &request;
    request.ready = clock.first_in(r.sent + 1);
    request.address = r.address;
    request.bytes = 32 * static_cast<unsigned>(__builtin_popcount(r.sectors));
    banks.add(request);
    std::uint64_t until = 0;
    for (std::uint64_t c = r.sent; banks.size() != 0; ++c) {
      banks.step(clock.first_in(c), clock.first_in(c + 1), true,
                 [&](const memory::DramBanks::Command& k) { until = std::max(until, k.data_until); });
    }
    offsets.insert(static_cast<std::int64_t>(r.done) - static_cast<std::int64_t>(clock.sm_cycle_after(until)));
  }
  CHECK(offsets.size() == 1);
}

TEMPLATE_TEST_CASE_SIG("a saturated channel refuses, keeps its queue finite and never exceeds the bus", "",
                       ((unsigned Scheduler), Scheduler), 0, 1, 2) {
  memory::MemorySystemConfig config;
  config.dram.queue = 4;
  config.dram.scheduler = schedulers[Scheduler];
  Channel channel(config);
  std::mt19937 random(12);
  for (unsigned i = 0; i < 2000; ++i) {
    channel.add(0, random() % 3 == 0, 128 * std::uint64_t{i}, static_cast<std::uint8_t>(1 + random() % 15));
  }
  channel.run();
  const memory::Bandwidth bandwidth = config.channel_bandwidth();
  const auto least = channel.dram.bytes_moved() * bandwidth.cycles / bandwidth.bytes;
  std::uint64_t last = 0;
  for (const Request& r : channel.driver.requests) last = std::max(last, r.done);
  CHECK(last >= least);
  // One of sixteen SMs: bursts are long beside the turnarounds of the bus (2 + 16 - 6, 6 + 7 command cycles at most).
  CHECK(last <= least + 500 + (Scheduler == 0 ? 0 : least / 4));
  CHECK(Bench::stat(channel.dram, "queue_max") == 4);
  CHECK(Bench::stat(channel.dram, "refusals") > 1000);
  CHECK(Bench::stat(channel.dram, "queue_entry_cycles") > least * 3);
  CHECK(Bench::stat(channel.dram, "queue_entry_cycles") <= last * 4);
}

TEST_CASE("a requester that is slow to take answers holds up reads and loses nothing") {
  memory::MemorySystemConfig config;
  config.simulated_sms = 16;
  Channel channel(config);
  channel.driver.response_delay = 100;
  for (unsigned i = 0; i < 600; ++i) channel.add(0, i % 7 == 0, 128 * std::uint64_t{i}, 0xf);
  channel.run();
  CHECK(channel.driver.requests.back().done >= 100 * 500);
}
