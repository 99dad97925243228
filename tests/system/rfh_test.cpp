// SPDX-License-Identifier: Apache-2.0
//
// The register hierarchy of RFH on our kernels, for all sizes of the operand register file: every operand right, under
// schedulers with and without an active set. And random machines with random programs.
//
// REGATTA_RFH=all runs every kernel with every size. REGATTA_RFH_RUNS says how many random runs, REGATTA_SEED which.
#include <regatta/test/catch.h>

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

namespace rfh_kernels {
namespace {

using Options = std::vector<std::string>;

std::string annotate_levels(const Folder& folder, const std::string& launch, unsigned entries, unsigned warp_size = 32,
                            bool split = false) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k" + std::to_string(entries) + (split ? "s" : "") + ".rgt");
  o.warp_size = warp_size;
  o.pass_options["rfh"] = std::to_string(entries);
  o.pass_options["rfh-lrf"] = split ? "split" : "unified";
  tool::annotate(o);
  return o.out;
}

nlohmann::json run(const Folder& folder, const std::string& trace, const std::string& scheme, Options options) {
  options.insert(options.end(), {"--scheme", scheme});
  return test::statistics_of(folder, trace, options);
}

double of(const nlohmann::json& stats, const std::string& name) {
  return stats.at("stats").at("rfh").at(name).get<double>();
}

/// Warps that hold entries leave the active set between strands only.
void nothing_is_torn(const nlohmann::json& stats) {
  CHECK(stats.at("stats").at("sm0.strand_gate").at("torn_strands") == 0);
  CHECK(stats.at("stats").at("sm0.orf").at("lost_reads") == 0);
  CHECK(stats.at("stats").at("sm0.lrf").at("lost_reads") == 0);
}

bool all() {
  const char* const value = std::getenv("REGATTA_RFH");
  return value != nullptr && std::string(value) == "all";
}

/// `usual`: the size that is run if not all are; 0: none.
void check_kernel(const std::string& kernel, unsigned usual) {
  CAPTURE(kernel);
  const Folder folder;
  for (unsigned entries = 1; entries <= 8; ++entries) {
    if (entries != usual && !all()) continue;
    CAPTURE(entries);
    const std::string launch = test::launch_path(kernel, test::Size::small);
    const std::string trace = annotate_levels(folder, launch, entries);
    const std::string split = annotate_levels(folder, launch, entries, 32, true);
    const auto baseline = run(folder, trace, "baseline", {"--machine", "gtx980"});
    const Options two_level{"--scheduler", "two_level"}, gto{"--scheduler", "gto", "--rfh.wait", "needed"};
    for (const auto& [levels, more] : std::vector<std::pair<std::string, Options>>{
             {trace, two_level},
             {trace, {"--scheduler", "two_level", "--scheduler.active_warps", "1"}},
             {trace, gto},
             {trace, {"--scheduler", "lrr", "--sm.sub_cores", "1"}},
             {split, two_level},
             {split, gto}}) {
      Options options{"--machine", "gtx980", "--check-protocol"};
      options.insert(options.end(), more.begin(), more.end());
      CAPTURE(levels, more);
      const auto s = run(folder, levels, "rfh", options);
      nothing_is_torn(s);
      CHECK(s.at("checks").at("operands_checked") == baseline.at("checks").at("operands_checked"));
      CHECK(of(s, "strands") > 0);
      CHECK(of(s, "mrf_reads") + of(s, "orf_reads") + of(s, "lrf_reads") ==
            baseline.at("stats").at("sm0.register_file").at("reads").get<double>());
    }
    if (entries % 2 != 0 && !all()) continue;
    const std::string wide = annotate_levels(folder, launch, entries, 64, entries % 4 == 0);
    for (const char* const scheduler : {"two_level", "gto"}) {
      nothing_is_torn(run(folder, wide, "rfh", {"--machine", "hd7770", "--scheduler", scheduler, "--check-protocol"}));
    }
  }
}

/// One random machine; false: the launch does not fit on it.
bool run_random(test::Dice& dice) {
  static const std::vector<std::string> kernels{"atax",      "bfs",   "hotspot", "needleman_wunsch",
                                                "sgemm",     "srad2", "syr2k",   "reduction",
                                                "histogram", "scan",  "spmv",    "btree"};
  const Folder folder;
  std::string launch = test::launch_path(dice.any(kernels), test::Size::small);
  if (!dice.one_in(3)) {
    launch = test::random_program(folder, dice.below(1u << 30), 4 + static_cast<unsigned>(dice.below(12)));
  }
  const unsigned entries = 1 + static_cast<unsigned>(dice.below(8));
  const bool wide = dice.one_in(6), split = dice.one_in(2);
  const std::string trace = annotate_levels(folder, launch, entries, wide ? 64 : 32, split);
  const std::string machine = wide ? "hd7770" : dice.any({"gtx980", "gtx480", "k20x"});
  test::RandomMachine m(dice, {"--scheme", "rfh", "--machine", machine, "--check-protocol"});
  const std::string scheduler = dice.any({"two_level", "two_level", "gto", "lrr", "owf"});
  m.set("scheduler", scheduler);
  if (scheduler != "two_level") m.maybe("rfh.wait", {"needed"});
  m.maybe("scheduler.active_warps", {"1", "2", "5"});
  m.maybe("rfh.orf_cycles", {"1", "2", "7"});
  m.maybe("rfh.lrf_cycles", {"1", "2", "9"});
  m.maybe("register_file.priority", {"fcfs", "read", "write"});
  m.maybe("register_file.mapping", {"warp_interleaved", "register"});
  m.maybe("register_file.arbitration", {"0", "1", "3"});
  m.maybe("sm.ctas", {"1", "2", "5"});
  m.maybe("sm.schedulers", {"1", "2", "4"});
  m.maybe("sms", {"1", "2"});
  m.maybe("l1.data_policy", {"cache", "bypass"});
  m.vary_pipeline();
  CAPTURE(launch, entries, split);
  const auto stats =
      m.run(folder, trace,
            {"not one CTA fits on this machine", "register_file.mapping = sub_core", "sm.registers_per_thread"});
  if (stats) nothing_is_torn(*stats);
  return stats.has_value();
}

/// Fences within straight code and on one side of a branch, between values that live in entries.
const char* const fences = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  mov.u32 %r6, tile;
  shl.b32 %r7, %r1, 2;
  add.u32 %r6, %r6, %r7;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
LOOP:
  mad.lo.u32 %r4, %r2, 7, %r1;
  xor.b32 %r5, %r4, %r3;
  st.global.u32 [%d1], %r5;
  membar.gl;
  add.u32 %r3, %r5, %r4;
  st.shared.u32 [%r6], %r3;
  membar.cta;
  mad.lo.u32 %r8, %r3, 5, %r4;
  and.b32 %r9, %r8, 3;
  setp.eq.u32 %p1, %r9, 0;
  @%p1 bra JOIN;
  mul.lo.u32 %r10, %r8, %r5;
  st.global.u32 [%d1+4096], %r10;
  membar.gl;
  add.u32 %r3, %r3, %r10;
JOIN:
  add.u32 %r3, %r3, %r8;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 6;
  @%p2 bra LOOP;
  st.global.u32 [%d1], %r3;
  ret;
}
)";

}  // namespace

#define REGATTA_RFH(kernel, entries, tag) \
  TEST_CASE("rfh: " #kernel, tag) { check_kernel(#kernel, entries); }
REGATTA_RFH(bfs, 1, "")
REGATTA_RFH(hotspot, 2, "")
REGATTA_RFH(sgemm, 3, "")
REGATTA_RFH(reduction, 4, "")
REGATTA_RFH(needleman_wunsch, 5, REGATTA_MORE)
REGATTA_RFH(histogram, 6, REGATTA_MORE)
REGATTA_RFH(srad2, 7, REGATTA_MORE)
REGATTA_RFH(fft, 8, REGATTA_MORE)
REGATTA_RFH(lud, 3, REGATTA_MORE)
REGATTA_RFH(n_queens, 3, REGATTA_MORE)
REGATTA_RFH(btree, 2, REGATTA_MORE)
REGATTA_RFH(black_scholes, 3, "")
REGATTA_RFH(backprop, 0, REGATTA_MORE)
REGATTA_RFH(dwt2d, 0, REGATTA_MORE)
REGATTA_RFH(gaussian, 0, REGATTA_MORE)
REGATTA_RFH(heartwall, 0, REGATTA_MORE)
REGATTA_RFH(hybridsort, 0, REGATTA_MORE)
REGATTA_RFH(kmeans, 0, REGATTA_MORE)
REGATTA_RFH(lavamd, 0, REGATTA_MORE)
REGATTA_RFH(leukocyte, 0, REGATTA_MORE)
REGATTA_RFH(suffix_match, 0, REGATTA_MORE)
REGATTA_RFH(myocyte, 0, REGATTA_MORE)
REGATTA_RFH(nearest_neighbour, 0, REGATTA_MORE)
REGATTA_RFH(particle_filter, 0, REGATTA_MORE)
REGATTA_RFH(pathfinder, 0, REGATTA_MORE)
REGATTA_RFH(srad, 0, REGATTA_MORE)
REGATTA_RFH(streamcluster, 0, REGATTA_MORE)

TEST_CASE("rfh: fences begin strands, so no warp loses an entry that it needs") {
  const Folder folder;
  folder.write("f.ptx", fences);
  folder.write("f.toml", "ptx = \"f.ptx\"\nentry = \"k\"\ngrid = [24]\nblock = [128]\n[[param]]\nbuffer = 16384\n");
  for (const unsigned entries : {1u, 3u, 8u}) {
    const std::string trace = annotate_levels(folder, folder.file("f.toml"), entries);
    for (const char* const active : {"1", "2", "8"}) {
      CAPTURE(entries, active);
      const auto s = run(folder, trace, "rfh",
                         {"--machine", "gtx980", "--scheduler", "two_level", "--scheduler.active_warps", active});
      nothing_is_torn(s);
      // Warps leave at a fence and come back.
      CHECK(of(s, "activations") > 2 * 24 * 4);
      CHECK(of(s, "orf_reads") + of(s, "lrf_reads") > 0);
    }
  }
}

TEST_CASE("rfh: a larger operand register file takes reads from the main one, and energy") {
  const Folder folder;
  for (const char* const kernel : {"sgemm", "srad2", "black_scholes"}) {
    CAPTURE(kernel);
    const auto simulate = [&](unsigned entries, const char* scheme) {
      const std::string trace = annotate_levels(folder, test::launch_path(kernel, test::Size::small), entries);
      return run(folder, trace, scheme, {"--machine", "gtx980", "--scheduler", "two_level"});
    };
    const auto one = simulate(1, "rfh"), three = simulate(3, "rfh"), baseline = simulate(3, "baseline");
    CHECK(of(three, "mrf_reads") < of(one, "mrf_reads"));
    const auto dynamic = [](const nlohmann::json& s) {
      const auto& energy = s.at("energy");
      return energy.at("by_structure").at("register_structures").get<double>() -
             energy.at("static_by_structure").at("register_structures").get<double>();
    };
    CHECK(dynamic(three) < dynamic(baseline));
  }
}

TEST_CASE("rfh: a split last-result file serves more reads, and has three times the entries") {
  const Folder folder;
  for (const char* const kernel : {"sgemm", "black_scholes", "hotspot"}) {
    CAPTURE(kernel);
    const auto simulate = [&](bool split) {
      const std::string trace = annotate_levels(folder, test::launch_path(kernel, test::Size::small), 3, 32, split);
      return run(folder, trace, "rfh", {"--machine", "gtx980", "--scheduler", "two_level"});
    };
    const auto unified = simulate(false), split = simulate(true);
    CHECK(of(split, "lrf_reads") > of(unified, "lrf_reads"));
    CHECK(of(split, "mrf_reads") <= of(unified, "mrf_reads"));
    // Two more entries of 32 registers of 32 bits for each slot, and two more bits of the gate's scoreboard per warp.
    const double slots = 4 * 8, warps = 64;
    CHECK(of(split, "storage_bits") - of(unified, "storage_bits") == 2 * (slots * 32 * 32 + warps));
  }
}

TEST_CASE("rfh: what does not fit is refused") {
  const Folder folder;
  const std::string levels = annotate_levels(folder, test::launch_path("vector_add", test::Size::small), 3);
  const std::string plain = test::execute_kernel(folder, "vector_add", test::Size::small);
  const auto refused = [](const Options& options) {
    Options command{REGATTA_SIM};
    command.insert(command.end(), options.begin(), options.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(
      refused({plain, "--scheme", "rfh"})
          .find("its trace has no levels of operands (section 'rfh'), which RFH needs: annotate it with --for rfh\n") !=
      std::string::npos);
  CHECK(refused({levels, "--scheme", "rfh", "--scheduler", "two_level", "--rfh.wait", "needed"})
            .find("rfh.wait = needed with sm.scheduler = two_level, expected rfh.wait = all") != std::string::npos);
  CHECK(refused({levels, "--scheme", "finereg+rfh"})
            .find("a warp of 'rfh' loses the entries that its strand needs when its CTA is switched out") !=
        std::string::npos);
}

TEST_CASE("rfh: random machines") { test::run_random_machines("REGATTA_RFH_RUNS", 12, 2, run_random); }

}  // namespace rfh_kernels
