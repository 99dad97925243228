// SPDX-License-Identifier: Apache-2.0
//
// Reference counts: after every operation they equal a recount over all that refers to a register; no register is both
// free and referenced; nothing leaks.
#include <regatta/test/catch.h>
#include <regatta/wir/register_pool.h>
#include <regatta/wir/rename_entries.h>
#include <regatta/wir/reuse_entries.h>
#include <regatta/wir/vsb_entries.h>

#include <deque>
#include <random>

using namespace regatta::models::wir;
using regatta::protocol::RegisterId;
using regatta::protocol::WarpSlot;

namespace {

constexpr unsigned physical = 20;  // fewer than tables can name: the pool runs dry
constexpr unsigned warps = 4;
constexpr unsigned logical = 6;

struct Tables {
  RegisterPool allocator{physical, 2};
  RenameEntries rename;
  ReuseEntries reuse{8, false};
  VsbEntries signatures{8};
  std::uint64_t now = 0;

  Tables() { rename.reset(warps, logical); }

  void give_up(PhysicalRegister r) {
    if (r != no_register) allocator.release(r, now);
  }
  void give_up(const Dropped& d) {
    d.for_each([this](PhysicalRegister r) { give_up(r); });
  }
  void recount() const {
    std::vector<unsigned> count(physical);
    const auto refer = [&](PhysicalRegister r) {
      if (r != no_register) ++count[r.value()];
    };
    for (const RenameEntry& e : rename.entries()) refer(e.reg);
    for (const VsbEntries::Entry& e : signatures.entries()) {
      if (e.valid) refer(e.reg);
    }
    for (const ReuseEntries::Entry& e : reuse.entries()) {
      if (!e.valid) continue;
      for (const PhysicalRegister r : e.tag.sources) refer(r);
      for (const PhysicalRegister r : e.result) refer(r);
    }
    unsigned referenced = 0;
    for (unsigned i = 0; i < physical; ++i) {
      REQUIRE(allocator.references(PhysicalRegister(static_cast<std::uint16_t>(i))) == count[i]);
      referenced += count[i] != 0;
    }
    REQUIRE(referenced <= allocator.in_use());
    REQUIRE(allocator.in_use() + allocator.free() == physical);
  }
};

}  // namespace

TEST_CASE("reference counts equal a recount after every operation") {
  Tables t;
  std::mt19937_64 random(11);
  unsigned refused = 0;
  for (unsigned n = 0; n < 100000; ++n) {
    t.now += random() % 2;
    const WarpSlot warp(static_cast<std::uint16_t>(random() % warps));
    RenameEntry& entry = t.rename.at(warp, RegisterId(static_cast<std::uint8_t>(random() % logical)));
    const auto hash = static_cast<std::uint32_t>(random() % 32);
    ReuseTag tag;
    tag.opcode = static_cast<std::uint32_t>(random() % 3);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {  // a result: shares a register by its signature, or takes one
        PhysicalRegister r = t.signatures.find(hash);
        if (r != no_register) {
          REQUIRE(t.allocator.acquire(r));
        } else {
          r = t.allocator.allocate(t.now);
          if (r == no_register) {
            ++refused;
            t.give_up(t.signatures.evict(hash));
            t.reuse.evict(tag, tag.fold(), [&](PhysicalRegister r) { t.give_up(r); });
            break;
          }
          REQUIRE(t.allocator.acquire(r));
          t.give_up(t.signatures.insert(hash, r));
        }
        t.give_up(entry.reg);
        entry.reg = r;
        break;
      }
      case 3:
      case 4: {  // an instruction's tag and result
        if (!entry.valid()) break;
        tag.sources[0] = entry.reg;
        REQUIRE(t.allocator.acquire(entry.reg));
        REQUIRE(t.allocator.acquire(entry.reg));
        ReuseResult result;
        result[0] = entry.reg;
        t.give_up(t.reuse.insert(tag, result));
        break;
      }
      case 5: {
        tag.sources[0] = entry.reg;
        if (entry.valid()) REQUIRE(t.allocator.acquire(entry.reg));
        t.give_up(t.reuse.claim(tag, n + 1));
        if (random() % 2 == 0) t.give_up(t.reuse.abandon(tag, n + 1));
        break;
      }
      case 6:
        t.give_up(t.signatures.evict_entry(random()));
        t.reuse.evict_entry(random(), [&](PhysicalRegister r) { t.give_up(r); });
        break;
      default:
        if (random() % 16 == 0) t.rename.clear(warp, [&](PhysicalRegister r) { t.give_up(r); });
    }
    t.recount();
  }
  CHECK(refused != 0);  // the pool did run dry
  for (unsigned w = 0; w < warps; ++w) {
    t.rename.clear(WarpSlot(static_cast<std::uint16_t>(w)), [&](PhysicalRegister r) { t.give_up(r); });
  }
  t.signatures.clear([&](PhysicalRegister r) { t.give_up(r); });
  t.reuse.clear([&](const Dropped& d) { t.give_up(d); });
  CHECK(t.allocator.available(t.now + 2 + physical) == physical);  // one comes back per cycle
  CHECK(t.allocator.in_use() == 0);
  CHECK(t.allocator.free() == physical);
}

TEST_CASE("a released register is free after the counters' latency, oldest first") {
  RegisterPool a(3, 2);
  const PhysicalRegister first = a.allocate(0);
  const PhysicalRegister second = a.allocate(0);
  CHECK(first.value() == 0);
  CHECK(second.value() == 1);
  CHECK(a.allocate(0).value() == 2);
  CHECK(a.allocate(0) == no_register);
  CHECK(a.low(0));
  a.release(second, 5);
  a.release(first, 6);
  CHECK(a.next_free() == 7);
  CHECK(a.allocate(6) == no_register);
  CHECK(a.allocate(7) == second);
  CHECK(a.allocate(7) == no_register);
  CHECK(a.allocate(8) == first);
  CHECK(a.peak() == 3);
}

TEST_CASE("the pool takes one register back per cycle, or as many as it has ports") {
  for (const unsigned ports : {1u, 2u, 3u}) {
    RegisterPool a(6, 2, 10, ports);
    for (unsigned n = 0; n < 6; ++n) a.allocate(0);
    for (unsigned n = 0; n < 6; ++n) a.release(PhysicalRegister(static_cast<std::uint16_t>(n)), 10);
    CHECK(a.available(11) == 0);
    for (unsigned cycle = 12; cycle < 20; ++cycle) CHECK(a.available(cycle) == std::min(6u, (cycle - 11) * ports));
  }
}

TEST_CASE("no more registers than the limit are in use") {
  RegisterPool a(10, 0);
  a.set_limit(2);
  const PhysicalRegister r = a.allocate(0);
  CHECK(a.allocate(0) != no_register);
  CHECK(a.allocate(0) == no_register);
  CHECK(a.free() == 8);
  a.release(r, 0);
  CHECK(a.allocate(0) != no_register);
  a.set_limit(1);
  CHECK(a.low(0));
}

TEST_CASE("a full counter takes no further reference") {
  RegisterPool a(2, 0, 2);
  const PhysicalRegister r = a.allocate(0);
  CHECK(a.acquire(r));
  CHECK(a.acquire(r));
  CHECK_FALSE(a.acquire(r));
  CHECK(a.saturations() == 1);
  CHECK(a.references(r) == 3);
}

TEST_CASE("holds are references that no counter bounds, and the last one is known") {
  RegisterPool a(2, 0, 2);
  const PhysicalRegister r = a.allocate(0);
  for (unsigned n = 0; n < 5; ++n) a.hold(r);
  CHECK(a.holds(r) == 5);
  CHECK(a.references(r) == 6);
  CHECK_FALSE(a.acquire(r));
  for (unsigned n = 0; n < 4; ++n) {
    CHECK_FALSE(a.unhold(r));
    a.release(r, 0);
  }
  CHECK(a.unhold(r));
  a.release(r, 0);
  CHECK(a.references(r) == 1);
  CHECK_THROWS_AS(a.hold(PhysicalRegister(1)), std::logic_error);
}

TEST_CASE("references that nobody has are a fault") {
  RegisterPool a(2, 0);
  CHECK_THROWS_AS(a.acquire(PhysicalRegister(0)), std::logic_error);
  CHECK_THROWS_AS(a.release(PhysicalRegister(0), 0), std::logic_error);
  CHECK_THROWS_AS(RegisterPool(0, 0), std::invalid_argument);
  CHECK_THROWS_AS(RegisterPool(8, 0, 40), std::invalid_argument);
}
