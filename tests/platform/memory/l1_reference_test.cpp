// SPDX-License-Identifier: Apache-2.0
//
// The L1 against a plain model, on random streams under every policy: what goes down for each request and in which
// order, with which sectors and bytes; what hits, what waits, and every counter.
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include "cache_model.h"

#include <memory>
#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr std::uint64_t local_base = std::uint64_t{3} << 48;
constexpr std::uint64_t register_base = std::uint64_t{6} << 48;
/// After a kernel boundary nothing is sent before what was dirty has left.
constexpr unsigned boundary_pause = 60;

/// Ends a kernel at a cycle.
struct KernelEnd : sc_core::sc_module {
  KernelEnd(const sc_core::sc_module_name& name, memory::L1Cache& cache) : sc_module(name), l1(cache) {
    SC_HAS_PROCESS(KernelEnd);
    SC_METHOD(end);
    sensitive << event;
    dont_initialize();
  }
  void end() {
    l1.invalidate_data();
    cycles.push_back(now_cycle());
  }
  memory::L1Cache& l1;
  sc_core::sc_event event;
  std::vector<std::uint64_t> cycles;  ///< in which kernels ended
};

/// A cache of twice as many ways.
memory::L1Config widened(memory::L1Config c, bool wide) {
  if (!wide) return c;
  c.ways *= 2;
  c.size_bytes *= 2;
  return c;
}

struct L1Bench {
  /// `wide`: the cache is larger, and leaves half of it to somebody else.
  L1Bench(const std::string& name, const memory::L1Config& c, bool wide)
      : config(c),
        driver((name + "_driver").c_str(), c.line_bytes),
        check_up((name + "_up").c_str()),
        l1((name + "_l1").c_str(), widened(c, wide), test::clock(cycle_time())),
        kernel_end((name + "_end").c_str(), l1),
        check_down((name + "_down").c_str()),
        below((name + "_below").c_str(), c.line_bytes) {
    if (wide) l1.use_bytes(c.size_bytes);
    driver.socket.bind(check_up.in);
    check_up.out.bind(l1.upstream);
    l1.downstream.bind(check_down.in);
    check_down.out.bind(below.upstream);
  }
  memory::L1Config config;
  Driver driver;
  Bench::Checker check_up;
  memory::L1Cache l1;
  KernelEnd kernel_end;
  Bench::Checker check_down;
  RecordingTarget below;
};

/// The cycle in which the L1 took a request.
std::uint64_t taken_at(const Request& r) { return r.accepted == r.sent ? r.sent : r.accepted - 1; }

std::string text(const Sent& s) {
  char line[160];
  std::snprintf(line, sizeof line, "%s %#llx sectors %#x%s", protocol::to_string(s.access),
                static_cast<unsigned long long>(s.address), s.sectors, s.writeback ? " written back" : "");
  return line;
}

std::string difference(const Sent& got, const Sent& want, unsigned line_bytes) {
  if (got.access != want.access || got.address != want.address || got.sectors != want.sectors ||
      got.write != want.write || got.writeback != want.writeback) {
    return "found " + text(got) + ", expected " + text(want);
  }
  if (got.access == AccessClass::register_write && std::memcmp(got.bytes.data(), want.bytes.data(), line_bytes) != 0) {
    return text(got) + ": other bytes than were written";
  }
  return "";
}

/// Replays what happened in the bench through the model. "" or the first difference.
class Replay {
 public:
  explicit Replay(L1Bench& bench) : bench_(bench), model_(bench.config) {}

  std::string run() {
    if (bench_.driver.finished != bench_.driver.requests.size()) return "requests unanswered";
    if (!bench_.l1.idle() || bench_.l1.outstanding() != 0) return "L1 not idle";
    for (auto* c : {&bench_.check_up, &bench_.check_down}) {
      c->finish();
      if (c->rules().violations() != 0) return "protocol violated";
    }
    std::map<std::uint64_t, std::size_t> answers;  // by cycle; one a cycle
    for (std::size_t i = 0; i < bench_.below.sent.size(); ++i) answers[bench_.below.sent[i].answered_at] = i;
    auto answer = answers.begin();
    auto boundary = bench_.kernel_end.cycles.begin();
    for (std::size_t i = 0; i < bench_.driver.requests.size(); ++i) {
      Request& r = bench_.driver.requests[i];
      const std::uint64_t taken = taken_at(r);
      // What happens in a cycle: answers, then a kernel boundary, then the request.
      const auto answers_until = [&](std::uint64_t cycle) {
        for (; answer != answers.end() && answer->first <= cycle; ++answer) {
          if (const std::string wrong = fill(answer->second); !wrong.empty()) return wrong;
        }
        return std::string();
      };
      if (boundary != bench_.kernel_end.cycles.end() && *boundary <= r.sent) {
        if (const std::string wrong = answers_until(*boundary); !wrong.empty()) return wrong;
        model_.kernel_boundary();
        ++boundary;
      }
      if (const std::string wrong = answers_until(r.sent); !wrong.empty()) return wrong;
      const std::string obstacle = model_.obstacle(r);
      const std::string where = "request " + std::to_string(i) + " (" + protocol::to_string(r.access) + ")";
      if (!obstacle.empty()) {
        ++model_.counters["reservation_failures"];
        ++model_.counters["reservation_failures_" + obstacle];
        model_.counters["waited_" + obstacle] += taken - r.sent;
        if (taken == r.sent) return where + ": taken at once, expected to wait for " + obstacle;
        while (answer != answers.end() && !model_.obstacle(r).empty()) {
          if (const std::string wrong = fill(answer->second); !wrong.empty()) return wrong;
          last_fill_ = answer->first;
          ++answer;
        }
        if (taken != last_fill_) {
          return where + ": taken in cycle " + std::to_string(taken) + ", expected " + std::to_string(last_fill_);
        }
      } else if (taken != r.sent) {
        return where + ": had to wait, expected to be taken at once";
      }
      model_.take(r, i);
      if (const std::string wrong = compare_sent(); !wrong.empty()) return where + ": " + wrong;
      const bool reads = model_.hit.count(i) != 0;
      if (reads && (r.supplier == protocol::Supplier::l1) != model_.hit[i]) {
        return where + (model_.hit[i] ? ": missed, expected a hit" : ": hit, expected a miss");
      }
      if (reads && !model_.hit[i] && r.supplier != protocol::Supplier::dram) return where + ": unknown supplier";
      if (model_.read_bytes.count(i) != 0 && !same_bytes(r, model_.read_bytes[i])) return where + ": other bytes";
    }
    for (; answer != answers.end(); ++answer) {
      if (const std::string wrong = fill(answer->second); !wrong.empty()) return wrong;
    }
    if (model_.sent.size() != bench_.below.sent.size()) {
      return std::to_string(bench_.below.sent.size()) + " requests went down, expected " +
             std::to_string(model_.sent.size());
    }
    for (const auto& [first, count] : model_.flushed) {
      if (const std::string wrong = compare_flush(first, count); !wrong.empty()) return "kernel boundary: " + wrong;
    }
    return compare_counters();
  }
  const L1Model& model() const { return model_; }

 private:
  bool same_bytes(const Request& r, const LineBytes& want) const {
    return std::memcmp(r.bytes.data(), want.data(), bench_.config.line_bytes) == 0;
  }
  std::string fill(std::size_t number) {
    if (number >= model_.sent.size()) return "went down unexpectedly: " + text(bench_.below.sent[number]);
    model_.sent[number].bytes = bench_.below.sent[number].bytes;
    for (const std::size_t waiter : model_.fill(number)) {
      const Request& r = bench_.driver.requests[waiter];
      if (r.access == AccessClass::register_read && !same_bytes(r, model_.sent[number].bytes)) {
        return "request " + std::to_string(waiter) + ": other bytes than its fetch brought";
      }
    }
    return compare_sent();
  }
  bool in_flush(std::size_t number) const {
    for (const auto& [first, count] : model_.flushed) {
      if (number >= first && number < first + count) return true;
    }
    return false;
  }
  std::string compare_sent() {
    for (; compared_ < model_.sent.size(); ++compared_) {
      if (in_flush(compared_)) continue;
      if (compared_ >= bench_.below.sent.size()) return "did not go down: " + text(model_.sent[compared_]);
      const std::string wrong =
          difference(bench_.below.sent[compared_], model_.sent[compared_], bench_.config.line_bytes);
      if (!wrong.empty()) return "number " + std::to_string(compared_) + " to go down: " + wrong;
    }
    return "";
  }
  /// What leaves together leaves in any order.
  std::string compare_flush(std::size_t first, std::size_t count) {
    std::map<std::uint64_t, const Sent*> want;
    for (std::size_t i = first; i < first + count; ++i) want[model_.sent[i].address] = &model_.sent[i];
    for (std::size_t i = first; i < first + count; ++i) {
      const Sent& got = bench_.below.sent[i];
      if (want.count(got.address) == 0) return "unexpected " + text(got);
      const std::string wrong = difference(got, *want[got.address], bench_.config.line_bytes);
      if (!wrong.empty()) return wrong;
      want.erase(got.address);
    }
    return "";
  }
  std::string compare_counters() {
    support::StatGroup g("l1");
    bench_.l1.register_stats(g);
    for (const support::Stat& s : g.stats()) {
      if (s.name == "miss_queue_max" || s.name == "response_queue_max") continue;  // no queues in the model
      const std::uint64_t got = s.counter != nullptr ? *s.counter : static_cast<std::uint64_t>(s.value());
      const std::uint64_t want = s.name == "dirty_bytes" ? model_.dirty_bytes() : model_.counters[s.name];
      if (got != want) return s.name + " is " + std::to_string(got) + ", expected " + std::to_string(want);
    }
    return "";
  }

  L1Bench& bench_;
  L1Model model_;
  std::size_t compared_ = 0;
  std::uint64_t last_fill_ = 0;
};

const char* const stores[] = {"write_evict", "write_through", "write_back"};

/// Policy number `n` of the sixteen: loads past the L1 or cached, the three kinds of stores with and without a line of
/// their own, whole lines and sectors.
memory::L1Config policy(unsigned n, std::mt19937& random) {
  const auto pick = [&](unsigned m) { return static_cast<unsigned>(random() % m); };
  memory::L1Config c;
  c.fill = n % 2 == 0 ? "line" : "sector";
  c.data_policy = n < 12 ? "cache" : "bypass";
  c.data_store = stores[n < 12 ? n / 2 % 3 : 0];
  c.data_store_miss = n / 6 % 2 == 0 ? "allocate" : "no_allocate";
  c.local_policy = pick(4) == 0 ? "bypass" : "cache";
  c.local_store = stores[pick(c.local_policy == "cache" ? 3 : 2)];
  c.local_store_miss = pick(2) == 0 ? "allocate" : "no_allocate";
  c.line_bytes = 32u << pick(4);
  c.ways = 1 + pick(4);
  c.size_bytes = c.line_bytes * c.ways * (1 + pick(6));
  c.mshrs = 1 + pick(12);
  c.merge_limit = 1 + pick(4);
  c.sector_merge = n % 3 != 0;
  c.hit_latency = 1 + pick(20);
  c.tags = 1 + pick(3);
  c.miss_queue = c.fill_queue = c.response_queue = 4000;
  return c;
}

/// `lines` of each kind of memory, with the requests mixed by the seed.
void fill_stream(L1Bench& b, std::mt19937& random, unsigned requests) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned line = b.config.line_bytes, lines = 2 + b.config.size_bytes / line * (1 + pick(2));
  const unsigned slowest = 20 + pick(200);
  b.below.latency = [&random, slowest](const Sent&) { return 5 + static_cast<unsigned>(random() % slowest); };
  Driver& d = b.driver;
  std::uint64_t cycle = 0;
  std::vector<std::size_t> boundaries;
  const auto any = [&](std::uint64_t base) { return base + std::uint64_t{line} * pick(lines); };
  for (unsigned i = 0; i < requests; ++i) {
    cycle += pick(6) == 0 ? pick(60) : pick(3);
    const auto sectors = static_cast<std::uint8_t>(1 + pick(255));
    // At least one that a line of this size has.
    const auto some = static_cast<std::uint8_t>((sectors & memory::line_sectors(line)) == 0 ? 1 : sectors);
    const auto add = [&](AccessClass c, std::uint64_t address, std::uint8_t mask) -> Request& {
      return d.requests[d.add(cycle, c, address, mask, static_cast<unsigned char>(i % 251 + 1))];
    };
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        add(AccessClass::data_load, any(0), some).bypass_l1 = pick(8) == 0;
        break;
      case 4:
      case 5:
      case 6:
        add(AccessClass::data_store, any(0), some).bypass_l1 = pick(8) == 0;
        break;
      case 7:
        add(AccessClass::atomic, any(0), some);
        break;
      case 8:
      case 9:
        add(AccessClass::local_load, any(local_base), some);
        break;
      case 10:
        add(AccessClass::local_store, any(local_base), some);
        break;
      case 11:
      case 12:
        add(AccessClass::register_write, any(register_base), 0xff);
        break;
      case 13:
      case 14:
        add(AccessClass::register_read, any(register_base), 0xff).last = pick(5) == 0;
        break;
      default:
        add(pick(3) != 0 ? AccessClass::register_invalidate : AccessClass::constant, any(register_base), some);
        break;
    }
    if (pick(250) == 0 || i + 1 == requests) {
      cycle += boundary_pause;
      boundaries.push_back(d.add(cycle, AccessClass::instruction, std::uint64_t{1} << 40, 1));
      cycle += boundary_pause;
    }
  }
  // Register lines outlive a kernel: what is there at the end is seen by reading all of them.
  for (unsigned i = 0; i < lines; ++i) {
    d.add(cycle += 2, AccessClass::register_read, register_base + std::uint64_t{line} * i, 0xff);
  }
  d.on_send = [&b, &d, boundaries](Request& r) {
    for (const std::size_t i : boundaries) {
      if (&r != &d.requests[i]) continue;
      b.kernel_end.event.notify(cycle_time() * 20);
      const std::uint64_t late = now_cycle() - r.cycle;
      for (std::size_t j = i + 1; j < d.requests.size(); ++j) d.requests[j].cycle += late;
    }
  };
}

}  // namespace

// A SystemC program elaborates once, so every seed is a test case of its own; one elaboration holds all policies.
TEMPLATE_TEST_CASE_SIG("the L1 does what a plain model does, under every policy", "", ((unsigned Seed), Seed), 1, 2, 3,
                       4, 5, 6, 7, 8) {
  std::vector<std::unique_ptr<L1Bench>> benches;
  std::vector<std::unique_ptr<std::mt19937>> random;
  for (unsigned n = 0; n < 16; ++n) {
    random.push_back(std::make_unique<std::mt19937>(Seed * 100 + n));
    memory::L1Config c = policy(n, *random.back());
    c.enabled = n != 15;
    benches.push_back(std::make_unique<L1Bench>("p" + std::to_string(n), c, n % 3 == 1));
    fill_stream(*benches.back(), *random.back(), 3000);
  }
  sc_core::sc_start();
  Counters seen;
  for (unsigned n = 0; n < 16; ++n) {
    CAPTURE(n, benches[n]->config.line_bytes, benches[n]->config.data_store, benches[n]->config.fill);
    Replay replay(*benches[n]);
    CHECK(replay.run() == "");
    for (const auto& [name, count] : replay.model().counters) seen[name] += count;
  }
  // The streams come by everything.
  for (const char* name : {"read_hits", "read_misses", "sector_misses", "mshr_merges", "write_hits", "stores_absorbed",
                           "writebacks", "lines_dropped", "last_reads", "fills_installed", "invalidations",
                           "reservation_failures_mshr", "reservation_failures_merge"}) {
    CAPTURE(name);
    CHECK(seen[name] > 50);
  }
  CHECK(seen["fills"] > seen["fills_installed"] + 200);
}
