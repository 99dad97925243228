// SPDX-License-Identifier: Apache-2.0
//
// The transactor in front of a pipeline in C++: its timing, back-pressure, reset, and what it complains of.
#include "asker.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Asker;
using test::fake_pins;
using test::FakePins;
using test::TransactorBench;

TEST_CASE("transactor: a block of L registers answers L cycles later, one request a cycle") {
  TransactorBench b(fake_pins(3));
  for (std::uint32_t n = 0; n < 50; ++n) {
    CHECK(b.asker.ask(n));
    b.wait();
  }
  b.wait(10);
  CHECK(b.asker.answers == 50);
  CHECK(b.asker.shortest == 3);
  CHECK(b.asker.longest == 3);
}

TEST_CASE("transactor: a full queue is busy, and takes requests again") {
  cosim::TransactorConfig c;
  c.queue = 2;
  TransactorBench b(fake_pins(1), c);
  CHECK(b.asker.ask(1));
  CHECK(b.asker.ask(2));
  CHECK(!b.asker.ask(3));
  b.wait(2);
  CHECK(b.asker.ask(3));
  b.wait(10);
  CHECK(b.asker.answers == 3);
}

TEST_CASE("transactor: random traffic") { TransactorBench(fake_pins(2)).traffic(20000, 1); }
TEST_CASE("transactor: random traffic, a block that takes one request in three cycles") {
  TransactorBench(fake_pins(4, 3)).traffic(20000, 2);
}
TEST_CASE("transactor: random traffic, answers that wait for rsp_ready") {
  cosim::TransactorConfig c;
  c.queue = 1;
  c.refuse_answers = 400;
  TransactorBench(fake_pins(3, 2), c).traffic(20000, 3);
}

TEST_CASE("transactor: a reset drops what is inside") {
  TransactorBench b(fake_pins(4));
  for (std::uint32_t n = 0; n < 6; ++n) {
    b.asker.ask(n);
    b.wait();
  }
  const std::uint64_t before = b.asker.answers;
  CHECK(before < 6);
  b.transactor.reset();
  b.asker.forget();
  CHECK(!b.asker.ask(9));
  b.wait(20);
  CHECK(b.asker.answers == before);
  CHECK(b.transactor.idle());
}

TEST_CASE("transactor: a block that does not answer ends the run") {
  cosim::TransactorConfig c;
  c.patience = 100;
  FakePins::mute = true;
  TransactorBench b(fake_pins(2), c);
  CHECK(b.asker.ask(1));
  CHECK_THROWS_WITH(b.wait(200), Contains("no answer to the request of cycle 1 (1 in the block, 0 before it)"));
}

TEST_CASE("transactor: an answer that nobody asked for ends the run") {
  class Talker final : public cosim::Pins<test::Word, test::Word> {
    void drive_reset(bool) override {}
    void drive_request(const test::Word*) override {}
    void drive_answer_ready(bool) override {}
    void settle() override {}
    void edge() override { ++edges_; }
    bool request_ready() const override { return false; }
    bool answer_valid() const override { return edges_ > 4; }
    void read_answer(test::Word&) const override {}
    unsigned edges_ = 0;
  };
  TransactorBench b([](bool) { return std::make_unique<Talker>(); });
  CHECK(b.asker.ask(1));
  CHECK_THROWS_WITH(b.wait(20), Contains("rsp_valid without an open request"));
}
