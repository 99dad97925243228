// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include <regatta/test/clock.h>
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

namespace {

/// Claims are writes of their own.
WirMachine two_writes() {
  WirMachine config = block_config();
  config.reuse_claim_writes = true;
  return config;
}

}  // namespace

TEST_CASE("reuse buffer alone: a first lookup claims, a second waits, and one after the update has the result") {
  ReuseBench b(two_writes());
  const ReuseTag tag = reuse_tag(4, {1, 2});
  block_run_to(1);
  ReuseAnswer answer = b.get(tag, 1);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK(answer.claimed);
  CHECK_FALSE(answer.evicted);
  CHECK(b.references.take() == CallLog{"share 1", "share 2"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{1, 2});

  block_run_to(2);
  answer = b.get(tag, 2);
  CHECK(answer.found == ReuseFound::pending);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take().empty());

  block_run_to(3);
  CHECK(b.user.updates->book_write() == 3);
  b.user.updates->update(reuse_update(tag, 1, {9}));
  CHECK(b.references.take() == CallLog{"share 9"});

  block_run_to(4);
  answer = b.get(tag, 3);
  CHECK(answer.found == ReuseFound::result);
  CHECK_FALSE(answer.claimed);
  CHECK(answer.result[0] == physical_at(9));
  CHECK(answer.result[1] == no_register);
  CHECK(b.references.take() == CallLog{"share 9"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{1, 2, 9});

  CHECK(b.stat("lookups") == 3);
  CHECK(b.stat("reads") == 3);
  CHECK(b.stat("writes") == 2);
  CHECK(b.stat("retries") == 0);
  CHECK(b.stat("read_waits") == 0);
  CHECK(b.stat("write_waits") == 0);
}

TEST_CASE("reuse buffer alone: lookups beyond the read ports of a cycle are refused without effect") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(5);
  CHECK(b.get(tag, 1).claimed);
  CHECK(b.get(tag, 2).found == ReuseFound::pending);
  b.references.take();
  CHECK(b.is_busy(reuse_tag(2, {4}), 3));
  CHECK(b.is_busy(tag, 4));
  CHECK(b.is_busy(tag, 2, true));  // a retry's refusal is no wait of a lookup
  CHECK(b.references.take().empty());
  CHECK(b.stat("reads") == 2);
  CHECK(b.stat("lookups") == 2);
  CHECK(b.stat("retries") == 0);
  CHECK(b.stat("read_waits") == 2);

  block_run_to(6);
  CHECK(b.get(reuse_tag(2, {4}), 3).claimed);  // the refused lookup has claimed nothing
  CHECK(b.get(tag, 4).found == ReuseFound::pending);
  CHECK(b.is_busy(tag, 5));
  CHECK(b.stat("reads") == 4);
  CHECK(b.stat("read_waits") == 3);
}

TEST_CASE("reuse buffer alone: a miss that finds no write port for its claim has read, and asks again") {
  ReuseBench b(two_writes());
  const ReuseTag old = reuse_tag(1, {3}), tag = reuse_tag(2, {4});
  REQUIRE(old.fold() % 256 != tag.fold() % 256);
  block_run_to(1);
  b.enter(old, 1, {9});
  b.references.take();

  block_run_to(2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.user.updates->book_write() == 3);
  CHECK(b.stat("write_waits") == 1);
  CHECK(b.is_busy(tag, 2));
  CHECK(b.references.take().empty());
  CHECK(b.get(old, 3).found == ReuseFound::result);  // a hit needs no write port
  CHECK(b.is_busy(tag, 4));                          // no read port either: no wait for the write port
  CHECK(b.stat("reads") == 1 + 2);
  CHECK(b.stat("lookups") == 1 + 1);
  CHECK(b.stat("write_waits") == 2);
  CHECK(b.stat("read_waits") == 1);
  b.references.take();

  // One write port of cycle 3 is taken. Another instruction gets the other one, and claims the tag.
  block_run_to(3);
  CHECK(b.get(tag, 4).claimed);
  CHECK(b.references.take() == CallLog{"share 4"});
  CHECK(b.get(tag, 2).found == ReuseFound::pending);
  CHECK(b.stat("reads") == 5);
  CHECK(b.stat("write_waits") == 2);

  // Refused again, and then a miss still.
  const ReuseTag other = reuse_tag(5, {6});
  block_run_to(4);
  CHECK(b.user.updates->book_write() == 4);
  CHECK(b.user.updates->book_write() == 4);
  CHECK(b.is_busy(other, 5));
  block_run_to(5);
  CHECK(b.get(other, 5).claimed);
  CHECK(b.stat("write_waits") == 3);
}

TEST_CASE("reuse buffer alone: with one write per instruction a claim takes no port, and is counted with its result") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(2, {4});
  block_run_to(2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.get(tag, 2).claimed);
  CHECK(b.stat("writes") == 0);
  CHECK(b.stat("write_waits") == 0);
  block_run_to(3);
  CHECK(b.user.updates->book_write() == 3);  // claims have not filled the cycle's ports
  CHECK(b.get(reuse_tag(3, {5}), 3).claimed);
  CHECK(b.user.updates->book_write() == 3);
  CHECK(b.user.updates->book_write() == 4);
  b.user.updates->update(reuse_update(tag, 2, {9}));
  CHECK(b.stat("writes") == 1);
  CHECK(b.get(tag, 4).found == ReuseFound::result);
}

TEST_CASE("reuse buffer alone: a full counter keeps a result, a claim, or an update out") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(1);
  b.references.full = {4};
  CHECK(b.get(tag, 1).found == ReuseFound::nothing);
  CHECK_FALSE(b.get(tag, 2).claimed);
  CHECK(b.references.take() == CallLog{"refuse 4", "refuse 4"});
  CHECK(b.stat("writes") == 0);

  b.references.full = {9};
  block_run_to(2);
  CHECK(b.get(tag, 3).claimed);
  b.references.take();
  // The owner's result cannot be entered: the entry leaves.
  b.user.updates->update(reuse_update(tag, 3, {9}));
  CHECK(b.references.take() == CallLog{"refuse 9", "release 3", "release 4"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());

  b.references.full.clear();
  block_run_to(3);
  b.enter(tag, 4, {9, 10});
  b.references.take();
  b.references.full = {10};
  block_run_to(4);
  CHECK(b.get(tag, 5).found == ReuseFound::unshared);
  CHECK(b.references.take() == CallLog{"refuse 10"});
  b.references.full.clear();
  const ReuseAnswer answer = b.get(tag, 5);
  CHECK(answer.found == ReuseFound::result);
  CHECK(answer.result[0] == physical_at(9));
  CHECK(answer.result[1] == physical_at(10));
  CHECK(b.references.take() == CallLog{"share 9", "share 10"});
}

TEST_CASE("reuse buffer alone: an owner without a result gives its entry up") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(1);
  CHECK(b.get(tag, 1).claimed);
  b.references.take();
  b.user.updates->update(reuse_update(tag, 1, {}));
  CHECK(b.references.take() == CallLog{"settle", "release 3"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());
}

TEST_CASE("reuse buffer alone: a claim takes a place from another entry, whose owner then updates nothing") {
  ReuseBench b(one_entry());
  const ReuseTag tag = reuse_tag(1, {3}), other = reuse_tag(1, {5, 6});
  block_run_to(1);
  CHECK(b.get(tag, 1).claimed);
  CHECK(b.get(other, 2).claimed);
  CHECK(b.references.take() == CallLog{"share 3", "share 5", "share 6", "release 3"});
  b.user.updates->update(reuse_update(tag, 1, {9}));
  CHECK(b.references.take() == CallLog{"share 9", "release 9"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{5, 6});
  b.user.updates->update(reuse_update(other, 2, {10}));
  CHECK(b.references.take() == CallLog{"share 10"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{5, 6, 10});
}

TEST_CASE("reuse buffer alone: in low-register mode a miss evicts instead of claiming") {
  ReuseBench b(one_entry());
  const ReuseTag tag = reuse_tag(1, {3, 4}), other = reuse_tag(1, {5});
  block_run_to(1);
  b.enter(tag, 1, {9});
  b.references.take();
  b.references.set_low(true);

  block_run_to(2);
  CHECK(b.get(tag, 2).found == ReuseFound::result);
  CHECK(b.references.take() == CallLog{"settle", "share 9"});
  ReuseAnswer answer = b.get(other, 3);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK(answer.evicted);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take() == CallLog{"settle", "release 3", "release 4", "release 9"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());

  // No write port is needed, and an empty place gives nothing.
  block_run_to(3);
  b.user.updates->book_write();
  b.user.updates->book_write();
  answer = b.get(tag, 4);
  CHECK(answer.evicted);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take() == CallLog{"settle"});
  CHECK(b.stat("low_evictions") == 2);
  CHECK(b.stat("write_waits") == 0);

  block_run_to(4);
  b.references.set_low(false);
  answer = b.get(tag, 5);
  CHECK(answer.claimed);
  CHECK_FALSE(answer.evicted);
}

TEST_CASE("reuse buffer alone: an idle cycle gives up an entry, and one with an access gives up nothing") {
  ReuseBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(5);
  CHECK(b.get(tag, 1).claimed);
  block_run_to(6);
  b.user.updates->update(reuse_update(tag, 1, {9}));
  block_run_to(8);
  CHECK(b.get(tag, 2, true).found == ReuseFound::result);  // a retry is no access
  b.references.take();
  CHECK(given_up(keeper, 6).empty());
  CHECK(given_up(keeper, 8) == RegisterList{3, 4, 9});
  CHECK(given_up(keeper, 9).empty());   // no entry is left
  CHECK(b.references.take().empty());   // the allocator releases them
  CHECK(b.stat("low_evictions") == 2);  // and cycle 6 looked at none

  block_run_to(10);
  CHECK(b.get(tag, 3).claimed);
  CHECK(given_up(keeper, 10).empty());
  CHECK(given_up(keeper, 11) == RegisterList{3, 4});  // pending: the sources only
}

TEST_CASE("reuse buffer alone: idle cycles give up every entry, one at a time") {
  WirMachine config = block_config();
  config.reuse_entries = 4;
  ReuseBench b(config);
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  std::set<unsigned> places;
  for (std::uint32_t opcode = 0; places.size() < 4; ++opcode) {
    const auto n = static_cast<unsigned>(places.size());
    const ReuseTag tag = reuse_tag(opcode, {10 + n});
    if (!places.insert(tag.fold() % 4).second) continue;
    block_run_to(n + 1);
    b.enter(tag, n + 1, {20 + n});
  }
  std::set<unsigned> gone;
  for (std::uint64_t cycle = 100; cycle < 200; ++cycle) {
    const RegisterList regs = given_up(keeper, cycle);
    if (regs.empty()) continue;
    REQUIRE(regs.size() == 2);
    CHECK(regs[1] == regs[0] + 10);
    CHECK(gone.insert(regs[0]).second);
  }
  CHECK(gone == std::set<unsigned>{10, 11, 12, 13});
  CHECK(counted_by(keeper).empty());
}

TEST_CASE("reuse buffer alone: entries are given up as long as it takes, and all of them at the end") {
  WirMachine config = block_config();
  config.reuse_entries = 2;
  ReuseBench b(config);
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  std::array<ReuseTag, 2> tags;
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::uint32_t opcode = 0;
    do {
      tags[i] = reuse_tag(opcode++, {10 + i});
    } while (tags[i].fold() % 2 != i);
    block_run_to(i + 1);
    b.enter(tags[i], i + 1, {20 + i});
  }
  b.references.take();
  give_up_times(keeper, 1);
  CHECK(b.references.take() == CallLog{"release 10", "release 20"});
  CHECK(counted_by(keeper) == RegisterList{11, 21});
  keeper.give_up_all();
  CHECK(b.references.take() == CallLog{"release 11", "release 21"});
  keeper.give_up_all();
  CHECK(b.references.take().empty());
}

TEST_CASE("reuse buffer alone: a CTA that ends takes its loads along") {
  ReuseBench b;
  ReuseTag first = reuse_tag(1, {3}), second = reuse_tag(1, {4}), other = reuse_tag(1, {5});
  first.block = 1;
  second.block = 2;
  REQUIRE(std::set<unsigned>{first.fold() % 256, second.fold() % 256, other.fold() % 256}.size() == 3);
  block_run_to(1);
  b.enter(first, 1, {13});
  b.enter(second, 2, {14});
  block_run_to(2);
  b.enter(other, 3, {15});
  b.references.take();
  CtaInfo cta;
  cta.cta = CtaSlot(0);
  b.buffer.cta_finished(cta);
  CHECK(b.references.take() == CallLog{"settle", "release 3", "release 13"});
  block_run_to(3);
  CHECK(b.get(second, 4).found == ReuseFound::result);
  CHECK(b.get(other, 5).found == ReuseFound::result);
  block_run_to(4);
  CHECK(b.get(first, 6).found == ReuseFound::nothing);
}

TEST_CASE("reuse buffer alone: retries are counted apart, and one that misses changes nothing") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(1);
  ReuseAnswer answer = b.get(tag, 1, true);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK_FALSE(answer.claimed);
  CHECK_FALSE(answer.evicted);
  CHECK(b.references.take().empty());
  CHECK(b.get(tag, 2).claimed);  // the retry has claimed nothing
  b.references.take();
  block_run_to(2);
  CHECK(b.get(tag, 1, true).found == ReuseFound::pending);
  b.user.updates->update(reuse_update(tag, 2, {9}));
  b.references.take();
  CHECK(b.get(tag, 1, true).found == ReuseFound::result);
  CHECK(b.references.take() == CallLog{"share 9"});
  CHECK(b.is_busy(tag, 3));  // a retry takes a read port like other lookups
  b.user.updates->count_retries(5);
  CHECK(b.stat("retries") == 3 + 5);
  CHECK(b.stat("reads") == 1);
  CHECK(b.stat("lookups") == 1);
}

TEST_CASE("reuse buffer alone: without pending-retry a result is entered when it is known") {
  WirMachine config = block_config();
  config.model = "rl";
  ReuseBench b(config);
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(1);
  b.user.updates->book_write();
  b.user.updates->book_write();
  CHECK_FALSE(b.get(tag, 1).claimed);  // and needs no write port
  CHECK(b.references.take().empty());
  block_run_to(2);
  CHECK(b.get(tag, 2).found == ReuseFound::nothing);
  b.user.updates->update(reuse_update(tag, 1, {9}, false));
  CHECK(b.references.take() == CallLog{"share 9", "share 3", "share 4"});
  CHECK(b.get(tag, 3).found == ReuseFound::result);
  b.references.take();
  b.user.updates->update(reuse_update(tag, 2, {10}, false));
  CHECK(b.references.take() == CallLog{"share 10", "share 3", "share 4", "release 3", "release 4", "release 9"});
  CHECK(b.stat("writes") == 2);

  b.references.full = {4};
  b.user.updates->update(reuse_update(tag, 3, {11}, false));
  CHECK(b.references.take() == CallLog{"share 11", "refuse 4", "release 11"});
  b.references.full.clear();
  b.references.set_low(true);
  b.user.updates->update(reuse_update(tag, 3, {12}, false));
  CHECK(b.references.take() == CallLog{"share 12", "release 12"});
  CHECK(b.stat("writes") == 2);
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{3, 4, 10});
}

namespace {

/// Notes what the buffer loses, and the calls to the allocator up to then: references are still the buffer's.
class VictimLog : public ReuseVictims {
 public:
  void replaced(const ReuseTag& tag, const ReuseResult& result) override {
    tags.push_back(tag);
    results.push_back(result);
    before.push_back(references->take());
  }
  LoggedReferences* references = nullptr;
  std::vector<ReuseTag> tags;
  std::vector<ReuseResult> results;
  std::vector<CallLog> before;
};

}  // namespace

TEST_CASE("reuse buffer alone: who listens is told of each result that a newer entry replaces, and of nothing else") {
  WirMachine config = block_config();
  config.reuse_entries = 1;
  VictimLog log;
  ReuseBench b(config, &log);
  log.references = &b.references;
  const ReuseTag first = reuse_tag(1, {3}), second = reuse_tag(2, {4}), third = reuse_tag(5, {6});
  block_run_to(1);
  b.enter(first, 1, {9});
  b.references.take();
  block_run_to(2);
  CHECK(b.get(second, 2).claimed);
  REQUIRE(log.tags.size() == 1);
  CHECK(log.tags[0] == first);
  CHECK(log.results[0][0] == physical_at(9));
  CHECK(log.before[0] == CallLog{"share 4"});
  CHECK(b.references.take() == CallLog{"release 3", "release 9"});
  // The second's result is still to come, so there is none to lose.
  block_run_to(3);
  CHECK(b.get(third, 3).claimed);
  CHECK(log.tags.size() == 1);
  b.user.updates->update(reuse_update(third, 3, {10}));
  // Low-register mode gives the entry up.
  b.references.set_low(true);
  block_run_to(4);
  CHECK(b.get(first, 4).evicted);
  CHECK(log.tags.size() == 1);
}

TEST_CASE("reuse buffer alone: without pending-retry, a result of the same tag replaces none") {
  WirMachine config = block_config();
  config.model = "rl";
  config.reuse_entries = 1;
  VictimLog log;
  ReuseBench b(config, &log);
  log.references = &b.references;
  const ReuseTag first = reuse_tag(1, {3}), second = reuse_tag(2, {4});
  block_run_to(1);
  b.user.updates->update(reuse_update(first, 1, {9}, false));
  b.user.updates->update(reuse_update(first, 2, {10}, false));
  CHECK(log.tags.empty());
  b.user.updates->update(reuse_update(second, 3, {11}, false));
  REQUIRE(log.tags.size() == 1);
  CHECK(log.tags[0] == first);
  CHECK(log.results[0][0] == physical_at(10));
}

namespace {

/// Asks a buffer behind a delay, and its twin without one. Enters results when answers come.
class DelayedReuseUser : public sc_core::sc_module, public LookupClient<ReuseAnswer> {
 public:
  LookupInitiator<ReuseRequest, ReuseAnswer> lookups;
  sc_core::sc_port<ReuseUpdates> updates;
  DelayedReuseUser(const sc_core::sc_module_name& name, ReuseUser& twin_user)
      : sc_module(name), lookups("lookup", *this), updates("updates"), twin(twin_user) {}

  /// False: the block is busy.
  bool ask(const ReuseRequest& request) {
    ReuseAnswer answer;
    answer.found = ReuseFound::unshared;
    const LookupReply reply = lookups.requests->look_up(request, request.owner, answer);
    REQUIRE(answer.found == ReuseFound::unshared);  // nothing is answered at once
    if (reply == LookupReply::busy) return false;
    REQUIRE(reply == LookupReply::later);
    open.emplace(request.owner, Open{request, twin.get(request), block_cycle()});
    return true;
  }
  void answered(std::uint32_t tag, const ReuseAnswer& answer) override {
    const auto at = open.find(tag);
    REQUIRE(at != open.end());  // once each
    const Open o = at->second;
    open.erase(at);
    REQUIRE(same_answer(answer, o.expected));
    late.insert(block_cycle() - o.since);
    ++answers;
    overtakings += tag < newest ? 1 : 0;
    newest = std::max(newest, tag);
    ++found[answer.found];
    claims += answer.claimed ? 1 : 0;
    evictions += answer.evicted ? 1 : 0;
    if (!answer.claimed) return;
    const ReuseUpdate u = reuse_update(o.request.tag, tag, {20 + tag % 20});
    updates->update(u);
    twin.updates->update(u);
  }

  struct Open {
    ReuseRequest request;
    ReuseAnswer expected;
    std::uint64_t since;
  };
  ReuseUser& twin;
  std::map<std::uint32_t, Open> open;
  std::set<std::uint64_t> late;
  std::map<ReuseFound, unsigned> found;
  unsigned answers = 0, overtakings = 0, claims = 0, evictions = 0;
  std::uint32_t newest = 0;
};

}  // namespace

TEST_CASE("reuse buffer alone: behind a delay every answer comes once, later, and with the same content") {
  constexpr unsigned most_late = 6;
  WirMachine config = block_config();
  config.reuse_entries = 16;
  config.reuse_ports = 16;  // more than there are requests in a cycle: only the delay refuses
  ReuseBuffer delayed("delayed", config, test::clock(block_period));
  LoggedReferences references("delayed_references");
  delayed.references.bind(references.in);
  LookupDelay<ReuseRequest, ReuseAnswer> delay("delay", block_period, most_late, 5);
  delay.out.bind(delayed.lookups);
  ReuseUser twin_user("twin_user");
  ReuseBuffer twin("twin", config, test::clock(block_period));
  LoggedReferences twin_references("twin_references");
  twin.references.bind(twin_references.in);
  twin_user.lookups.bind(twin.lookups);
  twin_user.updates.bind(twin.updates);
  twin_user.keeper.bind(twin.keeper);
  DelayedReuseUser user("delayed_user", twin_user);
  user.lookups.bind(delay.in);
  user.updates.bind(delayed.updates);

  std::mt19937 random(3);
  std::uint32_t owner = 0;
  unsigned accepted = 0, refused = 0;
  for (std::uint64_t cycle = 0; cycle < 2000; ++cycle) {
    block_run_to(cycle);
    const bool low = cycle % 100 >= 90;
    const std::set<unsigned> full = cycle % 50 < 25 ? std::set<unsigned>{3, 25, 29, 33} : std::set<unsigned>{};
    for (LoggedReferences* const r : {&references, &twin_references}) {
      r->set_low(low);
      r->full = full;
    }
    for (auto n = static_cast<unsigned>(random() % 4); n != 0; --n) {
      const ReuseTag tag =
          reuse_tag(static_cast<std::uint32_t>(random() % 12), {static_cast<unsigned>(random() % 4), 5});
      if (user.ask(reuse_request(tag, ++owner, random() % 8 == 0))) {
        ++accepted;
      } else {
        ++refused;
      }
    }
    REQUIRE(references.take() == twin_references.take());
  }
  block_run_to(2000 + most_late + 1);
  CHECK(user.open.empty());
  CHECK(user.answers == accepted);
  CHECK(delay.delayed() == accepted);
  CHECK(refused > accepted / 16);
  CHECK(user.late == std::set<std::uint64_t>{1, 2, 3, 4, 5, 6});
  CHECK(user.overtakings > 100);
  // All kinds of answers were among them.
  for (const ReuseFound f : {ReuseFound::nothing, ReuseFound::pending, ReuseFound::result, ReuseFound::unshared})
    CHECK(user.found[f] > 10);
  CHECK(user.claims > 10);
  CHECK(user.evictions > 10);
  for (const char* const name : {"lookups", "reads", "retries", "writes", "low_evictions"}) {
    CAPTURE(name);
    CHECK(stat_of(delayed, name) == stat_of(twin, name));
  }
  CHECK(stat_of(delayed, "read_waits") == 0);
  CHECK(counted_by(delayed) == counted_by(twin));
}
