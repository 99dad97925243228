// SPDX-License-Identifier: Apache-2.0
//
// Random machines with sub-cores and random programs: each runs with a scoreboard and by control bits that the compiler
// made for the machine's latencies. Every operand is the emulator's, so what is stored is too.
//
// REGATTA_SUB_CORES_RUNS says how many pairs, REGATTA_SEED which; REGATTA_SUB_CORES_RUN runs one of them alone, and
// leaves its trace in the current folder.
#include <regatta/test/catch.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dice.h"
#include "kernel_references.h"
#include "kernels.h"
#include "random_machine.h"
#include "random_program.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace random_sub_cores {
namespace {

/// A machine, and what the compiler is told of it.
class Pair {
 public:
  explicit Pair(test::Dice& dice) : dice_(dice), machine_(dice, options(dice)) {
    lay_out();
    vary_latencies();
    vary_memory();
    machine_.set("register_file.read_ports", dice_.any({"0", "1", "2", "3"}));
    machine_.maybe("register_file.write_queue", {"1", "2", "8"});
    machine_.maybe("quantum", {"1", "100"});
    machine_.maybe("sms", {"1", "2"});
  }

  std::string annotate(const Folder& folder, const std::string& launch) {
    tool::AnnotateOptions o;
    o.launch = launch;
    o.out = folder.file("k.rgt");
    o.target = target = dice_.any({"generic", "sm_90"});
    o.annotations.emplace();
    o.pass_options["control-latencies"] = counted_on;
    tool::annotate(o);
    return o.out;
  }

  void run_by_scoreboard(const Folder& folder, const std::string& trace) {
    test::RandomMachine m = machine_;
    m.set("scheduler", dice_.any({"gto", "lrr", "two_level", "cggty"}));
    m.maybe("scoreboard.release", {"retirement"});
    m.maybe("scoreboard.readers", {"all"});
    m.maybe("scoreboard.war_consumers", {"1", "2", "3", "7"});
    m.maybe("register_file.cache", {"true"});
    completed += m.run(folder, trace, {}) ? 1 : 0;
  }
  void run_by_control_bits(const Folder& folder, const std::string& trace) {
    test::RandomMachine m = machine_;
    m.set("sm.dependences", "control_bits");
    m.set("scheduler", dice_.any({"gto", "lrr", "two_level", "cggty"}));
    m.set("register_file.cache", dice_.any({"true", "false"}));
    completed += m.run(folder, trace, {}) ? 1 : 0;
  }

  std::string target, counted_on;
  unsigned completed = 0;

 private:
  unsigned number(unsigned from, unsigned to) { return from + static_cast<unsigned>(dice_.below(to - from + 1)); }
  void set(const std::string& name, unsigned value) { machine_.set(name, std::to_string(value)); }

  static std::vector<std::string> options(test::Dice& dice) {
    std::vector<std::string> options{"--machine", "h100"};
    // Several requests to the L1 in a cycle are not a handshake of TLM-2.0.
    if (dice.one_in(2)) options.insert(options.end(), {"--check-protocol", "--l1.tags", "1"});
    return options;
  }

  void lay_out() {
    const unsigned sub_cores = 1u << dice_.below(3);
    machine_.set("sm.operand_path", "sub_core");
    set("sm.schedulers", sub_cores);
    set("sm.sub_cores", sub_cores);
    set("register_file.banks", 2 * sub_cores);
    machine_.set("register_file.mapping", "sub_core_register");
    machine_.set("register_file.ports", dice_.any({"1r1w", "2r1w"}));
    const bool kinds = dice_.one_in(3);
    set("unit.alu", kinds ? sub_cores : 0);
    if (kinds) machine_.set("unit.alu_kinds", dice_.any({"logic", "integer"}));
    set("unit.sp", sub_cores * number(1, 2));
    lanes_ = dice_.any({8u, 16u, 32u});
    set("unit.sp_lanes", lanes_);
    machine_.maybe("sm.ctas", {"1", "2", "5"});
    machine_.maybe("sm.warps", {"8", "16"});
    machine_.maybe("fetch.width", {"1", "4"});
    machine_.maybe("fetch.buffer_entries", {"4", "16"});
    window_ = dice_.one_in(3) ? number(1, 6) : 3;
    set("sub_core.window", window_);
    machine_.maybe("sub_core.result_queue", {"1", "2", "4"});
    machine_.maybe("sub_core.memory_queue", {"1", "2", "16"});
    machine_.maybe("sub_core.unit_queue", {"1", "4"});
  }

  /// Of fixed latency: what the machine takes, and what the compiler counts on, which may be more.
  void vary_latencies() {
    // The control bits cover a window that one bank makes longer: up to three registers of it.
    const unsigned longer = window_ < 3 ? 3 - window_ : 0;
    const unsigned passes = 32 / lanes_;
    const bool slack = dice_.one_in(2), equal = dice_.one_in(2);
    unsigned most = 0, most_float = 0, constant = 0;
    for (const char* name : {"int_add", "int_max", "int_mul", "int_mad", "int64", "convert", "constant_load",
                             "fp32_add", "fp32_max", "fp32_mul", "fp32_mad"}) {
      const unsigned takes = equal ? std::max(4u, passes) : number(std::max(passes, 1u), 8);
      const unsigned counts = takes + longer + (slack ? number(0, 3) : 0);
      set(std::string("latency.") + name, takes);
      count_on(name, counts);
      most = std::max(most, takes);
      if (std::string(name).rfind("fp32", 0) == 0) most_float = std::max(most_float, takes);
      if (std::string(name) == "constant_load") constant = takes;
    }
    const unsigned predicate = number(most, 11);
    set("latency.predicate", dice_.one_in(3) ? 0 : predicate);
    count_on("predicate", predicate + longer);
    count_on("half", most_float + longer);
    count_on("constant_pair", constant + longer + (slack ? number(0, 3) : 0));
    for (const char* name : {"sfu", "shuffle", "fp32_div", "int_div", "fp64_add", "fp64_mad", "fp64_div"}) {
      if (dice_.one_in(2)) set(std::string("latency.") + name, number(1, 40));
    }
    machine_.maybe("initiation.int64", {"1", "2", "4"});
    machine_.maybe("initiation.constant_word", {"0", "1", "4"});
  }

  void vary_memory() {
    machine_.maybe("sub_core.memory_latency", {"6", "7", "30"});
    machine_.maybe("sub_core.memory_interval", {"1", "2", "9"});
    machine_.maybe("sub_core.memory_sm_interval", {"1", "3"});
    machine_.maybe("shared.latency", {"1", "5", "60"});
    machine_.maybe("l1.hit_latency", {"1", "9", "80"});
    machine_.maybe("l1.data_policy", {"cache", "bypass"});
    machine_.maybe("l1.miss_queue", {"2", "16"});
    machine_.maybe("l2.latency", {"60", "400"});
    machine_.maybe("dram.latency", {"200", "900"});
    machine_.maybe("lsu.queue", {"1", "2", "64"});
    machine_.maybe("lsu.lanes", {"8", "16"});
    machine_.maybe("icache.size_bytes", {"1024", "4096"});
    machine_.maybe("constant_cache.enabled", {"true", "false"});
  }

  void count_on(const std::string& name, unsigned cycles) {
    counted_on += (counted_on.empty() ? "" : ",") + name + "=" + std::to_string(std::min(cycles, 14u));
  }

  test::Dice& dice_;
  test::RandomMachine machine_;
  unsigned lanes_ = 32, window_ = 3;
};

/// A program of the suite of kernels or a random one; the number of runs that completed, of two. `kept`: what the trace
/// is kept as; empty: it is not.
unsigned run_pair(test::Dice& dice, const std::string& kept) {
  static const std::vector<std::string> kernels{"vector_add", "bfs",       "hotspot", "needleman_wunsch",
                                                "sgemm",      "reduction", "spmv",    "histogram"};
  const Folder folder;
  std::string launch;
  if (dice.one_in(8)) {
    launch = test::launch_path(dice.any(kernels), test::Size::small);
  } else {
    launch = test::random_program(folder, dice.below(1u << 30), 1 + static_cast<unsigned>(dice.below(4)));
  }
  Pair pair(dice);
  const std::string trace = pair.annotate(folder, launch);
  if (!kept.empty()) std::filesystem::copy_file(trace, kept, std::filesystem::copy_options::overwrite_existing);
  CAPTURE(launch, pair.target, pair.counted_on);
  pair.run_by_scoreboard(folder, trace);
  pair.run_by_control_bits(folder, trace);
  return pair.completed;
}

void run_pairs(std::uint64_t from, std::uint64_t count) {
  const std::uint64_t runs = test::from_environment("REGATTA_SUB_CORES_RUNS", count);
  const std::uint64_t seed = test::from_environment("REGATTA_SEED", 1);
  const std::uint64_t alone = test::from_environment("REGATTA_SUB_CORES_RUN", UINT64_MAX);
  for (std::uint64_t run = from; run < from + runs; ++run) {
    if (alone != UINT64_MAX && run != alone) continue;
    INFO("seed " << seed << ", pair " << run << "; alone: REGATTA_SEED=" << seed << " REGATTA_SUB_CORES_RUN=" << run
                 << " test_random_sub_cores \"random machines and programs on sub-cores*\"");
    test::Dice dice(seed * 1000003 + run);
    const std::string kept =
        alone == UINT64_MAX ? "" : "sub_cores_" + std::to_string(seed) + "_" + std::to_string(run) + ".rgt";
    CHECK(run_pair(dice, kept) == 2);
  }
}

/// On the machine of today, as code of a target.
void check_kernel(const std::string& kernel, const std::string& target) {
  CAPTURE(kernel, target);
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, test::Size::small);
  o.out = folder.file("k.rgt");
  o.target = target;
  o.annotations.emplace();
  o.pass_options["control"] = "on";
  tool::annotate(o);
  const std::vector<std::string> machine{"--machine", "h100"};
  test::statistics_of(folder, o.out, machine);
  std::vector<std::string> by_control_bits = machine;
  by_control_bits.insert(by_control_bits.end(),
                         {"--sm.dependences", "control_bits", "--scheduler", "cggty", "--register_file.cache", "true"});
  test::statistics_of(folder, o.out, by_control_bits);
}

}  // namespace
}  // namespace random_sub_cores

TEST_CASE("all kernels on h100 with sub-cores, by scoreboard and by control bits", REGATTA_MORE) {
  for (const std::string& kernel : test::kernel_names()) {
    for (const char* target : {"generic", "sm_90"}) random_sub_cores::check_kernel(kernel, target);
  }
}

TEST_CASE("random machines and programs on sub-cores") { random_sub_cores::run_pairs(0, 20); }
TEST_CASE("random machines and programs on sub-cores, 100 from 20", REGATTA_MORE) {
  random_sub_cores::run_pairs(20, 100);
}
TEST_CASE("random machines and programs on sub-cores, 100 from 120", REGATTA_MORE) {
  random_sub_cores::run_pairs(120, 100);
}
TEST_CASE("random machines and programs on sub-cores, 100 from 220", REGATTA_MORE) {
  random_sub_cores::run_pairs(220, 100);
}
