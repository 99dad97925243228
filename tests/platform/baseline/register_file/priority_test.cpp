// SPDX-License-Identifier: Apache-2.0
//
// Reads before writes, and writes before reads: cases worked out by hand, and random traffic against a list of requests
// looked through in every cycle.
#include <algorithm>
#include <map>
#include <random>

#include "driver.h"

using namespace regatta;
using test::Bench;
using test::WarpValue;

namespace {

models::RegisterFileConfig one_bank(const std::string& priority) {
  models::RegisterFileConfig c;
  c.banks = 1;
  c.priority = priority;
  return c;
}

/// When the answers came, in cycles, by payload.
class Answers {
 public:
  explicit Answers(Bench& bench) : bench_(bench) {}
  void read(unsigned warp, unsigned reg) {
    values_.emplace_back();
    REQUIRE(bench_.read(warp, reg, values_.back()).sync == tlm::TLM_UPDATED);
    asked_.push_back(&bench_.last().payload());
  }
  tlm::tlm_sync_enum write(unsigned warp, unsigned reg, const WarpValue& value = {}) {
    const auto sync = bench_.write(warp, reg, value, ~std::uint64_t{0} >> (64 - bench_.lanes)).sync;
    asked_.push_back(&bench_.last().payload());
    return sync;
  }
  /// Cycle in which the result of the i-th request is there; 0: not yet.
  std::uint64_t of(std::size_t i) const {
    for (const auto& r : bench_.driver.responses) {
      if (r.payload == asked_[i] && r.phase == tlm::BEGIN_RESP) return r.cycle + r.delay;
    }
    return 0;
  }
  std::size_t count() const { return asked_.size(); }
  const WarpValue& value(std::size_t i) const { return values_[i]; }

 private:
  Bench& bench_;
  std::deque<WarpValue> values_;
  std::vector<tlm::tlm_generic_payload*> asked_;
};

}  // namespace

TEST_CASE("register file: reads go before writes that came earlier") {
  Bench b(one_bank("read"));  // arbitration 1, latency 1
  Answers a(b);
  a.write(0, 1);
  a.write(0, 2);
  a.read(0, 3);
  a.read(0, 4);
  b.wait(1);     // cycle 1 serves the first read
  a.read(0, 5);  // still before the writes
  b.wait(10);
  CHECK(a.of(2) == 2);
  CHECK(a.of(3) == 3);
  CHECK(a.of(4) == 4);
  CHECK(a.of(0) == 5);
  CHECK(a.of(1) == 6);
  CHECK(b.statistic("writes") == 2);
  CHECK(b.statistic("reads") == 3);
  CHECK(b.statistic("write_conflicts") == 2);
  CHECK(b.statistic("write_wait") == 3 + 4);
  CHECK(b.statistic("read_conflicts") == 2);
  CHECK(b.statistic("read_wait") == 1 + 1);
}

TEST_CASE("register file: writes go before reads that came earlier") {
  Bench b(one_bank("write"));
  Answers a(b);
  a.read(0, 1);
  a.read(0, 2);
  a.write(0, 3);
  b.wait(1);
  a.write(0, 4);
  b.wait(10);
  CHECK(a.of(2) == 2);
  CHECK(a.of(3) == 3);
  CHECK(a.of(0) == 4);
  CHECK(a.of(1) == 5);
}

TEST_CASE("register file: no access overtakes one of the same register") {
  Bench b(one_bank("write"));
  Answers a(b);
  a.read(0, 1);
  a.read(0, 2);
  a.write(0, 2, test::pattern(9));  // what the second read must not see
  a.write(0, 3);
  b.wait(10);
  CHECK(a.of(0) == 2);  // on the way of the second read, for which the first write waits
  CHECK(a.of(1) == 3);
  CHECK(a.of(2) == 4);
  CHECK(a.of(3) == 5);
  CHECK(a.value(1).lane[0] == 0);
}

TEST_CASE("register file: with a full queue a write is held, and let in when one has gone") {
  models::RegisterFileConfig c = one_bank("read");
  c.write_queue = 1;
  Bench b(c);
  Answers a(b);
  a.read(0, 1);
  REQUIRE(a.write(0, 2) == tlm::TLM_UPDATED);
  REQUIRE(a.write(0, 3) == tlm::TLM_ACCEPTED);
  b.wait(10);
  CHECK(a.of(0) == 2);
  CHECK(a.of(1) == 3);  // served in cycle 2, which lets the other one in
  CHECK(a.of(2) == 4);
  CHECK(b.statistic("held_writes") == 1);
}

TEST_CASE("register file: separate ports know no priority") {
  models::RegisterFileConfig c = one_bank("write");
  c.ports = "1r1w";
  Bench b(c);
  CHECK(b.read_delay(0, 0) == 2);
  CHECK(b.write_delay(0, 0) == 1);
}

namespace {

void random_priority(const std::string& priority, unsigned banks, unsigned arbitration, unsigned write_queue,
                     unsigned seed) {
  CAPTURE(priority, banks, arbitration, write_queue, seed);
  models::RegisterFileConfig c;
  c.banks = banks;
  c.arbitration = arbitration;
  c.priority = priority;
  c.write_queue = write_queue;
  Bench b(c);
  Answers answers(b);
  std::mt19937 random(seed);
  struct Request {
    bool write = false;
    unsigned warp = 0, reg = 0, bank = 0;
    std::uint64_t earliest = 0, served = 0;
    bool in = true;
  };
  std::vector<Request> requests;
  std::size_t held = ~std::size_t{0};
  // In step with the register file: a cycle's arrivals, and then what it serves, which takes no part in its arrivals.
  for (std::uint64_t cycle = 0; cycle < 4000; ++cycle) {
    auto waiting = [&](unsigned bank) {
      return std::count_if(requests.begin(), requests.end(),
                           [&](const Request& r) { return r.served == 0 && r.in && r.write && r.bank == bank; });
    };
    // Let it run dry now and then.
    for (unsigned n = cycle % 200 > 150 ? 0 : static_cast<unsigned>(random() % 4); n != 0; --n) {
      Request r;
      r.write = random() % 2 == 0;
      if (r.write && held != ~std::size_t{0}) continue;
      r.warp = static_cast<unsigned>(random() % 3);
      r.reg = static_cast<unsigned>(random() % 6);
      r.bank = (r.warp + r.reg) % banks;
      r.earliest = cycle + (r.write ? 1 : std::max(1u, arbitration));
      if (r.write) {
        r.in = waiting(r.bank) < static_cast<long>(write_queue);
        REQUIRE(answers.write(r.warp, r.reg) == (r.in ? tlm::TLM_UPDATED : tlm::TLM_ACCEPTED));
        if (!r.in) held = requests.size();
      } else {
        answers.read(r.warp, r.reg);
      }
      requests.push_back(r);
    }
    b.wait(1);
    for (unsigned bank = 0; bank < banks; ++bank) {
      std::size_t best = requests.size();
      for (const bool write : {priority == "write", priority != "write"}) {
        if (best != requests.size()) break;
        for (std::size_t i = 0; i < requests.size(); ++i) {
          const Request& r = requests[i];
          if (r.served != 0 || !r.in || r.bank != bank || r.write != write) continue;
          bool may = r.earliest <= cycle;
          for (std::size_t k = 0; k < i; ++k) {
            const Request& o = requests[k];
            may = may &&
                  (o.served != 0 || !o.in || o.bank != bank || o.write == write || o.warp != r.warp || o.reg != r.reg);
          }
          if (may) best = i;
          break;  // the oldest of its kind or none
        }
      }
      if (best != requests.size()) requests[best].served = cycle;
    }
    if (held != ~std::size_t{0} && waiting(requests[held].bank) < static_cast<long>(write_queue) &&
        cycle > requests[held].earliest - 1) {
      requests[held].in = true;
      requests[held].earliest = cycle + 1;
      std::rotate(requests.begin() + static_cast<long>(held), requests.begin() + static_cast<long>(held) + 1,
                  requests.end());
      held = ~std::size_t{0};
    }
  }
  b.wait(300);
  std::size_t served = 0;
  std::uint64_t reads = 0, writes = 0;
  for (const auto& r : b.driver.responses) served += r.phase == tlm::BEGIN_RESP ? 1 : 0;
  CHECK(served == answers.count());
  // By the cycle, how many reads and writes ended: the requests of the model were moved about when held.
  std::map<std::uint64_t, int> model, file;
  for (const Request& r : requests) {
    if (r.served == 0) continue;
    ++model[(r.served + 1) * 2 + (r.write ? 1 : 0)];
    ++(r.write ? writes : reads);
  }
  for (const auto& r : b.driver.responses) {
    if (r.phase == tlm::BEGIN_RESP && r.cycle < 4000) ++file[(r.cycle + r.delay) * 2 + (r.payload->is_write() ? 1 : 0)];
  }
  CHECK(model == file);
  CHECK(reads > 500);
  CHECK(writes > 500);
}

}  // namespace

TEST_CASE("register file: random traffic under read priority as by the definition") {
  random_priority("read", 4, 1, 4, 1);
}
TEST_CASE("register file: random traffic under read priority, one bank, short queue") {
  random_priority("read", 1, 1, 1, 2);
}
TEST_CASE("register file: random traffic under write priority as by the definition") {
  random_priority("write", 4, 1, 4, 3);
}
TEST_CASE("register file: random traffic under write priority, slow arbitration") {
  random_priority("write", 3, 3, 2, 4);
}
