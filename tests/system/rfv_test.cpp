// SPDX-License-Identifier: Apache-2.0
//
// RFV on the kernels: right values with files of a half, a third and a quarter, under each warp scheduler, with a
// bounded rename table, and on machines of one and four sub-cores and of 64 lanes. A file that holds one CTA is enough;
// a smaller one is refused, or spills registers if it holds one warp. And random machines.
//
// REGATTA_RFV=all runs every kernel. REGATTA_RFV_RUNS says how many random runs, REGATTA_SEED which.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/rfv.h>

#include <algorithm>
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

namespace rfv_kernels {
namespace {

using Options = std::vector<std::string>;

std::string annotate_rfv(const Folder& folder, const std::string& launch, unsigned table = 0, unsigned warp_size = 32,
                         unsigned addresses = 32) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k" + std::to_string(table) + "-" + std::to_string(warp_size) + ".rgt");
  o.max_registers = 63;
  o.addresses = addresses;
  o.warp_size = warp_size;
  o.pass_options["rfv"] = "on";
  if (table != 0) o.pass_options["rfv-table"] = std::to_string(table);
  tool::annotate(o);
  return o.out;
}

/// Rows that one CTA may have at once, of the launch that has the most, in each of `parts` parts of the file.
unsigned rows_of_cta(const std::string& path, unsigned warp_size = 32, unsigned parts = 1) {
  const trace::Reader reader(path);
  unsigned most = 0;
  for (const trace::Launch& l : reader.launches()) {
    const auto section = trace::find_rfv(reader.kernels()[l.kernel]);
    REQUIRE(section);
    most = std::max(most, section->most * ((l.warps_per_cta(warp_size) + parts - 1) / parts));
  }
  return most;
}

/// The same of one warp, with what else lies in a part.
unsigned rows_of_warp(const std::string& path) {
  const trace::Reader reader(path);
  unsigned most = 0;
  for (const trace::Kernel& k : reader.kernels()) {
    if (const auto section = trace::find_rfv(k); section) most = std::max(most, section->most);
  }
  return most;
}

nlohmann::json run(const Folder& folder, const std::string& trace, Options options = {},
                   const std::string& machine = "gtx980") {
  options.insert(options.end(), {"--scheme", "rfv", "--machine", machine, "--check-protocol"});
  return test::statistics_of(folder, trace, options);
}

double of(const nlohmann::json& stats, const std::string& name, const std::string& group = "rfv") {
  return stats.at("stats").at(group).at(name).get<double>();
}

bool every_kernel() {
  const char* const value = std::getenv("REGATTA_RFV");
  return value != nullptr && std::string(value) == "all";
}

void check_kernel(const std::string& kernel, bool usually) {
  if (!usually && !every_kernel()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string launch = test::launch_path(kernel, test::Size::small);
  const std::string trace = annotate_rfv(folder, launch), bounded = annotate_rfv(folder, launch, 8);
  const unsigned cta = rows_of_cta(trace);
  for (const char* share : {"0.5", "0.334", "0.25"}) {
    CAPTURE(share);
    // A part of a sub-core is a fourth of it, and holds a fourth of a CTA's warps.
    if (cta > 2048 * std::atof(share) - 16) continue;
    for (const char* scheduler : {"gto", "lrr", "two_level"}) {
      CAPTURE(scheduler);
      const auto s = run(folder, trace, {"--rfv.share", share, "--scheduler", scheduler});
      CHECK(of(s, "allocations") > 0);
      CHECK(of(s, "rows_max") <= 2048 * std::atof(share));
      CHECK(of(s, "rows_mean") <= of(s, "powered_rows_mean"));
    }
    run(folder, bounded, {"--rfv.share", share});
  }
  // One CTA's rows and no more.
  const std::string rows = std::to_string((cta + 3) / 4 * 4);
  const auto alone = run(
      folder, trace,
      {"--register_file.registers", rows, "--register_file.banks", "4", "--rfv.share", "1", "--rfv.metadata", "free"});
  CHECK(of(alone, "held_insertions", "sm0.pipeline") == of(alone, "inserted_instructions", "sm0.pipeline"));
}

/// Files from one warp's registers to three quarters of a CTA's.
void check_spills(const std::string& kernel, bool usually) {
  if (!usually && !every_kernel()) return;
  CAPTURE(kernel);
  const Folder folder;
  const std::string launch = test::launch_path(kernel, test::Size::small);
  const std::string trace = annotate_rfv(folder, launch);
  const unsigned cta = rows_of_cta(trace), warp = rows_of_warp(trace);
  for (const unsigned wanted : {warp, (warp + cta * 3 / 4) / 2, cta * 3 / 4}) {
    const unsigned rows = (wanted + 3) / 4 * 4;
    CAPTURE(cta, warp, rows);
    if (wanted < warp || rows >= cta) continue;  // CTAs of one warp
    for (const char* scheduler : {"gto", "lrr", "two_level"}) {
      CAPTURE(scheduler);
      const auto s = run(folder, trace,
                         {"--register_file.registers", std::to_string(rows), "--register_file.banks", "4",
                          "--rfv.share", "1", "--rfv.spill", "true", "--scheduler", scheduler});
      CHECK(of(s, "spilled") == of(s, "refilled"));
      CHECK(of(s, "rows_max") <= rows);
    }
  }
}

/// One random machine; false: the file does not hold a CTA, or a warp. `spilled` counts those that spill registers.
bool run_random(test::Dice& dice, unsigned& spilled) {
  static const std::vector<std::string> kernels{
      "atax",  "bfs",   "fdtd2d", "hotspot",   "lbm",       "needleman_wunsch",
      "sgemm", "srad2", "syr2k",  "reduction", "histogram", "scan"};
  const Folder folder;
  std::string launch = test::launch_path(dice.any(kernels), test::Size::small);
  const bool made = dice.one_in(2);
  if (made) launch = test::random_program(folder, dice.below(1u << 30), 4 + static_cast<unsigned>(dice.below(12)));
  const unsigned table = dice.one_in(3) ? 1 + static_cast<unsigned>(dice.below(20)) : 0;
  const bool wide = dice.one_in(6);
  const std::string trace = annotate_rfv(folder, launch, table, wide ? 64 : 32, made ? 64 : 32);
  const std::string machine = wide ? "hd7770" : dice.any({"gtx980", "gtx980", "gtx480", "k20x"});
  test::RandomMachine m(dice, {"--scheme", "rfv", "--machine", machine, "--check-protocol"});
  m.vary_pipeline();
  // From a little less than one CTA's rows to three of them, in banks of any number.
  const unsigned parts = dice.one_in(3) ? 4 : 1;
  const unsigned cta = std::max(8u, rows_of_cta(trace, wide ? 64 : 32, parts) * parts);
  const bool spills = dice.one_in(2);
  // With rfv.spill, from a little less than one warp's.
  const unsigned least = spills ? rows_of_warp(trace) * parts * 7 / 8 : cta * 7 / 8;
  const unsigned rows = least + static_cast<unsigned>(dice.below(spills ? 8 + dice.below(cta) : cta * 2));
  m.set("sm.sub_cores", parts == 4 ? "4" : dice.any({"1", "1", "4"}));
  m.set("register_file.banks", parts == 4 ? dice.any({"4", "8", "16"}) : dice.any({"1", "3", "4", "16"}));
  if (parts == 4) m.set("register_file.mapping", "sub_core");
  m.set("register_file.registers", std::to_string(spills ? rows : std::max(32u, rows)));
  m.set("rfv.share", "1");
  m.set("scheduler", dice.any({"gto", "lrr", "two_level"}));
  m.maybe("rfv.flag_cache_entries", {"0", "1", "3"});
  m.maybe("rfv.words", {"1", "2", "16"});
  m.maybe("rfv.admission", {"rows"});
  m.maybe("rfv.rename_cycles", {"0", "3"});
  m.maybe("rfv.subarray_rows", {"1", "4", "64"});
  m.maybe("rfv.metadata", {"fetched", "free"});
  if (spills) {
    m.set("rfv.spill", "true");
    m.maybe("rfv.spill_entries", {"1", "3"});
  } else {
    m.maybe("register_file.priority", {"fcfs", "read", "write"});
  }
  m.maybe("fetch.width", {"1", "2", "4"});
  m.maybe("fetch.buffer_entries", {"4", "8"});
  const auto stats = m.run(folder, trace,
                           {"RFV does not spill registers", "RFV spills registers of warps that wait",
                            "not one CTA fits", "exceeds register_file.registers", "leaves no row", "more than",
                            "expected a multiple", "sm.schedulers", "fetch."});
  if (spills && stats && of(*stats, "spilled") > 0) ++spilled;
  return stats.has_value();
}

}  // namespace

#define REGATTA_RFV_KERNEL(kernel, usually, tag)                      \
  TEST_CASE("rfv: " #kernel, tag) { check_kernel(#kernel, usually); } \
  TEST_CASE("rfv spills: " #kernel, tag) { check_spills(#kernel, usually); }
REGATTA_RFV_KERNEL(hotspot, true, "")
REGATTA_RFV_KERNEL(sgemm, true, REGATTA_MORE)
REGATTA_RFV_KERNEL(bfs, true, "")
REGATTA_RFV_KERNEL(needleman_wunsch, true, REGATTA_MORE)
REGATTA_RFV_KERNEL(srad2, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(stencil3d, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(bicg, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(convolution_separable, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(fdtd2d, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(kmeans, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(monte_carlo, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(syr2k, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(atax, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(cfd, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(libor, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(lbm, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(reduction, false, "")
REGATTA_RFV_KERNEL(histogram, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(black_scholes, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(pathfinder, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(spmv, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(vector_add, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(btree, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(backprop, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(dwt2d, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(gaussian, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(heartwall, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(hybridsort, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(lavamd, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(leukocyte, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(lud, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(suffix_match, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(myocyte, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(nearest_neighbour, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(particle_filter, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(srad, false, REGATTA_MORE)
REGATTA_RFV_KERNEL(streamcluster, false, REGATTA_MORE)

TEST_CASE("rfv: one sub-core and four, each with banks of its own, and wavefronts of 64 lanes") {
  const Folder folder;
  const std::string launch = test::launch_path("hotspot", test::Size::small);
  const std::string trace = annotate_rfv(folder, launch);
  for (const char* cores : {"1", "4"}) {
    CAPTURE(cores);
    const auto s = run(folder, trace, {"--sm.sub_cores", cores, "--register_file.mapping", "sub_core"});
    CHECK(of(s, "allocations") > 0);
  }
  CHECK(of(run(folder, annotate_rfv(folder, launch, 0, 64), {}, "hd7770"), "allocations") > 0);
}

TEST_CASE("rfv: the flag cache spares fetches, and words that are free cost no cycle of fetch") {
  const Folder folder;
  const std::string trace = annotate_rfv(folder, test::launch_path("sgemm", test::Size::small));
  const auto cached = run(folder, trace), without = run(folder, trace, {"--rfv.flag_cache_entries", "0"});
  const auto free = run(folder, trace, {"--rfv.metadata", "free"});
  CHECK(of(cached, "flag_cache_hits") > 0);
  CHECK(of(without, "flag_cache_hits") == 0);
  const auto fetched = [](const nlohmann::json& s) { return of(s, "fetched_instructions", "sm0.pipeline"); };
  CHECK(of(cached, "metadata_words") == of(without, "metadata_words"));
  CHECK(fetched(cached) + of(cached, "flag_cache_hits") == fetched(without));
  CHECK(fetched(free) + of(free, "metadata_words") == fetched(without));
}

TEST_CASE("rfv: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = annotate_rfv(folder, test::launch_path("hotspot", test::Size::small));
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "256", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace, {"--quantum", quantum, "--sms", "3", "--rfv.share", "0.25"});
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
}

TEST_CASE("rfv spills: nothing changes if the file holds a CTA") {
  const Folder folder;
  const std::string trace = annotate_rfv(folder, test::launch_path("hotspot", test::Size::small));
  const auto without = run(folder, trace, {"--rfv.share", "0.25"});
  const auto with = run(folder, trace, {"--rfv.share", "0.25", "--rfv.spill", "true"});
  CHECK(of(with, "refusals") > 0);
  CHECK(of(with, "refusals") == of(without, "refusals"));
  CHECK(with.at("cycles") == without.at("cycles"));
}

TEST_CASE("rfv spills: four sub-cores with banks of their own, wavefronts of 64 lanes, registers mapped directly") {
  const Folder folder;
  const std::string launch = test::launch_path("srad2", test::Size::small);
  const auto spills = [&](const std::string& trace, unsigned rows, Options options, const std::string& machine) {
    options.insert(options.end(), {"--register_file.registers", std::to_string(rows), "--register_file.banks", "4",
                                   "--rfv.share", "1", "--rfv.spill", "true"});
    const auto s = run(folder, trace, options, machine);
    CHECK(of(s, "spilled") > 0);
    return s;
  };
  const std::string trace = annotate_rfv(folder, launch), wide = annotate_rfv(folder, launch, 0, 64);
  const std::string bounded = annotate_rfv(folder, launch, 4);
  const unsigned warp = rows_of_warp(trace);
  spills(trace, 4 * warp, {"--sm.sub_cores", "4", "--register_file.mapping", "sub_core"}, "gtx980");
  // Four lines of 64 bytes each.
  const auto s = spills(wide, (rows_of_warp(wide) + 3) / 4 * 4, {"--register_file.mapping", "register"}, "hd7770");
  CHECK(of(s, "spill_lines_written") == 4 * of(s, "spilled"));
  const trace::Reader reader(bounded);
  unsigned exempt = 0, warps = 0;
  for (const trace::Launch& l : reader.launches()) {
    const auto section = trace::find_rfv(reader.kernels()[l.kernel]);
    exempt = std::max(exempt, static_cast<unsigned>(__builtin_popcountll(section->exempt)));
    warps = std::max(warps, l.warps_per_cta(32));
  }
  CHECK(exempt > 0);
  spills(bounded, (warps * exempt + warp + 3) / 4 * 4, {}, "gtx980");
}

TEST_CASE("rfv spills: results do not depend on how far SMs run ahead") {
  const Folder folder;
  const std::string trace = annotate_rfv(folder, test::launch_path("srad2", test::Size::small));
  nlohmann::json first;
  for (const char* quantum : {"1", "7", "10000"}) {
    CAPTURE(quantum);
    auto s = run(folder, trace,
                 {"--quantum", quantum, "--sms", "3", "--register_file.registers", "40", "--register_file.banks", "4",
                  "--rfv.share", "1", "--rfv.spill", "true"});
    CHECK(of(s, "spilled") > 0);
    if (first.is_null()) first = s;
    CHECK(s.at("cycles") == first.at("cycles"));
    CHECK(s.at("stats") == first.at("stats"));
  }
}

TEST_CASE("rfv: refused configurations") {
  const Folder folder;
  const std::string launch = test::launch_path("hotspot", test::Size::small);
  const std::string trace = annotate_rfv(folder, launch);
  const auto refused = [&](const std::string& path, const Options& options) {
    Options command{REGATTA_SIM, path, "--machine", "gtx980", "--scheme", "rfv"};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  const unsigned cta = rows_of_cta(trace);
  CAPTURE(cta);
  const std::string message = refused(
      trace, {"--register_file.registers", std::to_string(cta - 1), "--register_file.banks", "1", "--rfv.share", "1"});
  CHECK(message.find("one CTA may have " + std::to_string(cta) + " registers at once in the register file") !=
        std::string::npos);
  CHECK(message.find("found " + std::to_string(cta - 1)) != std::string::npos);
  CHECK(refused(trace, {"--rfv.share", "1.5"}).find("rfv.share = 1.5") != std::string::npos);
  CHECK(refused(trace, {"--rfv.share", "0.001"}).find("leaves no row in each of register_file.banks = 16") !=
        std::string::npos);
  const std::string plain = test::execute_kernel(folder, "hotspot", test::Size::small);
  CHECK(refused(plain, {}).find("annotate it with --for rfv\n") != std::string::npos);
}

TEST_CASE("rfv: random machines") {
  unsigned spilled = 0;
  test::run_random_machines("REGATTA_RFV_RUNS", 24, 4, [&](test::Dice& dice) { return run_random(dice, spilled); });
  INFO("seed " << test::from_environment("REGATTA_SEED", 1));
  if (test::from_environment("REGATTA_RFV_RUNS", 0) >= 100) CHECK(spilled > 0);
}

}  // namespace rfv_kernels
