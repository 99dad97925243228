// SPDX-License-Identifier: Apache-2.0
//
// What every queue of the memory side holds before it refuses more, exactly, and what gives way when one is full.
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include "recording_target.h"

#include <algorithm>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr std::uint64_t opening = 2000;

void run_until(std::uint64_t cycle) {
  sc_core::sc_start(cycle_time() * static_cast<double>(cycle) - sc_core::sc_time_stamp());
}

std::uint64_t accepted_before(const Driver& d, std::uint64_t cycle) {
  return static_cast<std::uint64_t>(std::count_if(
      d.requests.begin(), d.requests.end(), [&](const Request& r) { return r.accepted != 0 && r.accepted < cycle; }));
}
std::uint64_t answered_before(const Driver& d, std::uint64_t cycle) {
  return static_cast<std::uint64_t>(std::count_if(d.requests.begin(), d.requests.end(),
                                                  [&](const Request& r) { return r.finished && r.done < cycle; }));
}

template <class Module, class Config>
struct Alone {
  explicit Alone(const Config& config, const sc_core::sc_time& period = cycle_time())
      : module("module", config, test::clock(period)) {
    driver.socket.bind(up.in);
    up.out.bind(module.upstream);
    module.downstream.bind(down.in);
    down.out.bind(below.upstream);
  }
  void finish() {
    sc_core::sc_start();
    CHECK(driver.finished == driver.requests.size());
    CHECK(module.idle());
    for (auto* c : {&up, &down}) {
      c->finish();
      CHECK(c->rules().violations() == 0);
    }
  }
  Driver driver{"driver"};
  Bench::Checker up{"up"};
  Module module;
  Bench::Checker down{"down"};
  RecordingTarget below{"below"};
};
using L1Alone = Alone<memory::L1Cache, memory::L1Config>;
using L2Alone = Alone<memory::L2Partition, memory::MemorySystemConfig>;

memory::MemorySystemConfig one_partition() {
  memory::MemorySystemConfig c = fixed_dram();
  c.l2.partitions = 1;
  c.l2.banks = 8;
  c.machine_sms = 1;
  return c;
}

std::vector<std::string> order_of(const std::vector<Sent>& sent) {
  std::vector<std::string> names;
  for (const Sent& s : sent) names.push_back((s.write ? "write " : "read ") + std::to_string(s.address / 128));
  return names;
}

}  // namespace

TEST_CASE("the L1's miss queue holds what it is told, besides the request on the way") {
  memory::L1Config config;
  config.miss_queue = 5;
  L1Alone bench(config);
  bench.below.closed_until = opening;
  for (unsigned i = 0; i < 20; ++i) bench.driver.add(1, AccessClass::data_store, 128 * i);
  bench.finish();
  CHECK(accepted_before(bench.driver, opening) == 1 + 5);
  CHECK(Bench::stat(bench.module, "miss_queue_max") == 5);
  CHECK(Bench::stat(bench.module, "reservation_failures_miss_queue") >= 1);
}

TEST_CASE("a fill that finds a dirty victim and no way out for it is not kept, and the victim is") {
  memory::L1Config config;
  config.size_bytes = 128;
  config.ways = 1;
  config.miss_queue = 1;
  L1Alone bench(config);
  Driver& d = bench.driver;
  constexpr std::uint64_t registers = std::uint64_t{6} << 48;
  bench.below.latency = [](const Sent&) { return 100u; };
  const auto read = d.add(1, AccessClass::register_read, registers);
  d.add(10, AccessClass::register_write, registers + 128, 0xf, 7);
  const auto closing = d.add(20, AccessClass::data_store, 0);  // on the way, not taken
  d.add(21, AccessClass::data_store, 128);                     // in the queue, which is full
  const auto kept = d.add(opening + 100, AccessClass::register_read, registers + 128);
  const auto again = d.add(opening + 200, AccessClass::register_read, registers);
  d.on_send = [&](Request& r) {
    if (&r == &d.requests[closing]) bench.below.closed_until = opening;
  };
  bench.finish();
  CHECK(d.requests[read].done < 200);  // answered all the same
  CHECK(Bench::stat(bench.module, "fills_not_installed") == 1);
  CHECK(d.requests[kept].hit);
  CHECK(d.requests[kept].bytes[1] == byte_of(7, 1));
  CHECK_FALSE(d.requests[again].hit);
  CHECK(Bench::stat(bench.module, "writebacks") == 1);  // when the last read drives it out
}

TEST_CASE("a store that drives a dirty line out waits until both have a place") {
  memory::L1Config config;
  config.size_bytes = 128;
  config.ways = 1;
  config.miss_queue = 1;
  config.data_policy = "cache";
  config.data_store = "write_back";
  config.data_store_miss = "allocate";
  L1Alone bench(config);
  Driver& d = bench.driver;
  bench.below.closed_until = opening;
  d.add(1, AccessClass::data_store, 0, 0x3);
  d.add(10, AccessClass::atomic, 0, 0x1);  // the dirty sectors on the way, the atomic in the queue
  d.add(20, AccessClass::data_store, 128, 0x1);
  const auto waits = d.add(30, AccessClass::data_store, 256, 0x1);
  bench.finish();
  CHECK(d.requests[waits].accepted > opening);
  REQUIRE(bench.below.sent.size() == 3);
  CHECK((bench.below.sent[0].writeback && bench.below.sent[0].sectors == 0x3));
  CHECK(bench.below.sent[1].access == AccessClass::atomic);
  CHECK((bench.below.sent[2].writeback && bench.below.sent[2].address == 128));
}

TEST_CASE("the L1 holds as many answers as its queues have places") {
  memory::L1Config config;
  config.data_policy = "cache";
  config.fill_queue = 3;
  config.response_queue = 4;
  L1Alone bench(config);
  bench.driver.response_delay = 10000;
  for (unsigned i = 0; i < 20; ++i) bench.driver.add(1, AccessClass::data_load, 128 * i);
  run_until(opening);
  // One with the SM, one that has not been given its END_RESP, and those in the queues.
  const auto told =
      std::count_if(bench.below.sent.begin(), bench.below.sent.end(), [](const Sent& s) { return s.answered_at != 0; });
  CHECK(Bench::stat(bench.module, "response_queue_max") == 4);
  CHECK(Bench::stat(bench.module, "fills") == 1 + 4 + 1);  // the last one's answer waits for a place
  CHECK(told - 1 - 4 - 1 == 3);
  bench.finish();
}

TEST_CASE("the L2's request queue holds what it is told") {
  auto config = one_partition();
  config.l2.queue = 6;
  config.l2.mshrs = 1;
  L2Alone bench(config);
  bench.below.latency = [](const Sent&) { return static_cast<unsigned>(opening); };
  for (unsigned i = 0; i < 20; ++i) bench.driver.add(1, AccessClass::data_load, 128 * i);
  bench.finish();
  CHECK(accepted_before(bench.driver, opening) == 1 + 6);  // the first is being fetched
  CHECK(Bench::stat(bench.module, "queue_max") == 6);
  CHECK(Bench::stat(bench.module, "refusals") > 0);
}

TEST_CASE("the L2 serves stores while its answers have places") {
  auto config = one_partition();
  config.l2.response_queue = 5;
  L2Alone bench(config);
  bench.driver.response_delay = 10000;
  for (unsigned i = 0; i < 20; ++i) bench.driver.add(1, AccessClass::data_store, 128 * i, 0x1);
  run_until(opening);
  CHECK(Bench::stat(bench.module, "writes") == 1 + 5);
  bench.finish();
}

TEST_CASE("the L2 serves hits while its pipeline and its answers have places") {
  auto config = one_partition();
  config.l2.response_queue = 5;
  L2Alone bench(config);
  const auto access = static_cast<unsigned>(config.l2_access_cycles());
  bench.driver.add(1, AccessClass::data_store, 0, 0x1);
  for (unsigned i = 0; i < access + 50; ++i) bench.driver.add(1000, AccessClass::data_load, 0, 0x1);
  bench.driver.on_done = [&](Request&) { bench.driver.response_delay = 10000; };
  run_until(opening);
  CHECK(Bench::stat(bench.module, "read_hits") == 1 + 5 + access);
  bench.driver.on_done = [&](Request&) { bench.driver.response_delay = 0; };
  bench.finish();
}

// Writes wait while there are fetches, until there are l2.dram_queue of them.
TEMPLATE_TEST_CASE_SIG("the L2's write-backs go before fetches when as many wait as the queue to DRAM has places", "",
                       ((unsigned Writes), Writes), 2, 3, 4) {
  auto config = one_partition();
  config.l2.store = "write_through";
  config.l2.dram_queue = 3;
  L2Alone bench(config);
  Driver& d = bench.driver;
  bench.below.closed_until = opening;
  d.add(1, AccessClass::data_store, 0, 0x1);  // on the way
  for (unsigned i = 0; i < 2; ++i) d.add(50 + 10 * i, AccessClass::data_load, 128 * (10 + i), 0x1);
  for (unsigned i = 0; i < Writes; ++i) d.add(100 + 10 * i, AccessClass::data_store, 128 * (1 + i), 0x1);
  bench.finish();
  std::vector<std::string> expected{"write 0"};
  unsigned write = 1;
  for (; Writes - write + 1 >= 3; ++write) expected.push_back("write " + std::to_string(write));
  expected.insert(expected.end(), {"read 10", "read 11"});
  for (; write <= Writes; ++write) expected.push_back("write " + std::to_string(write));
  CHECK(order_of(bench.below.sent) == expected);
}

TEMPLATE_TEST_CASE_SIG("the L2's queue of fetches holds what it is told", "", ((unsigned Loads), Loads), 4, 5) {
  auto config = one_partition();
  config.l2.dram_queue = 3;
  L2Alone bench(config);
  Driver& d = bench.driver;
  bench.below.closed_until = opening;
  for (unsigned i = 0; i < Loads; ++i) d.add(10 * i, AccessClass::data_load, 128 * i, 0x1);
  const auto behind = d.add(100, AccessClass::data_store, 128 * 10, 0x1);
  bench.finish();
  // One is on the way and three wait; the fifth holds up what is behind it.
  CHECK((d.requests[behind].done < opening) == (Loads == 4));
}

TEMPLATE_TEST_CASE_SIG("the L2 keeps a place for the write-back of every fetch", "", ((unsigned Fetches), Fetches), 0,
                       2) {
  auto config = one_partition();
  config.l2.store = "write_through";
  config.l2.dram_queue = 3;
  config.l2.mshrs = 4;
  config.l2.queue = 64;
  L2Alone bench(config);
  Driver& d = bench.driver;
  bench.below.closed_until = opening;
  d.add(1, AccessClass::data_store, 0, 0x1);  // on the way
  for (unsigned i = 0; i < Fetches; ++i) d.add(50 + 10 * i, AccessClass::data_load, 128 * (40 + i), 0x1);
  for (unsigned i = 0; i < 20; ++i) d.add(100 + 10 * i, AccessClass::data_store, 128 * (1 + i), 0x1);
  // Those behind find their lines, and so need one place each.
  for (unsigned i = 0; i < 4; ++i) d.add(1000 + 10 * i, AccessClass::data_store, 128 * 1, 0x1);
  bench.finish();
  // A store that goes on and takes a line needs a place for itself and one for the line's victim.
  CHECK(answered_before(d, opening) == 1 + (3 + 4 - Fetches - 1));
  CHECK(Bench::stat(bench.module, "writeback_queue_max") <= 3 + 4);
}

TEMPLATE_TEST_CASE_SIG("the L2 fetches only with a place for a write-back", "", ((unsigned Writes), Writes), 6, 7) {
  auto config = one_partition();
  config.l2.store = "write_through";
  config.l2.store_miss = "no_allocate";
  config.l2.dram_queue = 3;
  config.l2.mshrs = 4;
  L2Alone bench(config);
  bench.below.closed_until = opening;
  // One on the way, and three and four that wait.
  for (unsigned i = 0; i < 1 + Writes; ++i) bench.driver.add(1 + 10 * i, AccessClass::data_store, 128 * i, 0x1);
  bench.driver.add(500, AccessClass::data_load, 128 * 40, 0x1);
  run_until(opening - 1);
  CHECK(Bench::stat(bench.module, "writes") == 1 + Writes);
  CHECK(Bench::stat(bench.module, "fetches") == (Writes < 7 ? 1 : 0));
  bench.finish();
}

TEST_CASE("the L2's answers leave in the order in which they are due") {
  auto config = one_partition();
  L2Alone bench(config);
  Driver& d = bench.driver;
  const auto access = static_cast<std::uint64_t>(config.l2_access_cycles());
  d.response_delay = static_cast<unsigned>(access) + 200;
  d.add(1, AccessClass::data_store, 0, 0x1);
  d.add(1000, AccessClass::data_store, 128, 0x1);  // with the SM; the others wait
  const auto hit = d.add(1010, AccessClass::data_load, 0, 0x1);
  const auto later = d.add(1010 + access + 50, AccessClass::data_store, 256, 0x1);
  d.add(5000, AccessClass::data_store, 128, 0x1);
  const auto second_hit = d.add(5010, AccessClass::data_load, 0, 0x1);
  const auto earlier = d.add(5020, AccessClass::data_store, 256, 0x1);
  bench.finish();
  CHECK(d.requests[hit].done < d.requests[later].done);
  CHECK(d.requests[earlier].done < d.requests[second_hit].done);
}

namespace {

struct Crossing {
  explicit Crossing(const memory::MemorySystemConfig& config)
      : interconnect("interconnect", config, 1, test::clock(cycle_time())) {
    driver.socket.bind(interconnect.upstream[0]);
    interconnect.downstream[0].bind(below.upstream);
  }
  Driver driver{"driver"};
  memory::Interconnect interconnect;
  RecordingTarget below{"below"};
};

}  // namespace

TEST_CASE("the interconnect's ports hold what they are told") {
  auto config = one_partition();
  config.interconnect.queue = 4;
  config.interconnect.latency = 7;
  Crossing bench(config);
  bench.below.closed_until = opening;
  for (unsigned i = 0; i < 60; ++i) bench.driver.add(1, AccessClass::data_load, 128 * i);
  sc_core::sc_start();
  // One that the partition does not take; a queue and the wires at its side; a queue at the SM's side.
  CHECK(accepted_before(bench.driver, opening) == 1 + (4 + 7) + 4);
  CHECK(Bench::stat(bench.interconnect, "request_queue_max") == 4);
  CHECK(bench.driver.finished == 60);
  CHECK(bench.interconnect.idle());
}

TEST_CASE("the interconnect's ports hold as many answers") {
  auto config = one_partition();
  config.interconnect.queue = 4;
  config.interconnect.latency = 7;
  Crossing bench(config);
  bench.driver.response_delay = 10000;
  for (unsigned i = 0; i < 60; ++i) bench.driver.add(1, AccessClass::data_load, 128 * i, 0x1);
  run_until(opening);
  const auto told =
      std::count_if(bench.below.sent.begin(), bench.below.sent.end(), [](const Sent& s) { return s.answered_at != 0; });
  CHECK(told - 1 == 1 + (4 + 7) + 4);  // the last one has not been given its END_RESP
  CHECK(Bench::stat(bench.interconnect, "response_queue_max") == 4);
  sc_core::sc_start();
  CHECK(bench.driver.finished == 60);
  CHECK(bench.interconnect.idle());
}

TEST_CASE("SMs that want one partition have it in turns") {
  auto config = one_partition();
  config.machine_sms = config.simulated_sms = 3;
  config.l2.size_bytes = 1u << 20;
  config.interconnect.partition_flits = 1;  // a store of a line keeps an SM's port as long as the partition's
  Bench bench(config, memory::L1Config{});
  for (auto& d : bench.drivers) {
    for (unsigned i = 0; i < 300; ++i) d->add(1, AccessClass::data_store, 128 * (i % 40), 0xf);
  }
  REQUIRE(bench.run() == "");
  const auto half = answered_before(*bench.drivers[0], 300 * 5 * 3 / 2);
  CHECK(half > 100);
  for (auto& d : bench.drivers) {
    const auto other = answered_before(*d, 300 * 5 * 3 / 2);
    CHECK(other + 2 >= half);
    CHECK(half + 2 >= other);
  }
}
