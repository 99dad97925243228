// SPDX-License-Identifier: Apache-2.0
//
// A user of a lookup that adds one to numbers, and a transactor with it; and pins in C++ for tests without Verilator.
#pragma once

#include <regatta/cosim/transactor.h>
#include <regatta/protocol/lookup_checker.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <deque>
#include <map>
#include <optional>
#include <random>

namespace regatta::test {

/// What is asked and answered.
struct Word {
  std::uint32_t v = 0;
  Word() = default;
  Word(std::uint32_t value) : v(value) {}  // NOLINT(google-explicit-constructor): numbers are requests
  bool operator==(const Word& o) const { return v == o.v; }
};
inline std::string describe(const Word& w) { return std::to_string(w.v); }
/// What the block under test computes.
inline Word answer_to(Word request) { return request.v * 3 + 1; }

/// A pipeline of `latency` elastic stages, some requests not taken at once.
class FakePins final : public cosim::Pins<Word, Word> {
 public:
  FakePins(unsigned latency, unsigned slow) : stages_(latency), slow_(slow) {}
  void drive_reset(bool asserted) override { reset_ = asserted; }
  void drive_request(const Word* request) override {
    valid_ = request != nullptr;
    if (valid_) request_ = *request;
  }
  void drive_answer_ready(bool ready) override { ready_ = ready; }
  void settle() override {
    open_.assign(stages_.size() + 1, false);
    open_[stages_.size()] = ready_;
    for (std::size_t i = stages_.size(); i-- != 0;) open_[i] = !stages_[i] || open_[i + 1];
    open_[0] = open_[0] && (slow_ == 0 || random_() % slow_ == 0);
  }
  void edge() override {
    if (reset_) {
      for (auto& s : stages_) s.reset();
      return;
    }
    for (std::size_t i = stages_.size(); i-- != 0;) {
      if (i + 1 == stages_.size() ? ready_ && stages_[i].has_value() : stages_[i] && open_[i + 1]) {
        if (i + 1 != stages_.size()) stages_[i + 1] = stages_[i];
        stages_[i].reset();
      }
    }
    if (valid_ && open_[0]) stages_[0] = request_;
  }
  bool request_ready() const override { return open_[0]; }
  bool answer_valid() const override { return !mute && stages_.back().has_value(); }
  void read_answer(Word& answer) const override {
    answer = answer_to(*stages_.back());
    if (wrong != 0 && stages_.back()->v == wrong) ++answer.v;
  }
  static inline bool mute = false;        ///< never answers
  static inline std::uint32_t wrong = 0;  ///< a request with a wrong answer

 private:
  std::vector<std::optional<Word>> stages_;
  unsigned slow_;
  bool reset_ = false, valid_ = false, ready_ = false;
  Word request_;
  std::vector<bool> open_;
  std::mt19937 random_{3};
};

inline cosim::PinsFactory<Word, Word> fake_pins(unsigned latency, unsigned slow = 0) {
  return [=](bool) { return std::make_unique<FakePins>(latency, slow); };
}

/// Asks at random, and holds every answer to what it has to be.
class Asker final : public sc_core::sc_module, public protocol::LookupClient<Word> {
 public:
  protocol::LookupInitiator<Word, Word> lookups{"lookup", *this};
  Asker(const sc_core::sc_module_name& name, support::ClockDomain& clock) : sc_module(name), clock_(clock) {}

  /// False: refused.
  bool ask(Word number) {
    Word now;
    const protocol::LookupReply reply = lookups.requests->look_up(number, tag_, now);
    if (reply == protocol::LookupReply::busy) return false;
    if (reply == protocol::LookupReply::answered) {
      REQUIRE(now.v == answer_to(number).v);
      ++answers;
    } else {
      open_[tag_] = {number, clock_.now()};
    }
    ++tag_;
    return true;
  }
  void answered(std::uint32_t tag, const Word& answer) override {
    const auto found = open_.find(tag);
    REQUIRE(found != open_.end());
    REQUIRE(found == open_.begin());  // in order
    REQUIRE(answer.v == answer_to(found->second.first).v);
    last_latency = clock_.now() - found->second.second;
    longest = std::max(longest, last_latency);
    shortest = std::min(shortest, last_latency);
    open_.erase(found);
    ++answers;
  }
  void forget() { open_.clear(); }
  std::size_t open() const { return open_.size(); }
  std::uint64_t answers = 0, last_latency = 0, longest = 0, shortest = ~std::uint64_t{0};

 private:
  support::ClockDomain& clock_;
  std::uint32_t tag_ = 0;
  std::map<std::uint32_t, std::pair<Word, std::uint64_t>> open_;
};

/// Transactor, checker of the lookup contract, user.
struct TransactorBench {
  explicit TransactorBench(cosim::PinsFactory<Word, Word> pins,
                           const cosim::TransactorConfig& config = cosim::TransactorConfig{})
      : transactor("transactor", config, test::clock(period), std::move(pins)),
        checker("checker", period),
        asker("asker", test::clock(period)) {
    checker.out.bind(transactor.lookups);
    asker.lookups.bind(checker.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    wait();
  }
  /// What is due in the cycle that is reached runs at the next call.
  void wait(unsigned cycles = 1) { sc_core::sc_start(cycles * period); }
  /// Random numbers with pauses, all of them answered.
  void traffic(unsigned count, unsigned seed) {
    std::mt19937 random(seed);
    std::uint64_t asked = 0, refused = 0;
    while (asked < count) {
      for (unsigned burst = static_cast<unsigned>(random() % 20); burst != 0 && asked < count; --burst) {
        if (asker.ask(static_cast<std::uint32_t>(random()))) {
          ++asked;
        } else {
          ++refused;
        }
        if (random() % 4 != 0) wait();
      }
      if (random() % 4 == 0) wait(1 + static_cast<unsigned>(random() % 30));
    }
    for (unsigned i = 0; i < 100000 && asker.open() != 0; ++i) wait();
    CHECK(asker.answers == count);
    CHECK(refused > 0);
    CHECK(transactor.idle());
    // An idle block is not clocked.
    wait(2);
    const std::uint64_t edges = transactor.edges();
    wait(100);
    CHECK(transactor.edges() == edges);
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  cosim::Transactor<Word, Word> transactor;
  protocol::LookupChecker<Word, Word> checker;
  Asker asker;
};

}  // namespace regatta::test
