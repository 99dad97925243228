// SPDX-License-Identifier: Apache-2.0
//
// Pins as the twin of a state: results, edges, differences, kinds of twins.
#include <regatta/cosim/direct_transactor.h>
#include <regatta/test/clock.h>

#include "asker.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::fake_pins;
using test::FakePins;
using test::Word;

namespace {

struct DirectBench {
  explicit DirectBench(bool compare, unsigned latency, unsigned edges = 0, unsigned slow = 0,
                       cosim::EdgesOf<Word, Word> edges_of = {})
      : twin(config(), direct(compare, edges), fake_pins(latency, slow), std::move(edges_of)) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  cosim::TwinConfig config() {
    cosim::TwinConfig c;
    c.name = "twin";
    c.clock = &test::clock(period);
    c.options.waveform = "unused.fst";
    c.state = [] { return std::string("all empty"); };
    return c;
  }
  static cosim::DirectConfig direct(bool compare, unsigned edges) {
    cosim::DirectConfig c;
    c.compare = compare;
    c.edges = edges;
    c.patience = 50;
    return c;
  }
  const sc_core::sc_time period{1, sc_core::SC_NS};
  cosim::DirectTransactor<Word, Word> twin;
};

struct Shape {
  unsigned entries = 0;
};

}  // namespace

TEST_CASE("direct transactor: the RTL's result counts") {
  FakePins::wrong = 7;
  DirectBench b(false, 3);
  CHECK(b.twin.operate(5, 0).v == 16);
  CHECK(b.twin.operate(7, 22).v == 23);
  CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
}

TEST_CASE("direct transactor: random operations are compared, with stalls of the RTL") {
  DirectBench b(true, 2, 0, 3);
  std::mt19937 random(1);
  for (unsigned n = 0; n < 10000; ++n) {
    const Word word = static_cast<std::uint32_t>(random());
    REQUIRE(b.twin.operate(word, test::answer_to(word)) == test::answer_to(word));
  }
  CHECK(b.twin.compared() == 10000);
}

TEST_CASE("direct transactor: another result ends the run with both and the state") {
  FakePins::wrong = 7;
  DirectBench b(true, 2);
  b.twin.operate(5, 16);
  CHECK_THROWS_WITH(
      b.twin.operate(7, 22),
      Contains("twin in cycle 0: another result of the RTL, after 1 equal ones\n  operation 7\n  model    "
               " 22\n  RTL       23\n  edges     2 to 3\n  state of the model behind it: all empty\n") &&
          Contains("no waveform (cannot write unused.fst)"));
}

TEST_CASE("direct transactor: another number of edges ends the run") {
  DirectBench b(true, 3, 2);
  CHECK_THROWS_WITH(b.twin.operate(1, 4),
                    Contains("another number of edges") && Contains("edges     0 to 2 (3, expected 2)"));
}

TEST_CASE("direct transactor: the number of edges may follow from the operation and its answer") {
  std::uint32_t asked = 0;
  const auto edges_of = [&](const Word& operation, const Word& answer) {
    asked = answer.v;
    return operation.v == 1 ? 2u : 3u;
  };
  DirectBench b(true, 2, 0, 0, edges_of);
  b.twin.operate(1, 4);
  CHECK(asked == 4);
  CHECK_THROWS_WITH(b.twin.operate(2, 7),
                    Contains("another number of edges") && Contains("edges     2 to 3 (2, expected 3)"));
}

TEST_CASE("direct transactor: a block that never answers ends the run") {
  FakePins::mute = true;
  DirectBench b(false, 1);
  CHECK_THROWS_WITH(b.twin.operate(1, 4), Contains("no answer to an operation within 50 edges (it was taken)\n"
                                                   "  operation 1"));
}

TEST_CASE("kinds of twins: made by name, refused by shape") {
  cosim::TwinKinds<Word, Word, Shape> kinds("table");
  cosim::add_rtl_twins(
      kinds,
      [](const Shape& shape) {
        if (shape.entries != 4) throw support::ConfigError("expected 4 entries");
      },
      [](const Shape&) { return fake_pins(1); });
  cosim::TwinConfig config;
  config.name = "twin";
  config.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
  CHECK(kinds.make(config, Shape{4}).twin == nullptr);
  config.options.implementation = "lockstep";
  kinds.validate(config.options, Shape{4});
  CHECK(kinds.make(config, Shape{4}).twin->operate(2, 7).v == 7);
  CHECK_THROWS_WITH(kinds.validate(config.options, Shape{5}), "expected 4 entries");
  config.options.implementation = "silicon";
  CHECK_THROWS_WITH(kinds.validate(config.options, Shape{4}),
                    Contains("table.implementation = silicon: this program has no such implementation; expected one "
                             "of: model, lockstep, rtl"));
}
