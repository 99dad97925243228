// SPDX-License-Identifier: Apache-2.0
//
// Several initiators before one L1: fairness, the base protocol on every socket, conservation, and independence of the
// order in which they call.
#include <regatta/memory/request_arbiter.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <map>
#include <random>

#include "driver.h"

using namespace regatta;
using test::AccessClass;
using test::Driver;

namespace {

struct ArbiterBench {
  using Checker = protocol::BaseProtocolChecker<256>;
  ArbiterBench(unsigned ports, const memory::L1Config& l1_config, const std::string& prefix = "",
               bool drivers_first = true)
      : prefix_(prefix) {
    if (drivers_first) make_drivers(ports);
    arbiter = std::make_unique<memory::RequestArbiter>(name("arbiter").c_str(), ports, test::clock(test::cycle_time()));
    l1 = std::make_unique<memory::L1Cache>(name("l1").c_str(), l1_config, test::clock(test::cycle_time()));
    system = std::make_unique<memory::MemorySystem>(name("memory").c_str(), test::fixed_dram(),
                                                    test::clock(test::cycle_time()));
    if (!drivers_first) make_drivers(ports);
    for (unsigned p = 0; p < ports; ++p) connect(drivers[p]->socket, arbiter->upstream(p), "port" + std::to_string(p));
    connect(arbiter->downstream, l1->upstream, "l1_side");
    connect(l1->downstream, system->upstream()[0], "memory_side");
  }
  void check_end() {
    for (auto& d : drivers) {
      CHECK(d->finished == d->requests.size());
      CHECK(d->outstanding() == 0);
    }
    CHECK(arbiter->idle());
    CHECK(l1->idle());
    for (auto& c : checkers) {
      c->finish();
      CHECK(c->rules().violations() == 0);
    }
    for (unsigned p = 0; p < drivers.size(); ++p) {
      const std::string port = "port" + std::to_string(p);
      CHECK(test::Bench::stat(*arbiter, port + "_requests") == drivers[p]->requests.size());
      CHECK(test::Bench::stat(*arbiter, port + "_answers") == drivers[p]->requests.size());
    }
  }
  std::vector<std::unique_ptr<Driver>> drivers;
  std::unique_ptr<memory::RequestArbiter> arbiter;
  std::unique_ptr<memory::L1Cache> l1;
  std::unique_ptr<memory::MemorySystem> system;
  std::vector<std::unique_ptr<Checker>> checkers;

 private:
  std::string name(const std::string& n) const { return prefix_ + n; }
  void make_drivers(unsigned ports) {
    for (unsigned p = 0; p < ports; ++p) {
      drivers.push_back(std::make_unique<Driver>(name("driver" + std::to_string(p)).c_str()));
    }
  }
  void connect(protocol::MemoryInitiatorSocket& from, protocol::MemoryTargetSocket& to, const std::string& n) {
    checkers.push_back(std::make_unique<Checker>(name("check_" + n).c_str()));
    from.bind(checkers.back()->in);
    checkers.back()->out.bind(to);
  }
  std::string prefix_;
};

/// Loads, stores, register traffic; the registers of a port are its own.
void random_requests(Driver& d, unsigned port, std::mt19937& random, unsigned count) {
  std::uint64_t cycle = 1;
  bool written[64] = {};
  for (unsigned n = 0; n < count; ++n) {
    cycle += random() % 4 == 0 ? random() % 200 : random() % 3;
    const std::uint64_t reg = random() % 64;
    const std::uint64_t address = (std::uint64_t{6} << 48) + (port * 64 + reg) * 128;
    switch (random() % 5) {
      case 0:
        d.add(cycle, AccessClass::data_load, 0x10000 + random() % 256 * 128);
        break;
      case 1:
        d.add(cycle, AccessClass::data_store, 0x10000 + random() % 256 * 128);
        break;
      case 2:
      case 3:
        written[reg] = true;
        d.add(cycle, AccessClass::register_write, address, 0xf, static_cast<unsigned char>(random()));
        break;
      default:
        if (written[reg]) d.add(cycle, AccessClass::register_read, address);
    }
  }
}

/// Every register read brings what was written before it.
void check_values(const Driver& d) {
  std::map<std::uint64_t, unsigned char> last;
  for (const test::Request& r : d.requests) {
    if (r.access == AccessClass::register_write) last[r.address] = r.fill;
    if (r.access != AccessClass::register_read) continue;
    REQUIRE(r.bytes.size() == 128);
    for (unsigned i = 0; i < 128; ++i) REQUIRE(r.bytes[i] == test::byte_of(last.at(r.address), i));
  }
}

}  // namespace

TEST_CASE("request arbiter: a lone request passes in the cycle of its call, its answer too") {
  memory::L1Config c;
  ArbiterBench b(3, c);
  b.drivers[1]->add(10, AccessClass::register_write, std::uint64_t{6} << 48, 0xf, 3);
  b.drivers[1]->add(200, AccessClass::register_read, std::uint64_t{6} << 48);
  sc_core::sc_start();
  CHECK(b.drivers[1]->requests[0].hit);
  CHECK(b.drivers[1]->latency(0) == c.hit_latency);
  CHECK(b.drivers[1]->requests[1].hit);
  CHECK(b.drivers[1]->latency(1) == c.hit_latency);
  check_values(*b.drivers[1]);
  CHECK(test::Bench::stat(*b.arbiter, "port1_waits") == 0);
  b.check_end();
}

TEST_CASE("request arbiter: one request per cycle, turn by turn") {
  constexpr unsigned ports = 4, each = 50;
  ArbiterBench b(ports, memory::L1Config{});
  for (unsigned p = 0; p < ports; ++p) {
    for (unsigned n = 0; n < each; ++n) {
      b.drivers[p]->add(5, AccessClass::register_write, (std::uint64_t{6} << 48) + (p * 8 + n % 8) * 128, 0xf, 1);
    }
  }
  sc_core::sc_start();
  std::vector<std::pair<std::uint64_t, unsigned>> order;
  for (unsigned p = 0; p < ports; ++p) {
    for (const test::Request& r : b.drivers[p]->requests) order.emplace_back(r.done, p);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 1; i < order.size(); ++i) REQUIRE(order[i].first > order[i - 1].first);
  // Nobody is two turns ahead of another.
  std::vector<unsigned> had(ports);
  for (const auto& [done, p] : order) {
    ++had[p];
    const auto [least, most] = std::minmax_element(had.begin(), had.end());
    REQUIRE(*most - *least <= 2);
  }
  b.check_end();
}

TEST_CASE("request arbiter: one that the target holds keeps its place, and answers go on") {
  memory::L1Config c;
  c.mshrs = 1;  // a second miss is held until the first is back
  ArbiterBench b(2, c);
  const std::uint64_t base = std::uint64_t{6} << 48;
  b.drivers[0]->add(5, AccessClass::register_read, base);
  b.drivers[0]->add(6, AccessClass::register_read, base + 128);
  b.drivers[1]->add(8, AccessClass::register_write, base + 256, 0xf, 1);
  sc_core::sc_start();
  const auto& first = b.drivers[0]->requests;
  CHECK(first[1].accepted >= first[0].done - 10);
  // It would have hit, but came behind the one that waits.
  CHECK(b.drivers[1]->requests[0].done > first[1].accepted);
  CHECK(!b.drivers[1]->requests[0].hit);
  b.check_end();
}

TEST_CASE("request arbiter: random traffic of four ports, slow initiators, with checkers on every socket") {
  ArbiterBench b(4, [] {
    memory::L1Config c;
    c.size_bytes = 8 * 1024;
    c.mshrs = 4;
    c.miss_queue = 2;
    c.response_queue = 2;
    return c;
  }());
  std::mt19937 random(7);
  for (unsigned p = 0; p < 4; ++p) {
    random_requests(*b.drivers[p], p, random, 1500);
    b.drivers[p]->response_delay = p;  // END_RESP later
    b.drivers[p]->request_delay = p == 0 ? 0 : 1;
  }
  sc_core::sc_start();
  for (auto& d : b.drivers) check_values(*d);
  CHECK(test::Bench::stat(*b.arbiter, "port1_waits") > 100);
  b.check_end();
}

TEST_CASE("request arbiter: results do not depend on the order in which modules were made") {
  ArbiterBench first(3, memory::L1Config{}, "a_", true), second(3, memory::L1Config{}, "b_", false);
  for (ArbiterBench* b : {&first, &second}) {
    std::mt19937 random(11);
    for (unsigned p = 0; p < 3; ++p) {
      random_requests(*b->drivers[p], p, random, 1000);
      b->drivers[p]->request_delay = p == 0 ? 0 : 1;  // one at most calls for the present cycle
    }
  }
  sc_core::sc_start();
  for (unsigned p = 0; p < 3; ++p) {
    for (std::size_t i = 0; i < first.drivers[p]->requests.size(); ++i) {
      CAPTURE(p, i);
      REQUIRE(first.drivers[p]->requests[i].done == second.drivers[p]->requests[i].done);
    }
  }
  first.check_end();
  second.check_end();
}

TEST_CASE("request arbiter: one behind another gives back the port numbers of the other") {
  memory::L1Config c;
  memory::RequestArbiter inner("inner", 3, test::clock(test::cycle_time()));
  Driver a("a"), b("b"), d("d");
  memory::RequestArbiter outer("outer", 2, test::clock(test::cycle_time()));
  memory::L1Cache l1("l1", c, test::clock(test::cycle_time()));
  memory::MemorySystem system("memory", test::fixed_dram(), test::clock(test::cycle_time()));
  a.socket.bind(inner.upstream(0));
  b.socket.bind(inner.upstream(1));
  d.socket.bind(inner.upstream(2));
  inner.downstream.bind(outer.upstream(1));
  Driver e("e");
  e.socket.bind(outer.upstream(0));
  outer.downstream.bind(l1.upstream);
  l1.downstream.bind(system.upstream()[0]);
  std::mt19937 random(3);
  unsigned port = 0;
  for (Driver* x : {&a, &b, &d, &e}) random_requests(*x, port++, random, 500);
  sc_core::sc_start();
  for (Driver* x : {&a, &b, &d, &e}) {
    CHECK(x->finished == x->requests.size());
    check_values(*x);
  }
  CHECK(inner.idle());
  CHECK(outer.idle());
}
