// SPDX-License-Identifier: Apache-2.0
//
// Tags and lists of the banks in RTL: random programs in lockstep with the model, with the coverage of operations and
// results; programs that run on the RTL alone; seeded bugs, which must be found.
#include <regatta/cosim/direct_transactor.h>
#include <regatta/regless/bank_pins.h>
#include <regatta/regless/osu_rtl.h>
#include <regatta/test/clock.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "osu_bank_bug_erase.h"
#include "osu_bank_bug_match.h"
#include "osu_bank_bug_order.h"
#include "random_program.h"

using namespace regatta;
using Catch::Matchers::Contains;
using models::BankList;
using models::BankOperation;
using models::BankPinsFactory;
using models::BankResult;
using models::BankShape;
using test::Bench;
using test::Program;
using Kind = BankOperation::Kind;

namespace {

/// How often each kind of operation met each kind of result. All must be met.
struct BankCoverage {
  std::map<std::string, std::uint64_t> met;
  std::uint64_t operations = 0;

  BankCoverage() {
    for (const char* list : {"free", "clean", "dirty"}) {
      met[std::string("allocate: from ") + list] = 0;
      met[std::string("allocate: past lines of the list ") + list] = 0;
      for (const char* others : {", empty before", ", behind others"}) {
        met[std::string("release: to ") + list + others] = 0;
        met[std::string("free: owned line") + others] = 0;
      }
    }
    met.erase("allocate: past lines of the list dirty");  // the last that is looked at
    for (const char* list : {"owned", "clean", "dirty"}) {
      met[std::string("look up: ") + list] = 0;
      met[std::string("free: ") + list + " line, empty before"] = 0;
      met[std::string("free: ") + list + " line, behind others"] = 0;
      met[std::string("own: ") + list + " line"] = 0;
    }
    for (const char* what :
         {"look up: no line", "allocate: no line, none allowed", "release: to free, undefined", "forget: owned line",
          "mark: owned line dirty", "mark: owned line not dirty", "mark: dirty line stays",
          "mark: clean line to dirty, empty before", "mark: clean line to dirty, behind others"}) {
      met[what] = 0;
    }
  }
  void print(const char* title) const {
    std::printf("%s: %llu operations\n", title, static_cast<unsigned long long>(operations));
    for (const auto& [what, count] : met) {
      std::printf("  %-45s %10llu\n", what.c_str(), static_cast<unsigned long long>(count));
    }
  }
  void check() const {
    for (const auto& [what, count] : met) {
      CAPTURE(what);
      CHECK(count > 0);
    }
  }
};

/// Between a bank and its twin.
class Counted final : public models::BankTwin {
 public:
  Counted(models::BankTwin& twin, BankCoverage& coverage, unsigned lines)
      : twin_(twin), coverage_(coverage), place_(lines, BankList::free) {}
  BankResult operate(const BankOperation& o, const BankResult& of_model) override {
    const BankResult r = twin_.operate(o, of_model);
    ++coverage_.operations;
    const auto found = coverage_.met.find(kind(o, r));
    INFO(describe(o) << ": " << describe(r));
    REQUIRE(found != coverage_.met.end());
    ++found->second;
    follow(o, r);
    return r;
  }

 private:
  std::string kind(const BankOperation& o, const BankResult& r) {
    const std::string list = name(r.list);
    const std::string others = r.found ? ", behind others" : ", empty before";
    const std::string was = name(place_[o.line]);
    switch (o.kind) {
      case Kind::look_up:
        return r.found ? "look up: " + list : "look up: no line";
      case Kind::allocate:
        if (!r.found) return o.flags == 0 ? "allocate: no line, none allowed" : "allocate: no line";
        for (const BankList older : {BankList::free, BankList::clean}) {
          if (older >= r.list) break;
          if (std::count(place_.begin(), place_.end(), older) != 0)
            return std::string("allocate: past lines of the list ") + name(older);
        }
        return "allocate: from " + list;
      case Kind::own:
        return "own: " + was + " line";
      case Kind::release:
        if (r.list == BankList::free && (o.flags & BankOperation::erase) == 0) return "release: to free, undefined";
        return "release: to " + list + others;
      case Kind::free:
        return "free: " + was + " line" + others;
      case Kind::forget:
        return "forget: " + was + " line";
      case Kind::mark:
        if (was == "dirty") return "mark: dirty line stays";
        if (was == "clean") return "mark: clean line to " + list + others;
        return "mark: " + was + ((o.flags & BankOperation::dirty) != 0 ? " line dirty" : " line not dirty");
    }
    return "";
  }
  void follow(const BankOperation& o, const BankResult& r) {
    if (o.kind == Kind::look_up || (o.kind == Kind::allocate && !r.found)) return;
    if (o.kind == Kind::allocate) {
      place_[r.line] = BankList::owned;
    } else {
      place_[o.line] = o.kind == Kind::own ? BankList::owned : r.list;
    }
  }

  models::BankTwin& twin_;
  BankCoverage& coverage_;
  std::vector<BankList> place_;
};

/// The twins of all banks: modules, which come before the simulation that the bench starts.
struct Twins {
  using Twin = cosim::DirectTransactor<BankOperation, BankResult>;
  Twins(const test::Sizes& c, bool compare, const BankPinsFactory& pins) {
    cosim::DirectConfig direct;
    direct.compare = compare;
    direct.edges = 1;
    for (unsigned s = 0; s < c.shards; ++s) {
      for (unsigned b = 0; b < c.banks; ++b) {
        cosim::TwinConfig twin;
        twin.name = "twin" + std::to_string(s) + "_" + std::to_string(b);
        twin.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
        twin.options.waveform = "bank_rtl_test.fst";
        twin.options.waveform_cycles = 100;
        twin.state = [this, s, b] { return describe_bank(s, b); };
        twins.push_back(std::make_unique<Twin>(twin, direct, pins));
        counted.push_back(std::make_unique<Counted>(*twins.back(), coverage, c.lines_per_bank()));
      }
    }
  }
  std::function<std::string(unsigned, unsigned)> describe_bank;
  BankCoverage coverage;
  std::vector<std::unique_ptr<Twin>> twins;
  std::vector<std::unique_ptr<Counted>> counted;
};

/// Staging units whose banks have twins.
struct TwinBench : Twins, Bench {
  TwinBench(const test::Sizes& c, unsigned registers, unsigned seed, bool compare, const BankPinsFactory& pins)
      : Twins(c, compare, pins), Bench(c, registers, seed) {
    describe_bank = [this](unsigned s, unsigned b) { return unit.bank(s, b).describe(); };
    for (unsigned i = 0; i < counted.size(); ++i) unit.bank(i / c.banks, i % c.banks).connect_twin(*counted[i]);
  }
};

/// Calls of the units in any order, which no region would make: warps that end with values on their way, writes to
/// lines that were let go. Only a register that is being fetched is not asked for again.
class Disorder {
 public:
  Disorder(TwinBench& bench, unsigned registers, unsigned seed) : bench_(bench), registers_(registers), random_(seed) {
    bench_.client.on_told = [this](const test::Client::Told& t) {
      if (t.what != 'p') return;
      fetched_.erase({t.warp, t.reg});
      recent_ = {t.warp, t.reg};
    };
  }
  void cycle() {
    const unsigned w = below(bench_.config.warps), r = below(registers_);
    models::StagingUnit& shard = bench_.shard_of(w);
    const bool room = shard.request_room(shard.bank_of(test::warp_slot(w), test::register_id(r))) != 0;
    const unsigned dice = below(100);
    if (dice < 25) {
      if (room && fetched_.insert({w, r}).second) bench_.preload(w, r, below(3) == 0);
    } else if (dice < 30) {
      if (room && fetched_.count({w, r}) == 0) bench_.invalidate(w, r);
    } else if (dice < 55) {
      issue(shard, w, r);
    } else if (dice < 80) {
      // What was fetched last may be in the clean list by now.
      if (below(2) == 0) bench_.end(recent_.first);
      const auto [warp, reg] = below(2) == 0 ? recent_ : std::pair{w, r};
      if (!bench_.driver.holding) bench_.write(warp, reg, test::pattern(r));
    } else if (dice < 98) {
      bench_.end(w, below(4) == 0 ? std::vector<unsigned>{r} : std::vector<unsigned>{});
    } else {
      bench_.unit.warp_finished(Bench::info(w));
      bench_.unit.warp_started(Bench::info(w));
    }
    if (below(2) == 0) bench_.wait();
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  void issue(models::StagingUnit& shard, unsigned w, unsigned r) {
    test::Instruction i(w, {}, {r});
    i.marks.writes[0] = below(2) == 0 ? models::LastUse::evict : models::LastUse::erase;
    if (!shard.can_issue(i.dynamic)) return;
    shard.issued(i.dynamic, i.marks);
    if (below(3) != 0 && !bench_.driver.holding) bench_.write(w, r, test::pattern(r));
  }

  TwinBench& bench_;
  unsigned registers_;
  std::mt19937 random_;
  std::set<std::pair<unsigned, unsigned>> fetched_;
  std::pair<unsigned, unsigned> recent_;
};

/// Random programs until `count` operations were made; the values are checked.
void run(TwinBench& b, unsigned registers, unsigned seed, std::uint64_t count) {
  for (auto& m : b.memories) {
    m->refusals = 30;
    m->longest = 100;
  }
  Program p(b, registers, seed);
  p.restarts = 20;
  while (b.coverage.operations < count) p.cycle();
  p.stop = true;
  for (const test::Warp& w : p.warps) {
    for (unsigned i = 0; i < 20000 && w.state != test::Warp::State::idle; ++i) p.cycle();
    REQUIRE(w.state == test::Warp::State::idle);
  }
  CHECK(p.checked > count / 100);
  CHECK(b.statistic("not_staged") == 0);
  CHECK(b.statistic("lost_writes") == 0);
}

void run_lockstep(const test::Sizes& c, unsigned registers, unsigned seed, std::uint64_t count,
                  const char* title = nullptr) {
  TwinBench b(c, registers, seed, true, models::osu_bank_rtl(c.lines_per_bank()));
  run(b, registers, seed, count / 4 * 3);
  Disorder disorder(b, registers, seed);
  while (b.coverage.operations < count) disorder.cycle();
  std::uint64_t compared = 0;
  for (const auto& t : b.twins) compared += t->compared();
  CHECK(compared == b.coverage.operations);
  if (title == nullptr) return;
  b.coverage.print(title);
  b.coverage.check();
}

test::Sizes four_shards(unsigned entries, unsigned warps) {
  test::Sizes c;
  c.entries = entries;
  c.warps = warps;
  return c;
}

/// Runs until a difference; its report has both results and the lists, and there is a waveform with the pins.
void must_find(const BankPinsFactory& pins) {
  std::remove("bank_rtl_test.fst");
  std::string report;
  try {
    TwinBench b(Bench::one_shard(4), 40, 7, true, pins);
    run(b, 40, 7, 100000);
  } catch (const std::exception& e) {
    report = e.what();
  }
  std::printf("%.900s\n", report.c_str());
  REQUIRE_THAT(report, Contains("another result of the RTL, after ") && Contains("\n  operation ") &&
                           Contains("\n  model     ") && Contains("\n  RTL       ") &&
                           Contains("\n    clean, oldest first:") && Contains("waveform of the last "));
  REQUIRE(std::ifstream("bank_rtl_test.fst").good());
  if (std::system("command -v fst2vcd >/dev/null") != 0) return;
  REQUIRE(std::system("fst2vcd -f bank_rtl_test.fst -o bank_rtl_test.vcd") == 0);
  std::ifstream vcd("bank_rtl_test.vcd");
  const std::string text{std::istreambuf_iterator<char>(vcd), {}};
  CHECK_THAT(text, Contains("req_op") && Contains("rsp_list") && Contains("older"));
}

BankOperation operation(Kind kind, unsigned line, unsigned warp = 0, unsigned reg = 0, unsigned flags = 0) {
  BankOperation o;
  o.kind = kind;
  o.line = static_cast<std::uint16_t>(line);
  o.warp = static_cast<std::uint16_t>(warp);
  o.reg = static_cast<std::uint8_t>(reg);
  o.flags = static_cast<std::uint8_t>(flags);
  return o;
}

/// One edge with this request, or none.
void edge(cosim::Pins<BankOperation, BankResult>& pins, const BankOperation* request, bool takes_answer) {
  pins.drive_reset(false);
  pins.drive_request(request);
  pins.drive_answer_ready(takes_answer);
  pins.settle();
  pins.edge();
}

std::unique_ptr<cosim::Pins<BankOperation, BankResult>> after_reset(unsigned lines) {
  auto pins = models::osu_bank_rtl(lines)(false);
  for (unsigned i = 0; i < 2; ++i) {
    pins->drive_reset(true);
    pins->drive_request(nullptr);
    pins->drive_answer_ready(false);
    pins->settle();
    pins->edge();
  }
  return pins;
}

}  // namespace

TEST_CASE("bank in RTL: a million operations of random programs") {
  run_lockstep(four_shards(512, 64), 60, 1, 1000000, "16 lines, 32 banks");
}
TEST_CASE("bank in RTL: eight lines") { run_lockstep(four_shards(256, 32), 40, 2, 200000); }
TEST_CASE("bank in RTL: four lines") { run_lockstep(Bench::one_shard(4), 40, 3, 200000); }

TEST_CASE("bank in RTL: values and lists of programs that run on its results") {
  TwinBench b(four_shards(128, 16), 40, 4, false, models::osu_bank_rtl(4));
  run(b, 40, 4, 200000);
}

TEST_CASE("bank in RTL: an answer that waits stops the requests and stays") {
  auto pins = after_reset(4);
  const BankOperation first = operation(Kind::allocate, 0, 3, 9, BankOperation::may_free);
  const BankOperation second = operation(Kind::look_up, 0, 3, 9);
  BankResult answer;
  edge(*pins, &first, false);
  for (unsigned i = 0; i < 5; ++i) {
    REQUIRE(pins->answer_valid());
    pins->read_answer(answer);
    CHECK(describe(answer) == "line 0, free");
    pins->drive_request(&second);
    pins->drive_answer_ready(false);
    pins->settle();
    CHECK_FALSE(pins->request_ready());
    edge(*pins, &second, false);
  }
  edge(*pins, &second, true);  // both transfers at one edge
  REQUIRE(pins->answer_valid());
  pins->read_answer(answer);
  CHECK(describe(answer) == "line 0, owned");
  edge(*pins, nullptr, true);
  CHECK_FALSE(pins->answer_valid());
}

TEST_CASE("bank in RTL: what the model does not ask") {
  auto pins = after_reset(4);
  BankResult answer;
  const auto ask = [&](const BankOperation& o) {
    edge(*pins, &o, true);
    pins->read_answer(answer);
    return describe(answer);
  };
  CHECK(ask(operation(Kind::allocate, 0, 1, 2, 7)) == "line 0, free");
  // A register that has a line gets no other.
  CHECK(ask(operation(Kind::allocate, 0, 1, 2, 7)) == "no line, owned");
  CHECK(ask(operation(static_cast<Kind>(7), 0, 1, 2, 7)) == "no line, owned");
  CHECK(ask(operation(Kind::free, 2)) == "line 3, free");  // it is free already: goes behind
  CHECK(ask(operation(Kind::allocate, 0, 1, 3, 7)) == "line 1, free");
  CHECK(ask(operation(Kind::allocate, 0, 1, 4, 7)) == "line 3, free");
  CHECK(ask(operation(Kind::allocate, 0, 1, 5, 6)) == "no line, owned");  // the free list is not allowed
  CHECK(ask(operation(Kind::allocate, 0, 1, 5, 7)) == "line 2, free");
}

TEST_CASE("bank in RTL: sizes that it is not built for are refused") {
  models::check_bank_shape({16, 64});
  CHECK_THROWS_WITH(models::check_bank_shape({12, 16}),
                    Contains("a bank has 12 lines") && Contains("expected 4, 8 or 16"));
  CHECK_THROWS_WITH(models::check_bank_shape({16, 65}), Contains("a shard has 65 warps") && Contains("at most 64"));
}

TEST_CASE("bank in RTL, seeded bug: a bit of the tag is not compared") {
  must_find(models::bank_pins_of<osu_bank_bug_match>());
}
TEST_CASE("bank in RTL, seeded bug: a line that comes again keeps its old place") {
  must_find(models::bank_pins_of<osu_bank_bug_order>());
}
TEST_CASE("bank in RTL, seeded bug: an erased line keeps its tag") {
  must_find(models::bank_pins_of<osu_bank_bug_erase>());
}
