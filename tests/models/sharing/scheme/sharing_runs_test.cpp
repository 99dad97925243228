// SPDX-License-Identifier: Apache-2.0
//
// Register sharing as a whole: what is resident, that nothing changes without pairs, and figure 2.8's deadlock.
#include <sstream>
#include <variant>

#include "sharing_support.h"

using namespace regatta;
using test::counter;
using test::Knobs;
using test::require_clean;
using test::run_sharing;

namespace {

/// Two CTAs of sharing_trace() fit, and half of a third one.
constexpr unsigned rows = 200;

void check_unshared(const std::string& name) {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::sharing_trace(name), scheme, rows, {{"register_sharing.t", "1"}});
  require_clean(r);
  CHECK(counter(r, "sm0.residency", "launches_shared") == 0);
  CHECK(counter(r, "sm0.register_gate", "checks") == 0);
}

void check_shared(const std::string& name, const Knobs& knobs, unsigned sms = 1) {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::sharing_trace(name, 30, 2), scheme, rows, knobs, sms);
  require_clean(r);
  double acquires = 0, waits = 0, transfers = 0;
  for (unsigned sm = 0; sm < sms; ++sm) {
    const std::string at = "sm" + std::to_string(sm);
    acquires += counter(r, at + ".register_gate", "acquires");
    waits += counter(r, at + ".register_gate", "waits");
    transfers += counter(r, at + ".owner_table", "transfers");
    CHECK(counter(r, at + ".lock_table", "held_max") <= 8);
    CHECK(counter(r, at + ".residency", "launches_shared") == 2);
  }
  // Every warp names a shared register, and all CTAs are members of a pair.
  CHECK(acquires == 2 * 30 * 4);
  CHECK(waits > 0);
  CHECK(transfers > 0);
}

}  // namespace

// That cycles are the baseline's then is checked by tests/system/sharing_test.cpp.
TEST_CASE("register sharing: without pairs nothing is checked") { check_unshared("unshared"); }

TEST_CASE("register sharing: pairs of CTAs, lrr") { check_shared("shared_lrr", {{"register_sharing.t", "0.2"}}); }
TEST_CASE("register sharing: pairs of CTAs, owf") {
  check_shared("shared_owf", {{"register_sharing.t", "0.2"}, {"sm.scheduler", "owf"}});
}
TEST_CASE("register sharing: pairs of CTAs, two_level") {
  check_shared("shared_two_level",
               {{"register_sharing.t", "0.2"}, {"sm.scheduler", "two_level"}, {"scheduler.active_warps", "2"}});
}
TEST_CASE("register sharing: pairs of CTAs, one warp active per scheduler") {
  check_shared("shared_one",
               {{"register_sharing.t", "0.2"}, {"sm.scheduler", "two_level"}, {"scheduler.active_warps", "1"}});
}
TEST_CASE("register sharing: pairs of CTAs, banks that read first") {
  check_shared("shared_read", {{"register_sharing.t", "0.2"}, {"register_file.priority", "read"}});
}
TEST_CASE("register sharing: pairs of CTAs, banks of sub-cores") {
  check_shared("shared_sub_core", {{"register_sharing.t", "0.2"}, {"register_file.mapping", "sub_core"}});
}
TEST_CASE("register sharing: pairs of CTAs on two SMs, with dynamic warp execution") {
  check_shared("shared_dynamic",
               {{"register_sharing.t", "0.2"},
                {"register_sharing.dynamic", "true"},
                {"register_sharing.dynamic_period", "100"},
                {"sm.scheduler", "owf"}},
               2);
}

TEST_CASE("register sharing: CTAs beside the pairs") {
  schemes::RegisterSharing scheme;
  // Three CTAs fit, and half of a fourth one: two pairs and one CTA that shares nothing.
  const auto r = run_sharing(test::sharing_trace("unshared_ctas"), scheme, 280, {{"register_sharing.t", "0.2"}});
  require_clean(r);
  CHECK(counter(r, "sm0.residency", "unshared_ctas") > 0);
  CHECK(counter(r, "sm0.residency", "paired_ctas") > 0);
  CHECK(counter(r, "sm0.pipeline", "resident_registers_max") == 5 * 4 * 20);
}

TEST_CASE("register sharing: all registers shared") {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::sharing_trace("all_shared"), scheme, rows, {{"register_sharing.t", "0.01"}});
  require_clean(r);
  CHECK(counter(r, "sm0.register_gate", "acquires") == 30 * 4);
}

TEST_CASE("register sharing: fewer CTAs than places") {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::sharing_trace("few_ctas", 3), scheme, rows, {{"register_sharing.t", "0.2"}});
  require_clean(r);
  CHECK(counter(r, "sm0.residency", "paired_ctas") == 3);
}

TEST_CASE("register sharing: figure 2.8 runs with the deadlock rule") {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::crossing_trace("crossing", 2), scheme, 60, {{"register_sharing.t", "0.1"}});
  require_clean(r);
  CHECK(counter(r, "sm0.residency", "paired_ctas") == 2);
  CHECK(counter(r, "sm0.register_gate", "waits") > 0);
}

TEST_CASE("register sharing: figure 2.8 without the deadlock rule is a deadlock, and the circle is named") {
  schemes::RegisterSharing scheme;
  const auto r = run_sharing(test::crossing_trace("crossed", 2), scheme, 60,
                             {{"register_sharing.t", "0.1"}, {"register_sharing.deadlock_rule", "false"}});
  INFO(r.message);
  CHECK(r.ending == assembly::Ending::deadlock);
  const auto says = [&](const std::string& what) { CHECK(r.message.find(what) != std::string::npos); };
  says("sm0.pipeline: issue gate sm0.register_gate keeps them closed: 2 warps (0, 3)");
  says(
      "sm0.register_gate: warps wait in a circle: warp 0 waits for the shared registers of warp 2, which waits at a "
      "barrier for warp 3, which waits for the shared registers of warp 1, which waits at a barrier for warp 0\n");
}

TEST_CASE("register sharing: what it refuses") {
  schemes::RegisterSharing scheme;
  assembly::MachineConfig machine;
  support::OptionSet knobs;
  scheme.declare(knobs);
  const auto refusal = [&](const char* knob, const char* value) -> std::string {
    const std::string before = std::visit(
        [](const auto& v) {
          std::ostringstream text;
          text << std::boolalpha << v;
          return text.str();
        },
        knobs.find(knob)->get());
    knobs.set(knob, value, "test", "test");
    std::string said;
    try {
      scheme.validate(machine);
    } catch (const support::ConfigError& e) {
      said = e.what();
    }
    knobs.set(knob, before, "test", "test");
    return said;
  };
  CHECK(refusal("register_sharing.t", "0.25").empty());
  CHECK(
      refusal("register_sharing.t", "0") ==
      "configuration: register_sharing.t = 0, expected a decimal number above 0 and at most 1, with at most 6 places, "
      "as in 0.1");
  knobs.set("register_sharing.dynamic", "true", "test", "test");
  CHECK(refusal("register_sharing.deadlock_rule", "false") ==
        "configuration: register_sharing.dynamic = true needs register_sharing.deadlock_rule = true: a non-owner that "
        "holds locks and may not access memory would keep its owner waiting");
  CHECK(scheme.held_by_ctas() == "a CTA of 'register_sharing' holds registers for which its partner waits");
}
