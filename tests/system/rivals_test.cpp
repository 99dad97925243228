// SPDX-License-Identifier: Apache-2.0
//
// FineReg's comparators on the programs of its suite: registers in DRAM, a pool of registers, and a unified memory,
// with sizes so small that registers move and warps wait for sections. And random machines under these schemes.
//
// REGATTA_RIVALS=all runs every kernel of the suite under every setting. REGATTA_RIVALS_RUNS says how many random runs,
// REGATTA_SEED which.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dice.h"
#include "kernels.h"
#include "process.h"
#include "random_machine.h"
#include "random_program.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace finereg_rivals {
namespace {

using Options = std::vector<std::string>;

/// As FineReg's suite says, with register sets for RegMutex; base 0: chosen.
std::string annotate(const Folder& folder, const std::string& launch, unsigned base = 0, unsigned addresses = 32) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k" + std::to_string(base) + ".rgt");
  o.max_registers = 63;
  o.addresses = addresses;
  o.pass_options["regmutex-base"] = std::to_string(base);
  tool::annotate(o);
  return o.out;
}

struct Footprint {
  unsigned registers = 0;  ///< per thread, of the kernel that has the most
  unsigned rows = 0;       ///< registers of all warps of a CTA, of the launch that has the most
};

Footprint footprint_of(const std::string& path) {
  const trace::Reader reader(path);
  Footprint most;
  for (const trace::Launch& l : reader.launches()) {
    const unsigned registers = reader.kernels()[l.kernel].registers_per_thread;
    most.registers = std::max(most.registers, registers);
    most.rows = std::max(most.rows, (registers + 7) / 8 * 8 * l.warps_per_cta(32));
  }
  return most;
}

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options = {}) {
  const bool unified = scheme.size() >= 2 && scheme.compare(scheme.size() - 2, 2, "um") == 0;
  options.insert(options.end(),
                 {"--scheme", scheme, "--machine", unified ? "finereg_um" : "finereg", "--check-protocol"});
  return test::statistics_of(folder, trace, options);
}

double cycles(const nlohmann::json& stats) { return stats.at("cycles").get<double>(); }
double of(const nlohmann::json& stats, const std::string& group, const std::string& name) {
  return stats.at("stats").at(group).at(name).get<double>();
}

bool all() {
  const char* const value = std::getenv("REGATTA_RIVALS");
  return value != nullptr && std::string(value) == "all";
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !all()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string launch = test::launch_path(kernel, test::Size::small);
  const std::string trace = annotate(folder, launch);
  const Footprint of_cta = footprint_of(trace);
  // One CTA in the file, or one and a half, and others in DRAM.
  for (const unsigned half : all() ? std::vector<unsigned>{2, 3} : std::vector<unsigned>{2}) {
    const auto s = run(folder, trace, "reg_dram",
                       {"--register_file.registers", std::to_string(std::max(32u, of_cta.rows * half / 2))});
    CHECK(of(s, "reg_dram", "lines_written") >= of(s, "reg_dram", "lines_read"));
  }
  const unsigned half = std::max(4u, of_cta.registers / 2), most = std::max(2u, of_cta.registers - 4);
  for (const unsigned base : all() ? std::vector<unsigned>{0, half, most} : std::vector<unsigned>{0}) {
    const std::string annotated = annotate(folder, launch, base);
    for (const char* pool : {"64", "320"}) {
      const auto s = run(folder, annotated, "vt_regmutex", {"--regmutex.pool_registers", pool});
      CHECK(of(s, "vt_regmutex", "acquires") > 0);
    }
  }
  run(folder, trace, "um");
  run(folder, trace, "vt_um");
  run(folder, trace, "finereg_um", {"--finereg.active_registers", std::to_string(std::max(64u, of_cta.rows * 3 / 2))});
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  static const std::vector<std::string> kernels{
      "atax",  "bfs",   "fdtd2d", "hotspot",   "lbm",       "needleman_wunsch",
      "sgemm", "srad2", "syr2k",  "reduction", "histogram", "scan"};
  const Folder folder;
  std::string launch = test::launch_path(dice.any(kernels), test::Size::small);
  const bool made = dice.one_in(2);
  if (made) launch = test::random_program(folder, dice.below(1u << 30), 4 + static_cast<unsigned>(dice.below(12)));
  const unsigned base = dice.one_in(2) ? 0 : static_cast<unsigned>(1 + dice.below(24));
  const std::string trace = annotate(folder, launch, base, made ? 64 : 32);
  const Footprint of_cta = footprint_of(trace);
  const std::string scheme =
      dice.any({"reg_dram", "reg_dram", "vt_regmutex", "vt_regmutex", "um", "vt_um", "finereg_um"});
  const bool unified = scheme.compare(scheme.size() - 2, 2, "um") == 0;
  test::RandomMachine m(dice,
                        {"--scheme", scheme, "--machine", unified ? "finereg_um" : "finereg", "--check-protocol"});
  const auto rows = [&](unsigned least) {
    return std::to_string(std::max(least, of_cta.rows * static_cast<unsigned>(2 + dice.below(7)) / 2));
  };
  if (scheme == "reg_dram") {
    m.set("register_file.registers", rows(32));
    m.maybe("reg_dram.ctas", {"0", "1", "2", "16"});
    m.maybe("reg_dram.requests", {"1", "4", "256"});
    m.maybe("reg_dram.results", {"1", "2", "64"});
  } else if (scheme == "vt_regmutex") {
    m.set("register_file.registers", rows(160));
    m.set("regmutex.pool_registers", dice.any({"16", "32", "64", "150"}));
  } else {
    m.maybe("um.bytes", {"98304", "131072", "409600"});
    m.maybe("um.least_l1", {"8192", "65536"});
    if (scheme == "finereg_um") m.set("finereg.active_registers", rows(32));
  }
  if (scheme != "um") {
    m.maybe("switching.stall_cycles", {"1", "2", "20", "400"});
    m.maybe("switching.latency", {"0", "1", "100"});
    m.maybe("switching.max_ctas", {"1", "3", "20"});
    m.maybe("switching.launch_first", {"true", "false"});
  }
  m.maybe("sm.ctas", {"1", "2", "5"});
  m.maybe("scheduler", {"lrr", "gto", "two_level"});
  m.maybe("sm.schedulers", {"1", "2"});
  if (dice.one_in(3)) {
    m.set("l1.data_policy", "bypass");
  } else {
    m.maybe("l1.data_store", {"write_evict", "write_through", "write_back"});
  }
  m.maybe("sms", {"1", "2"});
  m.vary_pipeline();
  CAPTURE(launch, base);
  return m
      .run(folder, trace,
           {"not one CTA fits on this machine", "of the unified memory, which has", "regmutex.pool_registers"})
      .has_value();
}

}  // namespace

#define REGATTA_RIVALS(kernel, usually, tag) \
  TEST_CASE("rivals of FineReg: " #kernel, tag) { check_kernel(#kernel, usually); }
REGATTA_RIVALS(bfs, false, "")
REGATTA_RIVALS(bicg, false, REGATTA_MORE)
REGATTA_RIVALS(convolution_separable, false, REGATTA_MORE)
REGATTA_RIVALS(fdtd2d, true, "")
REGATTA_RIVALS(kmeans, false, REGATTA_MORE)
REGATTA_RIVALS(monte_carlo, true, REGATTA_MORE)
REGATTA_RIVALS(needleman_wunsch, false, REGATTA_MORE)
REGATTA_RIVALS(stencil3d, false, REGATTA_MORE)
REGATTA_RIVALS(syr2k, true, REGATTA_MORE)
REGATTA_RIVALS(atax, false, REGATTA_MORE)
REGATTA_RIVALS(cfd, false, REGATTA_MORE)
REGATTA_RIVALS(hotspot, true, "")
REGATTA_RIVALS(libor, false, REGATTA_MORE)
REGATTA_RIVALS(lbm, true, REGATTA_MORE)
REGATTA_RIVALS(sgemm, false, REGATTA_MORE)
REGATTA_RIVALS(srad2, false, REGATTA_MORE)
REGATTA_RIVALS(two_point_angular, false, REGATTA_MORE)
REGATTA_RIVALS(transpose, false, REGATTA_MORE)

TEST_CASE("rivals of FineReg: registers in DRAM for no CTA are Virtual Thread") {
  for (const char* const kernel : {"fdtd2d", "hotspot", "syr2k"}) {
    CAPTURE(kernel);
    const Folder folder;
    const std::string trace = annotate(folder, test::launch_path(kernel, test::Size::small));
    const auto without = run(folder, trace, "reg_dram", {"--reg_dram.ctas", "0"});
    const auto vt = run(folder, trace, "virtual_thread");
    CHECK(cycles(without) == cycles(vt));
    CHECK(of(without, "reg_dram", "switches") == of(vt, "virtual_thread", "switches"));
    CHECK(of(vt, "virtual_thread", "switches") > 0);
  }
}

TEST_CASE("rivals of FineReg: a program bound by registers gains nothing from Virtual Thread") {
  for (const char* const kernel : {"fdtd2d", "hotspot", "lbm", "syr2k"}) {
    CAPTURE(kernel);
    const Folder folder;
    const std::string trace = annotate(folder, test::launch_path(kernel, test::Size::small));
    const std::string registers = std::to_string(footprint_of(trace).rows * 2);  // of two CTAs
    const auto vt = run(folder, trace, "virtual_thread", {"--register_file.registers", registers});
    const auto baseline = run(folder, trace, "baseline", {"--register_file.registers", registers});
    CHECK(std::abs(cycles(vt) / cycles(baseline) - 1) < 0.01);
  }
}

TEST_CASE("rivals of FineReg: warps wait for sections of a small pool") {
  const Folder folder;
  const std::string trace = annotate(folder, test::launch_path("hotspot", test::Size::small));
  const auto small = run(folder, trace, "vt_regmutex", {"--regmutex.pool_registers", "64"});
  const auto large = run(folder, trace, "vt_regmutex", {"--regmutex.pool_registers", "576"});
  CHECK(of(small, "vt_regmutex", "acquires") == of(large, "vt_regmutex", "acquires"));
  CHECK(of(small, "vt_regmutex", "srp_stall_cycles") > 1000);
  CHECK(of(large, "vt_regmutex", "srp_stall_cycles") == 0);
  CHECK(of(small, "vt_regmutex", "hold_cycles") > 0);
  // One section for all.
  const auto one = run(folder, trace, "vt_regmutex", {"--regmutex.pool_registers", "5"});
  CHECK(cycles(one) > cycles(small));
}

// Warps that wait for sections must not fill the set of active warps, with the holders outside.
TEST_CASE("rivals of FineReg: holders of sections are scheduled by all policies") {
  const Folder folder;
  const std::string trace = annotate(folder, test::launch_path("syr2k", test::Size::small), 4);
  for (const char* const scheduler : {"lrr", "gto", "two_level"}) {
    CAPTURE(scheduler);
    const auto s = run(folder, trace, "vt_regmutex",
                       {"--regmutex.pool_registers", "64", "--register_file.registers", "768", "--sm.ctas", "2",
                        "--sm.schedulers", "1", "--scheduler", scheduler});
    CHECK(of(s, "vt_regmutex", "srp_stall_cycles") > 0);
  }
}

TEST_CASE("rivals of FineReg: a trace without register sets is refused by RegMutex") {
  const Folder folder;
  const std::string trace = test::execute_kernel(folder, "fdtd2d", test::Size::small);
  const auto r = test::run_process({REGATTA_SIM, trace, "--machine", "finereg", "--scheme", "vt_regmutex"});
  CHECK(r.status == 2);
  CHECK(r.err.find("its trace has no register sets (section 'regmutex'), which RegMutex needs: annotate it with "
                   "--for vt_regmutex\n") != std::string::npos);
}

TEST_CASE("rivals of FineReg: pools that do not fit are refused") {
  const Folder folder;
  const std::string trace = annotate(folder, test::launch_path("hotspot", test::Size::small), 8);
  const auto refused = [&](const Options& options) {
    Options command{REGATTA_SIM, trace, "--machine", "finereg", "--scheme", "vt_regmutex"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(refused({"--regmutex.pool_registers", "2048"})
            .find("regmutex.pool_registers = 2048, expected less than register_file.registers = 2048") !=
        std::string::npos);
  CHECK(
      refused({"--regmutex.pool_registers", "3"}).find("regmutex.pool_registers = 3, expected at least 5: a section") !=
      std::string::npos);
  // The base registers of one CTA do not fit beside the pool.
  CHECK(refused({"--regmutex.pool_registers", "2000"}).find("not one CTA fits on this machine, bound by registers") !=
        std::string::npos);
}

TEST_CASE("rivals of FineReg: random machines") { test::run_random_machines("REGATTA_RIVALS_RUNS", 15, 2, run_random); }

}  // namespace finereg_rivals
