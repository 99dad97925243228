// SPDX-License-Identifier: Apache-2.0
//
// What a user sees of blocks from outside: those that break their contract end the run with status 3 and a message,
// and those that are registered go by their names.
#include <regatta/test/catch.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kanata_check.h"
#include "kernels.h"
#include "perfetto_check.h"
#include "process.h"
#include "vcd_check.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;
using test::ProcessResult;
using Json = nlohmann::json;

namespace {

class Bench {
 public:
  explicit Bench(std::string program) : program_(std::move(program)) {
    std::filesystem::rename(test::annotate_kernel(folder, "hotspot", test::Size::small), folder.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program_);
    test::ProcessOptions o;
    o.directory = folder.path();
    return test::run_process(arguments, o);
  }
  Json stats() const { return Json::parse(folder.read("s.json")); }
  const Folder folder;

 private:
  std::string program_;
};

}  // namespace

TEST_CASE("blocks: a scheduler that picks a warp that is not ready is told, with status 3") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "wrong_pick", "--timeline", "t.pftrace"});
  CHECK(r.status == 3);
  CHECK_THAT(r.err, Contains("regatta-sim: regatta/warp_scheduler: sm0.pipeline scheduler 0 (WrongPick) in cycle "));
  CHECK_THAT(r.err, Contains("; expected one of these, by its index in the scheduler\n"));
  // What led there is left, whole.
  const auto timeline = test::check_perfetto(bench.folder.read("t.pftrace"));
  CHECK(timeline.error == "");
  CHECK(timeline.outermost("SM 0/CTA slots/") != 0);
}

TEST_CASE("blocks: a gate that never opens is named by the deadlock's report, with status 3") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "shut", "--stats", "s.json"});
  CHECK(r.status == 3);
  CHECK_THAT(r.err, Contains("error: deadlock: launch 0 (hotspot) stopped at cycle "));
  CHECK_THAT(r.err, Contains("  sm0.pipeline: issue gate sm0.shut refuses them: 64 warps (0-63), since cycle "));
  CHECK(bench.stats().at("ending") == "deadlock");
  // One holder, three examples and a sum: nobody has to read a line per warp.
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') < 10);
}

TEST_CASE("blocks: a gate that is busy for ever while the SM sleeps is a livelock, with status 3") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "busy", "--sm.watchdog", "20000", "--stats", "s.json"});
  CHECK(r.status == 3);
  CHECK_THAT(r.err, Contains("no instruction issued or completed and no memory access answered for 20000 cycles "
                             "(sm.watchdog)\n  sm0.pipeline: issue gate sm0.busy refuses them: 64 warps (0-63)"));
  CHECK(bench.stats().at("ending") == "deadlock");
}

TEST_CASE("blocks: a run that is given up leaves what led there") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const ProcessResult r =
      bench.sim({"k.rgt", "--scheme", "tired", "--sm.watchdog", "1000", "--stats", "s.json", "--pipeline", "p.kanata",
                 "--vcd", "v.vcd", "--sample", "500", "--sample-file", "s.csv", "--timeline", "t.pftrace"});
  REQUIRE(r.status == 3);
  const std::string why = "no instruction issued or completed and no memory access answered for 1000 cycles";
  REQUIRE(r.err.find(why) != std::string::npos);
  CHECK(r.err.find(why) == r.err.rfind(why));
  const Json stats = bench.stats();
  CHECK(stats.at("ending") == "deadlock");
  CHECK(stats.at("cycles").get<std::uint64_t>() >= 1000);
  CHECK(stats.at("warp_instructions") == 2000);
  CHECK(test::check_kanata(bench.folder.read("p.kanata")).error == "");
  CHECK(test::check_vcd(bench.folder.read("v.vcd"), "clock_generator.clock").error == "");
  CHECK(bench.folder.has("s.csv"));
  // The timeline is whole, and goes up to the last cycle.
  const auto timeline = test::check_perfetto(bench.folder.read("t.pftrace"));
  CHECK(timeline.error == "");
  std::uint64_t last = 0;
  for (const auto& s : timeline.slices) last = std::max<std::uint64_t>(last, s.to);
  CHECK(last == stats.at("cycles").get<std::uint64_t>() + 1);
  CHECK(timeline.outermost("SM 0/CTA slots/") > stats.at("stats").at("sm0.pipeline").at("ctas").get<std::uint64_t>());
}

TEST_CASE("blocks: a write-back point that loses a result is named, with --check-protocol") {
  const Bench bench(REGATTA_FORGETFUL_SIM);
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "forgetful", "--check-protocol"});
  CHECK(r.status == 3);
  CHECK_THAT(r.err, Contains("value mismatch: kernel hotspot launch 0 CTA "));
  CHECK_THAT(r.err, Contains("; write-back point sm0.forgetful dropped what was written to it last, by PC 0x"));
  CHECK_THAT(r.err, Contains("; expected a drop only where a later read finds the value\n"));
}

TEST_CASE("blocks: one that declares no energy is told, and is an error with --check-protocol") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const std::string what =
      "sm0.free declares no energy, so that it costs nothing; expected register_energy() with its events or leakage, "
      "or costs_nothing() with the reason\n";
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "free", "--stats", "s.json"});
  CHECK(r.status == 0);
  CHECK(r.err == "warning: " + what);
  CHECK(bench.stats().at("energy").at("undeclared") == Json::array({"free"}));
  const ProcessResult checked = bench.sim({"k.rgt", "--scheme", "free", "--check-protocol"});
  CHECK(checked.status == 3);
  CHECK(checked.err == "regatta-sim: regatta/energy: " + what);
}

TEST_CASE("blocks: one whose energy belongs to an unknown structure is told, and is an error with --check-protocol") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const std::string what =
      "misspelt declares energy of the structure 'register_structure', which is not a line of the breakdown; expected "
      "one that platform/energy/README.md lists, or that the scheme names in energy_structures(); did you mean "
      "'register_structures'?\n";
  const ProcessResult r = bench.sim({"k.rgt", "--scheme", "misspelt"});
  CHECK(r.status == 0);
  CHECK(r.err == "warning: " + what);
  const ProcessResult checked = bench.sim({"k.rgt", "--scheme", "misspelt", "--check-protocol"});
  CHECK(checked.status == 3);
  CHECK(checked.err == "regatta-sim: regatta/energy: " + what);
}

TEST_CASE("blocks: a scheme that is not regatta's own is checked unless that is switched off") {
  const Bench bench(REGATTA_CARELESS_SIM);
  const std::string said =
      "protocol and contracts checked: scheme own_scheduler is not one of regatta's own (--no-check-protocol leaves "
      "the "
      "check out)\n";
  const ProcessResult own = bench.sim({"k.rgt", "--scheme", "own_scheduler"});
  CHECK(own.status == 0);
  CHECK_THAT(own.out, Contains(said));
  CHECK_THAT(bench.sim({"k.rgt", "--scheme", "baseline"}).out, !Contains("contracts checked"));
  CHECK_THAT(bench.sim({"k.rgt", "--scheme", "own_scheduler", "--no-check-protocol"}).out,
             !Contains("contracts checked"));

  const ProcessResult moody = bench.sim({"k.rgt", "--scheme", "moody"});
  CHECK(moody.status == 3);
  CHECK_THAT(moody.err, Contains("regatta-sim: regatta/issue_gate: sm0.moody in cycle "));
  CHECK_THAT(moody.err, Contains(" and refuses it when asked again; expected the same answer until issued()\n"));
  CHECK(bench.sim({"k.rgt", "--scheme", "moody", "--no-check-protocol"}).status == 0);

  const ProcessResult both = bench.sim({"k.rgt", "--check-protocol", "--no-check-protocol"});
  CHECK(both.status == 2);
  CHECK(both.err == "regatta-sim: --check-protocol and --no-check-protocol exclude each other: expected one of them\n");
}

TEST_CASE("blocks: every built-in scheme declares its energy") {
  const Bench bench(REGATTA_SIM);
  for (const char* scheme :
       {"baseline", "regless", "wir", "greener", "sleep_reg", "rc", "rc_rar", "rar", "wc", "argo"}) {
    CAPTURE(scheme);
    const ProcessResult r =
        bench.sim({"k.rgt", "--scheme", scheme, "--machine", "gtx980", "--check-protocol", "--stats", "s.json"});
    CHECK(r.err.empty());
    CHECK(r.status == 0);
    CHECK_FALSE(bench.stats().at("energy").contains("undeclared"));
  }
}

#ifdef REGATTA_NEW_BLOCK
namespace {

/// Words with single spaces between them.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace

TEST_CASE("blocks: a registered scheduler goes by its name") {
  const Bench bench(REGATTA_NEW_BLOCK);
  REQUIRE(bench.sim({"k.rgt", "--stats", "s.json"}).status == 0);
  const Json usual = bench.stats();
  CHECK(usual.at("scheduler") == "gto");
  const ProcessResult r = bench.sim({"k.rgt", "--scheduler", "youngest", "--check-protocol", "--stats", "s.json"});
  CHECK(r.err.empty());
  REQUIRE(r.status == 0);
  const Json stats = bench.stats();
  CHECK(stats.at("scheduler") == "youngest");
  CHECK(stats.at("config").at("sm.scheduler") == "youngest");
  CHECK(stats.at("warp_instructions") == usual.at("warp_instructions"));
  CHECK(stats.at("cycles") != usual.at("cycles"));
  const std::string help = unwrapped(bench.sim({"--help"}).out);
  CHECK_THAT(help, Contains("youngest: the ready warp that came last"));
  CHECK_THAT(help, Contains("capped: occupancy, but no more CTAs than capped.ctas"));
  const ProcessResult unknown = bench.sim({"k.rgt", "--scheduler", "yungest"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("gto, lrr, two_level, owf, cggty, youngest"));
  // Any scheme that takes the configured scheduler takes this one.
  REQUIRE(bench.sim({"k.rgt", "--scheme", "regless", "--scheduler", "youngest", "--stats", "s.json"}).status == 0);
  CHECK(bench.stats().at("scheduler") == "youngest");
}

TEST_CASE("blocks: a registered residency policy goes by its name, and has a knob") {
  const Bench bench(REGATTA_NEW_BLOCK);
  REQUIRE(bench.sim({"k.rgt", "--stats", "s.json"}).status == 0);
  CHECK(bench.stats().at("residency") == "occupancy");
  for (const unsigned cap : {1u, 3u}) {
    CAPTURE(cap);
    const ProcessResult r = bench.sim({"k.rgt", "--sm.residency", "capped", "--capped.ctas", std::to_string(cap),
                                       "--check-protocol", "--stats", "s.json"});
    CHECK(r.err.empty());
    REQUIRE(r.status == 0);
    const Json stats = bench.stats();
    CHECK(stats.at("residency") == "capped");
    CHECK(stats.at("config").at("sm.residency") == "capped");
    CHECK(stats.at("config").at("capped.ctas") == cap);
    CHECK(stats.at("stats").at("sm0.pipeline").at("resident_ctas_mean").get<double>() <= cap);
  }
}
#endif

TEST_CASE("blocks: a scheme's own scheduler goes by its class") {
  const Bench bench(REGATTA_CARELESS_SIM);
  REQUIRE(bench.sim({"k.rgt", "--scheme", "own_scheduler", "--stats", "s.json"}).status == 0);
  CHECK(bench.stats().at("scheduler") == "regatta::models::LooseRoundRobin");
}
