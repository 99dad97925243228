// SPDX-License-Identifier: Apache-2.0
//
// Barriers that count: how many threads, of which warps, and used again.
#include "recorder.h"

#include <algorithm>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// A kernel of slow and fast steps around barriers; warps are programs of what it has.
struct Programs {
  Programs() {
    slow = b.op(OpClass::sfu, {1}, {1});
    before = b.op(OpClass::int_add, {1}, {1});
    after = b.op(OpClass::int_add, {2}, {3});
  }
  std::uint32_t barrier(unsigned id, unsigned threads) { return b.barrier(id, threads); }
  std::uint32_t arrival(unsigned id, unsigned threads) {
    const auto index = b.barrier(id, threads);
    b.kernel().instructions[index].barrier_arrives = true;
    return index;
  }
  /// One CTA; `lanes` by warp, where not all.
  Recording run(const std::string& name, const std::vector<std::vector<std::uint32_t>>& warps,
                const std::vector<trace::LaneMask>& lanes = {}, const assembly::MachineConfig& m = {}) {
    const auto done = b.exit();
    b.launch(1, static_cast<unsigned>(warps.size()) * 32);
    b.begin_cta();
    for (std::size_t w = 0; w < warps.size(); ++w) {
      b.begin_warp();
      // So that what follows has been fetched when it may go.
      b.execute(slow);
      b.execute(before);
      for (const std::uint32_t i : warps[w]) {
        const bool counts = b.kernel().instructions[i].op_class == OpClass::barrier;
        b.execute(i, counts && w < lanes.size() ? lanes[w] : 0);
      }
      b.execute(done);
      b.end_warp();
    }
    b.end_cta();
    return test::record(b, name, m);
  }
  TraceBuilder b;
  std::uint32_t slow, before, after;
};

/// Issues of an instruction by a warp, in order.
std::vector<std::uint64_t> issues(const Recording& r, unsigned warp, std::uint32_t index) {
  std::vector<std::uint64_t> all;
  for (const test::Passage& p : r.passages) {
    if (p.warp == warp && p.index == index) all.push_back(p.issued);
  }
  return all;
}

}  // namespace

TEST_CASE("counted barrier: used twice, the second time it waits for as many again") {
  Programs p;
  const auto bar = p.barrier(3, 64);
  const auto s = p.slow, a = p.after;
  // Warps 0 and 1 meet twice, and warp 1 is late the second time.
  const Recording r = p.run("counted_twice", {{bar, a, bar, a}, {bar, a, s, s, s, p.before, bar, a}});
  const auto first = issues(r, 0, bar), other = issues(r, 1, bar);
  const auto on = issues(r, 0, a), other_on = issues(r, 1, a);
  const std::uint64_t latency = assembly::MachineConfig{}.sm.barrier_latency;
  REQUIRE(on.size() == 2);
  CHECK(on[0] == std::max(first[0], other[0]) + latency);
  REQUIRE(other[1] > first[1] + 30);
  CHECK(on[1] == other[1] + latency);
  CHECK(other_on[1] == other[1] + latency);
}

TEST_CASE("counted barrier: the second pair is not let through by the first one") {
  Programs p;
  const auto bar = p.barrier(3, 64);
  const auto s = p.slow, a = p.after;
  // Warps 0 and 1 pass; then warp 2 comes, and warp 3 late.
  const Recording r =
      p.run("counted_pairs", {{bar, a}, {bar, a}, {s, s, bar, a}, {s, s, s, s, s, s, p.before, bar, a}});
  const std::uint64_t latency = assembly::MachineConfig{}.sm.barrier_latency;
  CHECK(r.of(0, a).issued == std::max(r.of(0, bar).issued, r.of(1, bar).issued) + latency);
  REQUIRE(r.of(3, bar).issued > r.of(2, bar).issued + 30);
  CHECK(r.of(2, a).issued == r.of(3, bar).issued + latency);
  CHECK(r.of(3, a).issued == r.of(3, bar).issued + latency);
}

TEST_CASE("counted barrier: a warp counts whole, whatever lanes of it arrive") {
  Programs p;
  const auto bar = p.barrier(1, 64);
  const Recording r = p.run("counted_whole", {{bar, p.after}, {p.slow, p.before, bar, p.after}}, {0xff, 0x1});
  CHECK(r.of(0, p.after).issued == r.of(1, bar).issued + assembly::MachineConfig{}.sm.barrier_latency);
}

TEST_CASE("counted barrier: each use has the number of threads that it says") {
  Programs p;
  const auto two = p.barrier(2, 64);
  const auto three = p.barrier(2, 96);
  const auto s = p.slow, a = p.after;
  const Recording r = p.run("counted_anew", {{two, three, a}, {two, three, a}, {s, s, s, p.before, three, a}});
  CHECK(r.of(0, three).issued < r.of(2, three).issued);
  for (unsigned w = 0; w < 3; ++w) {
    CHECK(r.of(w, a).issued == r.of(2, three).issued + assembly::MachineConfig{}.sm.barrier_latency);
  }
}

TEST_CASE("counted barrier: one that only arrives goes on, and counts") {
  Programs p;
  const auto wait = p.barrier(5, 64);
  const auto arrive = p.arrival(5, 64);
  const auto s = p.slow, a = p.after;
  const Recording r = p.run("arrival", {{wait, a}, {s, s, p.before, arrive, a, s, s, s}});
  REQUIRE(r.of(1, arrive).issued > r.of(0, wait).issued + 30);
  CHECK(r.of(0, a).issued == r.of(1, arrive).issued + assembly::MachineConfig{}.sm.barrier_latency);
  // It went on before the other did.
  CHECK(r.of(1, a).issued <= r.of(1, arrive).issued + assembly::MachineConfig{}.sm.fetch_latency + 1);
}

TEST_CASE("counted barrier: an arrival before the wait has it open at once") {
  Programs p;
  const auto wait = p.barrier(5, 64);
  const auto arrive = p.arrival(5, 64);
  assembly::MachineConfig m;
  m.sm.barrier_latency = 15;
  const Recording r = p.run("arrival_first", {{p.slow, p.before, wait, p.after}, {arrive, p.after}}, {}, m);
  CHECK(r.of(1, p.after).issued < r.of(1, arrive).issued + m.sm.barrier_latency);
  CHECK(r.of(0, p.after).issued == r.of(0, wait).issued + m.sm.barrier_latency);
}

TEST_CASE("counted barrier: its opening does not let one go that arrived there and waits elsewhere") {
  Programs p;
  const auto wait = p.barrier(5, 64);
  const auto arrive = p.arrival(5, 64);
  const auto elsewhere = p.barrier(6, 64);
  const auto s = p.slow, a = p.after;
  const Recording r =
      p.run("arrival_elsewhere",
            {{s, s, p.before, wait, a}, {arrive, elsewhere, a}, {s, s, s, s, s, s, s, p.before, elsewhere, a}});
  const std::uint64_t latency = assembly::MachineConfig{}.sm.barrier_latency;
  REQUIRE(r.of(1, elsewhere).issued < r.of(0, wait).issued);
  REQUIRE(r.of(2, elsewhere).issued > r.of(0, wait).issued + 30);
  CHECK(r.of(0, a).issued == r.of(0, wait).issued + latency);
  CHECK(r.of(1, a).issued == r.of(2, elsewhere).issued + latency);
}

TEST_CASE("barriers: all sixteen are different ones") {
  Programs p;
  std::vector<std::uint32_t> pairs;
  for (unsigned id = 0; id < 16; ++id) pairs.push_back(p.barrier(id, 64));
  std::vector<std::vector<std::uint32_t>> warps;
  // Warps 0 to 15 wait at a barrier each, the others come to them in the opposite order, each later than the last.
  for (unsigned w = 0; w < 16; ++w) warps.push_back({pairs[w], p.after});
  for (unsigned w = 0; w < 16; ++w) {
    std::vector<std::uint32_t> program((16 - w) * 2, p.slow);
    program.insert(program.end(), {p.before, pairs[w], p.after});
    warps.push_back(program);
  }
  const Recording r = p.run("sixteen", warps);
  for (unsigned w = 0; w < 16; ++w) {
    CAPTURE(w);
    CHECK(r.of(w, p.after).issued > r.of(16 + w, pairs[w]).issued);
    if (w != 0) CHECK(r.of(w, p.after).issued < r.of(16 + w - 1, pairs[w - 1]).issued);
  }
}

TEST_CASE("barrier: one for all running warps opens when the last that does not come ends, whatever its number") {
  Programs p;
  const auto bar = p.barrier(9, 0);
  const Recording r = p.run("ended_late", {{bar, p.after}, {p.slow, p.slow, p.before}, {bar, p.after}});
  std::uint64_t ended = 0;
  for (const test::Passage& passage : r.passages) {
    if (passage.warp == 1) ended = std::max(ended, passage.issued);
  }
  REQUIRE(ended > r.of(0, bar).issued + 20);
  CHECK(r.of(0, p.after).issued == ended + assembly::MachineConfig{}.sm.barrier_latency);
  CHECK(r.of(2, p.after).issued == ended + assembly::MachineConfig{}.sm.barrier_latency);
}
