// SPDX-License-Identifier: Apache-2.0
//
// The transactor in front of a Verilated block.
#include <regatta/cosim/verilated_pins.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "asker.h"
#include "toy_rtl.h"

using namespace regatta;
using test::TransactorBench;
using test::Word;

namespace {

class ToyPins final : public cosim::VerilatedPins<toy_rtl, Word, Word> {
 public:
  using VerilatedPins::VerilatedPins;
  void drive_request(const Word* word) override {
    top().req_valid = word != nullptr;
    if (word != nullptr) top().req_word = word->v;
  }
  void read_answer(Word& word) const override { word = top().rsp_word; }
};

std::unique_ptr<cosim::Pins<Word, Word>> toy_pins(bool recorded) { return std::make_unique<ToyPins>(recorded); }

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
  for (std::uint32_t n = 0; n < 100; ++n) {
    b.asker.ask(n);
    b.wait();
  }
  const std::string path = "toy_test.fst";
  std::remove(path.c_str());
  CHECK_THAT(b.transactor.write_waveform(path), Catch::Matchers::Contains("waveform of the last 50 clock cycles"));
  // fst2vcd is GTKWave's; without it the file's existence has to do.
  const bool there = static_cast<bool>(std::ifstream(path));
  CHECK(there);
  if (std::system("command -v fst2vcd >/dev/null") != 0) return;
  REQUIRE(std::system(("fst2vcd -f " + path + " -o " + path + ".vcd").c_str()) == 0);
  std::ifstream vcd(path + ".vcd");
  const std::string text{std::istreambuf_iterator<char>(vcd), {}};
  for (const char* what : {"req_valid", "req_word", "rsp_valid", "rsp_word", "#600\n", "#1000\n"}) {
    CHECK_THAT(text, Catch::Matchers::Contains(what));
  }
  CHECK_THAT(text, !Catch::Matchers::Contains("#400\n"));
  CHECK_THAT(b.transactor.write_waveform("/nowhere/toy.fst"), Catch::Matchers::Contains("cannot write"));
}
