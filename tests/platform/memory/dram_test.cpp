// SPDX-License-Identifier: Apache-2.0
// A channel whose times are annotated when a request arrives against one that works them out event by event.
#include "driver.h"

#include <regatta/test/catch.h>

#include <algorithm>
#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

// First come, first served, but not telling.
class UnforeseenScheduler : public memory::FcfsScheduler {
 public:
  using FcfsScheduler::FcfsScheduler;
  bool in_order() const override { return false; }
};

struct Pair {
  explicit Pair(const memory::MemorySystemConfig& config)
      : known("known", config, cycle_time()),
        unforeseen("unforeseen", config, cycle_time(),
                   std::make_unique<UnforeseenScheduler>(static_cast<std::uint64_t>(config.dram_access_cycles()))) {
    a.socket.bind(check_a.in);
    check_a.out.bind(known.upstream);
    b.socket.bind(check_b.in);
    check_b.out.bind(unforeseen.upstream);
  }
  void add(std::uint64_t cycle, bool write, std::uint64_t address, std::uint8_t sectors) {
    const AccessClass access = write ? AccessClass::data_store : AccessClass::data_load;
    a.add(cycle, access, address, sectors);
    b.add(cycle, access, address, sectors);
  }
  void run() {
    sc_core::sc_start();
    for (Driver* d : {&a, &b}) {
      REQUIRE(d->finished == d->requests.size());
      REQUIRE(d->outstanding() == 0);
    }
    CHECK(known.idle());
    CHECK(unforeseen.idle());
    for (Bench::Checker* c : {&check_a, &check_b}) {
      c->finish();
      CHECK(c->rules().violations() == 0);
    }
    CHECK(known.bytes_moved() == unforeseen.bytes_moved());
  }
  Driver a{"driver_a"}, b{"driver_b"};
  Bench::Checker check_a{"check_a"}, check_b{"check_b"};
  memory::DramChannel known, unforeseen;
};

}  // namespace

TEST_CASE("annotated DRAM times are those of the events") {
  const memory::MemorySystemConfig config;
  Pair pair(config);
  std::mt19937 random(11);
  std::uint64_t cycle = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    cycle += random() % 4 == 0 ? random() % 400 : random() % 60;
    pair.add(cycle, random() % 3 == 0, 128 * std::uint64_t{i}, static_cast<std::uint8_t>(1 + random() % 15));
  }
  pair.run();
  std::size_t different = 0;
  for (std::size_t i = 0; i < pair.a.requests.size(); ++i) {
    if (pair.a.requests[i].access == AccessClass::data_load) {
      different += pair.a.requests[i].done != pair.b.requests[i].done;
    }
  }
  CHECK(different == 0);
}

TEST_CASE("a saturated channel refuses, keeps its queue finite and never exceeds the bus, annotated or not") {
  memory::MemorySystemConfig config;
  config.dram.queue = 4;
  Pair pair(config);
  std::mt19937 random(12);
  for (unsigned i = 0; i < 2000; ++i) {
    pair.add(0, random() % 3 == 0, 128 * std::uint64_t{i}, static_cast<std::uint8_t>(1 + random() % 15));
  }
  pair.run();
  const memory::Bandwidth bandwidth = config.channel_bandwidth();
  const auto least = pair.known.bytes_moved() * bandwidth.cycles / bandwidth.bytes;
  for (auto& [driver, channel] : {std::pair<Driver&, memory::DramChannel&>{pair.a, pair.known},
                                  std::pair<Driver&, memory::DramChannel&>{pair.b, pair.unforeseen}}) {
    std::uint64_t last = 0;
    for (const Request& r : driver.requests) last = std::max(last, r.done);
    CHECK(last >= least);
    CHECK(last <= least + 500);
    CHECK(Bench::stat(channel, "queue_max") == 4);
    CHECK(Bench::stat(channel, "refusals") > 1000);
  }
}
