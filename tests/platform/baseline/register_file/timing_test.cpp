// SPDX-License-Identifier: Apache-2.0
//
// When a register file answers: cases worked out by hand, and random traffic against banks simulated cycle by cycle.
#include <deque>
#include <random>

#include "driver.h"

using namespace regatta;
using test::Bench;
using test::WarpValue;

TEST_CASE("register file: banks interleave registers and warps") {
  Bench b;
  for (unsigned reg = 0; reg < 32; ++reg) {
    for (unsigned warp = 0; warp < 20; ++warp) {
      CHECK(b.file.bank_of(protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
                           protocol::RegisterId(static_cast<std::uint8_t>(reg))) == (reg + warp) % 8);
    }
  }
}

namespace {

/// Every bank against the definition, for powers of two and for others.
void check_mapping(const std::string& mapping, unsigned banks, unsigned sub_cores) {
  CAPTURE(mapping, banks, sub_cores);
  models::RegisterFileConfig c;
  c.banks = banks;
  c.mapping = mapping;
  c.sub_cores = sub_cores;
  Bench b(c);
  for (unsigned warp = 0; warp < 200; ++warp) {
    for (unsigned reg = 0; reg < 256; ++reg) {
      unsigned expected = 0;
      if (mapping == "warp_interleaved") expected = (reg + warp) % banks;
      if (mapping == "register") expected = reg % banks;
      if (mapping == "sub_core") {
        const unsigned share = banks / sub_cores;
        expected = warp % sub_cores * share + (reg + warp / sub_cores) % share;
      }
      REQUIRE(b.file.bank_of(protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
                             protocol::RegisterId(static_cast<std::uint8_t>(reg))) == expected);
    }
  }
}

}  // namespace

TEST_CASE("register file: mapping warp_interleaved") { check_mapping("warp_interleaved", 32, 4); }
TEST_CASE("register file: mapping warp_interleaved, 12 banks") { check_mapping("warp_interleaved", 12, 4); }
TEST_CASE("register file: mapping register") { check_mapping("register", 16, 4); }
TEST_CASE("register file: mapping register, 10 banks") { check_mapping("register", 10, 2); }
TEST_CASE("register file: mapping sub_core") { check_mapping("sub_core", 16, 4); }
TEST_CASE("register file: mapping sub_core, a bank each") { check_mapping("sub_core", 4, 4); }
TEST_CASE("register file: mapping sub_core, 3 sub-cores") { check_mapping("sub_core", 24, 3); }
TEST_CASE("register file: mapping sub_core, 6 banks each") { check_mapping("sub_core", 24, 4); }
TEST_CASE("register file: mapping sub_core, one sub-core is warp_interleaved") { check_mapping("sub_core", 16, 1); }

TEST_CASE("register file: two read ports serve two reads of a bank per cycle, and one write") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.ports = "2r1w";
  Bench b(c);
  CHECK(b.read_delay(0, 0) == 2);
  CHECK(b.read_delay(0, 8) == 2);
  CHECK(b.read_delay(0, 16) == 3);
  CHECK(b.write_delay(0, 0) == 1);
  CHECK(b.write_delay(0, 8) == 2);
  b.wait(1);
  CHECK(b.read_delay(0, 24) == 2);  // the second port of cycle 2
  CHECK(b.read_delay(0, 0) == 3);
  CHECK(b.statistic("read_conflicts") == 2);
  CHECK(b.statistic("write_conflicts") == 1);
}

TEST_CASE("register file: a shared port serves one access of a bank per cycle, the oldest that may be served") {
  Bench b;                           // arbitration 1, latency 1
  CHECK(b.read_delay(0, 0) == 2);    // bank 0, access in cycle 1
  CHECK(b.read_delay(0, 1) == 2);    // bank 1
  CHECK(b.read_delay(0, 8) == 3);    // bank 0 again: cycle 2
  CHECK(b.read_delay(1, 7) == 4);    // bank (7 + 1) mod 8 = 0: cycle 3
  CHECK(b.write_delay(0, 16) == 1);  // bank 0: cycle 0, in which the first read is arbitrated
  CHECK(b.write_delay(0, 24) == 5);  // bank 0: cycle 4, behind the reads
  CHECK(b.write_delay(0, 2) == 1);   // bank 2, a write needs no arbitration: cycle 0
  CHECK(b.statistic("reads") == 4);
  CHECK(b.statistic("writes") == 3);
  CHECK(b.statistic("read_conflicts") == 2);
  CHECK(b.statistic("read_wait") == 1 + 2);
  CHECK(b.statistic("write_conflicts") == 1);
  CHECK(b.statistic("write_wait") == 4);
  b.wait(4);
  CHECK(b.read_delay(0, 0) == 2);  // cycle 4 is taken, 5 is the earliest anyway
  b.wait(100);
  CHECK(b.write_delay(0, 0) == 1);
  CHECK(b.read_delay(0, 0) == 2);  // the write has cycle 104, the read wants 105
}

TEST_CASE("register file: with a port for each, reads and writes of a bank do not meet") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.ports = "1r1w";
  Bench b(c);
  CHECK(b.read_delay(0, 0) == 2);
  CHECK(b.read_delay(0, 8) == 3);
  CHECK(b.write_delay(0, 16) == 1);
  CHECK(b.write_delay(0, 24) == 2);
  CHECK(b.read_delay(0, 16) == 4);
  CHECK(b.statistic("write_conflicts") == 1);
  CHECK(b.statistic("read_wait") == 1 + 2);
}

TEST_CASE("register file: arbitration and latency add up, banks are pipelined") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.arbitration = 2;
  c.latency = 3;
  Bench b(c);
  CHECK(b.read_delay(0, 0) == 5);
  CHECK(b.read_delay(0, 8) == 6);
  CHECK(b.write_delay(0, 1) == 3);
  CHECK(b.write_delay(0, 9) == 4);
}

TEST_CASE("register file: without arbitration a read may use its own cycle") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.arbitration = 0;
  Bench b(c);
  CHECK(b.read_delay(0, 0) == 1);
  CHECK(b.write_delay(0, 0) == 2);
}

TEST_CASE("register file: a request that arrives later is timed from its arrival") {
  Bench b;
  WarpValue v{};
  CHECK(b.read(0, 0, v, 5).delay == 2);  // arrives in 5, accesses in 6
  CHECK(b.read(0, 8, v, 3).delay == 2);  // the slot of cycle 4 was left free
  CHECK(b.read(0, 16, v, 5).delay == 2 + 1);
}

TEST_CASE("register file: a write to a full queue is held until the bank has room") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.write_queue = 2;
  Bench b(c);
  CHECK(b.write_delay(0, 0) == 1);
  CHECK(b.write_delay(0, 8) == 2);
  CHECK(b.write_delay(0, 16) == 3);  // two before it: the queue is full now
  const WarpValue value = test::pattern(7);
  CHECK(b.write(0, 24, value, ~0u).sync == tlm::TLM_ACCEPTED);
  tlm::tlm_generic_payload* held = &b.last().payload();
  CHECK(b.write_delay(0, 1) == 1);  // other banks have room
  CHECK(b.driver.responses.empty());
  b.wait(2);
  // One access done: room for one.
  REQUIRE(b.driver.responses.size() == 1);
  CHECK(b.driver.responses[0].payload == held);
  CHECK(b.driver.responses[0].phase == tlm::END_REQ);
  CHECK(b.driver.responses[0].cycle == 1);
  CHECK(b.driver.responses[0].delay == 0);
  b.wait(3);
  REQUIRE(b.driver.responses.size() == 2);
  const test::Driver::Response& r = b.driver.responses[1];
  CHECK(r.payload == held);
  CHECK(r.phase == tlm::BEGIN_RESP);
  CHECK(r.cycle + r.delay == 4);  // cycles 0, 1 and 2 are taken, so 3, and one of latency
  CHECK(held->is_response_ok());
  WarpValue found{};
  b.read(0, 24, found);
  CHECK(std::equal(found.lane.begin(), found.lane.begin() + 32, value.lane.begin()));
  CHECK(b.statistic("held_writes") == 1);
  CHECK(b.statistic("writes") == 5);
}

TEST_CASE("register file: who was held stops others until there is room, not until it is written") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.write_queue = 4;
  c.latency = 5;
  Bench b(c);
  for (unsigned i = 0; i < 5; ++i) CHECK(b.write_delay(0, 0) == 5 + i);
  CHECK(b.write(0, 8, test::pattern(1), ~0u).sync == tlm::TLM_ACCEPTED);
  b.wait(2);  // END_REQ in cycle 1
  REQUIRE(b.driver.responses.size() == 1);
  CHECK(b.driver.responses[0].cycle == 1);
  CHECK(b.write_delay(0, 1) == 5);                                          // another bank's: in cycle 2
  CHECK(b.write(0, 16, test::pattern(2), ~0u).sync == tlm::TLM_COMPLETED);  // and one of the same bank's
  b.wait(20);
  REQUIRE(b.driver.responses.size() == 2);
  CHECK(b.driver.responses[1].cycle + b.driver.responses[1].delay == 10);  // bank 0 in cycle 5
}

TEST_CASE("register file: a held write that arrives later is not taken before it arrives") {
  models::RegisterFileConfig c = Bench::eight_banks();
  c.write_queue = 1;
  Bench b(c);
  for (unsigned i = 0; i < 12; ++i) b.read_delay(0, 0);  // cycles 1 to 12 of bank 0
  CHECK(b.write(0, 8, test::pattern(1), ~0u, 6).sync == tlm::TLM_ACCEPTED);
  b.wait(30);
  REQUIRE(b.driver.responses.size() == 2);
  CHECK(b.driver.responses[0].phase == tlm::END_REQ);
  CHECK(b.driver.responses[0].cycle == 12);  // one access left
  CHECK(b.driver.responses[1].cycle + b.driver.responses[1].delay == 14);
}

namespace {

/// Banks, one cycle at a time: a port serves the oldest of the requests in its queue that may be served yet.
struct SlowBanks {
  unsigned read_ports = 1;
  struct Request {
    std::uint64_t earliest = 0;
    std::uint64_t* served = nullptr;
  };
  std::vector<std::deque<Request>> ports;
  void run(std::uint64_t cycles) {
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
      for (std::size_t i = 0; i < ports.size(); ++i) {
        auto& port = ports[i];
        for (unsigned n = i % 2 == 0 ? read_ports : 1; n != 0; --n) {
          const auto ready =
              std::find_if(port.begin(), port.end(), [&](const Request& r) { return r.earliest <= cycle; });
          if (ready == port.end()) break;
          *ready->served = cycle;
          port.erase(ready);
        }
      }
    }
  }
};

void random_timing(const std::string& ports, unsigned banks, unsigned latency, unsigned arbitration, unsigned seed,
                   unsigned ahead = 0) {
  CAPTURE(ports, banks, latency, arbitration, seed, ahead);
  models::RegisterFileConfig c;
  c.banks = banks;
  c.latency = latency;
  c.arbitration = arbitration;
  c.ports = ports;
  c.write_queue = 4096;
  Bench b(c);
  std::mt19937 random(seed);
  struct Access {
    unsigned port = 0;
    std::uint64_t at = 0, earliest = 0, done = 0, served = 0;
  };
  std::vector<Access> accesses(3000);
  for (Access& a : accesses) {
    if (random() % 5 == 0) b.wait(random() % 4 + (random() % 50 == 0 ? 40 : 0));
    const bool write = random() % 3 == 0;
    const unsigned warp = random() % 60, reg = random() % 32;
    const unsigned later = ahead == 0 ? 0 : random() % (ahead + 1);
    a.at = b.now() + later;
    a.earliest = a.at + (write ? 0 : arbitration);
    WarpValue v{};
    a.done = a.at + (write ? b.write(warp, reg, v, ~0u, later) : b.read(warp, reg, v, later)).delay;
    a.port = (warp + reg) % banks * 2 + (write && ports != "1rw" ? 1 : 0);
  }
  SlowBanks slow;
  slow.ports.resize(banks * 2);
  slow.read_ports = ports == "2r1w" ? 2 : 1;
  // All of one port arrive in the order of the calls, so queues may be filled beforehand.
  for (Access& a : accesses) slow.ports[a.port].push_back({a.earliest, &a.served});
  slow.run(b.now() + 4000);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    CAPTURE(i);
    REQUIRE(accesses[i].done == accesses[i].served + latency);
  }
}

}  // namespace

TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: 1rw") {
  random_timing("1rw", 16, 1, 1, 1);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: 1rw, arbitration of 9") {
  random_timing("1rw", 4, 1, 9, 6);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: 1rw, arbitration of 64") {
  random_timing("1rw", 3, 2, 64, 7);
}
TEST_CASE("register file: random traffic that arrives later is timed as by banks simulated cycle by cycle: 1rw") {
  random_timing("1rw", 4, 1, 3, 8, 40);
}
TEST_CASE("register file: random traffic that arrives later is timed as by banks simulated cycle by cycle: 1r1w") {
  random_timing("1r1w", 4, 2, 1, 9, 63);
}
TEST_CASE("register file: random traffic that arrives later is timed as by banks simulated cycle by cycle: 2r1w") {
  random_timing("2r1w", 4, 1, 0, 10, 31);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: 1r1w") {
  random_timing("1r1w", 16, 1, 1, 2);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: slow banks") {
  random_timing("1rw", 5, 3, 0, 3);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: one bank") {
  random_timing("1r1w", 1, 2, 4, 4);
}
TEST_CASE("register file: random traffic is timed as by banks simulated cycle by cycle: 2r1w") {
  random_timing("2r1w", 4, 2, 1, 5);
}
