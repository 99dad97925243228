// SPDX-License-Identifier: Apache-2.0
//
// A model and a twin in C++ in lockstep: the user sees the model, and a difference ends the run.
#include <regatta/cosim/lockstep.h>
#include <regatta/test/clock.h>

#include "asker.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::fake_pins;
using test::FakePins;
using test::Word;

namespace {

class Model final : public sc_core::sc_module, public protocol::Lookup<Word, Word> {
 public:
  protocol::LookupTarget<Word, Word> lookups{"lookup", *this};
  explicit Model(const sc_core::sc_module_name& name) : sc_module(name) {}
  protocol::LookupReply look_up(const Word& request, std::uint32_t, Word& answer) override {
    answer = test::answer_to(request);
    return protocol::LookupReply::answered;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  sc_core::sc_event changed_;
};

struct LockstepBench {
  explicit LockstepBench(unsigned latency, unsigned expected)
      : transactor("rtl", window(), test::clock(period), fake_pins(latency)),
        model("model"),
        lockstep("lockstep", config(expected), test::clock(period), model.lookups, transactor),
        checker("checker", period),
        asker("asker", test::clock(period)) {
    checker.out.bind(lockstep.lookups);
    asker.lookups.bind(checker.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    wait();
  }
  static cosim::TransactorConfig window() {
    cosim::TransactorConfig c;
    c.window = 20;
    return c;
  }
  static cosim::LockstepConfig config(unsigned expected) {
    cosim::LockstepConfig c;
    c.latency = expected;
    c.waveform = "unused.fst";
    return c;
  }
  void wait(unsigned cycles = 1) { sc_core::sc_start(cycles * period); }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  cosim::Transactor<Word, Word> transactor;
  Model model;
  cosim::Lockstep<Word, Word> lockstep;
  protocol::LookupChecker<Word, Word> checker;
  test::Asker asker;
};

}  // namespace

TEST_CASE("lockstep: the user has the model's answer at once, the twin's is compared") {
  LockstepBench b(3, 3);
  for (std::uint32_t n = 0; n < 1000; ++n) {
    CHECK(b.asker.ask(n));
    CHECK(b.asker.answers == n + 1);
    b.wait(1 + n % 3);
  }
  b.wait(10);
  CHECK(b.lockstep.compared() == 1000);
}

TEST_CASE("lockstep: another answer ends the run with both") {
  FakePins::wrong = 7;
  LockstepBench b(2, 2);
  for (std::uint32_t n = 1; n < 7; ++n) {
    b.asker.ask(n);
    b.wait();
  }
  b.asker.ask(7);
  // Pins in C++ have no waveform.
  CHECK_THROWS_WITH(b.wait(10), Contains("lockstep in cycle 9: another answer of the RTL to the request of cycle 7, "
                                         "after 6 equal ones") &&
                                    Contains("request 7\n  model   22\n  RTL     23\n  latency 2 cycles") &&
                                    Contains("no waveform (cannot write unused.fst)"));
}

TEST_CASE("lockstep: another latency ends the run") {
  LockstepBench b(3, 2);
  b.asker.ask(1);
  CHECK_THROWS_WITH(b.wait(10), Contains("another latency of the RTL") && Contains("latency 3 cycles, expected 2"));
}

TEST_CASE("lockstep: a twin that falls behind holds the user back") {
  LockstepBench b(1, 0);
  unsigned taken = 0;
  for (std::uint32_t n = 0; n < 10; ++n) taken += b.asker.ask(n);
  CHECK(taken == cosim::TransactorConfig{}.queue);
  b.wait(20);
  CHECK(b.asker.ask(99));
  b.wait(20);
  CHECK(b.lockstep.compared() == taken + 1);
}
