// SPDX-License-Identifier: Apache-2.0
//
// Every kernel on every machine, under every scheduler, on one SM and on four: every operand checked, nothing lost, no
// deadlock. The program checks its own conservation laws and would end with another status.
#include <regatta/assembly/machine.h>
#include <regatta/baseline/schedulers.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace {

struct Machine {
  std::string name;
  unsigned warp_size;
};

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all{{"gtx480", 32}, {"gtx980", 32},    {"k20x", 32},      {"hd7770", 64},
                                        {"h100", 32},   {"rtx_a6000", 32}, {"rtx_2080ti", 32}};
  return all;
}

std::uint64_t traced_instructions(const std::string& trace) {
  const trace::Reader reader(trace);
  std::uint64_t count = 0;
  for (const trace::Launch& launch : reader.launches()) count += launch.warp_instructions;
  return count;
}

void check_everywhere(const std::string& kernel) {
  const Folder folder;
  for (const Machine& machine : machines()) {
    const std::string trace = test::annotate_kernel(folder, kernel, test::Size::small, machine.warp_size);
    const std::uint64_t instructions = traced_instructions(trace);
    for (const std::string& scheduler : models::scheduler_names()) {
      for (const std::string sms : {"1", "4"}) {
        CAPTURE(machine.name, scheduler, sms);
        const auto run = test::run_process({REGATTA_SIM, trace, "--machine", machine.name, "--scheduler", scheduler,
                                            "--sms", sms, "--stats", folder.file("stats.json")});
        INFO(run.err);
        REQUIRE(run.status == 0);
        const auto stats = nlohmann::json::parse(folder.read("stats.json"));
        REQUIRE(stats.at("ending") == "completed");
        REQUIRE(stats.at("warp_instructions") == instructions);
        REQUIRE(stats.at("checks").at("mismatches") == 0);
        REQUIRE(stats.at("checks").at("operands_checked") > 0);
        // Every scheduler and cycle of every SM has one reason: issued, or one of the stalls.
        std::uint64_t issued = 0;
        for (const auto& [path, group] : stats.at("stats").items()) {
          if (group.contains("issue_cycles")) issued += group.at("issue_cycles").get<std::uint64_t>();
        }
        std::uint64_t reasons = issued;
        for (const auto& [reason, cycles] : stats.at("stall_cycles").items()) {
          if (cycles.is_number()) reasons += cycles.get<std::uint64_t>();
        }
        const auto schedulers = stats.at("config").at("sm.schedulers").get<std::uint64_t>();
        REQUIRE(reasons == stats.at("cycles").get<std::uint64_t>() * schedulers * std::stoul(sms));
      }
    }
  }
}

}  // namespace

TEST_CASE("every machine is here") {
  for (const std::string& name : assembly::machine_names()) {
    // Variants of gtx480 and gtx980.
    if (name.rfind("fermi", 0) == 0 || name.rfind("finereg", 0) == 0 || name == "regless") continue;
    CAPTURE(name);
    bool found = false;
    for (const Machine& machine : machines()) found = found || machine.name == name;
    CHECK(found);
  }
  CHECK(models::scheduler_names().size() == 5);
}

TEST_CASE("vector_add on every machine", REGATTA_MORE) { check_everywhere("vector_add"); }
TEST_CASE("sgemm on every machine", REGATTA_MORE) { check_everywhere("sgemm"); }
TEST_CASE("hotspot on every machine", REGATTA_MORE) { check_everywhere("hotspot"); }
TEST_CASE("bfs on every machine") { check_everywhere("bfs"); }
TEST_CASE("pathfinder on every machine", REGATTA_MORE) { check_everywhere("pathfinder"); }
TEST_CASE("needleman_wunsch on every machine", REGATTA_MORE) { check_everywhere("needleman_wunsch"); }
TEST_CASE("srad on every machine", REGATTA_MORE) { check_everywhere("srad"); }
TEST_CASE("stencil3d on every machine", REGATTA_MORE) { check_everywhere("stencil3d"); }
TEST_CASE("spmv on every machine", REGATTA_MORE) { check_everywhere("spmv"); }
TEST_CASE("black_scholes on every machine", REGATTA_MORE) { check_everywhere("black_scholes"); }
TEST_CASE("histogram on every machine", REGATTA_MORE) { check_everywhere("histogram"); }
TEST_CASE("reduction on every machine") { check_everywhere("reduction"); }
