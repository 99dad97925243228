// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of traces/kernels under FineReg with files so small that registers move, at two of five splits between
// active and pending registers, with all operands checked. And random machines under the schemes that switch CTAs.
//
// REGATTA_FINEREG_SPLITS=5 runs all splits. REGATTA_FINEREG_RUNS says how many random runs, REGATTA_SEED which.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dice.h"
#include "kernel_references.h"
#include "kernels.h"
#include "process.h"
#include "random_machine.h"
#include "random_program.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace finereg_kernels {
namespace {

/// FineReg's tags have room for 63 registers.
std::string annotate(const Folder& folder, const std::string& launch) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k.rgt");
  o.max_registers = 63;
  tool::annotate(o);
  return o.out;
}

/// Registers of all warps of a CTA, of the launch that has the most.
unsigned rows_of_cta(const std::string& path) {
  const trace::Reader reader(path);
  unsigned most = 0;
  for (const trace::Launch& l : reader.launches()) {
    const unsigned registers = (reader.kernels()[l.kernel].registers_per_thread + 7) / 8 * 8;
    most = std::max(most, registers * l.warps_per_cta(32));
  }
  return most;
}

/// Splits of four CTAs' registers, from 1 : 3 (64 and 192 KB of 256) to 3 : 1.
void check_splits(const std::string& kernel) {
  const Folder folder;
  const std::string trace = annotate(folder, test::launch_path(kernel, test::Size::small));
  const unsigned rows = rows_of_cta(trace);
  // The smallest active file moves the most.
  std::vector<unsigned> halves{2, 3 + static_cast<unsigned>(std::hash<std::string>{}(kernel) % 4)};
  if (test::from_environment("REGATTA_FINEREG_SPLITS", 2) == 5) halves = {2, 3, 4, 5, 6};
  for (const unsigned half : halves) {
    const unsigned active = std::max(16u, rows * half / 2);
    INFO(kernel << ": " << active << " active registers, a CTA has " << rows);
    const auto stats = test::statistics_of(
        folder, trace,
        {"--machine", "finereg", "--scheme", "finereg", "--check-protocol", "--finereg.active_registers",
         std::to_string(active), "--finereg.pending_registers", std::to_string(std::max(1u, 4 * rows - active))});
    const auto& moved = stats.at("stats").at("finereg");
    CHECK(moved.at("moved_out") == moved.at("moved_in"));
    // No CTA that is ready waits as long as the program runs.
    CHECK(stats.at("stats").at("residency").at("longest_wait").get<double>() < stats.at("cycles").get<double>() / 1.2);
  }
}

/// One random machine; false: not one CTA fits on it.
bool run_random(test::Dice& dice) {
  static const std::vector<std::string> kernels{
      "atax",       "backprop",      "bfs",       "black_scholes", "btree",
      "dct8x8",     "fdtd2d",        "fft",       "histogram",     "hotspot",
      "lavamd",     "lbm",           "lud",       "scan",          "nearest_neighbour",
      "pathfinder", "sad",           "sgemm",     "reduction",     "spmv",
      "srad",       "streamcluster", "vector_add"};
  const Folder folder;
  std::string launch = test::launch_path(dice.any(kernels), test::Size::small);
  if (dice.one_in(3)) {
    launch = test::random_program(folder, dice.below(1u << 30), 4 + static_cast<unsigned>(dice.below(12)));
  }
  const std::string trace = annotate(folder, launch);
  const unsigned rows = rows_of_cta(trace);
  const std::string scheme = dice.any({"virtual_thread", "finereg", "finereg", "finereg"});
  const bool pays_by_half = dice.one_in(2);
  test::RandomMachine m(
      dice, {"--scheme", scheme, "--machine", dice.any({"finereg", "finereg", "gtx980"}), "--check-protocol"});
  const unsigned active = std::max(32u, rows * static_cast<unsigned>(2 + dice.below(7)) / 2);
  if (scheme == "virtual_thread") {
    m.set("register_file.registers", std::to_string(active * 2));
  } else {
    m.set("finereg.active_registers", std::to_string(active));
    const unsigned pending = pays_by_half ? rows / 2 : rows * static_cast<unsigned>(1 + dice.below(8));
    m.set("finereg.pending_registers", std::to_string(std::max(1u, dice.one_in(10) ? 5 : pending)));
    m.maybe("rmu.vector_entries", {"1", "3", "32", "256"});
    m.maybe("rmu.entry_latency", {"1", "2", "30"});
  }
  m.maybe("switching.stall_cycles", {"1", "2", "20", "400"});
  m.maybe("switching.latency", {"0", "1", "100"});
  m.maybe("switching.max_ctas", {"1", "3", "20"});
  m.maybe("switching.max_warps", {"16", "64", "200"});
  m.maybe("switching.entry_bytes", {"1", "40"});
  m.maybe("switching.context_entries", {"1", "20"});
  m.maybe("switching.launch_first", {"true", "false"});
  m.maybe("sm.ctas", {"1", "2", "5"});
  m.maybe("scheduler", {"lrr", "gto", "two_level"});
  m.maybe("sm.schedulers", {"1", "2"});
  m.maybe("l1.data_policy", {"cache", "bypass"});
  m.maybe("lookup-delay", {"1", "7", "40"});
  m.maybe("sms", {"1", "2"});
  m.vary_pipeline();
  CAPTURE(launch);
  return m.run(folder, trace, {"not one CTA fits on this machine"}).has_value();
}

}  // namespace

TEST_CASE("kernels under FineReg, splits of the register file") {
  const std::size_t one_of = test::times(6, 1);
  const auto kernels = test::kernels_for_all_machines();
  for (std::size_t i = 0; i < kernels.size(); i += one_of) check_splits(kernels[i]);
}

TEST_CASE("random machines switch CTAs") {
  const std::uint64_t runs = test::from_environment("REGATTA_FINEREG_RUNS", test::times(8, 20));
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  std::uint64_t completed = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    test::Dice dice(seed * 1000003 + run);
    INFO("seed " << seed << " run " << run);
    completed += run_random(dice) ? 1 : 0;
  }
  CHECK(4 * completed > 3 * runs);
}

}  // namespace finereg_kernels
