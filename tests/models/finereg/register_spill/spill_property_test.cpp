// SPDX-License-Identifier: Apache-2.0
//
// Random moves to memory and back under a brute-force oracle: a memory and a register file that refuse and delay, warps
// that have exited, CTAs that end while they are away, and results of loads for all CTAs at any time. Every register of
// a warp that goes on is there when its CTA is back.
#include <algorithm>
#include <array>
#include <random>

#include "spill_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

namespace {

struct Shape {
  unsigned places, warps, registers, away, requests, results;
  unsigned held;      ///< of 100 accesses to the file
  unsigned longest;   ///< cycles of memory
  unsigned refusals;  ///< of 100 requests to memory
};

RegisterSpillConfig config_of(const Shape& s) {
  RegisterSpillConfig config;
  config.ctas = s.away;
  config.requests = s.requests;
  config.results = s.results;
  return config;
}

class SpillOracle {
 public:
  SpillOracle(const Shape& s, unsigned seed)
      : b_(s.places, s.warps, s.registers, config_of(s), seed), random_(seed * 7919 + 1), longest_(s.longest) {
    b_.file.held = s.held;
    b_.memory.longest = s.longest;
    b_.memory.refusals = s.refusals;
    b_.memory.completes = seed % 2 == 0;
  }
  void run(unsigned moves) {
    for (unsigned n = 0; n < moves; ++n) step();
    drain();
    CHECK(b_.memory.fault.empty());
  }
  double stat(const std::string& name) { return b_.stat(name); }
  unsigned ended_away = 0, exchanges = 0;

 private:
  enum class State { none, running, in_file, away };
  struct Load {
    unsigned warp, reg;
    protocol::LaneMask lanes;
    Row value;
    std::uint64_t due;
  };

  std::uint64_t any(std::uint64_t n) { return random_() % n; }
  Row any_row() {
    Row row{};
    for (std::uint32_t& lane : row) lane = static_cast<std::uint32_t>(random_());
    return row;
  }
  unsigned warp(unsigned cta, unsigned i) const { return cta * b_.warps + i; }
  std::vector<unsigned> in_state(State s) const {
    std::vector<unsigned> found;
    for (unsigned c = 0; c < SpillBench::slots; ++c) {
      if (states_[c] == s) found.push_back(c);
    }
    return found;
  }
  unsigned pick(const std::vector<unsigned>& of) { return of[any(of.size())]; }
  bool pending(unsigned w, unsigned reg) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.warp == w && l.reg == reg; });
  }
  bool has_loads(unsigned w) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.warp == w; });
  }

  void step() {
    if (!in_state(State::none).empty() && b_.windows.free_places() != 0) launch(pick(in_state(State::none)));
    for (const unsigned c : in_state(State::running)) compute(c);
    const std::vector<unsigned> running = in_state(State::running), away = in_state(State::away);
    std::optional<unsigned> out, in;
    if (!running.empty() && any(5) != 0) out = pick(running);
    if (!away.empty() && any(5) != 0) in = pick(away);
    if (out && !b_.has_room(*out, in)) out.reset();
    if (!out && (!in || b_.windows.free_places() == 0)) return wait();
    if (out) {
      b_.switch_out(*out);
      states_[*out] = State::in_file;
      for (std::uint64_t n = any(4); n != 0; --n) tick();
    }
    // Either may have ended.
    if (out && states_[*out] == State::none) out.reset();
    if (in && states_[*in] == State::none) in.reset();
    if (!out && (!in || b_.windows.free_places() == 0)) return wait();
    move(out, in);
  }
  void wait() {
    for (unsigned n = 0; n < 5; ++n) tick();
  }
  void launch(unsigned cta) {
    b_.start(cta);
    states_[cta] = State::running;
    for (unsigned i = 0; i < b_.warps; ++i) alive_[warp(cta, i)] = true;
  }
  /// New values everywhere, loads on their way, and now and then the last instruction of a warp.
  void compute(unsigned cta) {
    for (unsigned i = 0; i < b_.warps; ++i) {
      const unsigned w = warp(cta, i);
      if (!alive_[w] || b_.control.exited[w]) continue;
      for (unsigned r = 0; r < b_.registers; ++r) {
        if (pending(w, r)) continue;  // the scoreboard
        b_.file.row(w, r) = values_[{w, r}] = any_row();
        if (any(6) == 0)
          loads_.push_back({w, r, static_cast<protocol::LaneMask>(any(1ull << 32)), any_row(),
                            cycle() + 1 + any(4 * longest_ + 100)});
      }
      if (any(12) == 0) b_.control.exited[w] = true;
    }
  }
  void move(std::optional<unsigned> out, std::optional<unsigned> in) {
    b_.move(out, in);
    const std::uint64_t from = cycle();
    while (b_.spill.moving()) {
      tick();
      INFO("a move that began in cycle " << from);
      REQUIRE(cycle() - from < 100000);
    }
    if (out && states_[*out] == State::in_file) states_[*out] = State::away;
    if (out && in) ++exchanges;
    if (!in || states_[*in] == State::none) return;
    compare(*in);
    for (std::uint64_t n = any(10); n != 0 && states_[*in] != State::none; --n) tick();
    if (states_[*in] == State::none) return;
    compare(*in);
    b_.switch_in(*in);
    states_[*in] = State::running;
  }
  void compare(unsigned cta) {
    for (unsigned i = 0; i < b_.warps; ++i) {
      const unsigned w = warp(cta, i);
      if (!alive_[w] || b_.control.exited[w]) continue;
      for (unsigned r = 0; r < b_.registers; ++r) {
        INFO("CTA slot " << cta << " warp " << i << " R" << r << " in cycle " << cycle());
        REQUIRE(b_.file.row(w, r) == values_[{w, r}]);
      }
    }
  }
  /// Warps end with their last result, wherever their CTA is.
  void end_warps() {
    for (unsigned c = 0; c < SpillBench::slots; ++c) {
      if (states_[c] == State::none) continue;
      bool any_alive = false;
      for (unsigned i = 0; i < b_.warps; ++i) {
        const unsigned w = warp(c, i);
        if (alive_[w] && b_.control.exited[w] && !has_loads(w)) {
          b_.end_warp(w);
          alive_[w] = false;
        }
        any_alive = any_alive || alive_[w];
      }
      if (any_alive) continue;
      ended_away += states_[c] == State::away ? 1 : 0;
      b_.spill.cta_finished(b_.launch.cta(c));
      states_[c] = State::none;
    }
  }
  /// A cycle, in which results come in the order in which they are due: one that waits holds all that follow.
  void tick() {
    run_for(1);
    std::sort(loads_.begin(), loads_.end(), [](const Load& a, const Load& b) { return a.due < b.due; });
    for (unsigned width = 0; width < 2 && !loads_.empty() && loads_.front().due <= cycle(); ++width) {
      const Load l = loads_.front();
      if (b_.result(l.warp, l.reg, l.value, l.lanes) == Decision::wait) {
        REQUIRE(++waited_ < 20000);
        break;
      }
      waited_ = 0;
      loads_.erase(loads_.begin());
      SpillBench::merge(values_[{l.warp, l.reg}], l.value, l.lanes);
    }
    end_warps();
  }
  void drain() {
    while (!loads_.empty()) tick();
    while (!in_state(State::away).empty()) {
      const unsigned c = in_state(State::away).front();
      if (b_.windows.free_places() == 0) {
        end(in_state(State::running).front());
      }
      b_.move(std::nullopt, c);
      while (b_.spill.moving()) tick();
      compare(c);
      end(c);
    }
  }
  void end(unsigned cta) {
    for (unsigned i = 0; i < b_.warps; ++i) b_.control.exited[warp(cta, i)] = true;
    end_warps();
  }

  SpillBench b_;
  std::mt19937_64 random_;
  unsigned longest_;
  std::array<State, SpillBench::slots> states_{};
  std::map<unsigned, bool> alive_;
  std::map<std::pair<unsigned, unsigned>, Row> values_;
  std::vector<Load> loads_;
  unsigned waited_ = 0;
};

void check_moves(const Shape& s, unsigned seed) {
  SpillOracle oracle(s, seed);
  oracle.run(300);
  CHECK(oracle.exchanges > 20);
  CHECK(oracle.ended_away > 0);
  CHECK(oracle.stat("lines_written") > 500);
  CHECK(oracle.stat("merged_results") > 20);
  CHECK(oracle.stat("held_results") > 0);
  CHECK(oracle.stat("waiting_results") > 0);
}

}  // namespace

// A SystemC program elaborates once: a test case for each.
#define REGATTA_SPILLS(SEED, ...) \
  TEST_CASE("register spill alone: random moves and results, seed " #SEED) { check_moves(Shape{__VA_ARGS__}, SEED); }
REGATTA_SPILLS(1, 1, 2, 8, 4, 32, 2, 0, 40, 0)
REGATTA_SPILLS(2, 2, 2, 8, 4, 32, 16, 30, 40, 30)
REGATTA_SPILLS(3, 3, 1, 12, 3, 4, 2, 30, 100, 20)
REGATTA_SPILLS(4, 2, 4, 6, 2, 3, 1, 50, 150, 50)
REGATTA_SPILLS(5, 1, 3, 20, 5, 64, 4, 10, 300, 10)
REGATTA_SPILLS(6, 4, 1, 5, 1, 8, 1, 50, 10, 90)
