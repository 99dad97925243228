// SPDX-License-Identifier: Apache-2.0
//
// FineReg on a program that stalls: chains are whole after every switch, and no CTA starves.
#include "finereg_support.h"

using namespace regatta;
using test::FineRegFaults;

namespace {

/// Recounts the chains whenever something has switched.
class Recount : public protocol::LifecycleListener {
 public:
  Recount(const models::RegisterMover& mover, unsigned& checks) : mover_(mover), checks_(checks) {}
  void cta_switched(const protocol::CtaInfo&, bool) override { check(); }
  void cta_moved(const protocol::CtaInfo&) override { check(); }
  void cta_finished(const protocol::CtaInfo&) override { check(); }

 private:
  void check() {
    checks_ += mover_.moving() ? 0 : 1;
    const std::string wrong = mover_.check();
    INFO(wrong);
    REQUIRE(wrong.empty());
  }
  const models::RegisterMover& mover_;
  unsigned& checks_;
};

void check_chains(const std::string& name, unsigned places, unsigned lookup_delay) {
  unsigned checks = 0;
  std::vector<std::unique_ptr<Recount>> recounts;
  FineRegFaults hook;
  hook.mover = [&](assembly::SmParts& parts, models::RegisterMover& mover) {
    recounts.push_back(std::make_unique<Recount>(mover, checks));
    parts.listeners.push_back(recounts.back().get());
  };
  const auto r = test::simulate_finereg(test::stalling_trace(name, 40), std::move(hook), places, lookup_delay);
  test::require_clean(r);
  CHECK(checks > 100);
  CHECK(r.stats.at("sm0.switch_engine").at("exchanges").get<unsigned>() > 20);
}

}  // namespace

TEST_CASE("FineReg: chains are whole after every switch, two places") { check_chains("finereg_chains2", 2, 0); }
TEST_CASE("FineReg: chains are whole after every switch, one place") { check_chains("finereg_chains1", 1, 0); }
TEST_CASE("FineReg: chains are whole after every switch, three places, late answers") {
  check_chains("finereg_chains3", 3, 5);
}

TEST_CASE("FineReg: a lookup that the end of a launch leaves open does not disturb the next") {
  const auto r = test::simulate_finereg(test::stalling_trace("finereg_open", 7, 2, 30), {}, 2, 400);
  test::require_clean(r);
}

namespace {

/// Long CTAs: all of them wait for their turn many times, none longer than `bound` once it is ready.
void check_waits(const std::string& name, unsigned places, unsigned active, std::uint64_t bound) {
  const auto r = test::simulate_finereg(test::stalling_trace(name, 10, 100), {}, places, 0, active);
  test::require_clean(r);
  const auto& engine = r.stats.at("sm0.switch_engine");
  CAPTURE(r.cycles, engine.dump());
  CHECK(engine.at("switches").get<unsigned>() > 100);
  CHECK(engine.at("longest_wait").get<std::uint64_t>() < bound);
}

}  // namespace

TEST_CASE("FineReg: no CTA starves that waits outside the register file") { check_waits("finereg_waits", 2, 32, 500); }
TEST_CASE("FineReg: no CTA starves when others wait in the register file") {
  check_waits("finereg_waits4", 4, 2, 2000);
}
TEST_CASE("FineReg: no CTA starves when one is active at a time") { check_waits("finereg_waits1", 3, 1, 3000); }
