// SPDX-License-Identifier: Apache-2.0
//
// Register power states in the pipeline, cycle by cycle: the scenario of the thesis's figure 4.4, hazards, wake-ups,
// and what is noticed when a state is wrong.
#include "greener_support.h"

#include <cmath>

using namespace regatta;
using Catch::Matchers::Contains;
using models::PowerState;
using test::PowerRun;
using test::Said;
using test::Switch;
using test::TraceBuilder;
using trace::OpClass;

namespace {

constexpr trace::NextAccess far_and_live{0, true};
constexpr trace::NextAccess far_and_dead{0, false};

std::uint64_t read_cycles(const assembly::MachineConfig& m) {
  return m.register_file.arbitration + m.register_file.latency;
}

/// Figure 4.4 (a): S0 sets R0. Along S10 it is read two instructions later, along S1 only in S9: the compiler says
/// SLEEP.
struct Figure {
  static constexpr std::uint32_t s0 = 1, s1 = 3, s9 = 11, s10 = 13, s11 = 14;
  explicit Figure(bool near) {
    b.op(OpClass::constant_load, {1}, {});
    b.op(OpClass::fp32_div, {0}, {1});  // S0
    b.branch(s10);
    b.op(OpClass::sfu, {2}, {1});  // S1
    for (unsigned i = 2; i <= 8; ++i) b.op(OpClass::sfu, {2}, {2});
    b.op(OpClass::int_add, {3}, {0});  // S9
    b.exit();
    b.op(OpClass::int_add, {4}, {1});  // S10
    b.set_predicate(0, {0});           // S11: no row of its own to wake
    b.exit();
    test::add_power_states(b, {{{s0, 0}, far_and_live}, {{s9, 0}, far_and_dead}, {{s11, 0}, far_and_dead}});
    b.launch(1, 32);
    b.begin_cta();
    b.begin_warp();
    for (std::uint32_t i = 0; i <= 2; ++i) b.execute(i);
    for (std::uint32_t i = near ? s10 : s1; i <= (near ? s11 + 1 : s9 + 1); ++i) b.execute(i);
    b.end_warp();
    b.end_cta();
  }
  TraceBuilder b;
};

}  // namespace

TEST_CASE("figure 4.4: along S10 the table keeps the register on, and S11 waits for nobody") {
  Figure f(true);
  schemes::GatedPowerConfig c = test::greener_config();
  c.gate.table_entries = 4;
  const PowerRun r = test::watch(f.b, "figure44_near", c);
  test::require_clean(r.result);
  CHECK(r.of(f.s11).issued == r.of(f.s0).retired);
  CHECK(r.rows.at(0) == std::vector<Switch>{{r.of(f.s0).issued - 2, PowerState::on},
                                            {r.of(f.s11).issued + read_cycles({}), PowerState::off}});
  CHECK(r.gate("lookup_corrections") == 1);
}

namespace {

void check_without_entry(bool has_table) {
  Figure f(true);
  schemes::GatedPowerConfig c = test::greener_config();
  c.gate.runtime_table = has_table;
  c.gate.table_entries = 1;
  const PowerRun r = test::watch(f.b, "figure44_no_table", c);
  test::require_clean(r.result);
  const std::uint64_t written = r.of(f.s0).retired;
  CHECK(r.of(f.s11).issued == written + 1);
  CHECK(r.rows.at(0) == std::vector<Switch>{{r.of(f.s0).issued - 2, PowerState::on},
                                            {written, PowerState::sleep},
                                            {written, PowerState::on},
                                            {r.of(f.s11).issued + read_cycles({}), PowerState::off}});
  if (!has_table) return;
  CHECK(r.gate("lookup_corrections") == 0);
  CHECK(r.result.stats.at("sm0.power_table").at("overflows") > 0);
}

}  // namespace

TEST_CASE("figure 4.4: without the table the register sleeps, and S11 waits a cycle for it") {
  check_without_entry(false);
}
TEST_CASE("figure 4.4: the same without room in the table") { check_without_entry(true); }

namespace {

void check_far(unsigned latency) {
  Figure f(false);
  schemes::GatedPowerConfig c = test::greener_config();
  c.gate.table_entries = 4;
  models::SleepTransistorConfig t;
  t.wake_sleep = latency;
  t.wake_off = 2 * latency;
  const PowerRun r = test::watch(f.b, "figure44_far", c, t);
  test::require_clean(r.result);
  CHECK(r.rows.at(0) == std::vector<Switch>{{r.of(f.s0).issued - 2 * latency, PowerState::on},
                                            {r.of(f.s0).retired, PowerState::sleep},
                                            {r.of(f.s9).issued - 2 * latency, PowerState::on},
                                            {r.of(f.s9).issued + read_cycles({}), PowerState::off}});
  // S9 waits for R3, which is off, longer than for R0.
  CHECK(r.rows.at(3).front() == Switch{r.of(f.s9).issued - 2 * latency, PowerState::on});
  CHECK(r.gate("lookup_corrections") == 0);
}

}  // namespace

TEST_CASE("figure 4.4: along S1 the register sleeps until S9, and is off once that has read it") { check_far(1); }
TEST_CASE("figure 4.4: along S1 with a wake-up latency of 2") { check_far(2); }
TEST_CASE("figure 4.4: along S1 with a wake-up latency of 4") { check_far(4); }

namespace {

void check_readers(const std::string& reserve) {
  schemes::GatedPowerConfig c = test::greener_config();
  c.gate.reserve_sources = reserve;
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::constant_load, {2}, {});
  b.op(OpClass::constant_load, {3}, {});
  b.op(OpClass::sfu, {4}, {1});         // 3: until R1 to R3 are on, and all else is still
  b.op(OpClass::int_add, {2}, {4, 1});  // 4
  b.op(OpClass::int_add, {3}, {1});     // 5: reads R1 too
  b.op(OpClass::int_add, {1}, {4});     // 6: writes it
  b.exit();
  test::add_power_states(b, {});
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m;
  m.sm.buffer_entries = 8;
  const PowerRun r = test::watch(b, "readers", c, {}, m);
  test::require_clean(r.result);
  const std::uint64_t wait = reserve == "all" ? read_cycles(m) : 1;
  CHECK(r.gap(4, 5) == wait);
  CHECK(r.gap(5, 6) == wait);
  CHECK((r.gate("read_waits") == 0) == (reserve == "falling"));
}

}  // namespace

TEST_CASE("two readers of one register: the second waits until the first has read") { check_readers("all"); }
TEST_CASE("two readers of a register that stays on need not wait, if so configured") { check_readers("falling"); }

TEST_CASE("a register that is read and written keeps its state until it is written") {
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::int_add, {1}, {1});  // 1
  b.exit();
  test::add_power_states(b, {{{1, 1}, far_and_dead}});
  b.launch(1, 32);
  b.run_all();
  const PowerRun r = test::watch(b, "read_and_written", test::greener_config());
  test::require_clean(r.result);
  REQUIRE(r.rows.at(1).size() == 2);
  CHECK(r.rows.at(1)[1] == Switch{r.of(1).retired, PowerState::off});
}

TEST_CASE("sleep_reg: every register sleeps from its warp's start and after each access") {
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::int_add, {2}, {1});  // 1
  b.op(OpClass::int_add, {3}, {1});  // 2
  b.exit();
  b.launch(1, 32);
  b.run_all();
  schemes::GatedPowerConfig c;
  c.states = "sleep_reg";
  const PowerRun r = test::watch(b, "sleep_reg", c);
  test::require_clean(r.result);
  const std::vector<Switch>& row = r.rows.at(1);
  REQUIRE(row.size() == 8);
  CHECK(row[0].state == PowerState::sleep);
  CHECK(row[1] == Switch{r.of(0).issued - 1, PowerState::on});
  CHECK(row[2] == Switch{r.of(0).retired, PowerState::sleep});
  CHECK(row[3] == Switch{r.of(1).issued - 1, PowerState::on});
  CHECK(row[4] == Switch{r.of(1).issued + read_cycles({}), PowerState::sleep});
  CHECK(row[5] == Switch{r.of(2).issued - 1, PowerState::on});
  CHECK(row[6] == Switch{r.of(2).issued + read_cycles({}), PowerState::sleep});
  CHECK(row[7].state == PowerState::off);
  CHECK(r.of(1).issued == r.of(0).retired + 1);
  CHECK(r.of(2).issued == r.of(1).issued + read_cycles({}) + 1);
}

TEST_CASE("registers without a field sleep") {
  TraceBuilder b;
  for (unsigned i = 1; i <= 4; ++i) b.op(OpClass::constant_load, {i}, {});
  b.op(OpClass::fp32_mad, {5}, {1, 2, 3});  // 4
  b.op(OpClass::int_add, {6}, {4});
  b.exit();
  test::add_power_states(b, {{{4, 1}, far_and_dead}, {{4, 2}, far_and_dead}, {{4, 3}, far_and_dead}});
  b.launch(1, 32);
  b.run_all();
  const PowerRun r = test::watch(b, "no_field", test::greener_config());
  test::require_clean(r.result);
  CHECK(r.rows.at(1)[1].state == PowerState::off);
  CHECK(r.rows.at(2)[1].state == PowerState::off);
  CHECK(r.rows.at(3)[1].state == PowerState::sleep);
}

namespace {

void check_too_early(bool wrong) {
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::int_add, {2}, {1});  // 1: says that R1 is dead
  for (unsigned i = 0; i < 6; ++i) b.op(OpClass::int_add, {2}, {2});
  b.op(OpClass::int_add, {3}, {2, 1});  // 8: reads it
  b.exit();
  test::add_power_states(b, {{{1, 1}, wrong ? far_and_dead : far_and_live}});
  b.launch(3, 64);
  b.run_all();
  const PowerRun r = test::watch(b, "too_early", test::greener_config());
  if (!wrong) {
    test::require_clean(r.result);
    return;
  }
  INFO(r.result.message);
  REQUIRE(r.result.ending == assembly::Ending::value_mismatch);
  CHECK_THAT(r.result.message, Contains("value mismatch: kernel hand_made launch 0 CTA "));
  CHECK_THAT(r.result.message, Contains(" PC 0x40 "));
  CHECK_THAT(r.result.message, Contains(" register R1"));
  CHECK_THAT(r.result.message, Contains(" from bank "));
}

}  // namespace

TEST_CASE("a register that is switched off one use too early is found") { check_too_early(true); }
TEST_CASE("a register that sleeps until its last use is not lost") { check_too_early(false); }

namespace {

void check_no_states(const std::string& states) {
  TraceBuilder b;
  b.op(OpClass::constant_load, {1}, {});
  b.op(OpClass::int_add, {2}, {1});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  schemes::GatedPowerConfig c;
  c.states = states;
  if (states != "greener") {
    test::require_clean(test::watch(b, "no_states", c).result);
    return;
  }
  CHECK_THROWS_WITH(test::watch(b, "no_states", c), Contains("GREENER needs the power states of kernel 'hand_made'") &&
                                                        Contains("no section 'power' of version 1") &&
                                                        Contains("regatta-annotate"));
}

}  // namespace

TEST_CASE("a trace without power states is refused by GREENER") { check_no_states("greener"); }
TEST_CASE("a trace without power states does for a file that is always on") { check_no_states("always_on"); }
TEST_CASE("a trace without power states does for Sleep-Reg") { check_no_states("sleep_reg"); }

TEST_CASE("leakage account: waking costs more at a larger node, as an access does") {
  schemes::GatedPowerConfig c;
  c.leakage_node = 22;
  CHECK(c.wake_pj(PowerState::sleep) == Approx(c.wake_sleep_pj));
  CHECK(c.wake_pj(PowerState::off) == Approx(c.wake_off_pj));
  for (const unsigned node : {32u, 45u}) {
    c.leakage_node = node;
    const double larger = std::pow(node / 22.0, 1.71);
    CHECK(c.wake_pj(PowerState::sleep) == Approx(c.wake_sleep_pj * larger));
    CHECK(c.wake_pj(PowerState::off) == Approx(c.wake_off_pj * larger));
  }
}

TEST_CASE("leakage account: Table 4.4 is of the file's 2,048 rows, or of one row") {
  schemes::GatedPowerConfig c;
  CHECK(c.wake_factor() == 1);
  CHECK(2048 * c.wake_pj(PowerState::sleep) == Approx(37.3).epsilon(0.01));
  CHECK(2048 * c.wake_pj(PowerState::off) == Approx(117.74).epsilon(0.01));
  c.wake_energy_of = "row";
  CHECK(c.wake_factor() == 2048);
  CHECK(c.wake_pj(PowerState::sleep) == Approx(37.3).epsilon(0.01));
  CHECK(c.wake_pj(PowerState::off) == Approx(117.74).epsilon(0.01));
}
