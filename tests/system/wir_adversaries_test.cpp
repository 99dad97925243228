// SPDX-License-Identifier: Apache-2.0
//
// Programs made to catch an illegal reuse, under every model of warp instruction reuse and knobs that make everything
// scarce.
#include <regatta/test/catch.h>

#include <regatta/test/tiers.h>
#include <nlohmann/json.hpp>
#include <random>

#include "wir_messages.h"
#include "wir_programs.h"
#include "wir_runs.h"

using namespace regatta;
using namespace regatta::test::wir;  // NOLINT(google-build-using-namespace): programs and runs
using test::Folder;

namespace {

void check_adversary(const std::string& name, const char* ptx, unsigned ctas, unsigned threads) {
  const Folder folder;
  const std::string trace = annotate(folder, name, ptx, ctas, threads);
  check_all(trace, {"--wir.recount", "50"});
  // Hashes that collide all the time, tiny tables that everything leaves at once, counters that are soon full.
  check_all(trace, {"--wir.recount", "50", "--wir.hash_bits", "4"});
  check_all(trace, {"--wir.recount", "50", "--wir.hash_bits", "5", "--reuse_buffer.entries", "7", "--vsb.entries", "3",
                    "--verify_cache.entries", "2", "--retry_queue.entries", "2", "--wir.counter_bits", "3"});
  check_all(trace, {"--reuse_buffer.associative", "true", "--wir.delay", "7", "--wir.verify_patience", "0"});
  // One port of everything, and entries that take register pairs.
  check_all(trace, {"--wir.recount", "50", "--reuse_buffer.ports", "1", "--vsb.ports", "1", "--verify_cache.ports", "1",
                    "--wir.rename_ports", "1", "--reuse_buffer.pairs", "true"});
  // One write per instruction.
  check_all(trace, {"--wir.recount", "50", "--reuse_buffer.claim_writes", "false", "--reuse_buffer.ports", "1"});
  // They do reuse, or the test would show nothing.
  const auto r = run(trace, {"--stats", folder.file("stats.json")});
  REQUIRE(r.status == 0);
  const auto wir = nlohmann::json::parse(folder.read("stats.json")).at("stats").at("wir");
  CHECK(wir.at("bypass_fraction").get<double>() > 0.02);
}

}  // namespace

TEST_CASE("scratchpad exchanges over more barriers than a CTA's count holds") {
  check_adversary("exchange", exchange, 5, 128);
}
TEST_CASE("stores and loads across warps, barriers and CTAs whose slots are reused") {
  check_adversary("across", across, 24, 64);
}
TEST_CASE("carries, which no register names") { check_adversary("carry", carry, 4, 128); }
TEST_CASE("loads that flags in memory order") {
  const Folder folder;
  check_all(annotate(folder, "flags", flags, 1, 96), {});
}
TEST_CASE("an array handed from warp to warp by fences and atomics of global memory") {
  check_adversary("handover", handover("global").c_str(), 4, 128);
}
TEST_CASE("an array handed from warp to warp by fences and atomics of shared memory") {
  check_adversary("handover", handover("shared").c_str(), 4, 128);
}
TEST_CASE("random programs whose warps tell each other by fences and atomics what they stored") {
  double reused = 0;
  for (unsigned seed = 0; seed < test::times(25u, 400u); ++seed) {
    const Folder folder;
    const std::string trace = annotate(folder, "messages", messages(seed).c_str(), 4, 128);
    std::mt19937 random(seed);
    const auto any = [&](std::vector<std::string> of) { return of[random() % of.size()]; };
    const std::vector<std::string> knobs{"--wir.model",
                                         any({"rl", "rlp", "rlpv", "rlpvc"}),
                                         "--wir.recount",
                                         "50",
                                         "--reuse_buffer.claim_writes",
                                         any({"false", "true"}),
                                         "--reuse_buffer.ports",
                                         any({"1", "2", "4"}),
                                         "--reuse_buffer.associative",
                                         any({"false", "true"}),
                                         "--wir.barrier_bits",
                                         any({"2", "5", "8"}),
                                         "--scheduler",
                                         any({"gto", "lrr", "two_level"}),
                                         "--stats",
                                         folder.file("stats.json")};
    const auto r = run(trace, knobs, any({"gtx480", "k20x"}));
    CAPTURE(seed, knobs, r.err);
    REQUIRE(r.status == 0);
    reused += nlohmann::json::parse(folder.read("stats.json")).at("stats").at("wir").at("reused.load").get<double>();
  }
  CHECK(reused > 500);
}
TEST_CASE("variables and places that only an address tells apart") { check_adversary("variables", variables, 6, 64); }
TEST_CASE("64-bit values, whose halves are shared") { check_adversary("wide", wide, 6, 64); }
TEST_CASE("divergent writes to shared registers") { check_adversary("diverge", diverge, 12, 64); }

TEST_CASE("a racy load that finds another value is counted where the trace knows of the race, an error where not") {
  const Folder folder;
  const std::string unchecked = annotate(folder, "racy", racy, 3, 128, false);
  const auto wrong = run(unchecked, {});
  CHECK(wrong.status == 3);
  CHECK(wrong.err.find(" from sm0.wir.reuse_buffer, physical register ") != std::string::npos);
  CHECK(wrong.err.find("this program may race; annotate with --check-races") != std::string::npos);

  const std::string checked = annotate(folder, "racy", racy, 3, 128, true, true);
  for (const char* model : {"rl", "rlp", "rlpv", "rlpvc", "rpv"}) {
    const auto right = run(checked, {"--wir.model", model, "--wir.recount", "1", "--stats", folder.file("stats.json")});
    CAPTURE(model, right.err);
    REQUIRE(right.status == 0);
    const auto document = nlohmann::json::parse(folder.read("stats.json"));
    CHECK(document.at("checks").at("mismatches") == 0);
    CHECK((document.at("stats").at("wir").at("racy_loads") > 0) == (model != std::string("rpv")));
  }
  const auto info = test::run_process({REGATTA_TRACE, "info", checked});
  CHECK(info.out.find("races") != std::string::npos);
  CHECK(info.out.find("race_free") == std::string::npos);
}
