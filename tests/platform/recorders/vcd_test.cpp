// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/vcd_writer.h>

#include <unistd.h>

#include <filesystem>

#include "recorded.h"
#include "vcd_check.h"

using namespace regatta;

namespace {

test::VcdFacts vcd_facts_of(const std::string& file) {
  const test::VcdFacts facts = test::check_vcd(base::read_text(file), "clock_generator.clock");
  REQUIRE(facts.error == "");
  return facts;
}

std::uint64_t stat(const assembly::SimulationResult& r, const std::string& module, const std::string& name) {
  return r.stats.at(module).at(name).get<std::uint64_t>();
}

}  // namespace

TEST_CASE("value change dump: the signals of a run say what its statistics say") {
  assembly::Recording recording;
  recording.vcd_file = "whole.vcd";
  const auto r = test::record_run(test::mixed_trace("vcd_whole"), recording);
  test::require_clean(r);
  const auto f = vcd_facts_of("whole.vcd");
  REQUIRE(f.edges == r.cycles + 1);
  REQUIRE(f.ones("sm0.scheduler", ".issue_valid") == r.warp_instructions);
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    const auto reason = static_cast<protocol::Stall>(s);
    if (reason == protocol::Stall::idle) continue;
    std::uint64_t cycles = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const auto& values = f.samples.at("sm0.scheduler" + std::to_string(i) + ".stall");
      if (values.count(s) != 0) cycles += values.at(s);
    }
    INFO(protocol::to_string(reason));
    REQUIRE(cycles == r.stall_cycles[s]);
  }
  REQUIRE(f.ones("sm0.operands.read_bank", "_valid") == stat(r, "sm0.register_file", "reads"));
  REQUIRE(f.ones("sm0.operands.write", "_valid") == stat(r, "sm0.register_file", "writes"));
  REQUIRE(f.sum("sm0.operands.write_count") == stat(r, "sm0.register_file", "writes"));
  REQUIRE(f.ones("sm0.memory.request_valid", "") == stat(r, "sm0.pipeline.lsu", "requests"));
  REQUIRE(f.sum("sm0.units.sp_count") == stat(r, "sm0.pipeline.execution", "sp_instructions"));
  REQUIRE(f.sum("sm0.units.sfu_count") == stat(r, "sm0.pipeline.execution", "sfu_instructions"));
  REQUIRE(f.sum("sm0.units.lsu_count") == stat(r, "sm0.pipeline.execution", "lsu_instructions"));
  REQUIRE(f.sum("sm0.warps_at_barrier") > 0);
  // All of it is over at the end.
  REQUIRE(f.samples.at("sm0.resident_ctas").count(0) == 1);
}

TEST_CASE("value change dump: banks of two read ports show what passes each") {
  assembly::MachineConfig machine;
  machine.register_file.ports = "2r1w";
  machine.register_file.banks = 2;
  assembly::Recording recording;
  recording.vcd_file = "two_ports.vcd";
  const auto r = test::record_run(test::mixed_trace("vcd_two_ports"), recording, machine);
  test::require_clean(r);
  const auto f = vcd_facts_of("two_ports.vcd");
  REQUIRE(f.ones("sm0.operands.read_bank", "_valid") == stat(r, "sm0.register_file", "reads"));
  for (const char* port : {"_port0_valid", "_port1_valid"}) REQUIRE(f.ones("sm0.operands.read_bank", port) > 0);
}

TEST_CASE("value change dump: a window holds what lies in it") {
  assembly::Recording recording;
  recording.vcd_file = "window.vcd";
  recording.vcd_cycles = recorders::parse_window("300:399", "--w");
  const auto r = test::record_run(test::mixed_trace("vcd_window"), recording, {}, 2);
  test::require_clean(r);
  const auto f = vcd_facts_of("window.vcd");
  REQUIRE(f.edges == 100);
  const auto period = static_cast<std::uint64_t>(1e6 / assembly::MachineConfig{}.clock_mhz + 0.5);
  REQUIRE(f.first_time == 300 * period);
  REQUIRE(f.last_time == 400 * period);
  // What was known before is there from the first cycle on.
  REQUIRE(f.samples.at("sm0.resident_ctas").at(6) == 100);
  REQUIRE(f.samples.at("sm1.resident_ctas").at(6) == 100);
  // Double precision was never used: never known.
  REQUIRE(f.samples.at("sm0.units.dp_warp").at(-1) == 100);
}

TEST_CASE("value change dump: a window after the end") {
  assembly::Recording recording;
  recording.vcd_file = "after.vcd";
  recording.vcd_cycles = recorders::parse_window("100000000:100000009", "--w");
  test::require_clean(test::record_run(test::mixed_trace("vcd_after"), recording));
  REQUIRE(vcd_facts_of("after.vcd").edges == 0);
}

TEST_CASE("value change dump: the writer") {
  {
    support::VcdWriter w("writer.vcd", "1 ns");
    w.scope("a");
    const auto clock = w.add("clock");
    w.scope("b");
    const auto wide = w.add("wide", 64);
    const auto nibble = w.add("nibble", 4);
    w.up();
    w.up();
    // More signals than one character can name.
    for (unsigned i = 0; i < 9000; ++i) w.add("s" + std::to_string(i), 1 + i % 3);
    w.set(wide, UINT64_MAX);
    w.write(10);
    w.set(clock, 1);
    w.set(nibble, 3);
    w.set(nibble, 0x15);  // the last counts, as far as it fits
    w.write(11);
    w.set(nibble, 5);  // no change
    w.write(12);
    w.set(wide, 0);
    REQUIRE_THROWS_AS(w.write(11), std::logic_error);
    REQUIRE_THROWS_AS(w.add("late"), std::logic_error);
    REQUIRE_FALSE(std::filesystem::exists("writer.vcd"));
    w.finish(20);
  }
  const std::string text = base::read_text("writer.vcd");
  const auto f = test::check_vcd(text, "a.clock");
  REQUIRE(f.error == "");
  REQUIRE(f.first_time == 10);
  REQUIRE(f.last_time == 20);
  REQUIRE(f.samples.at("a.b.nibble").at(5) == 1);
  REQUIRE(f.samples.at("s8999").at(-1) == 1);
  REQUIRE(text.find("#12") == std::string::npos);
  std::filesystem::remove("writer.vcd");
}

TEST_CASE("value change dump: the checker sees what is wrong") {
  const std::string good =
      "$timescale 1 ps $end\n$var wire 1 ! clock $end\n$var wire 4 \" n [3:0] $end\n$enddefinitions $end\n"
      "#0\n$dumpvars\n0!\nbx \"\n$end\n#5\n1!\nb101 \"\n";
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return test::check_vcd(text, "clock").error;
  };
  REQUIRE(test::check_vcd(good, "clock").error == "");
  CHECK(error("#5", "#0") == "line 10: time does not move forward");
  CHECK(error("bx \"\n", "") == "line 8: $dumpvars leaves out n");
  CHECK(error("b101 \"", "b10101 \"") == "line 12: a value of another width: n");
  CHECK(error("b101 \"", "b101 #") == "line 12: identifier # is not declared");
  CHECK(error("1!", "0!") == "line 11: clock is written without a change");
  CHECK(error("\" n", "! n") == "line 3: identifier ! used twice");
  CHECK(error("$timescale 1 ps $end\n", "") == "line 3: no $timescale");
}
