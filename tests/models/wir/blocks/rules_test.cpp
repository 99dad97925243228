// SPDX-License-Identifier: Apache-2.0
//
// When loads may be reused (WIR section VI-A, figure 10), the order of the pending-retry queue, and ports.
#include <regatta/test/catch.h>
#include <regatta/wir/load_rules.h>
#include <regatta/wir/lookup_queue.h>
#include <regatta/wir/ports.h>
#include <regatta/wir/retry_fifo.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>

using namespace regatta;
using namespace regatta::models::wir;
using protocol::CtaSlot;
using protocol::WarpSlot;

namespace {

protocol::WarpInfo warp_of(unsigned cta, unsigned warp) {
  protocol::WarpInfo w;
  w.cta = CtaSlot(static_cast<std::uint16_t>(cta));
  w.warp = WarpSlot(static_cast<std::uint16_t>(warp));
  return w;
}

/// Loads and stores of the warps of a few CTAs, all of one address register.
class Memory {
 public:
  explicit Memory(unsigned barrier_bits = 5) : rules(barrier_bits) {
    for (unsigned cta = 0; cta < 4; ++cta) rules.cta_started(CtaSlot(static_cast<std::uint16_t>(cta)));
  }

  /// A load: the register that it reuses, or nothing, and then its own result is entered where that is allowed.
  std::optional<unsigned> load(ReuseKind kind, unsigned cta, unsigned warp, unsigned result) {
    ReuseTag tag;
    tag.opcode = static_cast<std::uint32_t>(kind);
    tag.sources[0] = PhysicalRegister(6);
    if (!rules.tag_load(instruction(cta, warp), kind, tag)) return {};
    const ReuseEntries::Lookup found = buffer.find(tag);
    if (found.found == ReuseEntries::Found::result) return found.result[0].value();
    ReuseResult entered;
    entered[0] = PhysicalRegister(static_cast<std::uint16_t>(result));
    buffer.insert(tag, entered);
    return {};
  }
  void store(MemoryEffect space, unsigned cta, unsigned warp) {
    StaticCode code;
    code.effect = space;
    rules.renamed(instruction(cta, warp), code);
  }
  /// A store of which nobody knows before its addresses are there where it goes.
  void generic_store(unsigned cta, unsigned warp) {
    info_.space = trace::MemorySpace::generic;
    store(MemoryEffect::global_store, cta, warp);
    info_.space = trace::MemorySpace::none;
  }
  void barrier(unsigned cta, const std::vector<unsigned>& warps) {
    ++now;
    for (const unsigned w : warps) rules.barrier_opened(warp_of(cta, w), now);
  }

  LoadRules rules;
  ReuseEntries buffer{64, true};
  std::uint64_t now = 100;

 private:
  const protocol::DynamicInstruction& instruction(unsigned cta, unsigned warp) {
    d_.info = &info_;
    d_.cta = warp_of(cta, warp).cta;
    d_.warp = warp_of(cta, warp).warp;
    return d_;
  }
  protocol::DynamicInstruction d_;
  trace::StaticInstruction info_;
};

using Found = std::optional<unsigned>;
constexpr auto constant = ReuseKind::read_only_load;
constexpr auto shared = ReuseKind::shared_load;
constexpr auto global = ReuseKind::global_load;

}  // namespace

TEST_CASE("figure 10: which loads reuse which") {
  Memory m;
  CHECK(m.load(constant, 0, 0, 1) == Found{});   // i11
  CHECK(m.load(constant, 1, 2, 3) == Found(1));  // i12 reuses i11
  CHECK(m.load(shared, 0, 0, 7) == Found{});     // i13
  CHECK(m.load(shared, 1, 2, 8) == Found{});     // i14: another CTA's scratchpad
  CHECK(m.load(shared, 0, 1, 9) == Found(7));    // i15 reuses i13
  CHECK(m.load(global, 0, 0, 9) == Found{});     // i16
  CHECK(m.load(global, 1, 2, 13) == Found(9));   // i17 reuses i16
  m.store(MemoryEffect::global_store, 0, 0);     // i18
  CHECK(m.load(global, 0, 0, 10) == Found{});    // i19: behind its own store
  CHECK(m.load(global, 2, 4, 19) == Found(9));   // i110: the store is not visible to another warp yet
}

TEST_CASE("a store keeps its warp from reusing loads of its space until a barrier") {
  Memory m;
  m.load(shared, 0, 0, 1);
  m.load(global, 0, 0, 2);
  m.store(MemoryEffect::shared_store, 0, 0);
  CHECK(m.load(shared, 0, 0, 3) == Found{});
  CHECK(m.load(shared, 0, 1, 3) == Found(1));
  CHECK(m.load(global, 0, 0, 3) == Found(2));
  CHECK(m.load(constant, 0, 0, 4) == Found{});
  CHECK(m.load(constant, 0, 0, 5) == Found(4));
  // What it stored may be what it reads: neither does it enter its own loads.
  CHECK(m.load(shared, 0, 0, 6) == Found{});
  m.barrier(0, {0, 1});
  CHECK(m.load(shared, 0, 0, 7) == Found{});
  CHECK(m.load(shared, 0, 1, 8) == Found(7));
}

TEST_CASE("a store to a generic address keeps its warp from reusing shared and global loads, and no others") {
  Memory m;
  m.load(shared, 0, 0, 1);
  m.load(global, 0, 0, 2);
  m.load(constant, 0, 0, 3);
  m.generic_store(0, 0);
  CHECK(m.load(shared, 0, 0, 4) == Found{});
  CHECK(m.load(global, 0, 0, 4) == Found{});
  CHECK(m.load(constant, 0, 0, 4) == Found(3));
  CHECK(m.load(shared, 0, 1, 4) == Found(1));
  CHECK(m.load(global, 0, 1, 4) == Found(2));
  m.barrier(0, {0, 1});
  m.load(shared, 0, 0, 5);
  CHECK(m.load(shared, 0, 0, 6) == Found(5));
  // One to global memory is no shared one.
  m.store(MemoryEffect::global_store, 0, 0);
  CHECK(m.load(shared, 0, 0, 6) == Found(5));
}

TEST_CASE("behind a barrier a global load serves its own CTA only") {
  Memory m;
  m.load(global, 0, 0, 1);
  CHECK(m.load(global, 1, 2, 2) == Found(1));
  m.barrier(0, {0, 1});
  m.barrier(1, {2});
  // Both have passed one barrier, and each may have stored before its own.
  CHECK(m.load(global, 0, 0, 3) == Found{});
  CHECK(m.load(global, 1, 2, 4) == Found{});
  CHECK(m.load(global, 0, 1, 5) == Found(3));
  CHECK(m.load(global, 2, 4, 5) == Found(1));
}

TEST_CASE("a barrier counts once however many warps pass it, and a fence counts without clearing") {
  Memory m;
  m.barrier(0, {0, 1, 2});
  CHECK(m.rules.barriers(CtaSlot(0)) == 1);
  m.barrier(0, {0, 1, 2});
  CHECK(m.rules.barriers(CtaSlot(0)) == 2);
  CHECK(m.rules.barriers(CtaSlot(1)) == 0);
  m.load(global, 0, 0, 1);
  m.store(MemoryEffect::global_store, 0, 1);
  m.store(MemoryEffect::fence, 0, 1);
  CHECK(m.rules.barriers(CtaSlot(0)) == 3);
  CHECK(m.load(global, 0, 0, 2) == Found{});
  CHECK(m.load(global, 0, 2, 3) == Found(2));
  CHECK(m.load(global, 0, 1, 3) == Found{});
}

TEST_CASE("an atomic between fences keeps its warp from loads of both memories until a barrier, and no other warp") {
  Memory m;
  m.load(shared, 0, 0, 1);
  m.load(global, 0, 0, 2);
  m.store(MemoryEffect::atomic, 0, 0);
  CHECK(m.load(shared, 0, 0, 3) == Found{});
  CHECK(m.load(global, 0, 0, 3) == Found{});
  CHECK(m.load(shared, 0, 1, 3) == Found(1));
  CHECK(m.load(global, 0, 1, 3) == Found(2));
  // The fence behind it counts, and clears nothing.
  m.store(MemoryEffect::fence, 0, 0);
  CHECK(m.load(global, 0, 0, 4) == Found{});
  CHECK(m.load(global, 0, 1, 5) == Found{});
  CHECK(m.load(global, 0, 0, 6) == Found{});
  m.barrier(0, {0, 1});
  CHECK(m.load(global, 0, 0, 7) == Found{});
  CHECK(m.load(global, 0, 0, 8) == Found(7));
}

TEST_CASE("at the end of the barrier count a CTA's loads are reused no more, and its slot's next CTA's are again") {
  for (const unsigned bits : {2u, 5u}) {
    Memory m(bits);
    const unsigned most = (1u << bits) - 1;
    for (unsigned n = 0; n < most; ++n) {
      m.load(shared, 0, 0, 10 + n);
      CHECK(m.load(shared, 0, 0, 99) == Found(10 + n));
      m.barrier(0, {0});
    }
    for (unsigned n = 0; n < 3; ++n) {
      m.load(shared, 0, 0, 1);
      CHECK(m.load(shared, 0, 0, 1) == Found{});
      m.barrier(0, {0});
    }
    CHECK(m.load(shared, 1, 0, 2) == Found{});
    CHECK(m.load(shared, 1, 0, 3) == Found(2));
    m.rules.cta_started(CtaSlot(0));
    m.buffer.drop_loads(1, [](const Dropped&) {});
    CHECK(m.load(shared, 0, 0, 5) == Found{});
    CHECK(m.load(shared, 0, 0, 6) == Found(5));
  }
}

TEST_CASE("the retry queue turns once per cycle, seen or not") {
  std::mt19937_64 random(5);
  std::vector<protocol::DynamicInstruction> pool(16);
  RetryFifo queue(16);
  std::deque<protocol::DynamicInstruction*> model;
  std::uint64_t now = 10, looked = 0, expected = 0;
  std::set<protocol::DynamicInstruction*> inside;
  for (unsigned n = 0; n < 100000; ++n) {
    const std::uint64_t gap = random() % 3 == 0 ? random() % 40 : 1;
    // In each cycle but the one that is looked at, the head looks in vain.
    for (std::uint64_t c = 1; c < gap && !model.empty(); ++c) {
      model.push_back(model.front());
      model.pop_front();
      ++expected;
    }
    now += gap == 0 ? 1 : gap;
    protocol::DynamicInstruction* const head = queue.head(now, looked);
    REQUIRE(head == (model.empty() ? nullptr : model.front()));
    REQUIRE(looked == expected);
    if (head != nullptr) {
      model.pop_front();
      if (random() % 4 == 0) {
        queue.pop();
        inside.erase(head);
      } else {
        queue.to_tail();
        model.push_back(head);
      }
    }
    auto& d = pool[random() % pool.size()];
    if (random() % 4 == 0 && inside.insert(&d).second) {
      REQUIRE_FALSE(queue.full());
      if (queue.empty()) queue.begin(now);
      queue.push(d);
      model.push_back(&d);
    }
    REQUIRE(queue.size() == model.size());
  }
}

TEST_CASE("the retry queue keeps the SM awake for one round after something changed") {
  std::vector<protocol::DynamicInstruction> pool(3);
  RetryFifo queue(3);
  CHECK_FALSE(queue.must_retry());
  for (auto& d : pool) queue.push(d);
  CHECK(queue.full());
  CHECK_FALSE(queue.must_retry());
  queue.retry_all();
  for (unsigned n = 0; n < 3; ++n) {
    CHECK(queue.must_retry());
    queue.to_tail();
  }
  CHECK_FALSE(queue.must_retry());
  queue.retry_all();
  while (!queue.empty()) queue.pop();
  CHECK_FALSE(queue.must_retry());
}

TEST_CASE("lookups keep their order, and what only waits for renaming passes them") {
  std::vector<protocol::DynamicInstruction> pool(4);
  LookupQueue queue;
  CHECK(queue.empty());
  CHECK(queue.next(10) == nullptr);
  queue.push(pool[0], 12, true);   // renamed in cycle 12
  queue.push(pool[1], 11, false);  // looks up nothing
  queue.push(pool[2], 10, true);
  queue.push(pool[3], 10, true);
  CHECK_FALSE(queue.empty());
  CHECK(queue.first(9) == nullptr);
  CHECK(queue.next(9) == nullptr);
  CHECK(queue.next(10) == &pool[2]);
  queue.tried(10);
  CHECK(queue.first(10) == &pool[2]);
  CHECK(queue.next(10) == nullptr);  // no port for the one behind it either
  CHECK(queue.next(11) == &pool[1]);
  queue.tried(11);
  CHECK(queue.next(11) == &pool[1]);
  queue.remove(pool[1]);
  CHECK(queue.next(11) == nullptr);
  CHECK(queue.next(12) == &pool[0]);
  queue.remove(pool[0]);
  CHECK(queue.next(12) == &pool[2]);
  queue.remove(pool[2]);
  queue.remove(pool[3]);
  CHECK(queue.empty());
}

TEST_CASE("whose turn to look up it is, is what a walk over all that wait finds") {
  struct Model {
    protocol::DynamicInstruction* instruction;
    std::uint64_t since;
    bool looks_up, tried;
  };
  std::mt19937_64 random(7);
  std::vector<protocol::DynamicInstruction> pool(300);
  std::vector<Model> model;
  LookupQueue queue;
  std::size_t most = 0;
  for (std::uint64_t now = 10; now < 20000; ++now) {
    for (Model& m : model) m.tried = false;
    // Phases in which more come than can go on, and such in which fewer do.
    const unsigned come = now % 400 < 200 ? 2 : 0;
    for (unsigned n = 0; n < come && model.size() < pool.size(); ++n) {
      auto free = std::find_if(pool.begin(), pool.end(), [&](const auto& d) {
        return std::none_of(model.begin(), model.end(), [&](const Model& m) { return m.instruction == &d; });
      });
      const std::uint64_t since = now + (random() % 8 == 0 ? random() % 5 : 0);
      const bool looks_up = random() % 5 != 0;
      queue.push(*free, since, looks_up);
      model.push_back({&*free, since, looks_up, false});
    }
    most = std::max(most, model.size());
    for (unsigned turn = 0; turn < 3; ++turn) {
      auto wanted = model.end();
      bool blocked = false;
      for (auto m = model.begin(); m != model.end() && wanted == model.end(); ++m) {
        if (m->since > now) continue;
        if (!m->looks_up || (!m->tried && !blocked)) wanted = m;
        blocked = blocked || m->looks_up;
      }
      REQUIRE(queue.next(now) == (wanted == model.end() ? nullptr : wanted->instruction));
      if (wanted == model.end()) break;
      if (wanted->looks_up && random() % 2 == 0) {
        queue.tried(now);
        wanted->tried = true;
        continue;
      }
      queue.remove(*wanted->instruction);
      model.erase(wanted);
    }
    REQUIRE(queue.empty() == model.empty());
  }
  CHECK(most > 150);
}

TEST_CASE("a port takes so many accesses a cycle, and the rest later") {
  Ports ports(2);
  CHECK(ports.take(5) == 5);
  CHECK(ports.take(5) == 5);
  CHECK(ports.take(5) == 6);
  CHECK(ports.take(6) == 6);
  CHECK(ports.take(6) == 7);
  CHECK(ports.take(9) == 9);
  CHECK(ports.free(9));
  CHECK(ports.take(9) == 9);
  CHECK_FALSE(ports.free(9));
  CHECK(ports.free(10));
}

TEST_CASE("ports give the slots that they would give numbered through") {
  std::mt19937_64 random(5);
  for (const unsigned width : {1u, 2u, 3u, 8u}) {
    Ports ports(width);
    std::uint64_t now = 0, next = 0;
    for (unsigned n = 0; n < 10000; ++n) {
      if (random() % 3 == 0) now += random() % 4;
      CHECK(ports.free(now) == (next < (now + 1) * width));
      const std::uint64_t slot = std::max(next, now * width);
      next = slot + 1;
      CHECK(ports.take(now) == slot / width);
    }
  }
}
