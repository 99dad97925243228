// SPDX-License-Identifier: Apache-2.0
//
// The counter of live registers by itself, between its user, a stand-in for the cache of vectors and one for the SM.
#include <regatta/finereg/register_counter.h>

#include <map>
#include <random>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::LiveSets;
using models::RegisterCounter;

namespace {

class FakeVectors : public sc_core::sc_module, public protocol::Lookup<std::uint32_t, std::uint64_t> {
 public:
  protocol::LookupTarget<std::uint32_t, std::uint64_t> target{"target", *this};
  explicit FakeVectors(const sc_core::sc_module_name& name) : sc_module(name) {}
  std::map<std::uint32_t, std::uint64_t> vectors;
  LookupReply reply = LookupReply::answered;
  struct Asked {
    std::uint64_t cycle;
    std::uint32_t pc, tag;
  };
  std::vector<Asked> asked;
  LookupReply look_up(const std::uint32_t& pc, std::uint32_t tag, std::uint64_t& vector) override {
    if (reply == LookupReply::busy) return reply;
    asked.push_back({cycle(), pc, tag});
    vector = vectors[pc];
    return reply;
  }
  void answer() { target.answers->answered(asked.back().tag, vectors[asked.back().pc]); }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  sc_core::sc_event changed_;
};

class CountUser : public sc_core::sc_module, public protocol::LookupClient<unsigned> {
 public:
  models::RegisterCountInitiator lookups{"lookup", *this};
  sc_core::sc_port<LiveSets> live{"live"};
  explicit CountUser(const sc_core::sc_module_name& name) : sc_module(name) {}
  struct Answer {
    std::uint64_t cycle;
    std::uint32_t tag;
    unsigned registers;
  };
  std::vector<Answer> answers;
  LookupReply ask(unsigned cta, std::uint32_t tag) {
    unsigned registers = 0;
    return lookups.requests->look_up(cta_at(cta), tag, registers);
  }
  void answered(std::uint32_t tag, const unsigned& registers) override { answers.push_back({cycle(), tag, registers}); }
};

/// Four CTA slots of three warps, a kernel of 50 instructions.
struct CounterBench {
  CounterBench() : counter("counter", test::clock(period)), launch(4, 3, 40) {
    counter.vectors.bind(vectors.target);
    user.lookups.bind(counter.counts);
    user.live.bind(counter.live_sets);
    run_to(0);
    launch.kernel.instructions.resize(50);
    counter.attach(control);
    counter.kernel_started(launch.context);
    for (unsigned c = 0; c < 3; ++c) start(c);
    run_to(1);
  }
  void start(unsigned cta) {
    counter.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](const WarpInfo& w) { counter.warp_started(w); });
  }

  FakeVectors vectors{"vectors"};
  CountUser user{"user"};
  RegisterCounter counter;
  Launch launch;
  FakeControl control;
};

}  // namespace

TEST_CASE("register counter alone: a PC is looked up per cycle, and warps at the same PC share it") {
  CounterBench b;
  b.vectors.vectors = {{10, 0b111}, {20, 0b1000}};
  b.control.resume = {{3, {10}}, {4, {20}}, {5, {10}}};
  CHECK_FALSE(b.user.live->counted(cta_at(1)));
  CHECK(b.user.ask(1, 77) == LookupReply::later);
  run_to(10);
  REQUIRE(b.vectors.asked.size() == 2);
  CHECK(b.vectors.asked[0].pc == 10);
  CHECK(b.vectors.asked[0].cycle == 2);
  CHECK(b.vectors.asked[1].pc == 20);
  CHECK(b.vectors.asked[1].cycle == 3);
  REQUIRE(b.user.answers.size() == 1);
  CHECK(b.user.answers[0].tag == 77);
  CHECK(b.user.answers[0].cycle == 4);
  CHECK(b.user.answers[0].registers == 7);
  CHECK(b.user.live->counted(cta_at(1)));
  CHECK(b.user.live->count(cta_at(1)) == 7);
  CHECK(b.user.live->live(warp_at(3)) == 0b111);
  CHECK(b.user.live->live(warp_at(4)) == 0b1000);
  CHECK(stat_of(b.counter, "ctas") == 1);
  CHECK(stat_of(b.counter, "live_registers") == 7);
  CHECK(stat_of(b.counter, "lookups") == 2);
}

TEST_CASE("register counter alone: a diverged warp has the registers of all its SIMT stack entries") {
  CounterBench b;
  // Section V-A's example: one side is about to run, the other and the join wait on the stack.
  b.vectors.vectors = {{10, 0b0011}, {20, 0b0110}, {30, 0b1'0000}};
  b.control.resume = {{0, {10, 20, 30}}, {1, {30}}, {2, {50}}};  // the last: at its exit
  b.user.ask(0, 1);
  run_to(20);
  CHECK(b.user.live->live(warp_at(0)) == 0b1'0111);
  CHECK(b.user.live->live(warp_at(1)) == 0b1'0000);
  CHECK(b.user.live->live(warp_at(2)) == 0);
  CHECK(b.user.answers.at(0).registers == 5);
  CHECK(b.vectors.asked.size() == 3);  // none for the exit
}

TEST_CASE("register counter alone: warps that have ended have nothing live, and no lookup is a count too") {
  CounterBench b;
  b.vectors.vectors = {{10, 0xff}};
  b.control.resume = {{0, {10}}};
  b.counter.warp_finished(b.launch.warp(0));
  b.control.resume[1] = {};
  b.user.ask(0, 1);
  run_to(5);
  CHECK(b.vectors.asked.empty());
  CHECK(b.user.answers.at(0).registers == 0);
  CHECK(b.user.answers.at(0).cycle == 2);
  CHECK(b.user.live->counted(cta_at(0)));
}

TEST_CASE("register counter alone: what was counted holds until the CTA issues again") {
  CounterBench b;
  b.vectors.vectors = {{10, 1}};
  b.control.resume = {{0, {10}}};
  b.user.ask(0, 1);
  run_to(10);
  CHECK(b.user.live->counted(cta_at(0)));
  b.control.issued[0] = 1;
  CHECK_FALSE(b.user.live->counted(cta_at(0)));
  b.user.ask(0, 2);
  b.control.issued[0] = 2;  // while it is being counted
  run_to(20);
  CHECK(b.user.answers.size() == 2);
  CHECK_FALSE(b.user.live->counted(cta_at(0)));
  b.user.ask(0, 3);
  run_to(30);
  CHECK(b.user.live->counted(cta_at(0)));
  // Another CTA in its slot.
  b.counter.cta_finished(b.launch.cta(0));
  CHECK_FALSE(b.user.live->counted(cta_at(0)));
}

TEST_CASE("register counter alone: a CTA that ends while it is counted is answered, and not counted") {
  CounterBench b;
  b.vectors.reply = LookupReply::later;
  b.control.resume = {{0, {10}}};
  b.user.ask(0, 1);
  run_to(5);
  b.launch.for_warps(0, [&](const WarpInfo& w) { b.counter.warp_finished(w); });
  b.counter.cta_finished(b.launch.cta(0));
  b.vectors.answer();
  run_to(10);
  CHECK(b.user.answers.size() == 1);
  CHECK_FALSE(b.user.live->counted(cta_at(0)));
}

TEST_CASE("register counter alone: one CTA at a time, late answers and busy vectors") {
  CounterBench b;
  b.vectors.vectors = {{10, 1}, {20, 6}};
  b.vectors.reply = LookupReply::busy;
  b.control.resume = {{0, {10}}, {1, {20}}};
  CHECK(b.user.ask(0, 1) == LookupReply::later);
  CHECK(b.user.ask(1, 2) == LookupReply::busy);
  run_to(10);
  CHECK(b.vectors.asked.empty());
  b.vectors.reply = LookupReply::later;
  run_to(15);
  CHECK(b.vectors.asked.size() == 1);  // it waits for the first
  CHECK(b.user.ask(1, 2) == LookupReply::busy);
  b.vectors.answer();
  run_to(20);
  CHECK(b.vectors.asked.size() == 2);
  b.vectors.answer();
  run_to(25);
  CHECK(b.user.answers.at(0).registers == 3);
  CHECK(b.user.ask(1, 2) == LookupReply::later);
  const std::string expected =
      "counter in cycle 25: was given an answer with tag 5, which none of its open requests has; expected one answer "
      "to "
      "each accepted request, in a later cycle";
  CHECK(error_of([&] { b.vectors.target.answers->answered(5, 0); }) == expected);
}

TEST_CASE("register counter alone: random stacks, against a recount") {
  CounterBench b;
  std::mt19937_64 random(4);
  for (std::uint32_t pc = 0; pc < 50; ++pc) b.vectors.vectors[pc] = random() & 0xff'ffff'ffffu;
  for (unsigned n = 0; n < 200; ++n) {
    const unsigned cta = n % 3;
    unsigned expected = 0;
    std::map<unsigned, std::uint64_t> live;
    for (unsigned w = 3 * cta; w < 3 * cta + 3; ++w) {
      std::vector<std::uint32_t>& stack = b.control.resume[w];
      stack.resize(random() % 5);
      for (std::uint32_t& pc : stack) {
        pc = static_cast<std::uint32_t>(random() % 51);
        if (pc < 50) live[w] |= b.vectors.vectors[pc];
      }
      expected += static_cast<unsigned>(__builtin_popcountll(live[w]));
    }
    REQUIRE(b.user.ask(cta, n) == LookupReply::later);
    run_for(20);
    REQUIRE(b.user.answers.size() == n + 1);
    REQUIRE(b.user.answers[n].registers == expected);
    for (const auto& [w, vector] : live) REQUIRE(b.user.live->live(warp_at(w)) == vector);
  }
}
