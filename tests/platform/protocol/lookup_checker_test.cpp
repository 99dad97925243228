// SPDX-License-Identifier: Apache-2.0
// Each way to break the contract of lookups is found, and legal traffic is not.
#include <regatta/protocol/lookup_checker.h>
#include <regatta/test/catch.h>

#include <functional>
#include <string>

using namespace regatta::protocol;

namespace {

const sc_core::sc_time lookup_period(1, sc_core::SC_NS);

/// The message of the report that `f` raises; "" when it raises none.
template <class F>
std::string lookup_report(F&& f) {
  try {
    f();
  } catch (const sc_core::sc_report& r) {
    CHECK(std::string(r.get_msg_type()) == "regatta/lookup");
    return r.get_msg();
  }
  return "";
}

/// Does with each request what the test says.
class ScriptedBlock : public sc_core::sc_module, public Lookup<int, int> {
 public:
  LookupTarget<int, int> lookups;
  std::function<LookupReply(std::uint32_t tag, int& answer)> script;
  explicit ScriptedBlock(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  LookupReply look_up(const int&, std::uint32_t tag, int& answer) override { return script(tag, answer); }
  const sc_core::sc_event& changed() const override { return changed_; }
  void answer(std::uint32_t tag) { lookups.answers->answered(tag, 100 + static_cast<int>(tag)); }

 private:
  sc_core::sc_event changed_;
};

class CountingUser : public sc_core::sc_module, public LookupClient<int> {
 public:
  LookupInitiator<int, int> lookups;
  explicit CountingUser(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  LookupReply ask(std::uint32_t tag) { return lookups.requests->look_up(1, tag, got); }
  void answered(std::uint32_t, const int& answer) override {
    ++answers;
    got = answer;
  }
  int got = 0;
  unsigned answers = 0;
};

struct LookupFixture {
  ScriptedBlock block{"block"};
  CountingUser user{"user"};
  LookupChecker<int, int> checker{"checker", lookup_period};

  LookupFixture() {
    user.lookups.bind(checker.in);
    checker.out.bind(block.lookups);
    block.script = [](std::uint32_t, int&) { return LookupReply::later; };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static void next_cycle() { sc_core::sc_start(lookup_period); }
};

}  // namespace

TEST_CASE_METHOD(LookupFixture, "lookup checker: legal traffic passes, and an open request is described") {
  block.script = [](std::uint32_t, int& answer) {
    answer = 7;
    return LookupReply::answered;
  };
  CHECK(user.ask(1) == LookupReply::answered);
  CHECK(user.got == 7);
  block.script = [](std::uint32_t, int&) { return LookupReply::busy; };
  CHECK(user.ask(2) == LookupReply::busy);
  CHECK(user.ask(2) == LookupReply::busy);
  block.script = [](std::uint32_t, int&) { return LookupReply::later; };
  CHECK(user.ask(2) == LookupReply::later);
  CHECK(user.ask(3) == LookupReply::later);
  next_cycle();
  block.answer(3);
  CHECK(user.got == 103);
  CHECK(checker.rules().describe_open() == "  checker before block: not answered are tag 2 of cycle 0\n");
  // It may answer an earlier request while it takes one, and a tag may be used again.
  block.script = [this](std::uint32_t, int&) {
    block.answer(2);
    return LookupReply::later;
  };
  CHECK(user.ask(3) == LookupReply::later);
  CHECK(user.got == 102);
  next_cycle();
  block.answer(3);
  checker.rules().finish(0);
  CHECK(user.answers == 3);
  CHECK(checker.rules().requests() == 6);
  CHECK(checker.rules().open() == 0);
  CHECK(checker.rules().violations() == 0);
  CHECK(checker.rules().describe_open().empty());
  CHECK(&user.lookups.requests->changed() == &block.changed());
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: a tag that an open request has") {
  user.ask(4);
  next_cycle();
  CHECK(lookup_report([&] { user.ask(4); }) ==
        "checker before block in cycle 1: look_up() with tag 4, which a request of cycle 0 has that is not answered; "
        "expected a tag of its "
        "own");
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: an answer within the call that asks for it") {
  block.script = [this](std::uint32_t tag, int&) {
    block.answer(tag);
    return LookupReply::later;
  };
  CHECK(lookup_report([&] { user.ask(5); }) ==
        "checker before block in cycle 0: answered() with tag 5, whose look_up() has not returned; expected one answer "
        "to each accepted "
        "request, in a later cycle");
  CHECK(user.answers == 0);
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: an answer in the cycle of its request") {
  user.ask(5);
  CHECK(lookup_report([&] { block.answer(5); }) ==
        "checker before block in cycle 0: answered() with tag 5 in the cycle of its request; expected one answer to "
        "each accepted "
        "request, in a later cycle");
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: an answer to nobody, and a second one") {
  const std::string expected =
      ", which no open request has; expected one answer to each accepted request, in a later cycle";
  CHECK(lookup_report([&] { block.answer(6); }) == "checker before block in cycle 0: answered() with tag 6" + expected);
  user.ask(6);
  next_cycle();
  block.answer(6);
  CHECK(lookup_report([&] { block.answer(6); }) == "checker before block in cycle 1: answered() with tag 6" + expected);
  block.script = [](std::uint32_t, int&) { return LookupReply::busy; };
  user.ask(7);
  next_cycle();
  CHECK(lookup_report([&] { block.answer(7); }) == "checker before block in cycle 2: answered() with tag 7" + expected);
  CHECK(user.answers == 1);
  CHECK(checker.rules().violations() == 3);
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: a reply that is none of the three") {
  block.script = [](std::uint32_t, int&) { return static_cast<LookupReply>(9); };
  CHECK(lookup_report([&] { user.ask(8); }) ==
        "checker before block in cycle 0: look_up() with tag 8 returned 9; expected answered, later or busy");
}

TEST_CASE_METHOD(LookupFixture, "lookup checker: a request that is never answered") {
  user.ask(9);
  next_cycle();
  next_cycle();
  user.ask(10);
  checker.rules().finish(3);
  CHECK(lookup_report([&] { checker.rules().finish(2); }) ==
        "checker before block in cycle 2: the request of cycle 0 with tag 9 was not answered; expected one answer to "
        "each accepted request");
  CHECK(checker.rules().violations() == 1);
}

TEST_CASE("an answer that a user does not expect ends the run, without a checker too") {
  CHECK(lookup_report([] { unexpected_answer("sm0.user", 17, 3); }) ==
        "sm0.user in cycle 17: was given an answer with tag 3, which none of its open requests has; expected one "
        "answer to each accepted "
        "request, in a later cycle");
}
