// SPDX-License-Identifier: Apache-2.0
//
// The memory side of a block, against a memory that refuses, delays and answers in any order.
#include <regatta/baseline/memory_requester.h>

#include <map>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>
#include <regatta/test/line_memory.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::MemoryRequester;
using protocol::AccessClass;

namespace {

class RequesterUser : public sc_core::sc_module, models::MemoryRequesterClient {
 public:
  explicit RequesterUser(const sc_core::sc_module_name& name)
      : sc_module(name), requester("memory", models::LineMemory{128, 3}, test::clock(period), *this) {}
  struct Answer {
    std::uint64_t called = 0, when = 0;
    unsigned char first = 0;
    bool data = false;
  };
  MemoryRequester requester;
  std::map<std::uint32_t, Answer> answers;

 private:
  void memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) override {
    CHECK(answers.count(tag) == 0);
    CHECK(when >= cycle());
    answers[tag] = {cycle(), when, data != nullptr ? data[0] : static_cast<unsigned char>(0), data != nullptr};
  }
};

struct RequesterBench {
  RequesterBench() { user.requester.socket.bind(memory.socket); }
  void write(std::uint64_t line, unsigned char byte, std::uint32_t tag) {
    unsigned char data[128];
    std::memset(data, byte, sizeof data);
    user.requester.write(line * 128, AccessClass::register_write, data, tag);
  }
  void read(std::uint64_t line, std::uint32_t tag) {
    user.requester.read(line * 128, AccessClass::register_read, 0xf, tag);
  }
  test::LineMemory memory{"memory", test::clock(period)};
  RequesterUser user{"user"};
};

}  // namespace

TEST_CASE("memory requester alone: a request is sent in every cycle, in order, past the L1") {
  RequesterBench b;
  b.memory.shortest = b.memory.longest = 7;
  run_to(1);
  for (std::uint32_t i = 0; i < 4; ++i) b.write(i, static_cast<unsigned char>(i + 1), i);
  for (std::uint32_t i = 0; i < 4; ++i) b.read(i, 10 + i);
  CHECK(b.user.requester.queued() == 8);
  run_to(40);
  CHECK(b.user.requester.queued() == 0);
  CHECK(b.user.requester.outstanding() == 0);
  REQUIRE(b.memory.seen.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(b.memory.seen[i].cycle == b.memory.seen[0].cycle + i);
  for (const auto& request : b.memory.seen) CHECK(request.bypass);
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(b.user.answers.at(i).data == false);
    CHECK(b.user.answers.at(10 + i).first == i + 1);
  }
  CHECK(b.memory.fault.empty());
}

TEST_CASE("memory requester alone: refused and delayed requests lose nothing") {
  RequesterBench b;
  b.memory.refusals = 40;
  b.memory.longest = 60;
  run_to(1);
  std::uint32_t tag = 0;
  for (unsigned n = 0; n < 200; ++n) {
    b.write(n, static_cast<unsigned char>(n), tag++);
    b.read(n, tag++);
    if (n % 3 == 0) run_for(n % 5);
  }
  run_for(6000);
  CHECK(b.user.answers.size() == 400);
  for (unsigned n = 0; n < 200; ++n) CHECK(b.user.answers.at(2 * n + 1).first == n % 256);
  CHECK(b.memory.idle());
  CHECK(b.user.requester.outstanding() == 0);
  // In the order in which they were given.
  for (unsigned n = 0; n < 200; ++n) CHECK(b.memory.seen[2 * n].address == n * 128);
}

TEST_CASE("memory requester alone: answers with the return of the request") {
  RequesterBench b;
  b.memory.completes = true;
  b.memory.shortest = b.memory.longest = 5;
  run_to(1);
  b.write(1, 9, 0);
  b.read(1, 1);
  run_to(20);
  CHECK(b.user.answers.at(1).first == 9);
  CHECK(b.user.answers.at(1).when > b.user.answers.at(1).called);
  CHECK(b.user.requester.outstanding() == 0);
}

TEST_CASE("memory requester alone: a request that waits holds the later ones") {
  RequesterBench b;
  b.memory.take_nothing = true;
  run_to(1);
  b.write(0, 1, 0);
  b.write(1, 2, 1);
  run_to(50);
  CHECK(b.memory.seen.empty());
  CHECK(b.user.requester.queued() == 1);
  b.memory.resume();
  run_to(120);
  CHECK(b.memory.seen.size() == 2);
  CHECK(b.user.answers.size() == 2);
}
