// SPDX-License-Identifier: Apache-2.0
//
// --check-races on whole kernels: those of traces/kernels have no race, variants with one planted are found out.
#include <regatta/test/catch.h>

#include <algorithm>
#include <filesystem>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using emulator::RaceRule;
using test::Folder;

namespace {

struct Program {
  std::string launch;
  std::string ptx;
};

/// Every PTX file of every kernel, with its small launch.
std::vector<Program> programs() {
  std::vector<Program> found;
  for (const auto& folder : std::filesystem::directory_iterator(REGATTA_SOURCE_DIR "/traces/kernels")) {
    if (!folder.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      if (file.path().extension() != ".ptx") continue;
      found.push_back({(folder.path() / "launch.small.toml").string(), file.path().string()});
    }
  }
  return found;
}

tool::AnnotateResult check(const Program& program, RaceRule rule) {
  tool::AnnotateOptions o;
  o.launch = program.launch;
  o.ptx = program.ptx;
  o.check_races = true;
  o.race_rule = rule;
  return tool::annotate(o);
}

Program broken(const std::string& name) {
  const std::string folder = REGATTA_SOURCE_DIR "/tests/system/broken_kernels/" + name + "/";
  return {folder + "launch.toml", folder + name + ".sm75.ptx"};
}

/// The first race of a broken kernel without the folder of its file, and whether one of them has `words`.
void require_race(const std::string& name, const std::string& words) {
  CAPTURE(name);
  const auto result = check(broken(name), RaceRule::off);
  REQUIRE_FALSE(result.races.empty());
  for (const emulator::Race& r : result.races) {
    CHECK(r.message.find("data race on 4 bytes at ") != std::string::npos);
    CHECK(r.message.find("(" + name + ".cu:") != std::string::npos);
    CHECK(r.times > 0);
  }
  const bool has_words = std::any_of(result.races.begin(), result.races.end(), [&](const emulator::Race& r) {
    return r.message.find(words) != std::string::npos;
  });
  CAPTURE(words, result.races[0].message);
  CHECK(has_words);
}

}  // namespace

TEST_CASE("the kernels have no races, whatever orders the lanes of a warp") {
  const auto all = programs();
  REQUIRE(all.size() >= 4);
  for (const Program& p : all) {
    for (const RaceRule rule : {RaceRule::independent, RaceRule::lockstep}) {
      const auto result = check(p, rule);
      CAPTURE(p.ptx);
      if (!result.races.empty()) FAIL(result.races[0].message);
      CHECK_FALSE(result.launches.empty());
      for (const auto& e : result.entries) CHECK(e.warnings == std::vector<std::string>{});
    }
  }
}

TEST_CASE("planted races are found") {
  // A barrier that is missing between the warps' reads of one round and their writes of the next.
  require_race("sgemm_overwrites_slice",
               "by thread (0,2,0) on line 252 (sgemm_overwrites_slice.cu:45) are not ordered; expected bar.sync "
               "(__syncthreads) between them, or atomics (sgemm_overwrites_slice.cu:35)");
  // A wrong index: two threads, of one CTA or of two, store to one cell.
  require_race("hotspot_wrong_index", " bytes into 'next' (9000 bytes): write here and the write by thread ");
  // Increments that are not atomic, within a warp and between warps, ...
  require_race("histogram_plain_add", "bytes into '_ZZ9histogramE5count': read here and the write by thread ");
  // ... and between CTAs.
  require_race("histogram_plain_sum", "are not ordered, for CTAs run in any order; expected atomics, another launch");
  // A barrier that is missing between the writes of all warps and the reads of the first.
  require_race("reduction_no_barrier",
               "expected bar.sync (__syncthreads) between them, or atomics (reduction_no_barrier.cu:");
}

TEST_CASE("regatta-annotate --check-races: messages on standard error, exit status 3") {
  const Folder folder;
  const Program p = broken("reduction_no_barrier");
  test::ProcessOptions o;
  o.directory = folder.path();
  const auto r = test::run_process(
      {REGATTA_ANNOTATE, "--launch", p.launch, "--check-races", "--report", "r.json", "--out", "k.rgt"}, o);
  CHECK(r.status == 3);
  CHECK(r.err.find("reduction_no_barrier.sm75.ptx:") != std::string::npos);
  CHECK(r.err.find(" times]\n") != std::string::npos);
  CHECK(folder.read("r.json").find("\"races\"") != std::string::npos);
  // The history that ran is a trace all the same.
  CHECK(folder.has("k.rgt"));
  const auto quiet = test::run_process(
      {REGATTA_ANNOTATE, "--launch", test::launch_path("vector_add", test::Size::small), "--check-races=lockstep"}, o);
  CHECK(quiet.status == 0);
  CHECK(quiet.err.empty());
}

TEST_CASE("a race that reads what was never written is reported as one, and its history is a trace") {
  const Folder folder;
  folder.write("k.ptx",
               ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
               ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p1; .shared .align 4 .b8 t[4];\n"
               "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; mov.u32 %r3, 1;\n"
               "@!%p1 ld.shared.u32 %r3, [t];\n@%p1 st.shared.u32 [t], 7;\n"
               "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r3;\nret;\n}\n");
  folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [64]\n[[param]]\nbuffer = 256\n");
  test::ProcessOptions o;
  o.directory = folder.path();
  const auto r = test::run_process({REGATTA_ANNOTATE, "--launch", "l.toml", "--check-races", "--out", "k.rgt"}, o);
  INFO(r.err);
  CHECK(r.status == 3);
  CHECK(r.err.find("data race on 4 bytes at shared offset 0") != std::string::npos);
  CHECK(r.err.find("never written") == std::string::npos);
  CHECK(r.err.find("data race", r.err.find("data race") + 1) == std::string::npos);
  CHECK(folder.has("k.rgt"));
}
