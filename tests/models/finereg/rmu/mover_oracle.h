// SPDX-License-Identifier: Apache-2.0
//
// Random moves under a brute-force oracle: any live sets, as few free entries as there may be, a register file that
// holds accesses up, and results of loads for all CTAs at any time. Whatever was live is there when a CTA is back.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mover_bench.h"

namespace regatta::test::cta_blocks {

class MoverOracle {
 public:
  MoverOracle(unsigned places, unsigned entries, unsigned warps, unsigned registers, unsigned held, unsigned seed,
              models::RmuTwin* twin = nullptr)
      : b_(places, entries, warps, registers, seed), random_(seed * 7919 + 1) {
    b_.file.held = held;
    if (twin == nullptr) return;
    b_.mover.set_twin(twin);
    b_.free_space.set_twin(twin);
  }
  void run(unsigned moves) {
    for (unsigned n = 0; n < moves; ++n) {
      step();
      REQUIRE(b_.mover.check().empty());
    }
    drain();
    b_.mover.kernel_finished(b_.launch.context);
    CHECK(b_.stat("moved_out") == b_.stat("moved_in"));
  }
  double stat(const std::string& name) { return b_.stat(name); }
  unsigned tight = 0;  ///< exchanges after which no entry is free
  unsigned exchanges = 0;

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
    for (unsigned c = 0; c < MoverBench::slots; ++c) {
      if (states_[c] == s) found.push_back(c);
    }
    return found;
  }
  unsigned pick(const std::vector<unsigned>& of) { return of[any(of.size())]; }

  void step() {
    if (in_state(State::none).size() > 1 && b_.windows.free_places() != 0) launch(pick(in_state(State::none)));
    // CTAs that run do so for a while, some end.
    for (const unsigned c : in_state(State::running)) compute(c);
    if (any(15) == 0 && !in_state(State::running).empty()) end(pick(in_state(State::running)));
    const std::vector<unsigned> running = in_state(State::running), away = in_state(State::away);
    std::optional<unsigned> out, in;
    if (!running.empty() && any(5) != 0) out = pick(running);
    if (!away.empty() && any(5) != 0) in = pick(away);
    if (!out && !in) return wait();
    if (out) stop(*out, in);
    if (!out && b_.windows.free_places() == 0) return wait();
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
  void end(unsigned cta) {
    for (const Load& l : loads_) {
      if (l.warp / b_.warps == cta) return;  // it has to wait for them
    }
    b_.end(cta);
    states_[cta] = State::none;
  }
  /// New values everywhere, and loads on their way.
  void compute(unsigned cta) {
    for (unsigned i = 0; i < b_.warps; ++i) {
      const unsigned w = warp(cta, i);
      if (!alive_[w]) continue;
      for (unsigned r = 0; r < b_.registers; ++r) {
        if (pending(w, r)) continue;  // the scoreboard
        b_.file.row(w, r) = values_[{w, r}] = any_row();
        if (any(6) == 0)
          loads_.push_back({w, r, static_cast<protocol::LaneMask>(any(1ull << 32)), any_row(), cycle() + 1 + any(150)});
      }
    }
  }
  bool pending(unsigned w, unsigned r) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.warp == w && l.reg == r; });
  }
  /// The CTA stops where some of its registers are live: as many as find room, often no less.
  void stop(unsigned cta, std::optional<unsigned> in) {
    const unsigned room = b_.free_space.free() + (in ? b_.pointers.get(cta_at(*in)).count : 0);
    std::vector<std::pair<unsigned, unsigned>> all;
    for (unsigned i = 0; i < b_.warps; ++i) {
      b_.live.sets[warp(cta, i)] = 0;
      for (unsigned r = 0; r < b_.registers && alive_[warp(cta, i)]; ++r) all.emplace_back(warp(cta, i), r);
    }
    std::shuffle(all.begin(), all.end(), random_);
    const std::size_t most = std::min<std::size_t>(room, all.size());
    const std::size_t count = any(2) == 0 ? most : any(most + 1);
    for (std::size_t n = 0; n < count; ++n) b_.live.sets[all[n].first] |= std::uint64_t{1} << all[n].second;
    b_.switch_out(cta);
    states_[cta] = State::in_file;
    for (std::uint64_t n = any(4); n != 0; --n) tick();
  }
  void move(std::optional<unsigned> out, std::optional<unsigned> in) {
    if (out) {
      REQUIRE(b_.user.transfer->room_for(cta_at(*out), in ? std::make_optional(cta_at(*in)) : std::nullopt) ==
              models::RegisterTransfer::Room::yes);
      kept_[*out] = live_of(*out);
    }
    b_.move(out, in);
    const std::uint64_t from = cycle();
    while (b_.mover.moving()) {
      tick();
      INFO("a move that began in cycle " << from);
      REQUIRE(cycle() - from < 6000);
    }
    if (out) states_[*out] = State::away;
    if (out && in) {
      ++exchanges;
      tight += b_.free_space.free() == 0 ? 1 : 0;
    }
    if (!in) return;
    compare(*in);
    for (std::uint64_t n = any(10); n != 0; --n) tick();
    compare(*in);
    b_.switch_in(*in);
    states_[*in] = State::running;
    // What was not live is not its own any more.
    for (unsigned i = 0; i < b_.warps; ++i) {
      for (unsigned r = 0; r < b_.registers; ++r) {
        const unsigned w = warp(*in, i);
        if (alive_[w] && ((kept_[*in][i] >> r) & 1) == 0) values_[{w, r}] = b_.file.row(w, r);
      }
    }
  }
  std::vector<std::uint64_t> live_of(unsigned cta) {
    std::vector<std::uint64_t> sets;
    for (unsigned i = 0; i < b_.warps; ++i) sets.push_back(b_.live.sets[warp(cta, i)]);
    return sets;
  }
  void compare(unsigned cta) {
    for (unsigned i = 0; i < b_.warps; ++i) {
      for (unsigned r = 0; r < b_.registers; ++r) {
        if (((kept_[cta][i] >> r) & 1) == 0) continue;
        INFO("CTA slot " << cta << " warp " << i << " R" << r << " in cycle " << cycle());
        REQUIRE(b_.file.row(warp(cta, i), r) == values_[{warp(cta, i), r}]);
      }
    }
  }
  /// A cycle, in which results come in the order in which they are due: one that waits holds all that follow.
  void tick() {
    run_for(1);
    std::sort(loads_.begin(), loads_.end(), [](const Load& a, const Load& b) { return a.due < b.due; });
    for (unsigned width = 0; width < 2 && !loads_.empty() && loads_.front().due <= cycle(); ++width) {
      const Load l = loads_.front();
      const Decision d = b_.result(l.warp, l.reg, l.value, l.lanes);
      if (d == Decision::wait) {
        REQUIRE(++waited_ < 3000);
        return;
      }
      waited_ = 0;
      loads_.erase(loads_.begin());
      Row& value = values_[{l.warp, l.reg}];
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((l.lanes >> lane) & 1) value[lane] = l.value[lane];
        if (d == Decision::write && ((l.lanes >> lane) & 1)) b_.file.row(l.warp, l.reg)[lane] = l.value[lane];
      }
    }
  }
  void drain() {
    while (!loads_.empty()) tick();
    for (const unsigned c : in_state(State::running)) b_.end(c);
    for (const unsigned c : in_state(State::away)) {
      b_.move(std::nullopt, c);
      while (b_.mover.moving()) tick();
      compare(c);
      b_.end(c);
    }
  }

  MoverBench b_;
  std::mt19937_64 random_;
  std::array<State, MoverBench::slots> states_{};
  std::map<unsigned, bool> alive_;
  std::map<unsigned, std::vector<std::uint64_t>> kept_;  ///< by CTA slot: what was live in its warps
  std::map<std::pair<unsigned, unsigned>, Row> values_;
  std::vector<Load> loads_;
  unsigned waited_ = 0;
};

}  // namespace regatta::test::cta_blocks
