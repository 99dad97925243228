// SPDX-License-Identifier: Apache-2.0
// The banks of a channel on random request streams, against a checker that compares every command with all earlier
// ones.
#include <regatta/memory/dram_banks.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace regatta;
using Banks = memory::DramBanks;
using Command = Banks::Command;
using Kind = Banks::Kind;

namespace {

memory::MemorySystemConfig machine(unsigned simulated = 16) {
  memory::MemorySystemConfig c;
  c.l2.partitions = 1;
  c.dram.bandwidth = 56000;
  c.simulated_sms = simulated;
  c.clock_mhz = c.dram.clock_mhz;  // so that command cycles are all that counts
  return c;
}

/// Everything a channel did with a stream of requests.
struct Log {
  std::vector<Command> commands;  // by cycle
  std::vector<std::uint64_t> served_at;
  std::uint64_t reads_held = 0;
};

struct Stream {
  std::vector<memory::DramRequest> requests;
  void add(std::uint64_t ready, std::uint64_t address, bool write = false, unsigned bytes = 128) {
    memory::DramRequest r;
    r.ready = ready;
    r.address = address;
    r.bytes = bytes;
    r.write = write;
    r.key = nullptr;
    requests.push_back(r);
  }
};

// Feeds the stream as fast as the queue takes it, a window of command cycles at a time, as a channel does.
Log run(const memory::MemorySystemConfig& config, Stream stream, Banks& banks, unsigned window = 1) {
  Log log;
  log.served_at.assign(stream.requests.size(), 0);
  for (std::size_t i = 0; i < stream.requests.size(); ++i) stream.requests[i].key = &stream.requests[i];
  std::size_t next = 0, left = stream.requests.size();
  std::uint64_t wake = 0;
  for (std::uint64_t begin = 0; left != 0; begin += window) {
    if (begin > 10'000'000) throw std::runtime_error("the banks do not finish");
    if (banks.size() != 0 && begin + window > wake) {
      banks.step(begin, begin + window, true, [&](const Command& c) {
        log.commands.push_back(c);
        if (c.kind != Kind::read && c.kind != Kind::write) return;
        --left;
        const auto* r = static_cast<const memory::DramRequest*>(c.request.key);
        log.served_at[static_cast<std::size_t>(r - stream.requests.data())] = c.at;
      });
      wake = banks.next();
    }
    while (next < stream.requests.size() && stream.requests[next].ready <= begin && banks.size() < config.dram.queue) {
      stream.requests[next].ready = begin + window;
      wake = std::min(wake, banks.add(stream.requests[next]));
      ++next;
    }
  }
  std::stable_sort(log.commands.begin(), log.commands.end(),
                   [](const Command& a, const Command& b) { return a.at < b.at; });
  return log;
}

// Every rule between every pair of commands that it could bind, and the state of every row. "" or what is wrong.
std::string illegal(const std::vector<Command>& all, const memory::MemorySystemConfig& config) {
  const memory::DramTiming& t = config.dram.timing;
  const auto column = [](Kind k) { return k == Kind::read || k == Kind::write; };
  const std::uint64_t horizon = 4000;  // longer than any distance that a rule can ask for here
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Command& b = all[i];
    const auto wrong = [&](const char* rule, const Command& a) {
      return std::string(rule) + ": command at " + std::to_string(b.at) + " after " + std::to_string(a.at) + ", bank " +
             std::to_string(b.bank);
    };
    // The row of the bank: what the last row command before this one left open.
    std::uint64_t row = ~std::uint64_t{0};
    for (std::size_t j = i; j-- > 0;) {
      if (all[j].bank != b.bank || column(all[j].kind)) continue;
      if (all[j].kind == Kind::activate) row = all[j].row;
      break;
    }
    if (column(b.kind) && row != b.row) return "column command to a row that is not open at " + std::to_string(b.at);
    if (b.kind == Kind::activate && row != ~std::uint64_t{0}) return "activate of an open bank";
    if (b.kind == Kind::precharge && row == ~std::uint64_t{0}) return "precharge of a closed bank";
    if (column(b.kind) && b.data_from < b.at + (b.kind == Kind::read ? t.cl : t.wl)) return "data before CL or WL";
    for (std::size_t j = i; j-- > 0;) {
      const Command& a = all[j];
      if (a.at + horizon < b.at) break;
      const std::uint64_t gap = b.at - a.at;
      if (gap == 0) return wrong("two commands in a cycle", a);
      const bool same = a.bank == b.bank;
      if (column(a.kind) && column(b.kind)) {
        if (gap < t.ccd) return wrong("CCD", a);
        if (b.data_from + 1 < a.data_until) return wrong("bursts overlap", a);
        if (a.kind == Kind::write && b.kind == Kind::read && b.at < a.data_until + t.cdlr) return wrong("CDLR", a);
        if (a.kind == Kind::read && b.kind == Kind::write && b.data_from < a.data_until + config.dram.turnaround) {
          return wrong("turnaround", a);
        }
      }
      if (a.kind == Kind::activate && b.kind == Kind::activate) {
        if (!same && gap < t.rrd) return wrong("RRD", a);
        if (same && gap < t.rc) return wrong("RC", a);
      }
      if (!same) continue;
      if (a.kind == Kind::activate && column(b.kind) && gap < t.rcd) return wrong("RCD", a);
      if (a.kind == Kind::activate && b.kind == Kind::precharge && gap < t.ras) return wrong("RAS", a);
      if (a.kind == Kind::precharge && b.kind == Kind::activate && gap < t.rp) return wrong("RP", a);
      if (a.kind == Kind::write && b.kind == Kind::precharge && b.at < a.data_until + t.wr) return wrong("WR", a);
      if (a.kind == Kind::read && b.kind == Kind::precharge && b.at + t.cl < a.data_until) {
        return wrong("precharge during a read burst", a);
      }
    }
  }
  return "";
}

// The data bus over any stretch of bursts: never more than it can carry.
std::string too_fast(const std::vector<Command>& all, const memory::Bandwidth& b) {
  std::vector<const Command*> bursts;
  for (const Command& c : all) {
    if (c.kind == Kind::read || c.kind == Kind::write) bursts.push_back(&c);
  }
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    std::uint64_t bytes = 0;
    for (std::size_t j = i; j < std::min(bursts.size(), i + 200); ++j) {
      bytes += bursts[j]->request.bytes;
      if (bytes * b.cycles > (bursts[j]->data_until - bursts[i]->data_from) * b.bytes)
        return "more than the bus carries";
    }
  }
  return "";
}

}  // namespace

TEST_CASE("every command is legal after all earlier ones, on random streams and timings") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    memory::MemorySystemConfig config = machine(seed % 3 == 0 ? 1 : 16);
    memory::DramConfig& d = config.dram;
    d.banks = 1u << pick(5);
    d.queue = 1 + pick(40);
    d.row_bytes = 256u << pick(5);
    d.starvation_limit = pick(2) ? pick(6) : 32;
    d.scheduler = pick(3) == 0 ? "fcfs" : "fr_fcfs";
    d.mapping = pick(3) == 0 ? "row_bank_column" : pick(2) ? "row_column_bank" : "xor";
    if (d.mapping != "xor" && pick(2)) d.banks = 1 + pick(12);
    d.turnaround = pick(4);
    if (seed % 2) {
      d.timing = {1 + pick(6),  1 + pick(12), 1 + pick(20), 1 + pick(50), 1 + pick(20),
                  1 + pick(70), 1 + pick(20), pick(12),     pick(12),     pick(20)};
    }
    d.bandwidth = 1000 + pick(120000);
    config.dram.check();
    Banks banks(config);
    Stream stream;
    std::uint64_t cycle = 0;
    const unsigned space = 1u << (3 + pick(10));
    const unsigned writes = 1 + pick(8);
    for (unsigned i = 0; i < 600; ++i) {
      if (pick(5) == 0) cycle += pick(8) == 0 ? pick(3000) : pick(80);
      stream.add(cycle, 128 * std::uint64_t{pick(space)}, pick(writes) == 0, 32 * (1 + pick(4)));
    }
    const Log log = run(config, stream, banks, seed % 7 == 0 ? 20000 : 1 + pick(3));
    INFO("seed " << seed);
    REQUIRE(illegal(log.commands, config) == "");
    REQUIRE(too_fast(log.commands, config.dram_bandwidth()) == "");
    REQUIRE(banks.row_hits + banks.row_misses + banks.row_conflicts == 600);
    REQUIRE(banks.activates == banks.row_misses + banks.row_conflicts);
    REQUIRE(banks.precharges == banks.row_conflicts);
    std::uint64_t activates = 0;
    for (const Command& c : log.commands) activates += c.kind == Kind::activate;
    REQUIRE(activates == banks.activates);
  }
}

TEST_CASE("the checker finds a command that comes a cycle early") {
  const memory::MemorySystemConfig config = machine();
  std::mt19937 random(5);
  Stream stream;
  for (unsigned i = 0; i < 60; ++i) stream.add(0, 128 * std::uint64_t{random() % 4096}, random() % 3 == 0);
  Banks banks(config);
  const Log log = run(config, stream, banks);
  REQUIRE(illegal(log.commands, config) == "");
  const Kind kinds[] = {Kind::precharge, Kind::activate, Kind::read, Kind::write};
  for (Kind kind : kinds) {
    bool found = false;
    for (std::size_t i = 1; i < log.commands.size() && !found; ++i) {
      if (log.commands[i].kind != kind) continue;
      std::vector<Command> changed = log.commands;
      --changed[i].at;
      found = !illegal(changed, config).empty();
    }
    CHECK(found);
  }
}

TEST_CASE("fcfs moves data in the order of arrival, fr_fcfs serves open rows first") {
  memory::MemorySystemConfig config = machine();
  config.dram.mapping = "row_bank_column";
  const std::uint64_t row = config.dram.row_bytes;
  const std::uint64_t same_bank = row * config.dram.banks;
  Stream stream;
  stream.add(0, 0);
  stream.add(0, same_bank);  // another row of bank 0
  for (unsigned i = 1; i < 5; ++i) stream.add(0, 128 * i);
  for (const char* scheduler : {"fcfs", "fr_fcfs"}) {
    config.dram.scheduler = scheduler;
    Banks banks(config);
    const Log log = run(config, stream, banks);
    const std::vector<std::uint64_t>& at = log.served_at;
    if (config.dram.scheduler == "fcfs") {
      CHECK(std::is_sorted(at.begin(), at.end()));
      CHECK(banks.row_conflicts == 2);
    } else {
      CHECK(at[1] > at[5]);
      CHECK(std::is_sorted(at.begin() + 2, at.end()));
      CHECK(banks.row_conflicts == 1);
      CHECK(banks.row_hits == 4);
    }
  }
}

TEST_CASE("fr_fcfs serves a hit that arrives while its bank waits to close the row") {
  memory::MemorySystemConfig config = machine();
  config.dram.mapping = "row_bank_column";
  const memory::DramTiming& t = config.dram.timing;
  const std::uint64_t other_row = std::uint64_t{config.dram.row_bytes} * config.dram.banks;
  REQUIRE(t.rcd + 8 < t.ras);
  // The first is read after RCD; the row must stay open for RAS, and only then can the second's row be opened.
  for (const unsigned arrives : {t.rcd + 3u, t.ras - 3u}) {
    Stream stream;
    stream.add(0, 0);
    stream.add(0, other_row);
    stream.add(arrives, 128);
    Banks banks(config);
    const Log log = run(config, stream, banks);
    CAPTURE(arrives);
    CHECK(log.served_at[2] < log.served_at[1]);
    CHECK(banks.row_conflicts == 1);
    CHECK(banks.row_hits == 1);
  }
}

TEST_CASE("no more younger requests than the starvation limit are served before the oldest") {
  for (const unsigned limit : {1u, 4u, 16u}) {
    memory::MemorySystemConfig config = machine();
    config.dram.mapping = "row_bank_column";
    config.dram.starvation_limit = limit;
    const std::uint64_t other_row = std::uint64_t{config.dram.row_bytes} * config.dram.banks;
    Stream stream;
    stream.add(0, 0);
    stream.add(0, other_row);
    // Hits to the open row for ever, as far as the queue holds.
    for (unsigned i = 0; i < 400; ++i) stream.add(0, 128 * (i % 32));
    Banks banks(config);
    const Log log = run(config, stream, banks);
    std::size_t before = 0;
    for (std::size_t i = 2; i < log.served_at.size(); ++i) before += log.served_at[i] < log.served_at[1];
    CHECK(before == limit);
    CHECK(banks.starved >= 1);
  }
}

TEST_CASE("reads that have no room for their answers wait and writes go on") {
  memory::MemorySystemConfig config = machine();
  Banks banks(config);
  memory::DramRequest read, write;
  read.bytes = write.bytes = 128;
  write.write = true;
  write.address = 128;
  banks.add(read);
  banks.add(write);
  std::vector<Kind> kinds;
  banks.step(0, 1000, false, [&](const Command& c) { kinds.push_back(c.kind); });
  CHECK(kinds == std::vector<Kind>{Kind::activate});  // the bank works for its oldest request
  CHECK(banks.next() == Banks::never);
  banks.step(1000, 2000, true, [&](const Command& c) { kinds.push_back(c.kind); });
  CHECK(kinds == std::vector<Kind>{Kind::activate, Kind::read, Kind::write});
}
