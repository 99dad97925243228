// SPDX-License-Identifier: Apache-2.0
//
// Random kernels on random ways, with random delays everywhere, against a plain model of what a capacity manager is to
// do in every cycle.
#include "bench.h"

#include <algorithm>
#include <deque>
#include <random>
#include <set>

using namespace regatta;
using models::CapacityManagerConfig;
using test::Bench;
using test::RegionSpec;
using State = models::CapacityShard::State;

namespace {

using Random = std::mt19937;
unsigned draw(Random& random, unsigned least, unsigned most) {
  return std::uniform_int_distribution<unsigned>(least, most)(random);
}

constexpr unsigned banks = trace::region_banks;

std::vector<RegionSpec> random_kernel(Random& random, unsigned lines_per_bank) {
  std::vector<RegionSpec> regions(draw(random, 3, 9));
  for (RegionSpec& r : regions) {
    const unsigned instructions = draw(random, 1, 22);
    r.words.uses.resize(instructions);
    std::vector<std::uint8_t> may_write;
    for (unsigned b = 0; b < banks; ++b) {
      const unsigned lines = draw(random, 0, 2) == 0 ? draw(random, 0, lines_per_bank) : draw(random, 0, 2);
      r.words.lines[b] = static_cast<std::uint8_t>(std::min(lines, lines_per_bank));
      for (unsigned n = 0; n < r.words.lines[b]; ++n) {
        const auto reg = static_cast<std::uint8_t>(b + banks * n);
        may_write.push_back(reg);
        if (draw(random, 0, 2) == 0) r.words.entries.push_back({trace::RegionEntry::Kind::preload, reg});
      }
    }
    for (unsigned n = draw(random, 0, 3) == 0 ? draw(random, 1, 40) : 0; n != 0; --n) {
      r.words.entries.push_back({trace::RegionEntry::Kind::invalidate, static_cast<std::uint8_t>(200 + n)});
    }
    r.writes.resize(instructions);
    for (auto& writes : r.writes) {
      if (!may_write.empty() && draw(random, 0, 1) == 0) {
        writes.push_back(may_write[draw(random, 0, static_cast<unsigned>(may_write.size()) - 1)]);
      }
    }
    const unsigned end = draw(random, 0, 5);
    r.end = end < 2 ? RegionSpec::End::branch : end == 2 ? RegionSpec::End::barrier : RegionSpec::End::plain;
  }
  regions.back().end = RegionSpec::End::exit;
  return regions;
}

/// The pipeline's side of a warp, and what the model knows of it.
struct ModelWarp {
  unsigned slot = 0;
  bool finished = false;
  // The way through the kernel, as far as it is decided.
  std::vector<std::uint32_t> way;
  std::size_t fetched = 0, issued = 0;
  unsigned words_done = 0;  ///< of the next instruction
  bool fetch_blocked = false;
  bool at_barrier = false;
  std::set<std::uint8_t> pending;
  std::vector<std::pair<std::uint64_t, std::size_t>> results;  ///< when, which
  // The model.
  bool running = false;  ///< started, its last instruction has not issued
  bool draining = false;
  unsigned region = 0;
  std::size_t started_at = 0;  ///< instructions issued before it
  std::array<unsigned, banks> reserved{};
  std::array<unsigned, banks> writing{};
};

class Machine {
 public:
  Machine(unsigned seed, unsigned fall_through)
      : random_(seed),
        fall_through_(fall_through),
        lines_(draw(random_, 2, 12)),
        regions_(random_kernel(random_, lines_)),
        bench_(regions_, config(fall_through), lines_, 1, [this] { return draw(random_, 1, 30); }) {
    for (unsigned w = 0; w < draw(random_, 1, 9); ++w) {
      warps_.emplace_back();
      warps_.back().slot = w;
    }
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      for (std::size_t i = 0; i < regions_[r].words.uses.size(); ++i) region_of_.push_back(static_cast<unsigned>(r));
      // What the hardware is told: the compact form has one number for all banks.
      lines_of_.push_back(trace::decode_region_word(trace::encode(regions_[r].words)[0].word).lines);
    }
  }

  void run() {
    bench_.at(0, [this] {
      bench_.start_kernel();
      for (ModelWarp& w : warps_) {
        bench_.start_warp(w.slot);
        w.way.push_back(0);
        stack_.insert(stack_.begin(), w.slot);
      }
      expect();
    });
    bench_.at(1, [this] { cycle(); });
    bench_.run();
    REQUIRE(finished_ == warps_.size());
    const models::RegionCounters counted = bench_.manager->regions();
    CHECK(counted.executed == started_);
    CHECK(counted.instructions == instructions_);
    std::uint64_t answered = 0;
    for (const std::uint64_t n : counted.preloads_from) answered += n;
    CHECK(answered == counted.preloads);
    CHECK_FALSE(bench_.staging[0]->overflowed);
    for (unsigned b = 0; b < banks; ++b) CHECK(bench_.manager->shard(0).free_lines(b) == lines_);
  }

 private:
  static CapacityManagerConfig config(unsigned fall_through) {
    CapacityManagerConfig c;
    c.fall_through = fall_through;
    c.metadata_words = 40;
    return c;
  }
  ModelWarp& at(unsigned slot) { return warps_[slot]; }
  unsigned bank(const ModelWarp& w, unsigned reg) const { return (w.slot + reg) % banks; }

  unsigned words_before(std::uint32_t index) const {
    unsigned words = 0;
    for (const auto& i : bench_.kernel.inserted) words += i.before == index ? 1 : 0;
    return words;
  }
  /// All words that a warp needs to start its next region have been handed over.
  bool next_known(const ModelWarp& w) const {
    return w.issued < w.fetched || (w.issued < w.way.size() && w.words_done == words_before(w.way[w.issued]));
  }
  bool fits(const ModelWarp& w) const {
    const auto& next = lines_of_[region_of_[w.way[w.issued]]];
    std::array<unsigned, banks> used{};
    for (const ModelWarp& other : warps_) {
      for (unsigned b = 0; b < banks; ++b) used[b] += other.reserved[b];
    }
    for (unsigned b = 0; b < banks; ++b) {
      if (next[b] + used[bank(w, b)] > lines_) return false;
    }
    return true;
  }
  /// Which warp has to start in the next cycle: the topmost whose region is known, if it fits; where falling through is
  /// on and it has not fitted for long enough, else the one under it.
  void expect() {
    expected_ = none;
    const std::uint64_t next = bench_.now() + 1;
    bool top = true;
    for (auto s = stack_.rbegin(); s != stack_.rend(); ++s) {
      if (!next_known(at(*s))) continue;
      if (fits(at(*s))) {
        expected_ = *s;
        if (top) blocked_ = none;
        return;
      }
      if (!top || fall_through_ == 0) return;
      if (blocked_ != *s) {
        blocked_ = *s;
        blocked_since_ = next;
      }
      if (next - blocked_since_ < fall_through_) return;
      top = false;
    }
  }
  void start(ModelWarp& w) {
    ++started_;
    w.running = true;
    w.started_at = w.issued;
    w.region = region_of_[w.way[w.issued]];
    for (unsigned b = 0; b < banks; ++b) w.reserved[bank(w, b)] = lines_of_[w.region][b];
    stack_.erase(std::find(stack_.begin(), stack_.end(), w.slot));
  }
  void shrink(ModelWarp& w) {
    if (!w.draining) return;
    bool any = false;
    for (unsigned b = 0; b < banks; ++b) {
      w.reserved[b] = std::min(w.reserved[b], w.writing[b]);
      any = any || w.writing[b] != 0;
    }
    if (any) return;
    w.reserved.fill(0);
    w.draining = false;
    if (!w.at_barrier) stack_.push_back(w.slot);
  }
  /// The end of the running region is known: it issued its last instruction, and that it was the last shows.
  void look_for_end(ModelWarp& w) {
    if (!w.running || w.issued == w.started_at) return;
    const std::uint32_t last = w.way[w.issued - 1];
    if (region_of_[last] != w.region) return;
    if (last + 1 < region_of_.size() && region_of_[last + 1] == w.region) return;
    const RegionSpec::End end = regions_[w.region].end;
    const bool shows = end != RegionSpec::End::plain || w.issued < w.fetched || w.words_done != 0;
    if (!shows) return;
    w.running = false;
    w.draining = true;
    shrink(w);
  }

  void fetch(ModelWarp& w) {
    for (unsigned slots = draw(random_, 0, 3); slots != 0; --slots) {
      if (w.fetch_blocked || w.fetched >= w.issued + 4) return;
      if (w.fetched == w.way.size()) {
        const std::uint32_t last = w.way.back();
        const bool ends = last + 1 == region_of_.size() || region_of_[last + 1] != region_of_[last];
        std::uint32_t next = last + 1;
        if (ends && regions_[region_of_[last]].end == RegionSpec::End::branch) {
          // Seldom back, so that there is an end.
          const unsigned r = region_of_[last];
          const unsigned to =
              draw(random_, 0, 3) == 0 ? draw(random_, 0, r) : draw(random_, r + 1, unsigned(regions_.size()) - 1);
          next = bench_.first(to);
        }
        w.way.push_back(next);
      }
      const std::uint32_t index = w.way[w.fetched];
      if (w.words_done < words_before(index)) {
        if (bench_.manager->room(bench_.info(w.slot).warp) == 0) return;
        unsigned n = 0;
        for (std::uint32_t i = 0; i < bench_.kernel.inserted.size(); ++i) {
          if (bench_.kernel.inserted[i].before != index || n++ != w.words_done) continue;
          bench_.manager->decoded(bench_.info(w.slot), i, w.fetched + 1);
          break;
        }
        ++w.words_done;
        look_for_end(w);
        continue;
      }
      w.words_done = 0;
      ++w.fetched;
      if (bench_.traits[index].is_control) w.fetch_blocked = true;
    }
  }

  /// A closing counts at once.
  void hear() {
    for (; told_ < bench_.told.size(); ++told_) {
      const Bench::Told& t = bench_.told[told_];
      opened_[t.warp] = t.closed ? 0 : t.cycle;
    }
  }

  void issue(ModelWarp& w) {
    hear();
    if (w.issued == w.fetched || opened_[w.slot] == 0 || opened_[w.slot] >= bench_.now() || w.at_barrier) return;
    if (draw(random_, 0, 2) == 0) return;
    const std::uint32_t index = w.way[w.issued];
    const protocol::InstructionTraits& t = bench_.traits[index];
    for (unsigned i = 0; i < t.write_count; ++i) {
      if (w.pending.count(t.writes[i].value()) != 0) return;
    }
    REQUIRE(w.running);
    REQUIRE(bench_.may_issue(w.slot, index, w.issued + 1));
    ++w.issued;
    ++instructions_;
    for (unsigned i = 0; i < t.write_count; ++i) {
      w.pending.insert(t.writes[i].value());
      ++w.writing[bank(w, t.writes[i].value())];
    }
    w.results.emplace_back(bench_.now() + draw(random_, 1, 60), w.issued);
    // A barrier whose guard is off ends its region and is gone by.
    const bool guarded_off = t.is_barrier && draw(random_, 0, 3) == 0;
    if (t.is_barrier && !guarded_off) w.at_barrier = true;
    bench_.issue(w.slot, index, w.issued, guarded_off);
    if (t.is_control && !t.is_exit) w.fetch_blocked = false;
    look_for_end(w);
  }

  void write_back(ModelWarp& w) {
    for (std::size_t i = 0; i < w.results.size();) {
      if (w.results[i].first > bench_.now()) {
        ++i;
        continue;
      }
      const std::size_t sequence = w.results[i].second;
      w.results.erase(w.results.begin() + static_cast<std::ptrdiff_t>(i));
      const protocol::InstructionTraits& t = bench_.traits[w.way[sequence - 1]];
      for (unsigned n = 0; n < t.write_count; ++n) {
        w.pending.erase(t.writes[n].value());
        --w.writing[bank(w, t.writes[n].value())];
      }
      bench_.write_back(w.slot, w.way[sequence - 1], sequence);
      if (t.write_count != 0) shrink(w);
    }
    const bool ended = w.issued != 0 && bench_.traits[w.way[w.issued - 1]].is_exit;
    if (!ended || !w.results.empty() || w.finished) return;
    w.finished = true;
    ++finished_;
    stack_.erase(std::find(stack_.begin(), stack_.end(), w.slot));
    bench_.finish_warp(w.slot);
  }

  void barriers() {
    unsigned waiting = 0;
    for (const ModelWarp& w : warps_) {
      if (w.finished || (w.issued != 0 && bench_.traits[w.way[w.issued - 1]].is_exit)) continue;
      if (!w.at_barrier) return;
      ++waiting;
    }
    if (waiting == 0 || draw(random_, 0, 5) != 0) return;
    std::vector<unsigned> order;
    for (const ModelWarp& w : warps_) {
      if (w.at_barrier) order.push_back(w.slot);
    }
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<unsigned> released;
    for (const unsigned slot : order) {
      ModelWarp& w = at(slot);
      w.at_barrier = false;
      bench_.manager->barrier_opened(bench_.info(slot));
      if (!w.draining) released.push_back(slot);
    }
    // Slots were given out in order of age.
    std::sort(released.rbegin(), released.rend());
    stack_.insert(stack_.end(), released.begin(), released.end());
  }

  void compare() {
    std::vector<unsigned> stack = bench_.stack();
    CHECK(stack == stack_);
    for (unsigned b = 0; b < banks; ++b) {
      unsigned used = 0;
      for (const ModelWarp& w : warps_) used += w.reserved[b];
      REQUIRE(used <= lines_);
      CHECK(bench_.manager->shard(0).free_lines(b) == lines_ - used);
    }
    for (const ModelWarp& w : warps_) {
      const State state = bench_.state(w.slot);
      CHECK((state == State::preloading || state == State::active) == w.running);
      CHECK((state == State::draining) == w.draining);
      CHECK(bench_.is_closed(w.slot) == (state != State::active));
    }
  }

  void cycle() {
    // The manager has had its turn of this cycle.
    if (expected_ != none) start(at(expected_));
    compare();
    barriers();
    for (ModelWarp& w : warps_) {
      if (!w.finished) write_back(w);
    }
    for (ModelWarp& w : warps_) {
      if (w.finished) continue;
      fetch(w);
      issue(w);
    }
    compare();
    expect();
    REQUIRE(bench_.now() < 300000);
    if (finished_ < warps_.size()) bench_.at(bench_.now() + 1, [this] { cycle(); });
  }

  static constexpr unsigned none = ~0u;
  Random random_;
  unsigned fall_through_;
  unsigned lines_;
  std::vector<RegionSpec> regions_;
  Bench bench_;
  std::vector<ModelWarp> warps_;
  std::vector<unsigned> region_of_;                        ///< by static index
  std::vector<std::array<std::uint8_t, banks>> lines_of_;  ///< by region
  std::vector<unsigned> stack_;
  std::map<unsigned, std::uint64_t> opened_;
  std::size_t told_ = 0;
  unsigned expected_ = none;
  unsigned blocked_ = none;  ///< the topmost that did not fit
  std::uint64_t blocked_since_ = 0;
  std::size_t finished_ = 0;
  std::uint64_t started_ = 0, instructions_ = 0;
};

void random_machine(unsigned seed, unsigned fall_through = 0) {
  CAPTURE(seed, fall_through);
  Machine(seed, fall_through).run();
}

}  // namespace

// A process elaborates once, so one machine each.
TEST_CASE("capacity manager: random machine 1") { random_machine(1); }
TEST_CASE("capacity manager: random machine 2") { random_machine(2); }
TEST_CASE("capacity manager: random machine 3") { random_machine(3); }
TEST_CASE("capacity manager: random machine 4") { random_machine(4); }
TEST_CASE("capacity manager: random machine 5") { random_machine(5); }
TEST_CASE("capacity manager: random machine 6") { random_machine(6); }
TEST_CASE("capacity manager: random machine 7") { random_machine(7); }
TEST_CASE("capacity manager: random machine 8") { random_machine(8); }

TEST_CASE("capacity manager: random machine that falls through at once") { random_machine(11, 1); }
TEST_CASE("capacity manager: random machine that falls through soon") { random_machine(12, 7); }
TEST_CASE("capacity manager: random machine that falls through late") { random_machine(13, 40); }

// As many as the environment asks for, one per process: REGATTA_CAPACITY_SEED.
TEST_CASE("capacity manager: a random machine of the environment's choice") {
  const char* seed = std::getenv("REGATTA_CAPACITY_SEED");
  const unsigned number = seed != nullptr ? static_cast<unsigned>(std::stoul(seed)) : 100;
  random_machine(number, number % 3 * 5);
}
