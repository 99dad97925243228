// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse on whole programs: every kernel of traces/kernels under every model, with all physical
// registers, half of them, and as few as there may be. What a reuse delivers is compared with what the program
// computed, references are recounted, and nothing may leak (the program fails otherwise).
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "wir_runs.h"

using namespace regatta;
using test::Folder;
using test::Size;
using test::wir::run;

namespace {

void check_kernel(const std::string& kernel) {
  const Folder folder;
  test::wir::check_all(test::annotate_kernel(folder, kernel, Size::small), {"--wir.recount", "1000"});
}

}  // namespace

TEST_CASE("vector_add under every model", REGATTA_MORE) { check_kernel("vector_add"); }
TEST_CASE("sgemm under every model", REGATTA_MORE) { check_kernel("sgemm"); }
TEST_CASE("hotspot under every model") { check_kernel("hotspot"); }
TEST_CASE("bfs under every model") { check_kernel("bfs"); }
TEST_CASE("pathfinder under every model", REGATTA_MORE) { check_kernel("pathfinder"); }
TEST_CASE("needleman_wunsch under every model", REGATTA_MORE) { check_kernel("needleman_wunsch"); }
TEST_CASE("srad under every model", REGATTA_MORE) { check_kernel("srad"); }
TEST_CASE("stencil3d under every model", REGATTA_MORE) { check_kernel("stencil3d"); }
TEST_CASE("spmv under every model", REGATTA_MORE) { check_kernel("spmv"); }
TEST_CASE("black_scholes under every model", REGATTA_MORE) { check_kernel("black_scholes"); }
TEST_CASE("histogram under every model", REGATTA_MORE) { check_kernel("histogram"); }
TEST_CASE("reduction under every model", REGATTA_MORE) { check_kernel("reduction"); }

TEST_CASE("affine tuples take an eighth of the banks and a lane of the units") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "sgemm", Size::small);
  const auto energy = [&](const std::string& scheme, const std::string& model) {
    std::vector<std::string> command{REGATTA_SIM, trace,  "--machine", "gtx480",
                                     "--scheme",  scheme, "--stats",   folder.file("stats.json")};
    if (!model.empty()) command.insert(command.end(), {"--wir.model", model});
    REQUIRE(test::run_process(command).status == 0);
    return nlohmann::json::parse(folder.read("stats.json"));
  };
  const auto base = energy("baseline", "");
  const auto affine = energy("wir", "affine");
  CHECK(affine.at("cycles") == base.at("cycles"));
  const auto of = [](const nlohmann::json& document, const char* event) {
    double nj = 0;
    for (const auto& e : document.at("energy").at("by_event")) {
      if (e.at("event") == event) nj += e.at("nj").get<double>();
    }
    return nj;
  };
  const auto& meter = affine.at("stats").at("sm0.affine");
  const auto& file = base.at("stats").at("sm0.register_file");
  const double reads = file.at("reads"), tuples = meter.at("affine_reads");
  CHECK(tuples > 0);
  CHECK(of(affine, "register_file.read") == Approx(of(base, "register_file.read") * (reads - tuples * 7 / 8) / reads));
  CHECK(of(affine, "execution.integer") < of(base, "execution.integer"));
  CHECK(of(affine, "execution.integer") > 0);

  // With reuse, less of everything is left, and the structures that save it cost a little.
  const auto both = energy("wir", "affine_rlpv");
  const auto reuse = energy("wir", "rlpv");
  CHECK(of(both, "register_file.read") < of(reuse, "register_file.read"));
  CHECK(of(reuse, "execution.fp32") + of(reuse, "execution.integer") <
        of(base, "execution.fp32") + of(base, "execution.integer"));
  CHECK(of(reuse, "wir.hash") == Approx(4.85e-3 * reuse.at("stats").at("sm0.wir.vsb").at("hits").get<double>() +
                                        4.85e-3 * reuse.at("stats").at("sm0.wir.vsb").at("misses").get<double>()));
}

TEST_CASE("configurations that cannot be are refused by a sentence") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", Size::small);
  const std::vector<std::pair<std::vector<std::string>, std::string>> bad{
      {{"--wir.delay", "8"}, "wir.delay"},
      {{"--wir.model", "rlpw"}, "wir.model"},
      {{"--wir.hash_bits", "0"}, "wir.hash_bits"},
      {{"--register_file.ports", "1rw", "--register_file.priority", "read"}, "register_file.priority"},
      {{"--wir.physical_registers", "7"}, "wir.physical_registers = 7, expected at least"},
      {{"--reuse_buffer.entries", "0"}, "reuse_buffer.entries"},
      {{"--register_file.registers", "65536"}, "scheme wir: register_file.registers = 65536, expected at most 65534"},
  };
  for (const auto& [knobs, words] : bad) {
    const auto r = run(trace, knobs);
    CAPTURE(words, r.err);
    CHECK(r.status == 2);
    CHECK(r.err.find(words) != std::string::npos);
  }
  for (const char* machine : {"gtx980", "k20x"}) {
    for (const char* ports : {"1rw", "1r1w", "2r1w"}) {
      const auto r = run(trace, {"--register_file.ports", ports}, machine);
      CAPTURE(machine, ports, r.err);
      CHECK(r.status == 0);
    }
  }
}

TEST_CASE("the same bytes twice, whatever the quantum") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "sgemm", Size::small);
  std::string first;
  for (const char* quantum : {"256", "1", "256"}) {
    REQUIRE(run(trace, {"--quantum", quantum, "--stats", folder.file("stats.json"), "--wir.physical_registers", "512"})
                .status == 0);
    const auto document = nlohmann::json::parse(folder.read("stats.json"));
    const std::string text = document.at("stats").dump() + document.at("cycles").dump();
    if (first.empty()) first = text;
    CHECK(text == first);
  }
}
