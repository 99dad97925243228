// SPDX-License-Identifier: Apache-2.0
//
// Sections of the pool: taken by an acquire, returned after a release when nothing uses them any more.
#include <deque>
#include <map>
#include <random>
#include <set>

#include "pool_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

TEST_CASE("register pool alone: a warp has a section from its acquire to its release, the lowest free one") {
  PoolBench b(6);  // three sections of two registers
  for (unsigned w = 0; w < 3; ++w) {
    CHECK(b.section(w) == PoolSections::none);
    CHECK(b.acquire(w));
    CHECK(b.section(w) == w);
  }
  b.release(1);
  CHECK(b.section(1) == PoolSections::none);
  CHECK(b.acquire(3));
  CHECK(b.section(3) == 1);
  CHECK(b.stat("acquires") == 4);
  CHECK(b.stat("releases") == 1);
  CHECK(b.stat("held_max") == 3);
}

TEST_CASE("register pool alone: an acquire without a free section is refused until one is returned") {
  PoolBench b(2);
  CHECK(b.acquire(0));
  CHECK_FALSE(b.acquire(1));
  CHECK_FALSE(b.acquire(2));
  CHECK(b.stat("refusals") == 2);
  CHECK(b.section(1) == PoolSections::none);
  const std::size_t before = b.watch.cycles.size();
  run_for(10);
  b.release(0);
  run_for(1);
  CHECK(b.watch.cycles.size() == before + 1);
  CHECK(b.acquire(2));
  CHECK(b.stat("held_cycles") == 10);
}

// Whoever waits for a section leaves its place among a scheduler's active warps: the holders may be the others.
TEST_CASE("register pool alone: warps that wait for a section are closed until one comes back") {
  PoolBench b(2);
  CHECK(b.acquire(0));
  CHECK_FALSE(b.acquire(3));
  CHECK(b.listener.kept == std::set<unsigned>{3});
  CHECK(b.listener.again == 2);
  CHECK_FALSE(b.acquire(1));
  CHECK_FALSE(b.acquire(3));  // asked again all the same
  CHECK(b.listener.kept == std::set<unsigned>{1, 3});
  b.release(0);
  CHECK(b.listener.kept.empty());
  CHECK(b.acquire(1));
  CHECK_FALSE(b.acquire(3));
  CHECK(b.listener.kept == std::set<unsigned>{3});
  b.pool.warp_finished(b.k.warp(1));
  CHECK(b.listener.kept.empty());
}

TEST_CASE("register pool alone: registers that do not fill a section are not used") {
  PoolBench b(5);
  CHECK(b.acquire(0));
  CHECK(b.acquire(1));
  CHECK_FALSE(b.acquire(2));
}

TEST_CASE("register pool alone: other instructions issue whatever is free") {
  PoolBench b(2);
  CHECK(b.acquire(0));
  CHECK(b.pool.may_issue(b.made(1, b.k.plain)));
  CHECK(b.pool.may_issue(b.inserted(1, b.k.release)));
  const trace::StaticInstruction other;  // of another pass
  CHECK(b.pool.may_issue(b.inserted(1, other)));
  b.pool.issued(b.inserted(1, other));
  CHECK(b.stat("acquires") == 1);
}

TEST_CASE("register pool alone: a section is returned when all that names its registers is complete") {
  PoolBench b(2);
  CHECK(b.acquire(0));
  b.issue(0, b.k.plain);
  b.issue(0, b.k.load);
  b.issue(0, b.k.use);
  b.release(0);
  CHECK(b.section(0) == 0);  // still its own
  CHECK_FALSE(b.acquire(1));
  b.complete(0, b.k.use);
  b.complete(0, b.k.plain);
  CHECK_FALSE(b.acquire(1));
  CHECK_FALSE(b.may_leave(0));
  run_for(1);
  const std::size_t before = b.watch.cycles.size();
  b.complete(0, b.k.load);
  run_for(1);
  CHECK(b.watch.cycles.size() == before + 1);
  CHECK(b.section(0) == PoolSections::none);
  CHECK(b.may_leave(0));
  CHECK(b.acquire(1));
  CHECK(b.stat("releases") == 1);
}

TEST_CASE("register pool alone: a warp whose section is on its way back takes none meanwhile") {
  PoolBench b(4);  // another one is free
  CHECK(b.acquire(0));
  b.issue(0, b.k.load);
  b.release(0);
  CHECK_FALSE(b.acquire(0));
  CHECK(b.acquire(1));
  b.complete(0, b.k.load);
  CHECK(b.acquire(0));
  CHECK(b.section(0) == 0);
}

TEST_CASE("register pool alone: a warp that ends returns its section") {
  PoolBench b(2);
  CHECK(b.acquire(0));
  b.pool.warp_finished(b.k.warp(0));
  CHECK(b.acquire(1));
  b.pool.warp_finished(b.k.warp(2));  // had none
  CHECK(b.stat("releases") == 1);
  b.pool.warp_started(b.k.warp(0));
  CHECK(b.section(0) == PoolSections::none);
}

TEST_CASE("register pool alone: a CTA with a holder stays") {
  PoolBench b(6);
  for (unsigned c = 0; c < 4; ++c) CHECK(b.may_leave(c));
  CHECK(b.acquire(2));
  CHECK(b.acquire(3));
  CHECK(b.may_leave(0));
  CHECK_FALSE(b.may_leave(1));
  b.release(2);
  CHECK_FALSE(b.may_leave(1));
  b.pool.warp_finished(b.k.warp(3));
  CHECK(b.may_leave(1));
}

TEST_CASE("register pool alone: a kernel without an extended set needs no section") {
  PoolBench b(1, 6, 0);
  CHECK(b.pool.sections_for(b.k.kernel, SharedRegisterPool::sets_of(b.k.kernel)) == 0);
  b.issue(0, b.k.load);
  b.complete(0, b.k.load);
}

TEST_CASE("register pool alone: the next kernel has all sections, of its own size") {
  PoolBench b(6);
  CHECK(b.acquire(0));
  trace::RegMutexRegisters sets;
  sets.base = 3;
  sets.extended = 3;
  sets.place = {3, 4, 5, 0, 1, 2};
  b.k.set(sets);
  b.start_kernel();
  CHECK(b.acquire(5));
  CHECK(b.acquire(6));
  CHECK_FALSE(b.acquire(7));
  // R0 is of its extended set.
  b.issue(5, b.k.plain);
  b.release(5);
  CHECK(b.section(5) != PoolSections::none);
  b.complete(5, b.k.plain);
  CHECK(b.section(5) == PoolSections::none);
}

TEST_CASE("register pool alone: what it refuses, and with which words") {
  PoolBench b(6);
  PoolKernel none;
  none.kernel.annotations.clear();
  CHECK(error_of([&] { b.pool.kernel_started(none.context); }) ==
        "kernel k: its trace has no register sets (section 'regmutex'), which RegMutex needs: annotate it with "
        "--for vt_regmutex");
  const PoolKernel large(2, 7);
  CHECK(error_of([&] { b.pool.sections_for(large.kernel, SharedRegisterPool::sets_of(large.kernel)); }) ==
        "regmutex.pool_registers = 6, expected at least 7: a section of kernel k has as many registers");
  CHECK(error_of([&] { b.issue(3, b.k.load); }) ==
        "pool in cycle 1: warp 3 names an extended register, expected it to hold a section");
  CHECK(error_of([&] { b.release(2); }) == "pool in cycle 1: warp 2 releases a section, expected it to hold one");
  CHECK(b.acquire(1));
  b.issue(1, b.k.load);
  b.release(1);
  CHECK(error_of([&] { b.issue(1, b.k.use); }) ==
        "pool in cycle 1: warp 1 names an extended register, expected it to hold a section");
}

namespace {

/// Warps that acquire, use, release and end at random; each section has one holder at most, and none is lost.
void check_random(unsigned sections, unsigned seed) {
  PoolBench b(2 * sections);
  std::mt19937 random(seed);
  struct Warp {
    bool holds = false, releasing = false;
    std::deque<std::uint32_t> in_flight;
  };
  std::map<unsigned, Warp> warps;
  unsigned refused = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned w = random() % PoolBench::warps;
    Warp& warp = warps[w];
    const bool busy = warp.holds || warp.releasing;
    switch (random() % 5) {
      case 0: {
        if (busy) break;
        unsigned held = 0;
        for (const auto& [other, state] : warps) held += state.holds || state.releasing ? 1 : 0;
        const bool taken = b.acquire(w);
        REQUIRE(taken == (held < sections));
        warp.holds = taken;
        refused += taken ? 0 : 1;
        break;
      }
      case 1:
        if (!warp.holds) break;
        b.release(w);
        warp.holds = false;
        warp.releasing = !warp.in_flight.empty();
        break;
      case 2: {
        if (!warp.holds) break;
        const std::uint32_t index = random() % 2 == 0 ? b.k.load : b.k.use;
        b.issue(w, index);
        warp.in_flight.push_back(index);
        break;
      }
      case 3:
        if (warp.in_flight.empty()) break;
        b.complete(w, warp.in_flight.front());
        warp.in_flight.pop_front();
        warp.releasing = warp.releasing && !warp.in_flight.empty();
        break;
      default:
        if (random() % 20 != 0 || !warp.in_flight.empty()) break;
        if (b.listener.kept.count(w) != 0) break;  // it waits at its acquire
        b.pool.warp_finished(b.k.warp(w));
        b.pool.warp_started(b.k.warp(w));
        warp = Warp{};
    }
    std::set<std::uint32_t> seen;
    for (unsigned i = 0; i < PoolBench::warps; ++i) {
      const std::uint32_t section = b.section(i);
      REQUIRE((section != PoolSections::none) == (warps[i].holds || warps[i].releasing));
      if (section == PoolSections::none) continue;
      REQUIRE(section < sections);
      REQUIRE(seen.insert(section).second);
    }
    for (unsigned c = 0; c < PoolBench::warps / 2; ++c) {
      const bool held = b.section(2 * c) != PoolSections::none || b.section(2 * c + 1) != PoolSections::none;
      REQUIRE(b.may_leave(c) == !held);
    }
  }
  CHECK(refused > 100);
}

}  // namespace

TEST_CASE("register pool alone: random warps and one section") { check_random(1, 1); }
TEST_CASE("register pool alone: random warps and three sections") { check_random(3, 2); }
