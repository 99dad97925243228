// SPDX-License-Identifier: Apache-2.0
//
// An L2 partition against a plain model, on random streams under every policy: what goes to DRAM, in which sectors and
// in which cycles, when each request is answered, what hits and every counter.
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include "cache_model.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr std::uint64_t register_space = std::uint64_t{6} << 48;

struct L2Bench {
  L2Bench(const std::string& name, const memory::MemorySystemConfig& c)
      : config(c),
        driver((name + "_driver").c_str(), c.l2.line_bytes),
        check_up((name + "_up").c_str()),
        l2((name + "_l2").c_str(), c, test::clock(cycle_time())),
        check_down((name + "_down").c_str()),
        below((name + "_below").c_str(), c.l2.line_bytes) {
    driver.socket.bind(check_up.in);
    check_up.out.bind(l2.upstream);
    l2.downstream.bind(check_down.in);
    check_down.out.bind(below.upstream);
  }
  memory::MemorySystemConfig config;
  Driver driver;
  Bench::Checker check_up;
  memory::L2Partition l2;
  Bench::Checker check_down;
  RecordingTarget below;
};

/// The cycles in which one a cycle goes, none before its own, whatever their order: of what is ready one goes always.
std::vector<std::uint64_t> one_a_cycle(std::vector<std::uint64_t> ready) {
  std::sort(ready.begin(), ready.end());
  std::uint64_t next = 0;
  for (std::uint64_t& r : ready) {
    r = std::max(r, next);
    next = r + 1;
  }
  return ready;
}

std::string compare_cycles(const std::string& what, std::vector<std::uint64_t> got,
                           const std::vector<std::uint64_t>& ready) {
  const std::vector<std::uint64_t> want = one_a_cycle(ready);
  std::sort(got.begin(), got.end());
  if (got.size() != want.size()) {
    return std::to_string(got.size()) + " " + what + ", expected " + std::to_string(want.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    return what + ": number " + std::to_string(i) + " in cycle " + std::to_string(got[i]) + ", expected " +
           std::to_string(want[i]);
  }
  return "";
}

std::string compare_sent(const std::string& what, const std::vector<Sent>& got, const std::vector<Sent>& want) {
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const Sent &g = got[i], &w = want[i];
    const bool same = g.address == w.address && g.sectors == w.sectors && (!w.write || g.access == w.access);
    if (same && g.cycle >= w.cycle) continue;
    return what + " number " + std::to_string(i) + ": found " + protocol::to_string(g.access) + " of " +
           std::to_string(g.address) + " sectors " + std::to_string(g.sectors) + " in cycle " +
           std::to_string(g.cycle) + ", expected " + protocol::to_string(w.access) + " of " +
           std::to_string(w.address) + " sectors " + std::to_string(w.sectors) + " from " + std::to_string(w.cycle);
  }
  if (got.size() == want.size()) return "";
  return std::to_string(got.size()) + " " + what + ", expected " + std::to_string(want.size());
}

/// "" or the first difference between the bench and the model.
std::string replay(L2Bench& b, Counters& seen) {
  if (b.driver.finished != b.driver.requests.size()) return "requests unanswered";
  if (!b.l2.idle() || b.l2.outstanding() != 0) return "L2 not idle";
  for (auto* c : {&b.check_up, &b.check_down}) {
    c->finish();
    if (c->rules().violations() != 0) return "protocol violated";
  }
  std::vector<Sent> reads, writes;
  std::vector<std::uint64_t> sent_cycles;
  std::map<std::uint64_t, std::size_t> fills;  // by cycle: the fetch's number
  for (const Sent& s : b.below.sent) {
    if (!s.write) fills[s.answered_at] = reads.size();
    (s.write ? writes : reads).push_back(s);
    sent_cycles.push_back(s.cycle);
  }
  L2Model model(b.config);
  std::size_t next = 0;
  const auto& requests = b.driver.requests;
  for (std::uint64_t now = 0; next < requests.size() || !fills.empty(); ++now) {
    while (!fills.empty() && fills.begin()->first <= now) {
      if (fills.begin()->second >= model.reads.size()) return "a fetch that the model does not make";
      model.fill(fills.begin()->second, now);
      fills.erase(fills.begin());
    }
    if (next == requests.size() || requests[next].sent + 1 > now) continue;
    next += model.serve(requests[next], next, requests[next].sent + 1, now);
    if (now > requests.back().done + 10000) return "the model waits for ever";
  }
  if (const std::string wrong = compare_sent("fetches", reads, model.reads); !wrong.empty()) return wrong;
  if (const std::string wrong = compare_sent("writes to DRAM", writes, model.writes); !wrong.empty()) return wrong;
  std::vector<std::uint64_t> ready, answers, answered;
  for (const auto* list : {&model.reads, &model.writes}) {
    for (const Sent& s : *list) ready.push_back(s.cycle);
  }
  if (const std::string wrong = compare_cycles("requests to DRAM", sent_cycles, ready); !wrong.empty()) return wrong;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(requests[i].done);
    answered.push_back(model.answered[i]);
    if (requests[i].done < model.answered[i]) return "request " + std::to_string(i) + ": answered too early";
    if (model.hit.count(i) == 0) continue;
    if ((requests[i].supplier == protocol::Supplier::l2) != model.hit[i]) {
      return "request " + std::to_string(i) + (model.hit[i] ? ": missed, expected a hit" : ": hit, expected a miss");
    }
  }
  if (const std::string wrong = compare_cycles("answers", answers, answered); !wrong.empty()) return wrong;
  support::StatGroup g("l2");
  b.l2.register_stats(g);
  for (const support::Stat& s : g.stats()) {
    if (s.name == "queue_max" || s.name == "writeback_queue_max") continue;  // no queues in the model
    const std::uint64_t got = s.counter != nullptr ? *s.counter : static_cast<std::uint64_t>(s.value());
    const std::uint64_t want = s.name == "dirty_bytes" ? model.dirty_bytes() : model.counters[s.name];
    if (got != want) return s.name + " is " + std::to_string(got) + ", expected " + std::to_string(want);
  }
  for (const auto& [name, count] : model.counters) seen[name] += count;
  return "";
}

memory::MemorySystemConfig l2_policy(unsigned n, std::mt19937& random) {
  const auto pick = [&](unsigned m) { return static_cast<unsigned>(random() % m); };
  memory::MemorySystemConfig c;
  c.dram.scheduler = "fixed";
  c.l2.store = n % 2 == 0 ? "write_back" : "write_through";
  c.l2.store_miss = n / 2 % 2 == 0 ? "allocate" : "no_allocate";
  c.l2.partitions = 1 + pick(5);
  c.l2.line_bytes = 32u << pick(4);
  c.l2.interleave_bytes = c.l2.line_bytes << pick(3);
  c.l2.ways = 1 + pick(4);
  c.l2.banks = 1 + pick(4);
  c.l2.mshrs = 1 + pick(12);
  c.l2.merge_limit = 1 + pick(4);
  c.l2.sector_merge = pick(3) != 0;
  c.l2.latency = 80 + pick(40);
  c.l2.queue = c.l2.response_queue = c.l2.dram_queue = 5000;
  c.machine_sms = c.simulated_sms = 1;
  c.l2.size_bytes = std::uint64_t{c.l2.line_bytes} * c.l2.ways * c.l2.partitions * (1 + pick(6));
  return c;
}

void fill_stream(L2Bench& b, std::mt19937& random, unsigned requests) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned line = b.config.l2.line_bytes;
  const auto lines = static_cast<unsigned>(2 + b.config.partition_sets() * b.config.l2.ways * (1 + pick(2)));
  const unsigned slowest = 20 + pick(150), busy = 1 + pick(4);
  b.below.latency = [&random, slowest](const Sent&) { return 5 + static_cast<unsigned>(random() % slowest); };
  std::uint64_t cycle = 0;
  for (unsigned i = 0; i < requests; ++i) {
    cycle += pick(6) == 0 ? pick(80) : pick(2 * busy);
    auto sectors = static_cast<std::uint8_t>(1 + pick(255));
    if ((sectors & memory::line_sectors(line)) == 0) sectors = 1;
    // Addresses of one partition: chunk after chunk of its own.
    const auto any = [&](std::uint64_t base) {
      const std::uint64_t in_partition = std::uint64_t{line} * pick(lines), chunk = b.config.l2.interleave_bytes;
      return base + in_partition / chunk * chunk * b.config.l2.partitions + in_partition % chunk;
    };
    const auto add = [&](AccessClass c, std::uint64_t address, std::uint8_t mask) -> Request& {
      return b.driver.requests[b.driver.add(cycle, c, address, mask, static_cast<unsigned char>(i % 251 + 1))];
    };
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        add(pick(8) == 0 ? AccessClass::local_load : AccessClass::data_load, any(0), sectors);
        break;
      case 4:
      case 5:
      case 6:
        add(pick(8) == 0 ? AccessClass::local_store : AccessClass::data_store, any(0), sectors);
        break;
      case 7:
      case 8:
        add(AccessClass::atomic, any(0), sectors);
        break;
      case 9:
        add(AccessClass::register_write, any(register_space), 0xff);
        break;
      case 10:
        add(AccessClass::register_read, any(register_space), 0xff).last = pick(4) == 0;
        break;
      default:
        add(pick(2) == 0 ? AccessClass::register_invalidate : AccessClass::instruction, any(register_space), sectors);
        break;
    }
  }
}

}  // namespace

// A SystemC program elaborates once, so every seed is a test case of its own; one elaboration holds all policies.
TEMPLATE_TEST_CASE_SIG("an L2 partition does what a plain model does, under every policy", "", ((unsigned Seed), Seed),
                       1, 2, 3, 4, 5, 6, 7, 8) {
  std::vector<std::unique_ptr<L2Bench>> benches;
  std::vector<std::unique_ptr<std::mt19937>> random;
  for (unsigned n = 0; n < 12; ++n) {
    random.push_back(std::make_unique<std::mt19937>(Seed * 100 + n));
    benches.push_back(std::make_unique<L2Bench>("p" + std::to_string(n), l2_policy(n, *random.back())));
    fill_stream(*benches.back(), *random.back(), 3000);
  }
  sc_core::sc_start();
  Counters seen;
  for (unsigned n = 0; n < 12; ++n) {
    CAPTURE(n, benches[n]->config.l2.line_bytes, benches[n]->config.l2.store, benches[n]->config.l2.store_miss);
    CHECK(replay(*benches[n], seen) == "");
  }
  // The streams come by everything.
  for (const char* name : {"read_hits", "read_misses", "mshr_merges", "write_hits", "writebacks", "last_reads",
                           "atomics", "bank_conflicts", "reservation_failures"}) {
    CAPTURE(name);
    CHECK(seen[name] > 50);
  }
}
