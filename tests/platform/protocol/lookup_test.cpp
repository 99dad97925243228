// SPDX-License-Identifier: Apache-2.0
//
// Typed transactions of blocks that answer lookups: the delay that stands between a block and its user.
#include <regatta/protocol/lookup_delay.h>
#include <regatta/test/catch.h>

#include <map>

using namespace regatta::protocol;

namespace {

const sc_core::sc_time period(1, sc_core::SC_NS);
std::uint64_t now() { return sc_core::sc_time_stamp().value() / period.value(); }

/// Answers a number with its square; is busy for every fifth request.
class Squares : public sc_core::sc_module, public Lookup<unsigned, unsigned> {
 public:
  LookupTarget<unsigned, unsigned> lookups;
  explicit Squares(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  LookupReply look_up(const unsigned& request, std::uint32_t, unsigned& answer) override {
    if (++requests % 5 == 0) return LookupReply::busy;
    answer = request * request;
    return LookupReply::answered;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  unsigned requests = 0;

 private:
  sc_core::sc_event changed_;
};

class User : public sc_core::sc_module, public LookupClient<unsigned> {
 public:
  LookupInitiator<unsigned, unsigned> lookups;
  explicit User(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  void answered(std::uint32_t tag, const unsigned& answer) override {
    REQUIRE(open.count(tag) == 1);
    CHECK(answer == tag * tag);
    const std::uint64_t late = now() - open.at(tag);
    most_late = std::max(most_late, late);
    least_late = std::min(least_late, late);
    overtakings += tag < newest ? 1 : 0;
    newest = std::max(newest, tag);
    open.erase(tag);
    ++answers;
  }
  std::map<std::uint32_t, std::uint64_t> open;  ///< cycle of the request
  std::uint64_t most_late = 0, least_late = ~std::uint64_t{0};
  unsigned answers = 0, overtakings = 0;
  std::uint32_t newest = 0;
};

}  // namespace

TEST_CASE("lookup: answered at once when nothing stands between") {
  Squares squares("squares");
  User user("user");
  user.lookups.bind(squares.lookups);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned answer = 0;
  CHECK(user.lookups.requests->look_up(7, 7, answer) == LookupReply::answered);
  CHECK(answer == 49);
  CHECK(&user.lookups.requests->changed() == &squares.changed());
}

TEST_CASE("lookup: a delay answers each accepted request once, later, and out of order") {
  Squares squares("squares");
  User user("user");
  LookupDelay<unsigned, unsigned> delay("delay", period, 7, 3);
  user.lookups.bind(delay.in);
  delay.out.bind(squares.lookups);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned busy = 0;
  constexpr unsigned requests = 2000;
  for (unsigned i = 0; i < requests; ++i) {
    unsigned answer = 12345;
    const LookupReply reply = user.lookups.requests->look_up(i, i, answer);
    CHECK(answer == 12345);
    if (reply == LookupReply::busy) {
      ++busy;
    } else {
      REQUIRE(reply == LookupReply::later);
      user.open[i] = now();
    }
    if (i % 3 == 0) sc_core::sc_start(period);
  }
  sc_core::sc_start(20 * period);
  CHECK(busy > requests / 5);  // the block's own refusals, and those of the delay
  CHECK(busy < requests / 2);
  CHECK(user.open.empty());
  CHECK(user.answers == requests - busy);
  CHECK(delay.delayed() == user.answers);
  CHECK(user.least_late == 1);
  CHECK(user.most_late == 7);
  CHECK(user.overtakings > 100);
}
