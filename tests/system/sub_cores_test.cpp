// SPDX-License-Identifier: Apache-2.0
//
// Kernels on the operand path of sub-cores: by a scoreboard, by the control bits of the compiler, with the register
// file cache, on the presets that have it, and under every scheme of 32 lanes. Every operand is checked.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace {

/// H100, whose SM has sub-cores, with the latencies that the compiler counts on.
constexpr const char* scoreboard_machine = R"([machine]
base = "h100"
[register_file]
cache = false
)";
constexpr const char* control_machine = R"([machine]
base = "scoreboard.toml"
[sm]
dependences = "control_bits"
scheduler = "cggty"
)";
constexpr const char* cached_machine = R"([machine]
base = "control.toml"
[register_file]
cache = true
)";

// Presets with sub-cores, and what differs with control bits.
constexpr const char* presets[] = {"h100", "rtx_a6000", "rtx_2080ti"};

struct Machines {
  Folder folder;
  Machines() {
    folder.write("scoreboard.toml", scoreboard_machine);
    folder.write("control.toml", control_machine);
    folder.write("cached.toml", cached_machine);
    for (const std::string preset : presets) {
      folder.write(preset + ".toml", "[machine]\nbase = \"" + preset + "\"\n");
      folder.write(preset + "_control.toml",
                   "[machine]\nbase = \"" + preset + "\"\n[sm]\ndependences = \"control_bits\"\n");
      folder.write(preset + "_cached.toml",
                   "[machine]\nbase = \"" + preset + "_control.toml\"\n[register_file]\ncache = true\n");
    }
  }
  std::string trace(const std::string& kernel, const std::vector<std::string>& options) const {
    std::vector<std::string> command{REGATTA_ANNOTATE, "--launch", test::launch_path(kernel, test::Size::small),
                                     "--out", folder.file("k.rgt")};
    command.insert(command.end(), options.begin(), options.end());
    const auto run = test::run_process(command);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return folder.file("k.rgt");
  }
  nlohmann::json run(const std::string& trace, const std::string& machine,
                     const std::string& scheme = "baseline") const {
    CAPTURE(machine, scheme);
    const auto run = test::run_process({REGATTA_SIM, trace, "--machine", folder.file(machine), "--scheme", scheme,
                                        "--stats", folder.file("stats.json")});
    INFO(run.err);
    REQUIRE(run.status == 0);
    nlohmann::json stats = nlohmann::json::parse(folder.read("stats.json"));
    REQUIRE(stats.at("ending") == "completed");
    REQUIRE(stats.at("checks").at("mismatches") == 0);
    REQUIRE(stats.at("checks").at("operands_checked") > 0);
    return stats;
  }
};

std::uint64_t of(const nlohmann::json& stats, const char* group, const char* name) {
  return stats.at("stats").at(group).at(name).get<std::uint64_t>();
}

void check_sub_cores(const std::string& kernel) {
  const Machines m;
  const std::string trace = m.trace(kernel, {"--control"});
  const auto scoreboard = m.run(trace, "scoreboard.toml");
  const auto control = m.run(trace, "control.toml");
  const auto cached = m.run(trace, "cached.toml");
  CHECK(scoreboard.at("warp_instructions") == control.at("warp_instructions"));
  CHECK(of(scoreboard, "sm0.pipeline.sub_cores", "cached_reads") == 0);
  CHECK(of(control, "sm0.pipeline.sub_cores", "cached_reads") == 0);
  // What the cache has, nobody reads.
  CHECK(of(cached, "sm0.pipeline.sub_cores", "cached_reads") + of(cached, "sm0.pipeline.sub_cores", "reads") ==
        of(control, "sm0.pipeline.sub_cores", "reads"));
  for (const std::string preset : presets) {
    CHECK(m.run(trace, preset + ".toml").at("warp_instructions") == control.at("warp_instructions"));
    CHECK(m.run(trace, preset + "_control.toml").at("warp_instructions") == control.at("warp_instructions"));
    CHECK(m.run(trace, preset + "_cached.toml").at("warp_instructions") == control.at("warp_instructions"));
  }
}

/// Schemes whose storage plans no reads, and those that change other parts.
void check_schemes(const std::string& kernel) {
  const Machines m;
  const std::string trace = m.trace(kernel, {"--for", "all"});
  const assembly::SchemeRegistry registry = schemes::all();
  unsigned ran = 0;
  for (const auto& known : registry.schemes()) {
    const auto published = known->published();
    if (published && published->machine == "hd7770") continue;  // wavefronts
    m.run(trace, "scoreboard.toml", known->name());
    ++ran;
  }
  CHECK(ran >= 15);
}

}  // namespace

TEST_CASE("vector_add on sub-cores", REGATTA_MORE) { check_sub_cores("vector_add"); }
TEST_CASE("sgemm on sub-cores") { check_sub_cores("sgemm"); }
TEST_CASE("hotspot on sub-cores") { check_sub_cores("hotspot"); }
TEST_CASE("bfs on sub-cores") { check_sub_cores("bfs"); }
TEST_CASE("pathfinder on sub-cores", REGATTA_MORE) { check_sub_cores("pathfinder"); }
TEST_CASE("needleman_wunsch on sub-cores", REGATTA_MORE) { check_sub_cores("needleman_wunsch"); }
TEST_CASE("srad on sub-cores") { check_sub_cores("srad"); }
TEST_CASE("stencil3d on sub-cores", REGATTA_MORE) { check_sub_cores("stencil3d"); }
TEST_CASE("spmv on sub-cores", REGATTA_MORE) { check_sub_cores("spmv"); }
TEST_CASE("black_scholes on sub-cores", REGATTA_MORE) { check_sub_cores("black_scholes"); }
TEST_CASE("histogram on sub-cores", REGATTA_MORE) { check_sub_cores("histogram"); }
TEST_CASE("reduction on sub-cores", REGATTA_MORE) { check_sub_cores("reduction"); }
TEST_CASE("lbm on sub-cores", REGATTA_MORE) { check_sub_cores("lbm"); }
TEST_CASE("dxtc on sub-cores", REGATTA_MORE) { check_sub_cores("dxtc"); }
TEST_CASE("sgemm under every scheme on sub-cores") { check_schemes("sgemm"); }
TEST_CASE("hotspot under every scheme on sub-cores", REGATTA_MORE) { check_schemes("hotspot"); }
TEST_CASE("bfs under every scheme on sub-cores", REGATTA_MORE) { check_schemes("bfs"); }

TEST_CASE("schemes that the control bits do not cover are refused") {
  const Machines m;
  const std::string trace = m.trace("vector_add", {"--control", "--for", "all"});
  const std::pair<const char*, const char*> refused[] = {{"wir", "a reuse point"},
                                                         {"finereg", "a write-back point"},
                                                         {"vt_regmutex", "inserted instructions"},
                                                         {"regless", "sm0.osu cannot plan them"},
                                                         {"greener", "sm0.register_file cannot plan them"}};
  for (const auto& [scheme, why] : refused) {
    const auto run =
        test::run_process({REGATTA_SIM, trace, "--machine", m.folder.file("control.toml"), "--scheme", scheme});
    CAPTURE(scheme, run.err);
    CHECK(run.status == 2);
    CHECK(run.err.find(why) != std::string::npos);
    CHECK(run.err.find("control_bits") != std::string::npos);
  }
}
