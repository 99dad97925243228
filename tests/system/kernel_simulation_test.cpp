// SPDX-License-Identifier: Apache-2.0
//
// The kernels of traces/kernels on the baseline machine: every operand checked, nothing lost, the same result twice.
#include <regatta/assembly/simulation.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>
#include <set>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::Size;

namespace {

/// What a run must report, counted from the trace by itself.
struct Counts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t operands = 0;  ///< distinct source registers, over all executed instructions
};

Counts count(const std::string& path) {
  const trace::Reader reader(path);
  Counts c;
  std::vector<std::vector<unsigned>> reads;
  for (const trace::Kernel& k : reader.kernels()) {
    reads.emplace_back();
    for (const trace::StaticInstruction& i : k.instructions) {
      const std::set<unsigned> distinct(i.sources.begin(), i.sources.begin() + i.source_count);
      reads.back().push_back(static_cast<unsigned>(distinct.size()));
    }
  }
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    const std::uint32_t kernel = reader.launches()[cta->launch].kernel;
    for (const trace::WarpColumns& warp : cta->warps) {
      trace::WarpCursor cursor(reader.kernels()[kernel], warp);
      while (cursor.next()) {
        ++c.warp_instructions;
        c.thread_instructions += static_cast<unsigned>(__builtin_popcountll(cursor.active_mask()));
        c.operands += reads[kernel][cursor.index()];
      }
    }
  }
  return c;
}

void check_kernel(const std::string& kernel, const std::string& scheduler, Size size) {
  const Folder folder;
  const std::string path = test::annotate_kernel(folder, kernel, size);
  const Counts expected = count(path);

  assembly::MachineConfig machine;
  support::OptionSet knobs;
  machine.declare(knobs);
  std::string file;
  const std::string text = assembly::machine_text("gtx980", file);
  knobs.load_toml(text, file, "machine");
  knobs.set("sm.scheduler", scheduler, "test", "test");
  auto registry = assembly::SchemeRegistry::with_baseline();
  const trace::Reader reader(path);
  assembly::SimulationOptions options;
  options.check_protocol = size == Size::small;
  assembly::Simulation simulation(machine, registry.get("baseline"), options, reader);
  const assembly::SimulationResult r = simulation.run();

  INFO(r.message);
  REQUIRE(r.ending == assembly::Ending::completed);
  REQUIRE(r.mismatches == 0);
  REQUIRE(r.operands_checked == expected.operands);
  REQUIRE(r.warp_instructions == expected.warp_instructions);
  REQUIRE(r.thread_instructions == expected.thread_instructions);
  REQUIRE(r.launches.size() == reader.launches().size());
  std::uint64_t slots = 0;
  for (const std::uint64_t s : r.stall_cycles) slots += s;
  REQUIRE(r.stall_cycles[0] == expected.warp_instructions);
  // Every scheduler and cycle has one reason.
  REQUIRE(slots == r.cycles * machine.sm.schedulers);
  for (std::size_t i = 0; i < r.launches.size(); ++i) {
    REQUIRE(r.launches[i].warp_instructions == reader.launches()[i].warp_instructions);
    REQUIRE(r.launches[i].ctas == reader.launches()[i].cta_count);
  }
}

/// The statistics file of a run of the program.
std::string stats_text(const Folder& folder, const std::string& trace, const std::string& scheduler) {
  const auto run =
      test::run_process({REGATTA_SIM, trace, "--scheduler", scheduler, "--stats", folder.file("stats.json")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return folder.read("stats.json");
}

std::string without_host(const std::string& text) {
  const std::size_t host = text.find("\"host\"");
  REQUIRE(host != std::string::npos);
  const std::size_t end = text.find('}', host);
  REQUIRE(end != std::string::npos);
  return text.substr(0, host) + text.substr(end);
}

void check_repeats(const std::string& kernel, const std::string& scheduler) {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, kernel, Size::small);
  const std::string first = stats_text(folder, trace, scheduler);
  const std::string second = stats_text(folder, trace, scheduler);
  REQUIRE(without_host(first) == without_host(second));

  const auto document = nlohmann::json::parse(first);
  const Counts expected = count(trace);
  REQUIRE(document.at("ending") == "completed");
  REQUIRE(document.at("partial") == false);
  REQUIRE(document.at("machine") == "gtx980");
  REQUIRE(document.at("scheme") == "baseline");
  REQUIRE(document.at("config").at("sm.scheduler") == scheduler);
  REQUIRE(document.at("warp_instructions") == expected.warp_instructions);
  REQUIRE(document.at("thread_instructions") == expected.thread_instructions);
  REQUIRE(document.at("checks").at("operands_checked") == expected.operands);
  REQUIRE(document.at("checks").at("mismatches") == 0);
  REQUIRE(document.at("host").at("seconds").get<double>() > 0);
}

}  // namespace

// A SystemC program elaborates once: a case for each.
TEST_CASE("vector_add runs clean under gto", REGATTA_MORE) { check_kernel("vector_add", "gto", Size::small); }
TEST_CASE("vector_add runs clean under lrr", REGATTA_MORE) { check_kernel("vector_add", "lrr", Size::small); }
TEST_CASE("sgemm runs clean under gto") { check_kernel("sgemm", "gto", Size::small); }
TEST_CASE("sgemm runs clean under lrr") { check_kernel("sgemm", "lrr", Size::small); }
TEST_CASE("hotspot runs clean under gto", REGATTA_MORE) { check_kernel("hotspot", "gto", Size::small); }
TEST_CASE("hotspot runs clean under lrr", REGATTA_MORE) { check_kernel("hotspot", "lrr", Size::small); }
TEST_CASE("bfs runs clean under gto") { check_kernel("bfs", "gto", Size::small); }
TEST_CASE("bfs runs clean under lrr") { check_kernel("bfs", "lrr", Size::small); }
TEST_CASE("pathfinder runs clean under gto", REGATTA_MORE) { check_kernel("pathfinder", "gto", Size::small); }
TEST_CASE("pathfinder runs clean under lrr", REGATTA_MORE) { check_kernel("pathfinder", "lrr", Size::small); }
TEST_CASE("needleman_wunsch runs clean under gto", REGATTA_MORE) {
  check_kernel("needleman_wunsch", "gto", Size::small);
}
TEST_CASE("needleman_wunsch runs clean under lrr", REGATTA_MORE) {
  check_kernel("needleman_wunsch", "lrr", Size::small);
}
TEST_CASE("srad runs clean under gto", REGATTA_MORE) { check_kernel("srad", "gto", Size::small); }
TEST_CASE("srad runs clean under lrr", REGATTA_MORE) { check_kernel("srad", "lrr", Size::small); }
TEST_CASE("stencil3d runs clean under gto", REGATTA_MORE) { check_kernel("stencil3d", "gto", Size::small); }
TEST_CASE("stencil3d runs clean under lrr", REGATTA_MORE) { check_kernel("stencil3d", "lrr", Size::small); }
TEST_CASE("spmv runs clean under gto", REGATTA_MORE) { check_kernel("spmv", "gto", Size::small); }
TEST_CASE("spmv runs clean under lrr", REGATTA_MORE) { check_kernel("spmv", "lrr", Size::small); }
TEST_CASE("black_scholes runs clean under gto", REGATTA_MORE) { check_kernel("black_scholes", "gto", Size::small); }
TEST_CASE("black_scholes runs clean under lrr", REGATTA_MORE) { check_kernel("black_scholes", "lrr", Size::small); }
TEST_CASE("histogram runs clean under gto", REGATTA_MORE) { check_kernel("histogram", "gto", Size::small); }
TEST_CASE("histogram runs clean under lrr", REGATTA_MORE) { check_kernel("histogram", "lrr", Size::small); }
TEST_CASE("reduction runs clean under gto") { check_kernel("reduction", "gto", Size::small); }
TEST_CASE("reduction runs clean under lrr") { check_kernel("reduction", "lrr", Size::small); }

TEST_CASE("two runs write the same statistics: vector_add") {
  check_repeats("vector_add", "gto");
  check_repeats("vector_add", "lrr");
}
TEST_CASE("two runs write the same statistics: sgemm") {
  check_repeats("sgemm", "gto");
  check_repeats("sgemm", "lrr");
}
TEST_CASE("two runs write the same statistics: hotspot") {
  check_repeats("hotspot", "gto");
  check_repeats("hotspot", "lrr");
}
TEST_CASE("two runs write the same statistics: bfs") {
  check_repeats("bfs", "gto");
  check_repeats("bfs", "lrr");
}

#ifdef REGATTA_FULL_SIZE
// Four of the kernels, for time.
TEST_CASE("vector_add runs clean at full size", REGATTA_MORE) { check_kernel("vector_add", "gto", Size::full); }
TEST_CASE("sgemm runs clean at full size") { check_kernel("sgemm", "lrr", Size::full); }
TEST_CASE("hotspot runs clean at full size", REGATTA_MORE) { check_kernel("hotspot", "gto", Size::full); }
TEST_CASE("bfs runs clean at full size", REGATTA_MORE) { check_kernel("bfs", "lrr", Size::full); }
#endif
