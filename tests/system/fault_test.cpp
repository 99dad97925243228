// SPDX-License-Identifier: Apache-2.0
//
// One fault (--fault.*), a flipped bit or a lost, stale or swapped value, is found, in every scheme, where it was
// planted. fragment_faults_test.cpp plants many.
#include <regatta/test/catch.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;

namespace {

class FaultBench {
 public:
  FaultBench() {
    std::filesystem::rename(test::annotate_kernel(folder, "hotspot", test::Size::small), folder.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {REGATTA_SIM, "k.rgt"});
    test::ProcessOptions o;
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  const Folder folder;
};

/// The parts of what the tool says of a fault and of the mismatch that follows.
struct Told {
  std::string slot, reg, right, wrong, pc, cycle;              // planted
  std::string found_slot, found_reg, expected, got, at_cycle;  // found
};

Told told(const std::string& text) {
  static const std::regex planted(
      "fault planted: SM 0 warp slot (\\d+) register R(\\d+) lane 5 bit 12: (0x[0-9a-f]+) became (0x[0-9a-f]+) in a "
      "(?:write|read) of PC (0x[0-9a-f]+) at cycle (\\d+)");
  static const std::regex found(
      "value mismatch: kernel hotspot .*\\(slot (\\d+)\\) PC .* register R(\\d+) lanes 0x20: lane 5 expected "
      "(0x[0-9a-f]+) got (0x[0-9a-f]+) from .* at cycle (\\d+)");
  std::smatch p, f;
  INFO(text);
  REQUIRE(std::regex_search(text, p, planted));
  REQUIRE(std::regex_search(text, f, found));
  return {p[1], p[2], p[3], p[4], p[5], p[6], f[1], f[2], f[3], f[4], f[5]};
}

}  // namespace

TEST_CASE("a flipped bit of a register is found by the next instruction that reads it, whatever the scheme") {
  const FaultBench bench;
  for (const char* scheme : {"baseline", "regless", "wir", "greener", "rc", "argo"}) {
    for (const char* at : {"write", "read"}) {
      CAPTURE(scheme, at);
      const ProcessResult r =
          bench.sim({"--scheme", scheme, "--machine", "gtx980", "--fault.at", at, "--fault.cycle", "3000",
                     "--fault.lane", "5", "--fault.bit", "12", "--check-protocol", "--stats", "s.json"});
      CHECK(r.status == 3);
      const Told t = told(r.err);
      CHECK(t.found_slot == t.slot);
      CHECK(t.found_reg == t.reg);
      CHECK(t.expected == t.right);
      CHECK(t.got == t.wrong);
      CHECK((std::stoul(t.right, nullptr, 16) ^ std::stoul(t.wrong, nullptr, 16)) == 1u << 12);
      CHECK(std::stoul(t.cycle) >= 3000);
      CHECK(std::stoul(t.at_cycle) > std::stoul(t.cycle));
      const auto stats = nlohmann::json::parse(bench.folder.read("s.json"));
      CHECK(stats.at("ending") == "value_mismatch");
      CHECK(stats.at("fault").get<std::string>().find("became " + t.wrong) != std::string::npos);
    }
  }
}

TEST_CASE("a fault is planted in the warp, register and instruction that are named") {
  const FaultBench bench;
  const ProcessResult any = bench.sim({"--fault.at", "write", "--fault.lane", "5", "--fault.bit", "12"});
  const Told first = told(any.err);
  const std::string slot = first.slot == "7" ? "6" : "7";
  const ProcessResult r = bench.sim({"--fault.at", "write", "--fault.lane", "5", "--fault.bit", "12", "--fault.warp",
                                     slot, "--fault.register", "9", "--fault.pc", "0x40"});
  const Told t = told(r.err);
  CHECK(t.slot == slot);
  CHECK(t.reg == "9");
  CHECK(t.pc == "0x40");
  CHECK(told(bench
                 .sim({"--fault.at", "write", "--fault.lane", "5", "--fault.bit", "12", "--fault.warp", slot,
                       "--fault.register", "0x9", "--fault.pc", "64"})
                 .err)
            .cycle == t.cycle);
}

TEST_CASE("a fault that nobody notices, or that was not planted, is said; without one nothing changes") {
  const FaultBench bench;
  ProcessResult r = bench.sim({"--fault.at", "write", "--no-check", "--stats", "s.json"});
  CHECK(r.status == 0);
  CHECK(r.err.find("the fault was not noticed: operands are not compared (--no-check)") != std::string::npos);
  CHECK(nlohmann::json::parse(bench.folder.read("s.json")).contains("fault"));
  r = bench.sim({"--fault.at", "read", "--fault.cycle", "1000000000"});
  CHECK(r.status == 0);
  CHECK(r.err.find("no fault was planted: no transfer of the run fits the knobs fault.*") != std::string::npos);
  r = bench.sim({"--fault.cycle", "5", "--stats", "s.json"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK_FALSE(nlohmann::json::parse(bench.folder.read("s.json")).contains("fault"));
}

TEST_CASE("a lost write, a stale and a swapped operand are found") {
  const FaultBench bench;
  const auto found = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.end(), {"--fault.cycle", "3000", "--check-protocol", "--machine", "gtx980"});
    const ProcessResult r = bench.sim(arguments);
    INFO(r.err);
    CHECK(r.status == 3);
    std::smatch p, f;
    const std::regex planted("fault planted: SM 0 warp slot (\\d+) register R(\\d+): " + words +
                             ", other in lanes 0x[0-9a-f]*[1-9a-f][0-9a-f]*, in a ");
    const std::regex mismatch("value mismatch: kernel hotspot .*\\(slot (\\d+)\\) .* register R(\\d+) lanes ");
    REQUIRE(std::regex_search(r.err, p, planted));
    REQUIRE(std::regex_search(r.err, f, mismatch));
    CHECK(p[1] == f[1]);
    CHECK(p[2] == f[2]);
  };
  for (const char* scheme : {"baseline", "regless", "greener"}) {
    CAPTURE(scheme);
    found({"--scheme", scheme, "--fault.at", "write", "--fault.kind", "lost"}, "lost value");
    found({"--scheme", scheme, "--fault.at", "read", "--fault.kind", "stale"}, "stale value");
  }
}

TEST_CASE("faults that cannot be are refused") {
  const FaultBench bench;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const ProcessResult r = bench.sim(arguments);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.status == 2);
  };
  refused({"--fault.at", "reed"},
          "command line: fault.at: expected one of none, write, read, found 'reed'; did you mean 'read'?");
  refused({"--fault.pc", "0xg"},
          "configuration: fault.pc: found '0xg', expected any, or a number from 0 to 4294967295 (decimal, or "
          "hexadecimal as 0x1a0)");
  refused({"--fault.register", "256"},
          "configuration: fault.register: found '256', expected any, or a number from 0 to 254 (decimal, or "
          "hexadecimal as 0x1a0)");
  refused({"--fault.at", "read", "--fault.kind", "lost"},
          "configuration: fault.kind: found lost with fault.at = read, expected fault.at = write");
  refused({"--fault.at", "write", "--fault.kind", "stale"},
          "configuration: fault.kind: found stale with fault.at = write, expected fault.at = read");
  refused(
      {"--fault.at", "read", "--fault.kind", "swap", "--fault.register", "3"},
      "configuration: fault.kind: found swap of the registers '3' and 'any', expected two numbers in fault.register "
      "and fault.with");
  refused(
      {"--fault.at", "read", "--fault.kind", "swap", "--fault.register", "3", "--fault.with", "0x3"},
      "configuration: fault.kind: found swap of the registers '3' and '0x3', expected two numbers in fault.register "
      "and fault.with");
  refused({"--fault.at", "read", "--fault.sm", "1"},
          "configuration: fault.sm: found 1, expected less than the 1 simulated (--sms)");
  refused({"--fault.at", "read", "--replay"}, "--replay has no operand storage: nothing for --fault.at");
}
