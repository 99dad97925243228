// SPDX-License-Identifier: Apache-2.0
//
// What a register file holds: the enabled lanes of the last write of each register of each warp, and nothing else.
#include <regatta/support/config.h>

#include <random>

#include "driver.h"

using namespace regatta;
using test::Bench;
using test::WarpValue;

namespace {

void require_lanes(const WarpValue& found, const WarpValue& expected, unsigned lanes) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    CAPTURE(lane);
    REQUIRE(found.lane[lane] == expected.lane[lane]);
  }
}

void random_values(unsigned lanes, unsigned seed) {
  models::RegisterFileConfig c;
  c.banks = 7;  // no power of two
  c.write_queue = 4096;
  constexpr unsigned warps = 24, registers = 40;
  c.registers = warps * registers;
  Bench b(c, registers, lanes);
  std::mt19937_64 random(seed);
  std::vector<WarpValue> model(warps * registers, WarpValue{});
  for (unsigned step = 0; step < 20000; ++step) {
    CAPTURE(step);
    const auto warp = static_cast<unsigned>(random() % warps), reg = static_cast<unsigned>(random() % registers);
    WarpValue& truth = model[warp * registers + reg];
    if (random() % 2 == 0) {
      const trace::LaneMask masks[] = {trace::all_lanes(lanes), random() & trace::all_lanes(lanes),
                                       trace::LaneMask{1} << (random() % lanes), 0};
      const trace::LaneMask mask = masks[random() % 4];
      const WarpValue value = test::pattern(step);
      REQUIRE(b.write(warp, reg, value, mask).sync == tlm::TLM_COMPLETED);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if ((mask >> lane) & 1) truth.lane[lane] = value.lane[lane];
      }
    } else {
      WarpValue value = test::pattern(~step);
      REQUIRE(b.read(warp, reg, value).sync == tlm::TLM_COMPLETED);
      require_lanes(value, truth, lanes);
      REQUIRE(std::string(b.last().access().origin.place) == "bank");
      REQUIRE(b.last().access().origin.index == (warp + reg) % 7);
    }
    if (step % 64 == 0) b.wait(200);
  }
}

}  // namespace

TEST_CASE("register file: a read sees the writes before it, not those after") {
  Bench b;
  const WarpValue first = test::pattern(1), second = test::pattern(2);
  WarpValue found{};
  b.write(3, 5, first, ~0u);
  b.read(3, 5, found);  // in the same cycle
  require_lanes(found, first, 32);
  b.read(3, 5, found);
  b.write(3, 5, second, ~0u);
  require_lanes(found, first, 32);
  b.read(3, 5, found);
  require_lanes(found, second, 32);
}

TEST_CASE("register file: a write touches the enabled lanes of one register of one warp") {
  Bench b;
  const WarpValue base = test::pattern(1), change = test::pattern(2);
  for (unsigned reg = 4; reg < 7; ++reg) b.write(3, reg, base, ~0u);
  b.write(4, 5, base, ~0u);
  b.wait(20);
  b.write(3, 5, change, 0x80000001);
  WarpValue expected = base, found{};
  expected.lane[0] = change.lane[0];
  expected.lane[31] = change.lane[31];
  b.read(3, 5, found);
  require_lanes(found, expected, 32);
  for (unsigned reg : {4u, 6u}) {
    b.read(3, reg, found);
    require_lanes(found, base, 32);
  }
  b.read(4, 5, found);
  require_lanes(found, base, 32);
}

TEST_CASE("register file: random traffic leaves what a plain array holds: 32 lanes") { random_values(32, 1); }
TEST_CASE("register file: random traffic leaves what a plain array holds: 64 lanes") { random_values(64, 2); }

TEST_CASE("register file: blocking and debug transport agree with the rest") {
  Bench b;
  WarpValue value = test::pattern(9), found{};
  protocol::OperandPayload p;
  p.prepare(tlm::TLM_WRITE_COMMAND, protocol::WarpSlot(2), protocol::RegisterId(6), ~0u, 32, value);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  b.driver.writes->b_transport(p.payload(), delay);
  CHECK(delay == b.period);
  CHECK(p.payload().is_response_ok());
  p.prepare(tlm::TLM_READ_COMMAND, protocol::WarpSlot(2), protocol::RegisterId(6), ~0u, 32, found);
  CHECK(b.driver.reads->transport_dbg(p.payload()) == 128);
  require_lanes(found, value, 32);
  CHECK(b.statistic("reads") == 0);  // a look from outside is no access
  CHECK(b.read_delay(2, 6) == 2);
}

TEST_CASE("register file: a register that is not there is reported") {
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  models::RegisterFileConfig c = Bench::eight_banks();
  c.registers = 64;
  Bench b(c, 32);
  WarpValue v{};
  CHECK_NOTHROW(b.read(1, 31, v));
  CHECK_THROWS_AS(b.read(1, 32, v), sc_core::sc_report);
  CHECK_THROWS_AS(b.read(2, 0, v), sc_core::sc_report);
  CHECK_THROWS_AS(b.write(2, 0, v, ~0u), sc_core::sc_report);
}

TEST_CASE("register file: knobs that cannot be are refused") {
  models::RegisterFileConfig c;
  c.banks = 4096;
  CHECK_THROWS_AS(c.validate(), support::ConfigError);
  models::RegisterFileConfig sound;
  support::OptionSet knobs;
  sound.declare(knobs);
  CHECK_THROWS_AS(knobs.set("register_file.ports", "2rw", "test", "test"), support::ConfigError);
  CHECK_THROWS_AS(knobs.set("register_file.latency", "0", "test", "test"), support::ConfigError);
}
