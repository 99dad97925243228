// SPDX-License-Identifier: Apache-2.0
//
// Rows of other schemes' files that are not awake when they are accessed: each is found.
#include <regatta/greener/scheme_gated.h>
#include <regatta/schemes/schemes.h>

#include "greener_support.h"

using namespace regatta;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// Lets every instruction issue and wakes no row for it.
class Careless : public models::PowerGate {
 public:
  using PowerGate::PowerGate;
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
};

class CarelessScheme : public schemes::GatedScheme {
 public:
  CarelessScheme(bool careless, const schemes::GatedPowerConfig& power)
      : GatedScheme("in_test", "rows that sleep, with a gate of the test's", power), careless_(careless) {}

 protected:
  std::unique_ptr<models::PowerGate> power_gate(const models::PowerGating& config,
                                                support::ClockDomain& clock) const override {
    if (!careless_) return GatedScheme::power_gate(config, clock);
    return std::make_unique<Careless>("power_gate", config, clock);
  }

 private:
  bool careless_;
};

/// "register_sharing+in_test" on the trace: its message, or "right".
std::string outcome(TraceBuilder& b, const std::string& name, bool careless, const schemes::GatedPowerConfig& power) {
  assembly::SchemeRegistry registry = schemes::all();
  registry.add(std::make_unique<CarelessScheme>(careless, power));
  try {
    const auto result = test::simulate(b.write(name), registry.get("register_sharing+in_test"), {});
    if (result.ending != assembly::Ending::completed) return result.message;
    CHECK(result.stats.at("sm0.switched_rows").at("reads") > 0);
    return "right";
  } catch (const sc_core::sc_report& report) {
    return report.get_msg();
  }
}

/// Additions, with every register asleep in between.
std::string sleepy(bool careless) {
  TraceBuilder b;
  for (unsigned n = 0; n < 4; ++n) {
    b.op(OpClass::int_add, {1}, {});
    b.op(OpClass::int_add, {2}, {1});
    b.op(OpClass::int_add, {3}, {1, 2});
  }
  b.exit();
  b.launch(2, 64);
  b.run_all();
  schemes::GatedPowerConfig power;
  power.states = "sleep_reg";
  return outcome(b, careless ? "rows_careless" : "rows_asleep", careless, power);
}

/// An annotation that calls R1 dead one use before its last, or one that does not.
std::string too_early(bool wrong) {
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::int_add, {2}, {1});  // 1: says that R1 is dead
  for (unsigned i = 0; i < 6; ++i) b.op(OpClass::int_add, {2}, {2});
  b.op(OpClass::int_add, {3}, {2, 1});  // 8: reads it
  b.exit();
  test::add_power_states(b, {{{1, 1}, trace::NextAccess{0, !wrong}}});
  b.launch(3, 64);
  b.run_all();
  return outcome(b, wrong ? "rows_too_early" : "rows_in_time", false, test::greener_config());
}

}  // namespace

TEST_CASE("rows of a shared register file sleep, and the values are right") { CHECK(sleepy(false) == "right"); }

TEST_CASE("rows fault: a row of a shared register file that is not woken for an access is reported") {
  CHECK_THAT(sleepy(true),
             Catch::Contains("register R") && Catch::Contains("while it sleeps, expected it to be awake"));
}

TEST_CASE("rows fault: a row of a shared register file that is switched off too early is a wrong value") {
  CHECK_THAT(too_early(true), Catch::Contains("value mismatch") && Catch::Contains(" register R1"));
}
TEST_CASE("a row of a shared register file that sleeps until its last use is not lost") {
  CHECK(too_early(false) == "right");
}
