// SPDX-License-Identifier: Apache-2.0
//
// Transactors in front of Verilated blocks.
#include <regatta/cosim/direct_transactor.h>
#include <regatta/cosim/verilated_pins.h>
#include <regatta/test/clock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "asker.h"
#include "toy_rtl.h"
#include "toy_sum_rtl.h"

using namespace regatta;
using test::TransactorBench;
using test::Word;

namespace {

template <class Top>
class ToyPins final : public cosim::VerilatedPins<Top, Word, Word> {
 public:
  using cosim::VerilatedPins<Top, Word, Word>::VerilatedPins;
  void drive_request(const Word* word) override {
    this->top().req_valid = word != nullptr;
    if (word != nullptr) this->top().req_word = word->v;
  }
  void read_answer(Word& word) const override { word = this->top().rsp_word; }
};

std::unique_ptr<cosim::Pins<Word, Word>> toy_pins(bool recorded) {
  return std::make_unique<ToyPins<toy_rtl>>(recorded);
}
std::unique_ptr<cosim::Pins<Word, Word>> sum_pins(bool recorded) {
  return std::make_unique<ToyPins<toy_sum_rtl>>(recorded);
}

// A waveform as VCD; "" without GTKWave's fst2vcd.
std::string as_vcd(const std::string& path) {
  if (std::system("command -v fst2vcd >/dev/null") != 0) return "";
  REQUIRE(std::system(("fst2vcd -f " + path + " -o " + path + ".vcd").c_str()) == 0);
  std::ifstream vcd(path + ".vcd");
  return {std::istreambuf_iterator<char>(vcd), {}};
}

// What toy_sum answers.
struct Sums {
  std::uint32_t sum = 0;
  std::deque<std::uint32_t> last{std::deque<std::uint32_t>(256, 0)};
  Word add(Word w) {
    sum += w.v;
    const Word answer = sum - last.front();
    last.pop_front();
    last.push_back(w.v);
    return answer;
  }
};

}  // namespace

TEST_CASE("toy: random traffic") { TransactorBench(toy_pins).traffic(20000, 1); }

TEST_CASE("toy: random traffic, answers that wait, a short queue") {
  cosim::TransactorConfig c;
  c.queue = 1;
  c.refuse_answers = 500;
  TransactorBench(toy_pins, c).traffic(20000, 2);
}

TEST_CASE("toy: a reset drops what is inside") {
  TransactorBench b(toy_pins);
  for (std::uint32_t n = 0; n < 8; ++n) {
    b.asker.ask(n);
    b.wait();
  }
  const std::uint64_t before = b.asker.answers;
  CHECK(b.asker.open() != 0);
  b.transactor.reset();
  b.asker.forget();
  b.wait(30);
  CHECK(b.asker.answers == before);
  CHECK(b.asker.ask(5));
  b.wait(30);
  CHECK(b.asker.answers == before + 1);
}

TEST_CASE("toy: the waveform has the last cycles") {
  cosim::TransactorConfig c;
  c.window = 50;
  TransactorBench b(toy_pins, c);
  for (std::uint32_t n = 0; n < 120; ++n) {
    b.asker.ask(n);
    b.wait();
  }
  const std::string path = "toy_test.fst";
  std::remove(path.c_str());
  // 119 edges so far: the last two stretches of 50 begin at the 51st.
  CHECK_THAT(b.transactor.write_waveform(path), Catch::Matchers::Contains("waveform of the last 69 clock cycles"));
  // fst2vcd is GTKWave's; without it the file's existence has to do.
  const bool there = static_cast<bool>(std::ifstream(path));
  CHECK(there);
  const std::string text = as_vcd(path);
  if (text.empty()) return;
  for (const char* what : {"req_valid", "req_word", "rsp_valid", "rsp_word", "#600\n", "#1000\n"}) {
    CHECK_THAT(text, Catch::Matchers::Contains(what));
  }
  CHECK_THAT(text, !Catch::Matchers::Contains("#400\n"));
  CHECK_THAT(b.transactor.write_waveform("/nowhere/toy.fst"), Catch::Matchers::Contains("cannot write"));
}

TEST_CASE("toy with a state: 10,000 random operations in lockstep") {
  cosim::TwinConfig twin;
  twin.name = "twin";
  twin.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
  cosim::DirectConfig config;
  config.compare = true;
  config.edges = 1;
  cosim::DirectTransactor<Word, Word> transactor(twin, config, sum_pins);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::mt19937 random(1);
  Sums sums;
  for (unsigned n = 0; n < 10000; ++n) {
    const Word word = static_cast<std::uint32_t>(random());
    transactor.operate(word, sums.add(word));
  }
  CHECK(transactor.compared() == 10000);
}

TEST_CASE("toy with a state: a state that was saved goes on in another instance") {
  const auto a = sum_pins(false), b = sum_pins(true);
  const auto add = [](cosim::Pins<Word, Word>& pins, const Word* word, bool reset = false) {
    pins.drive_reset(reset);
    pins.drive_request(word);
    pins.drive_answer_ready(true);
    pins.settle();
    pins.edge();
    Word answer;
    pins.read_answer(answer);
    return answer;
  };
  for (unsigned i = 0; i < 2; ++i) {
    add(*a, nullptr, true);
    add(*b, nullptr, true);
  }
  Sums sums;
  std::mt19937 random(2);
  const auto next = [&] { return Word(static_cast<std::uint32_t>(random())); };
  std::string state;
  for (unsigned n = 0; n < 1000; ++n) {
    const Word word = next();
    REQUIRE(add(*a, &word) == sums.add(word));
    if (n % 100 == 50) REQUIRE(a->save(state));
    if (n == 950) REQUIRE(b->restore(state));
  }
  // b has the state behind operation 950, a that behind the last one.
  random.seed(2);
  Sums again;
  for (unsigned n = 0; n <= 950; ++n) again.add(next());
  for (unsigned n = 951; n < 2000; ++n) {
    const Word word = next();
    REQUIRE(add(*b, &word) == again.add(word));
  }
}

TEST_CASE("toy with a state: the waveform of a difference has the state of the whole run") {
  cosim::TwinConfig twin;
  twin.name = "twin";
  twin.clock = &test::clock(sc_core::sc_time(1, sc_core::SC_NS));
  twin.options.waveform = "toy_sum_test.fst";
  twin.options.waveform_cycles = 20;
  cosim::DirectConfig config;
  config.compare = true;
  cosim::DirectTransactor<Word, Word> transactor(twin, config, sum_pins);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Sums sums;
  for (std::uint32_t n = 0; n < 500; ++n) transactor.operate(n, sums.add(n));
  CHECK_THROWS_WITH(transactor.operate(500, 1),
                    Catch::Matchers::Contains("waveform of the last 21 clock cycles: toy_sum_test.fst") &&
                        !Catch::Matchers::Contains("missing"));
  const std::string text = as_vcd("toy_sum_test.fst");
  if (text.empty()) return;
  // The sum of 0 to 500, in binary; without the state before the last 21 operations it would be another one.
  CHECK_THAT(text, Catch::Matchers::Contains("b" + [] {
               std::string bits;
               for (unsigned v = 500 * 501 / 2; v != 0; v /= 2) bits.insert(bits.begin(), v % 2 != 0 ? '1' : '0');
               return std::string(32 - bits.size(), '0') + bits;
             }()));
}
