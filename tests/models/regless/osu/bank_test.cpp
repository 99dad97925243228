// SPDX-License-Identifier: Apache-2.0
//
// A bank alone, by the rules of RegLess 5.2: answers worked out by hand.
#include "bank_bench.h"

#include <regatta/support/config.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace regatta;
using models::BankList;
using models::no_line;
using models::SlotPorts;
using test::BankBench;
using test::lanes;

namespace {

/// Puts a line into the clean or the dirty list.
std::uint16_t let_go(BankBench& b, unsigned warp, unsigned reg, BankList list, std::uint64_t at = 0) {
  const std::uint16_t line = b.allocate(warp, reg);
  b.write(line, lanes(reg));
  if (list == BankList::clean) b->mark(line, false, true, 0);
  REQUIRE(b->release(line, false, at) == list);
  return line;
}

}  // namespace

TEST_CASE("OSU bank: a free line first, then the oldest clean one, then the oldest dirty one") {
  BankBench b(5);
  const std::uint16_t dirty0 = let_go(b, 0, 0, BankList::dirty);
  const std::uint16_t clean0 = let_go(b, 0, 1, BankList::clean);
  const std::uint16_t clean1 = let_go(b, 0, 2, BankList::clean);
  const std::uint16_t dirty1 = let_go(b, 0, 3, BankList::dirty);
  CHECK(b->next_list(0, true) == BankList::free);
  auto taken = b->allocate(1, 0, 0, true);
  CHECK(taken.from == BankList::free);
  CHECK(taken.line == 4);
  for (const auto& [line, reg] : {std::pair{clean0, 1}, {clean1, 2}}) {
    taken = b->allocate(1, 10u + static_cast<unsigned>(reg), 0, true);
    CHECK(taken.from == BankList::clean);
    CHECK(taken.line == line);
    CHECK(taken.reg == reg);
    CHECK(b->look_up(0, static_cast<unsigned>(reg)) == no_line);
  }
  // Without a place for its value, a dirty line stays.
  CHECK(b->next_list(0, false) == BankList::owned);
  CHECK(b->allocate(1, 20, 0, false).line == no_line);
  CHECK(b->look_up(1, 20) == no_line);
  for (const auto& [line, reg] : {std::pair{dirty0, 0}, {dirty1, 3}}) {
    taken = b->allocate(1, 20u + static_cast<unsigned>(reg), 0, true);
    CHECK(taken.from == BankList::dirty);
    CHECK(taken.line == line);
    CHECK(taken.warp == 0);
    CHECK(taken.reg == reg);
  }
  CHECK(b->allocate(1, 30, 0, true).line == no_line);
  CHECK(b.block.check() == "");
}

TEST_CASE("OSU bank: an evicted value stays in the cells until the line is written") {
  BankBench b(1);
  let_go(b, 2, 7, BankList::dirty);
  const auto taken = b->allocate(3, 9, 0, true);
  REQUIRE(taken.from == BankList::dirty);
  CHECK(taken.warp == 2);
  CHECK(taken.reg == 7);
  const test::LaneValues old = lanes(7);
  CHECK(std::equal(old.begin(), old.end(), b->value(taken.line)));
  // The register that has the line now sees nothing of it.
  bool defined = true;
  CHECK(b.read(taken.line, &defined)[0] == models::unwritten_word);
  CHECK(!defined);
  b->read_out();
  CHECK(b.statistic("readouts") == 1);
}

TEST_CASE("OSU bank: a line that is let go goes where its value calls for") {
  BankBench b(4);
  const std::uint16_t erased = b.allocate(0, 0), unwritten = b.allocate(0, 1), dirty = b.allocate(0, 2),
                      clean = b.allocate(0, 3);
  for (const std::uint16_t line : {erased, dirty}) b.write(line, lanes(line));
  b->fill(clean, lanes(3).data(), 1);
  b->mark(clean, false, true, 1);  // memory has it
  CHECK(b->release(erased, true, 5) == BankList::free);
  CHECK(b->release(unwritten, false, 5) == BankList::free);
  CHECK(b->release(dirty, false, 5) == BankList::dirty);
  CHECK(b->release(clean, false, 5) == BankList::clean);
  CHECK(b->look_up(0, 0) == no_line);
  CHECK(b->look_up(0, 1) == no_line);
  CHECK(b->look_up(0, 2) == dirty);
  CHECK(b->look_up(0, 3) == clean);
  CHECK(b->lines_listed() == 4);
  // Not before cycle 5.
  CHECK(b->next_list(4, true) == BankList::owned);
  CHECK(b->next_available(4) == 5);
  CHECK(b->next_list(5, true) == BankList::free);
  CHECK(b->next_available(5) == models::OsuBankAccess::never);
  // A region that takes a line back keeps its value.
  b->own(clean);
  CHECK(b->line(clean).list == BankList::owned);
  CHECK(b.read(clean) == lanes(3));
  CHECK(b.block.check() == "");
}

TEST_CASE("OSU bank: lines leave a list in the order in which they came, none before the one ahead of it") {
  BankBench b(3);
  const std::uint16_t first = b.allocate(0, 0), second = b.allocate(0, 1), third = b.allocate(0, 2);
  for (const std::uint16_t line : {first, second, third}) b.write(line, lanes(line));
  b->release(second, false, 9);
  b->release(first, false, 4);
  b->release(third, false, 12);
  CHECK(b->line(first).available_at == 9);
  CHECK(b->allocate(1, 0, 8, true).line == no_line);
  CHECK(b->allocate(1, 0, 9, true).line == second);
  CHECK(b->allocate(1, 1, 9, true).line == first);
  CHECK(b->allocate(1, 2, 9, true).line == no_line);
  CHECK(b->next_available(9) == 12);
}

TEST_CASE("OSU bank: a line whose value is still to come can lose its tag, and is free later") {
  BankBench b(1);
  const std::uint16_t line = b.allocate(0, 3);
  b->forget(line);
  CHECK(b->look_up(0, 3) == no_line);
  CHECK(b->line(line).list == BankList::owned);
  CHECK(b->allocate(0, 4, 0, true).line == no_line);
  CHECK(b.block.check() == "");
  b->fill(line, nullptr, 6);
  b->free(line, 7);
  CHECK(b->allocate(0, 4, 6, true).line == no_line);
  CHECK(b->allocate(0, 4, 7, true).line == line);
  CHECK(b.statistic("fills") == 1);
}

TEST_CASE("OSU bank: a write to a clean line makes it the youngest dirty one") {
  BankBench b(2);
  const std::uint16_t clean = let_go(b, 0, 0, BankList::clean);
  const std::uint16_t dirty = let_go(b, 0, 1, BankList::dirty);
  CHECK(b.write(clean, lanes(9), 3));
  CHECK(b->line(clean).list == BankList::dirty);
  CHECK(!b.write(clean, lanes(8), 4));
  CHECK(b->line(clean).available_at == 3);
  CHECK(b->allocate(1, 0, 3, true).line == dirty);
  CHECK(b->allocate(1, 1, 3, true).line == clean);
}

TEST_CASE("OSU bank: lanes that a write leaves alone keep their values, and are unwritten before") {
  BankBench b(1);
  const std::uint16_t line = b.allocate(0, 0);
  b.write_lanes(line, lanes(1), 0x0000ff00);
  test::LaneValues v = b.read(line);
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == (i >= 8 && i < 16 ? lanes(1)[i] : models::unwritten_word));
  b.write_lanes(line, lanes(2), 0x00000fff);
  v = b.read(line);
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(v[i] == (i < 12 ? lanes(2)[i] : i < 16 ? lanes(1)[i] : models::unwritten_word));
  }
}

TEST_CASE("OSU bank: one job per port and cycle; the rest is for what can wait") {
  BankBench b(4);
  // Reads need both ports, writes data only, new destinations a tag.
  CHECK(b->book_read(10, 11) == 11);
  CHECK(b->book_write(10, 11) == 12);
  CHECK(b->book_read(10, 11) == 13);  // the tag port was free in 12, the data port was not
  b->book_tag(10, 12);
  CHECK(b->backlog(10, 11) == 3);
  CHECK(b->book_read(10, 12) == 14);
  CHECK(!b->is_spare(SlotPorts::tag, 12));
  CHECK(!b->is_spare(SlotPorts::data, 12));
  CHECK(!b->is_spare(SlotPorts::tag, 13));
  CHECK(b->is_spare(SlotPorts::tag, 16));
  REQUIRE(b->is_spare(SlotPorts::data, 16));
  b->use_spare_tag();
  b->fill(b.allocate(0, 0), lanes(1).data(), 16);
  CHECK(!b->is_spare(SlotPorts::data, 16));
  b->book_read_out(16, 16);
  CHECK(!b->is_spare(SlotPorts::data, 17));
  CHECK(b.statistic("reads") == 3);
  CHECK(b.statistic("conflicts") == 2);
  CHECK(b.statistic("read_wait") == 2 + 2);
  CHECK(b.statistic("writes") == 1);
  CHECK(b.statistic("write_conflicts") == 1);
  CHECK(b.statistic("write_wait") == 1);
  CHECK(b.statistic("tag_lookups") == 3 + 1 + 1);
  CHECK(b.statistic("fills") == 1);
  CHECK(b.statistic("readouts") == 1);
}

TEST_CASE("OSU bank: a register of a warp that is every eighth one; others have no line") {
  BankBench b(2, 4, 24, 8);
  const std::uint16_t line = b.allocate(3, 21);
  CHECK(b->look_up(3, 21) == line);
  CHECK(b->look_up(3, 13) == no_line);
  CHECK(b->look_up(2, 22) == no_line);
  CHECK(b->look_up(3, 255) == no_line);
}

TEST_CASE("OSU bank: energy of its accesses, in words of 128 bytes and look-ups of 16 tags, and of its cells") {
  BankBench b(8);
  b->book_read(1, 1);
  support::EnergyGroup group;
  b.block.register_energy(group);
  REQUIRE(group.events().size() == 5);
  for (const auto& e : group.events()) {
    const bool is_tag = e.value == "osu.tag";
    CHECK(e.per_count == (is_tag ? 0.5 : 1.0));
    CHECK(*e.counter == (is_tag || &e == &group.events().front() ? 1u : 0u));
    if (!is_tag) CHECK(e.geometry.bytes == 8 * 128);
  }
  REQUIRE(group.leakages().size() == 1);
  CHECK(group.leakages().front().geometry.banks == 1);
}

TEST_CASE("OSU bank: sizes that it cannot have are refused") {
  models::OsuBankConfig config;
  config.lines = 0;
  CHECK_THROWS_WITH(config.validate(), "configuration: an OSU bank with lines = 0: expected 1 to 65534");
  config.lines = 1;
  config.line_bytes = 64;
  CHECK_THROWS_AS(config.validate(), support::ConfigError);
}

namespace {

/// Passes on the model's results, or its own.
class Twin final : public models::BankTwin {
 public:
  std::vector<std::string> seen;  ///< operations and the model's results
  std::vector<models::BankResult> own;

  models::BankResult operate(const models::BankOperation& operation, const models::BankResult& of_model) override {
    seen.push_back(describe(operation) + ": " + describe(of_model));
    if (own.empty()) return of_model;
    const models::BankResult result = own.front();
    own.erase(own.begin());
    return result;
  }
};

models::BankResult found(std::uint16_t line, BankList list) {
  models::BankResult result;
  result.found = true;
  result.line = line;
  result.list = list;
  return result;
}

}  // namespace

TEST_CASE("OSU bank: a twin gets the operations on tags and lists, and nothing else") {
  BankBench b(2);
  Twin twin;
  b.block.connect_twin(twin);
  const std::uint16_t line = b.allocate(1, 2);
  b->look_up(1, 2);
  b->look_up(1, 3);
  b->mark(line, true, false, 0);
  b.write(line, lanes(1));
  b.read(line);
  b->book_read(1, 1);
  b->release(line, false, 4);
  b->own(line);
  b->release(line, true, 5);
  b->next_list(1, true);
  b->allocate(1, 4, 1, false);
  b->allocate(1, 5, 4, false);
  b->forget(1);
  b->free(1, 6);
  const std::vector<std::string> expected = {"allocate warp 1 register 2, allowed: free: line 0, free",
                                             "look up warp 1 register 2: line 0, owned",
                                             "look up warp 1 register 3: no line, owned",
                                             "mark line 0 dirty, not defined: no line, owned",
                                             "mark line 0 dirty, defined: no line, owned",
                                             "release line 0: no line, dirty",
                                             "own line 0: no line, dirty",
                                             "release line 0, erased: line 1, free",
                                             "allocate warp 1 register 4, allowed: free: line 1, free",
                                             "allocate warp 1 register 5, allowed:: no line, owned",
                                             "forget line 1: no line, owned",
                                             "free line 1: line 0, free"};
  CHECK(twin.seen == expected);
}

TEST_CASE("OSU bank: the results of a twin count") {
  BankBench b(3);
  Twin twin;
  b.block.connect_twin(twin);
  twin.own = {found(2, BankList::free)};  // not the oldest
  CHECK(b.allocate(0, 0) == 2);
  twin.own = {found(1, BankList::owned)};
  CHECK(b->look_up(0, 0) == 1);
  // A line that is owned cannot be taken.
  twin.own = {found(2, BankList::free)};
  CHECK_THROWS_WITH(
      b->allocate(0, 1, 0, true),
      Catch::Matchers::Contains("the twin cannot be followed: allocate warp 0 register 1, allowed: free: line 2, "
                                "free; the model's line is owned"));
}
