// SPDX-License-Identifier: Apache-2.0
//
// The cache of live-register vectors by itself: its lookups on one side, a memory on the other.
#include <regatta/finereg/live_vector_cache.h>

#include <map>
#include <random>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>
#include <regatta/test/line_memory.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::LiveVectorCache;

namespace {

class VectorUser : public sc_core::sc_module, public protocol::LookupClient<std::uint64_t> {
 public:
  protocol::LookupInitiator<std::uint32_t, std::uint64_t> lookups;
  explicit VectorUser(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  struct Answer {
    std::uint64_t cycle = 0, vector = 0;
  };
  std::map<std::uint32_t, Answer> answers;
  LookupReply ask(std::uint32_t pc, std::uint32_t tag, std::uint64_t& vector) {
    return lookups.requests->look_up(pc, tag, vector);
  }
  void answered(std::uint32_t tag, const std::uint64_t& vector) override {
    CHECK(answers.count(tag) == 0);
    answers[tag] = {cycle(), vector};
  }
};

struct VectorBench {
  explicit VectorBench(unsigned entries = 32, unsigned instructions = 100, unsigned registers = 40)
      : cache("cache", entries, models::LineMemory{}, test::clock(period)), launch(4, 2, registers) {
    user.lookups.bind(cache.lookups);
    cache.memory().bind(memory.socket);
    memory.shortest = memory.longest = 50;
    run_to(0);
    std::vector<std::uint64_t> live;
    for (unsigned pc = 0; pc < instructions; ++pc) live.push_back(vector_of(pc));
    launch.set_live(live);
    cache.kernel_started(launch.context);
    run_to(1);
  }
  static std::uint64_t vector_of(std::uint64_t pc) { return (pc * 0x9e3779b9u + 1) & 0xffffffffu; }
  /// Asks and waits; the vector, and whether it came at once.
  std::pair<std::uint64_t, bool> get(std::uint32_t pc) {
    std::uint64_t vector = 0;
    const std::uint32_t tag = next_tag++;
    const LookupReply reply = user.ask(pc, tag, vector);
    REQUIRE(reply != LookupReply::busy);
    if (reply == LookupReply::answered) return {vector, true};
    run_for(100);
    return {user.answers.at(tag).vector, false};
  }

  test::LineMemory memory{"memory", test::clock(period)};
  LiveVectorCache cache;
  VectorUser user{"user"};
  Launch launch;
  std::uint32_t next_tag = 1000;
};

}  // namespace

TEST_CASE("live vectors alone: a miss reads the sector from memory, the answer comes later, then it is a hit") {
  VectorBench b;
  std::uint64_t vector = 0;
  CHECK(b.user.ask(21, 7, vector) == LookupReply::later);
  run_to(5);
  REQUIRE(b.memory.seen.size() == 1);
  // 21 x 8 = 168 bytes from the list's begin: line 1, sector 1.
  CHECK(b.memory.seen[0].address == base::first_address(base::Window::annotations) + 128);
  CHECK(b.memory.seen[0].sectors == 2);
  CHECK(b.memory.seen[0].access == protocol::AccessClass::metadata);
  // Busy for hits and misses until it is answered.
  CHECK(b.user.ask(21, 8, vector) == LookupReply::busy);
  CHECK(b.user.ask(22, 9, vector) == LookupReply::busy);
  CHECK(b.user.answers.empty());
  run_to(60);
  CHECK(b.user.answers.at(7).vector == VectorBench::vector_of(21));
  CHECK(b.user.answers.at(7).cycle >= 51);
  CHECK(b.user.ask(21, 10, vector) == LookupReply::answered);
  CHECK(vector == VectorBench::vector_of(21));
  CHECK(stat_of(b.cache, "hits") == 1);
  CHECK(stat_of(b.cache, "misses") == 1);
  CHECK(b.user.answers.size() == 1);
}

TEST_CASE("live vectors alone: the cache says when it is no longer busy") {
  VectorBench b;
  std::uint64_t vector = 0;
  CHECK(b.user.ask(1, 0, vector) == LookupReply::later);
  CHECK(b.user.ask(2, 1, vector) == LookupReply::busy);
  std::uint64_t cycle = 1;
  while (b.user.answers.empty()) run_to(++cycle);
  CHECK(b.user.ask(2, 1, vector) == LookupReply::later);
}

TEST_CASE("live vectors alone: PCs with the same low bits take each other's entry") {
  VectorBench b;
  CHECK_FALSE(b.get(3).second);
  CHECK_FALSE(b.get(35).second);
  CHECK_FALSE(b.get(3).second);
  CHECK_FALSE(b.get(4).second);
  CHECK(b.get(3).second);
  CHECK(b.get(4).second);
  CHECK_FALSE(b.get(67).second);
  CHECK_FALSE(b.get(3).second);
  CHECK(stat_of(b.cache, "misses") == 6);
}

TEST_CASE("live vectors alone: random PCs, against the list") {
  VectorBench b(8);
  std::mt19937 random(2);
  std::map<unsigned, std::uint32_t> entries;
  for (unsigned n = 0; n < 300; ++n) {
    const std::uint32_t pc = random() % 20 * (1 + random() % 5);
    const auto [vector, at_once] = b.get(pc);
    REQUIRE(vector == VectorBench::vector_of(pc));
    const auto found = entries.find(pc % 8);
    REQUIRE(at_once == (found != entries.end() && found->second == pc));
    entries[pc % 8] = pc;
  }
}

TEST_CASE("live vectors alone: a launch starts empty, with a list of its own in memory") {
  VectorBench b;
  b.get(3);
  b.launch.context.launch_index = 1;
  b.cache.kernel_started(b.launch.context);
  CHECK_FALSE(b.get(3).second);
  CHECK(b.memory.seen.at(1).address == base::first_address(base::Window::annotations) + (std::uint64_t{1} << 24));
}

TEST_CASE("live vectors alone: what the last launch asked for is of no concern to the next") {
  VectorBench b;
  std::uint64_t vector = 0;
  CHECK(b.user.ask(3, 7, vector) == LookupReply::later);
  run_to(10);
  b.cache.kernel_started(b.launch.context);
  CHECK(b.user.ask(5, 8, vector) == LookupReply::later);
  run_to(200);
  CHECK(b.user.answers.count(7) == 0);
  // Memory's answer to the first is not taken for that to the second.
  CHECK(b.user.answers.at(8).cycle >= 60);
  CHECK(b.user.answers.at(8).vector == VectorBench::vector_of(5));
  CHECK_FALSE(b.get(3).second);
}

TEST_CASE("live vectors alone: a kernel of more than 63 registers is refused") {
  VectorBench b;
  b.launch.kernel.registers_per_thread = 64;
  CHECK(error_of([&] { b.cache.kernel_started(b.launch.context); }) ==
        "kernel k uses 64 registers per thread, and FineReg's bit vectors and tags have room for 63: annotate it with "
        "--max-registers 63");
  Launch most(4, 2, 63);
  most.set_live({std::uint64_t{1} << 62});
  b.cache.kernel_started(most.context);
  CHECK(b.get(0).first == std::uint64_t{1} << 62);
}

TEST_CASE("live vectors alone: a kernel without the list is refused") {
  VectorBench b;
  b.launch.kernel.annotations.clear();
  CHECK(
      error_of([&] { b.cache.kernel_started(b.launch.context); }) ==
      "kernel k: its trace has no live registers (section 'liveness'), which FineReg needs: write the trace anew with "
      "this version's regatta-annotate");
}
