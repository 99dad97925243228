// SPDX-License-Identifier: Apache-2.0
//
// Amounts of traffic, from what was asked: packets and flits by size, bytes of the interconnect and of DRAM. Counters
// at both ends of a link may agree and be wrong.
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include "driver.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

using namespace regatta;
using namespace regatta::test;

namespace {

struct Amounts {
  std::uint64_t packets = 0, flits = 0, bytes = 0;
  void add(const memory::InterconnectConfig& c, unsigned data) {
    ++packets;
    const auto full = [&c](unsigned n) { return (n + c.flit_bytes - 1) / c.flit_bytes; };
    flits += c.header_bytes != 0 ? full(c.header_bytes + data) : std::max(1u, c.header_flits + full(data));
    bytes += data;
  }
};

bool carries_to_l2(AccessClass c) {
  return c == AccessClass::data_store || c == AccessClass::local_store || c == AccessClass::atomic ||
         c == AccessClass::register_write;
}
bool carries_back(AccessClass c) {
  return c != AccessClass::data_store && c != AccessClass::local_store && c != AccessClass::register_write;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("the interconnect moves what the requests and answers carry", "", ((unsigned Seed), Seed), 1, 2,
                       3, 4, 5, 6) {
  std::mt19937 random(Seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  memory::MemorySystemConfig c = fixed_dram();
  c.machine_sms = 2;
  c.simulated_sms = 1 + Seed % 2;
  c.interconnect.flit_bytes = 8u << pick(4);
  c.interconnect.header_flits = pick(4);
  if (Seed % 2 == 0) {
    c.interconnect.header_flits = 1;
    c.interconnect.header_bytes = 1 + pick(70);
  }
  c.interconnect.response_flits = 1 + Seed % 3;
  c.l2.line_bytes = 64u << pick(2);
  memory::L1Config l1;
  l1.enabled = false;  // registers come by as well
  l1.line_bytes = c.l2.line_bytes;
  Bench bench(c, l1);
  Amounts down, up;
  std::uint64_t reads = 0, writes = 0, atomics = 0;
  const AccessClass classes[] = {AccessClass::data_load,     AccessClass::data_store,     AccessClass::atomic,
                                 AccessClass::local_load,    AccessClass::local_store,    AccessClass::instruction,
                                 AccessClass::register_read, AccessClass::register_write, AccessClass::constant};
  for (unsigned s = 0; s < bench.sms; ++s) {
    for (unsigned i = 0; i < 1500; ++i) {
      const AccessClass access = classes[pick(9)];
      const auto sectors = static_cast<std::uint8_t>(1 + pick(3) + 4 * pick(4));
      bench.drivers[s]->add(i * (1 + Seed % 3), access, std::uint64_t{c.l2.line_bytes} * pick(3000), sectors);
      const unsigned in_line = sectors & ((1u << (c.l2.line_bytes / 32)) - 1);
      const unsigned data = 32 * static_cast<unsigned>(__builtin_popcount(in_line));
      down.add(c.interconnect, carries_to_l2(access) ? data : 0);
      up.add(c.interconnect, carries_back(access) ? data : 0);
      ++(access == AccessClass::atomic ? atomics : carries_to_l2(access) ? writes : reads);
    }
  }
  REQUIRE(bench.run() == "");
  const auto network = [&](const char* name) { return Bench::stat(*bench.interconnect, name); };
  CHECK(network("request_packets") == down.packets);
  CHECK(network("request_flits") == down.flits);
  CHECK(network("bytes_written") == down.bytes);
  CHECK(network("response_packets") == up.packets);
  CHECK(network("response_flits") == up.flits);
  CHECK(network("bytes_read") == up.bytes);
  const auto l2 = [&](const char* name) {
    std::uint64_t sum = 0;
    for (auto& x : bench.l2) sum += Bench::stat(*x, name);
    return sum;
  };
  CHECK(l2("reads") == reads);
  CHECK(l2("writes") == writes);
  CHECK(l2("atomics") == atomics);
  CHECK(l2("bytes_read") == up.bytes);
}

TEMPLATE_TEST_CASE_SIG("a packet keeps an SM's port for as many cycles as it has flits", "",
                       ((unsigned Flit, unsigned Sectors), Flit, Sectors), (32, 1), (32, 4), (16, 3), (8, 4)) {
  memory::MemorySystemConfig c = fixed_dram();
  c.machine_sms = 1;
  c.interconnect.flit_bytes = Flit;
  c.l2.latency = 260;
  Bench bench(c, memory::L1Config{});
  Driver& d = bench.driver();
  constexpr unsigned requests = 200;
  const auto mask = static_cast<std::uint8_t>((1u << Sectors) - 1);
  for (unsigned i = 0; i < requests; ++i) d.add(0, AccessClass::data_store, 128 * (i % 40), mask);
  const std::size_t first_load = d.requests.size();
  for (unsigned i = 0; i < requests; ++i) d.add(20000, AccessClass::data_load, 128 * (i % 40), mask);
  REQUIRE(bench.run() == "");
  const unsigned flits = 1 + (32 * Sectors + Flit - 1) / Flit;
  // Answers of stores and requests of loads are headers; the data's direction is the slow one. Partitions may overtake
  // one another.
  const auto span = [&](std::size_t begin) {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (std::size_t i = begin; i < begin + requests; ++i) {
      first = std::min(first, d.requests[i].done);
      last = std::max(last, d.requests[i].done);
    }
    return last - first;
  };
  CHECK(span(0) == (requests - 1) * flits);
  CHECK(span(first_load) == (requests - 1) * flits);
}

TEMPLATE_TEST_CASE_SIG("a DRAM channel moves the sectors that it is asked for", "", ((unsigned Scheduler), Scheduler),
                       0, 1, 2) {
  const char* const schedulers[] = {"fixed", "fcfs", "fr_fcfs"};
  memory::MemorySystemConfig c;
  c.dram.scheduler = schedulers[Scheduler];
  c.l2.line_bytes = 64;
  Driver driver{"driver", 64};
  memory::DramChannel dram("dram", c, test::clock(cycle_time()));
  driver.socket.bind(dram.upstream);
  std::mt19937 random(Scheduler);
  std::uint64_t count[2] = {0, 0}, bytes[2] = {0, 0};
  struct Class {
    AccessClass access;
    bool write;
    const char* cause;
  };
  constexpr Class classes[] = {
      {AccessClass::data_load, false, "bytes_data"},          {AccessClass::local_load, false, "bytes_data"},
      {AccessClass::register_read, false, "bytes_registers"}, {AccessClass::instruction, false, "bytes_code"},
      {AccessClass::constant, false, "bytes_code"},           {AccessClass::metadata, false, "bytes_metadata"},
      {AccessClass::data_store, true, "bytes_data"},          {AccessClass::local_store, true, "bytes_data"},
      {AccessClass::register_write, true, "bytes_registers"}};
  std::map<std::string, std::uint64_t> by_cause;
  for (unsigned i = 0; i < 1000; ++i) {
    const Class& c = classes[random() % 9];
    const auto sectors = static_cast<std::uint8_t>(1 + random() % 3 + 4 * (random() % 4));
    driver.add(i, c.access, 64 * (random() % 5000), sectors);
    ++count[c.write];
    const unsigned moved = 32 * static_cast<unsigned>(__builtin_popcount(sectors & 3u));
    bytes[c.write] += moved;
    by_cause[c.cause] += moved;
  }
  sc_core::sc_start();
  REQUIRE(driver.finished == driver.requests.size());
  CHECK(Bench::stat(dram, "reads") == count[0]);
  CHECK(Bench::stat(dram, "writes") == count[1]);
  CHECK(Bench::stat(dram, "bytes_read") == bytes[0]);
  CHECK(Bench::stat(dram, "bytes_written") == bytes[1]);
  REQUIRE(by_cause.size() == 4);
  for (const auto& [cause, moved] : by_cause) {
    CAPTURE(cause);
    CHECK(Bench::stat(dram, cause.c_str()) == moved);
  }
  const memory::Bandwidth b = c.channel_bandwidth();
  CHECK(Bench::stat(dram, "busy_cycles") == (bytes[0] + bytes[1]) * b.cycles / b.bytes);
}
