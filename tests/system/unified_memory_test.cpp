// SPDX-License-Identifier: Apache-2.0
//
// A memory that a launch's registers, shared memory and the L1 divide: what the L1 has shows in what it keeps.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"
#include "kernels.h"
#include "process.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace unified_memory {
namespace {

/// One warp reads 64 KB twice.
const char* const reads_twice = R"(
.version 8.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 tile[];
.visible .entry k(.param .u64 in)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  mov.u32 %r2, 0;
  mov.u32 %r5, 0;
TWICE:
  mov.u64 %d3, %d1;
  mov.u32 %r3, 0;
LOOP:
  ld.global.u32 %r4, [%d3];
  add.u32 %r5, %r5, %r4;
  add.s64 %d3, %d3, 128;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 512;
  @%p1 bra LOOP;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 2;
  @%p2 bra TWICE;
  st.global.u32 [%d1], %r5;
  ret;
}
)";

/// Launches with so much shared memory each, one after the other.
std::string annotate_launches(const Folder& folder, const std::vector<unsigned>& shared) {
  folder.write("k.ptx", reads_twice);
  std::string file = "ptx = \"k.ptx\"\n[[buffer]]\nname = \"in\"\nbytes = 65536\n";
  std::string steps;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const std::string name = "l" + std::to_string(i);
    file += "[[launch]]\nname = \"" + name +
            "\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\ndynamic_shared = " + std::to_string(shared[i]) +
            "\nparams = [{ buffer = \"in\" }]\n";
    steps += "[[step]]\nrun = \"" + name + "\"\n";
  }
  folder.write("l.toml", file + steps);
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  o.out = folder.file("k.rgt");
  tool::annotate(o);
  return o.out;
}

double hits(const std::string& scheme, const std::vector<unsigned>& shared) {
  const Folder folder;
  std::vector<std::string> options{"--machine",  "finereg_um", "--scheme",  scheme,
                                   "--um.bytes", "98304",      "--sm.ctas", "1"};
  // A launch is planned without regard to the size of its grid: places for pending CTAs would be taken from the L1.
  if (scheme != "um") options.insert(options.end(), {"--switching.max_ctas", "1"});
  const auto stats = test::statistics_of(folder, annotate_launches(folder, shared), options);
  return stats.at("stats").at("sm0.l1").at("read_hits").get<double>();
}

void says(const std::vector<std::string>& options, const std::string& message) {
  const Folder folder;
  std::vector<std::string> command{REGATTA_SIM, annotate_launches(folder, {0})};
  command.insert(command.end(), options.begin(), options.end());
  const auto r = test::run_process(command);
  CAPTURE(r.err);
  CHECK(r.status == 2);
  CHECK(r.err.find(message) != std::string::npos);
}

}  // namespace

// 96 KB: a launch without shared memory leaves 88 KB or more to the L1, all of the 64 KB; one with 48 KB leaves 40.
TEST_CASE("unified memory: the L1 shrinks for a launch with shared memory, and grows again") {
  for (const std::string scheme : {"um", "vt_um", "finereg_um"}) {
    CAPTURE(scheme);
    const double large = hits(scheme, {0}), small = hits(scheme, {49152});
    CHECK(large == 512);
    CHECK(small < 256);
    CHECK(hits(scheme, {0, 49152}) == large + small);
    CHECK(hits(scheme, {49152, 0}) == small + large);
    CHECK(hits(scheme, {0, 49152, 0}) == 2 * large + small);
  }
}

TEST_CASE("unified memory: pending CTAs take the L1's share") {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = test::launch_path("kmeans", test::Size::small);
  o.out = folder.file("kmeans.rgt");
  o.max_registers = 63;
  o.addresses = 32;
  tool::annotate(o);
  const auto run = [&](const std::string& scheme) {
    return test::statistics_of(folder, o.out, {"--machine", "finereg_um", "--scheme", scheme}).at("stats");
  };
  const auto um = run("um"), vt = run("vt_um");
  const auto misses = [](const nlohmann::json& stats) {
    double all = 0;
    for (const auto& [module, group] : stats.items()) {
      if (module.size() > 3 && module.compare(module.size() - 3, 3, ".l1") == 0) {
        all += group.at("read_misses").get<double>();
      }
    }
    return all;
  };
  CHECK(misses(vt) > 1.5 * misses(um));
  CHECK(vt.at("residency").at("ctas.resident_peak").get<double>() > 1);
}

TEST_CASE("unified memory: what is refused, and with which words") {
  for (const std::string scheme : {"um", "vt_um", "finereg_um"}) {
    CAPTURE(scheme);
    says({"--machine", "finereg", "--scheme", scheme},
         "configuration: scheme " + scheme +
             ": um.least_l1 = 16384, expected whole ways of the L1, of 6144 bytes each, at least one and at most 49152 "
             "bytes (use --machine finereg_um)");
    says({"--machine", "finereg_um", "--scheme", scheme, "--um.least_l1", "0"}, "um.least_l1 = 0, expected whole ways");
    says({"--machine", "finereg_um", "--scheme", scheme, "--um.least_l1", "270336"},
         "um.least_l1 = 270336, expected whole ways of the L1, of 8192 bytes each, at least one and at most 262144 "
         "bytes");
    says({"--machine", "finereg_um", "--scheme", scheme, "--um.bytes", "16384"},
         "configuration: scheme " + scheme + ": um.bytes = 16384, expected more than um.least_l1 = 16384");
  }
  for (const std::string scheme : {"um", "vt_um"}) {
    says(
        {"--machine", "finereg_um", "--scheme", scheme, "--um.bytes", "16896"},
        "kernel k: one CTA takes 1024 bytes of the unified memory, which has 512 for CTAs (um.bytes less um.least_l1)");
  }
}

}  // namespace unified_memory
