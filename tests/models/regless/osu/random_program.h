// SPDX-License-Identifier: Apache-2.0
//
// Random programs under a capacity manager of the test's own: every operand that is read is compared with an unlimited
// register file.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "bench.h"

namespace regatta::test {

struct Step {
  std::vector<unsigned> reads, writes;
  std::map<unsigned, LastUse> marks;  ///< by register
  trace::LaneMask lanes = trace::all_lanes(32);
};

struct Region {
  std::vector<std::pair<unsigned, bool>> preloads;  ///< register, last
  std::vector<unsigned> invalidations;
  std::vector<Step> steps;
  std::vector<unsigned> erased_at_end;
  std::vector<unsigned> lines;  ///< most at a time, per bank
};

/// A warp and what it would hold if registers were without number.
struct Warp {
  enum class State { idle, waiting, preloading, active, draining } state = State::idle;
  unsigned number = 0;
  std::map<unsigned, WarpValue> live;
  Region region;
  unsigned acknowledgements = 0;
  std::size_t step = 0;
  std::map<unsigned, unsigned> pending;  ///< registers with a write outstanding
  std::uint64_t regions = 0;
};

struct Write {
  std::uint64_t due = 0;
  unsigned warp = 0, reg = 0;
  WarpValue value;
  trace::LaneMask lanes = 0;
};

class Program {
 public:
  Program(Bench& b, unsigned registers, unsigned seed) : bench(b), registers_(registers), random(seed) {
    warps.resize(b.config.warps);
    reserved.assign(b.config.shards, std::vector<unsigned>(b.config.banks));
    for (unsigned w = 0; w < warps.size(); ++w) warps[w].number = w;
    b.client.on_told = [this](const Client::Told& t) {
      REQUIRE(warps[t.warp].state == Warp::State::preloading);
      REQUIRE(warps[t.warp].acknowledgements > 0);
      if (--warps[t.warp].acknowledgements == 0) warps[t.warp].state = Warp::State::active;
    };
  }

  void cycle() {
    perform_writes();
    for (Warp& w : warps) {
      if (w.state == Warp::State::idle && !stop) plan(w);
      if (w.state == Warp::State::waiting) start(w);
      if (w.state == Warp::State::active) issue(w);
      if (w.state == Warp::State::draining && w.pending.empty()) finish(w);
    }
    bench.client.told.clear();
    bench.wait();
  }

  Bench& bench;
  std::vector<Warp> warps;
  std::vector<std::vector<unsigned>> reserved;  ///< per shard and bank
  unsigned restarts = 0;                        ///< of 1000 regions, those after which the warp ends and another begins
  unsigned longest_write = 40;
  bool stop = false;  ///< no new regions
  std::uint64_t checked = 0, regions = 0, refusals = 0;

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  unsigned bank(const Warp& w, unsigned r) {
    return bench.shard_of(w.number).bank_of(warp_slot(w.number), register_id(r));
  }

  /// A region of the warp as it is, which fits.
  void plan(Warp& w) {
    for (unsigned tries = 0;; ++tries) {
      w.region = make(w, tries < 5 ? 1 + below(8) : 1);
      const unsigned most = *std::max_element(w.region.lines.begin(), w.region.lines.end());
      if (most <= bench.config.lines_per_bank()) break;
    }
    w.state = Warp::State::waiting;
  }

  Region make(const Warp& w, unsigned count) {
    Region g;
    g.lines.assign(bench.config.banks, 0);
    std::set<unsigned> inputs, held, dead;
    for (const auto& [r, value] : w.live) {
      const unsigned dice = below(10);
      if (dice < 3) inputs.insert(r);
      if (dice == 3) {
        g.invalidations.push_back(r);
        dead.insert(r);
      }
    }
    held = inputs;
    std::map<unsigned, std::size_t> last_access;
    std::map<unsigned, bool> last_is_write;
    for (std::size_t i = 0; i < count; ++i) {
      Step s;
      std::vector<unsigned> readable(held.begin(), held.end());
      for (unsigned n = below(4); n != 0 && !readable.empty(); --n) {
        const unsigned r = readable[below(static_cast<unsigned>(readable.size()))];
        if (std::find(s.reads.begin(), s.reads.end(), r) == s.reads.end()) s.reads.push_back(r);
      }
      bool all_held = true;
      for (unsigned n = below(3); n != 0; --n) {
        unsigned r = below(registers_);
        if (below(2) == 0 && !readable.empty()) r = readable[below(static_cast<unsigned>(readable.size()))];
        if (std::find(s.writes.begin(), s.writes.end(), r) != s.writes.end()) continue;
        if (held.count(r) == 0) all_held = false;
        s.writes.push_back(r);
      }
      // A register that is not an input is defined in all its lanes.
      if (all_held && below(3) == 0) s.lanes = below(5) == 0 ? 0 : random() & trace::all_lanes(32);
      for (unsigned r : s.reads) last_access[r] = i, last_is_write[r] = false;
      for (unsigned r : s.writes) last_access[r] = i, last_is_write[r] = true, held.insert(r);
      g.steps.push_back(s);
    }
    // What dies in the region, where it is said, and how many lines it takes at a time.
    std::vector<std::set<unsigned>> from(count), until(count);
    for (unsigned r : held) {
      const bool dies = below(3) == 0;
      const bool accessed = last_access.count(r) != 0;
      const bool input = inputs.count(r) != 0;
      if (input) g.preloads.emplace_back(r, dies && below(2) == 0);
      if (accessed && below(5) != 0) {
        g.steps[last_access[r]].marks[r] = dies ? LastUse::erase : LastUse::evict;
        until[last_access[r]].insert(r);
      } else if (dies) {
        g.erased_at_end.push_back(r);
      }
    }
    std::map<unsigned, unsigned> now;
    std::set<unsigned> owned = inputs;
    auto count_lines = [&] {
      std::vector<unsigned> n(bench.config.banks);
      for (unsigned r : owned) ++n[bank(w, r)];
      for (unsigned b = 0; b < n.size(); ++b) g.lines[b] = std::max(g.lines[b], n[b]);
    };
    count_lines();
    for (std::size_t i = 0; i < count; ++i) {
      for (unsigned r : g.steps[i].writes) owned.insert(r);
      count_lines();
      for (unsigned r : until[i]) owned.erase(r);
    }
    return g;
  }

  void start(Warp& w) {
    std::vector<unsigned>& taken = reserved[w.number % bench.config.shards];
    for (unsigned b = 0; b < taken.size(); ++b) {
      if (taken[b] + w.region.lines[b] > bench.config.lines_per_bank()) return;
    }
    for (unsigned b = 0; b < taken.size(); ++b) taken[b] += w.region.lines[b];
    // A queue has a place per line; invalidations beyond that are left out, as a compiler would for lack of places.
    std::vector<unsigned> queued(taken.size());
    for (const auto& [r, last] : w.region.preloads) ++queued[bank(w, r)];
    std::vector<unsigned> kept;
    for (unsigned r : w.region.invalidations) {
      if (queued[bank(w, r)] >= w.region.lines[bank(w, r)]) continue;
      ++queued[bank(w, r)];
      kept.push_back(r);
    }
    w.acknowledgements = static_cast<unsigned>(w.region.preloads.size() + kept.size());
    w.state = w.acknowledgements == 0 ? Warp::State::active : Warp::State::preloading;
    w.step = 0;
    for (unsigned r : kept) {
      bench.invalidate(w.number, r);
      w.live.erase(r);
    }
    for (const auto& [r, last] : w.region.preloads) bench.preload(w.number, r, last);
  }

  void issue(Warp& w) {
    if (below(3) == 0) return;  // the scheduler picks another
    const Step& s = w.region.steps[w.step];
    for (unsigned r : s.reads) {
      if (w.pending.count(r) != 0) return;
    }
    for (unsigned r : s.writes) {
      if (w.pending.count(r) != 0) return;
    }
    Instruction i(w.number, s.reads, s.writes, s.lanes);
    for (unsigned k = 0; k < s.writes.size(); ++k) {
      const auto mark = s.marks.find(s.writes[k]);
      if (mark != s.marks.end()) i.marks.writes[k] = mark->second;
    }
    for (unsigned k = 0; k < s.reads.size(); ++k) {
      const auto mark = s.marks.find(s.reads[k]);
      const bool at_write = std::find(s.writes.begin(), s.writes.end(), s.reads[k]) != s.writes.end();
      if (mark != s.marks.end() && !at_write) i.marks.reads[k] = mark->second;
    }
    models::StagingUnit& shard = bench.shard_of(w.number);
    if (!shard.can_issue(i.dynamic)) {
      ++refusals;
      return;
    }
    shard.issued(i.dynamic, i.marks);
    const bool last = ++w.step == w.region.steps.size();
    // Before its own operands are read, as an issue gate does.
    if (last) bench.end(w.number, w.region.erased_at_end);
    for (unsigned r : s.reads) {
      WarpValue v{};
      REQUIRE(bench.read(w.number, r, v) != ~std::uint64_t{0});
      CAPTURE(w.number, r, bench.now(), w.regions, v.lane[0]);
      const WarpValue& truth = w.live.at(r);
      if (!same(v, truth)) FAIL("wrong value");
      ++checked;
    }
    for (unsigned r : s.writes) {
      if (s.lanes == 0) continue;
      Write write;
      write.warp = w.number;
      write.reg = r;
      write.due = bench.now() + 1 + below(below(10) == 0 ? longest_write : 5);
      write.value = pattern(static_cast<std::uint32_t>(random()));
      write.lanes = s.lanes;
      WarpValue& truth = w.live[r];
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((s.lanes >> lane) & 1) truth.lane[lane] = write.value.lane[lane];
      }
      ++w.pending[r];
      writes.push_back(write);
    }
    for (const auto& [r, mark] : s.marks) {
      if (mark == LastUse::erase) w.live.erase(r);
    }
    if (!last) return;
    for (unsigned r : w.region.erased_at_end) w.live.erase(r);
    w.state = Warp::State::draining;
  }

  void perform_writes() {
    if (bench.driver.holding) return;
    if (held) warps[held->warp].pending.erase(held->reg);
    held.reset();
    for (auto it = writes.begin(); it != writes.end();) {
      if (it->due > bench.now()) {
        ++it;
        continue;
      }
      const Write write = *it;
      it = writes.erase(it);
      bench.write(write.warp, write.reg, write.value, write.lanes);
      if (bench.driver.holding) {  // not written yet: nobody may read it
        held = write;
        return;
      }
      warps[write.warp].pending.erase(write.reg);
    }
  }

  void finish(Warp& w) {
    std::vector<unsigned>& taken = reserved[w.number % bench.config.shards];
    for (unsigned b = 0; b < taken.size(); ++b) taken[b] -= w.region.lines[b];
    w.state = Warp::State::idle;
    ++w.regions;
    ++regions;
    if (below(1000) >= restarts) return;
    w.live.clear();
    bench.unit.warp_finished(Bench::info(w.number));
    bench.unit.warp_started(Bench::info(w.number));
  }

  unsigned registers_;
  std::mt19937 random;
  std::list<Write> writes;
  std::optional<Write> held;
};

}  // namespace regatta::test
