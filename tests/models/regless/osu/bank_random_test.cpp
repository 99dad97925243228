// SPDX-License-Identifier: Apache-2.0
//
// A bank alone, against one of plain containers: lists in order, preferences, tags, masked writes, cycles of the ports.
#include "bank_bench.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace regatta;
using models::BankList;
using models::no_line;
using models::SlotPorts;
using test::BankBench;
using test::LaneValues;

namespace {

/// What the bank should be, in the simplest form.
struct Oracle {
  struct Line {
    bool tagged = false, dirty = false, defined = false;
    unsigned warp = 0, reg = 0;
    std::uint64_t available_at = 0;
    LaneValues value{};  ///< if defined
  };
  std::vector<Line> lines;
  std::map<BankList, std::deque<std::uint16_t>> lists;  ///< the oldest first
  std::set<std::uint64_t> taken[2];                     ///< cycles of a port

  explicit Oracle(unsigned count) : lines(count) {
    for (std::uint16_t i = 0; i < count; ++i) lists[BankList::free].push_back(i);
  }
  std::uint16_t look_up(unsigned warp, unsigned reg) const {
    for (std::uint16_t i = 0; i < lines.size(); ++i) {
      if (lines[i].tagged && lines[i].warp == warp && lines[i].reg == reg) return i;
    }
    return no_line;
  }
  BankList list_of(std::uint16_t line) const {
    for (const auto& [list, members] : lists) {
      if (std::count(members.begin(), members.end(), line) != 0) return list;
    }
    return BankList::owned;
  }
  bool has(BankList list, std::uint64_t now) {
    return !lists[list].empty() && lines[lists[list].front()].available_at <= now;
  }
  BankList next_list(std::uint64_t now, bool may_dirty) {
    for (const BankList list : {BankList::free, BankList::clean, BankList::dirty}) {
      if (has(list, now) && (list != BankList::dirty || may_dirty)) return list;
    }
    return BankList::owned;
  }
  void unlist(std::uint16_t line) {
    for (auto& [list, members] : lists) members.erase(std::remove(members.begin(), members.end(), line), members.end());
  }
  void put(std::uint16_t line, BankList list, std::uint64_t at) {
    for (const std::uint16_t other : lists[list]) at = std::max(at, lines[other].available_at);
    unlist(line);
    lines[line].available_at = at;
    lists[list].push_back(line);
  }
  BankList place_of(std::uint16_t line) const {
    return !lines[line].defined ? BankList::free : lines[line].dirty ? BankList::dirty : BankList::clean;
  }
  std::uint64_t next_available(std::uint64_t now) const {
    std::uint64_t next = models::OsuBankAccess::never;
    for (const auto& [list, members] : lists) {
      for (const std::uint16_t line : members) {
        if (lines[line].available_at > now) next = std::min(next, lines[line].available_at);
      }
    }
    return next;
  }
  /// The first cycle in which none of the ports has a job.
  std::uint64_t book(std::initializer_list<SlotPorts::Port> ports, std::uint64_t at) {
    const auto busy = [&](std::uint64_t cycle) {
      return std::any_of(ports.begin(), ports.end(), [&](SlotPorts::Port p) { return taken[p].count(cycle) != 0; });
    };
    while (busy(at)) ++at;
    for (const SlotPorts::Port p : ports) taken[p].insert(at);
    return at;
  }
};

class Game {
 public:
  Game(unsigned lines, unsigned seed) : bank_(lines, warps, registers), is_(lines), random_(seed) {}

  void step() {
    if (below(3) == 0) now_ += below(4);
    const unsigned warp = below(warps), reg = below(registers);
    const std::uint16_t line = is_.look_up(warp, reg);
    REQUIRE(bank_->look_up(warp, reg) == line);
    const unsigned dice = below(100);
    if (line == no_line) {
      if (dice < 70) allocate(warp, reg);
    } else if (is_.list_of(line) != BankList::owned) {
      listed(line, dice);
    } else if (dice < 35) {
      release(line);
    } else if (dice < 70) {
      write(line);
    } else if (dice < 80) {
      fill(line);
    } else if (dice < 85) {
      bank_->forget(line);
      is_.lines[line].tagged = false;
      forgotten_.insert(line);
    } else if (dice < 90) {
      free(line);
    }
    if (!forgotten_.empty() && below(4) == 0) free(*forgotten_.begin());
    cycles();
    compare();
  }
  unsigned allocated(BankList from) const { return allocated_.count(from) != 0 ? allocated_.at(from) : 0; }

 private:
  static constexpr unsigned warps = 3, registers = 12;
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint64_t soon() { return now_ + below(6); }

  void allocate(unsigned warp, unsigned reg) {
    const bool may_dirty = below(2) == 0;
    const BankList from = is_.next_list(now_, may_dirty);
    const auto taken = bank_->allocate(warp, reg, now_, may_dirty);
    REQUIRE(taken.from == from);
    ++allocated_[from];
    if (from == BankList::owned) {
      REQUIRE(taken.line == no_line);
      return;
    }
    const std::uint16_t line = is_.lists[from].front();
    REQUIRE(taken.line == line);
    Oracle::Line& l = is_.lines[line];
    if (from != BankList::free) {
      REQUIRE(taken.warp == l.warp);
      REQUIRE(taken.reg == l.reg);
      REQUIRE(std::equal(l.value.begin(), l.value.end(), bank_->value(line)));
    }
    is_.unlist(line);
    l.tagged = true;
    l.dirty = l.defined = false;
    l.warp = warp;
    l.reg = reg;
  }
  void listed(std::uint16_t line, unsigned dice) {
    if (dice < 40) {
      bank_->own(line);
      is_.unlist(line);
    } else if (dice < 60) {
      write(line);
    } else if (dice < 75) {
      mark(line, below(2) == 0);
    } else if (dice < 85) {
      free(line);
    }
  }
  void mark(std::uint16_t line, bool dirty) {
    const std::uint64_t at = soon();
    const BankList was = is_.list_of(line);
    is_.lines[line].dirty = dirty;
    const bool moves = was != BankList::owned && is_.place_of(line) != was;
    REQUIRE(bank_->mark(line, dirty, is_.lines[line].defined, at) == moves);
    if (moves) is_.put(line, is_.place_of(line), at);
  }
  void release(std::uint16_t line) {
    const bool erase = below(4) == 0;
    const std::uint64_t at = soon();
    const BankList to = erase ? BankList::free : is_.place_of(line);
    REQUIRE(bank_->release(line, erase, at) == to);
    is_.put(line, to, at);
    if (to == BankList::free) is_.lines[line].tagged = false;
  }
  void free(std::uint16_t line) {
    const std::uint64_t at = soon();
    bank_->free(line, at);
    is_.put(line, BankList::free, at);
    is_.lines[line].tagged = false;
    forgotten_.erase(line);
  }
  void write(std::uint16_t line) {
    const LaneValues value = test::lanes(random_());
    const std::uint32_t which = below(2) == 0 ? ~0u : static_cast<std::uint32_t>(random_());
    const std::uint64_t at = soon();
    const bool moves = is_.list_of(line) == BankList::clean;
    Oracle::Line& l = is_.lines[line];
    if (!l.defined) l.value.fill(models::unwritten_word);
    for (unsigned i = 0; i < value.size(); ++i) {
      if ((which >> i & 1) != 0) l.value[i] = value[i];
    }
    l.defined = l.dirty = true;
    const bool moved = which == ~0u ? bank_.write(line, value, at) : bank_.write_lanes(line, value, which, at);
    REQUIRE(moved == moves);
    if (moves) is_.put(line, BankList::dirty, at);
  }
  void fill(std::uint16_t line) {
    if (now_ == 0 || is_.taken[SlotPorts::data].count(now_ - 1) != 0) return;
    const LaneValues value = test::lanes(random_());
    bank_->fill(line, value.data(), now_);
    is_.taken[SlotPorts::data].insert(now_ - 1);
    is_.lines[line].value = value;
    is_.lines[line].defined = true;
    mark(line, below(2) == 0);
  }
  void cycles() {
    const std::uint64_t at = now_ + below(3);
    const unsigned dice = below(8);
    if (dice == 0) REQUIRE(bank_->book_read(now_, at) == is_.book({SlotPorts::tag, SlotPorts::data}, at));
    if (dice == 1) REQUIRE(bank_->book_write(now_, at) == is_.book({SlotPorts::data}, at));
    if (dice == 2) {
      bank_->book_tag(now_, at);
      is_.book({SlotPorts::tag}, at);
    }
    std::uint64_t first = at;
    while (is_.taken[SlotPorts::data].count(first) != 0) ++first;
    REQUIRE(bank_->backlog(now_, at) == first - at);
    if (now_ == 0) return;
    for (const SlotPorts::Port port : {SlotPorts::tag, SlotPorts::data}) {
      REQUIRE(bank_->is_spare(port, now_) == (is_.taken[port].count(now_ - 1) == 0));
    }
  }
  void compare() {
    REQUIRE(bank_.block.check() == "");
    for (const bool may_dirty : {false, true}) {
      REQUIRE(bank_->next_list(now_, may_dirty) == is_.next_list(now_, may_dirty));
    }
    REQUIRE(bank_->next_available(now_) == is_.next_available(now_));
    for (std::uint16_t i = 0; i < is_.lines.size(); ++i) {
      const Oracle::Line& l = is_.lines[i];
      const models::OsuLine& found = bank_->line(i);
      REQUIRE(found.list == is_.list_of(i));
      if (found.list != BankList::owned) REQUIRE(found.available_at == l.available_at);
      if (!l.tagged) continue;
      bool defined = false;
      const LaneValues value = bank_.read(i, &defined);
      REQUIRE(defined == l.defined);
      REQUIRE(found.is_dirty == l.dirty);
      if (defined) REQUIRE(value == l.value);
    }
  }

  BankBench bank_;
  Oracle is_;
  std::mt19937 random_;
  std::uint64_t now_ = 0;
  std::set<std::uint16_t> forgotten_;
  std::map<BankList, unsigned> allocated_;
};

void play(unsigned lines) {
  Game game(lines, 40 + lines);
  for (unsigned i = 0; i < 30000; ++i) game.step();
  for (const BankList from : {BankList::free, BankList::clean, BankList::dirty}) {
    CAPTURE(lines, models::name(from));
    CHECK(game.allocated(from) > 5);
  }
}

}  // namespace

TEST_CASE("OSU bank: random operations have the results of plain containers, one line") { play(1); }
TEST_CASE("OSU bank: random operations have the results of plain containers, five lines") { play(5); }
TEST_CASE("OSU bank: random operations have the results of plain containers, sixteen lines") { play(16); }
