// SPDX-License-Identifier: Apache-2.0
//
// Laws that hold on every run are seen to be broken when they are.
#include "harness.h"

#include <regatta/assembly/conservation.h>

#include <stdexcept>

using namespace regatta;

namespace {

/// A register file that loses count of a read now and then.
class Forgetful : public models::RegisterFile {
 public:
  using RegisterFile::RegisterFile;
  void register_stats(support::StatGroup& g) override {
    g.counter("reads", reads, "warp registers", "some of the bank reads");
  }
  std::uint64_t reads = 17;

  void warp_started(const protocol::WarpInfo& warp) override {
    RegisterFile::warp_started(warp);
    ++reads;
  }
};

}  // namespace

TEST_CASE("a law compares what was counted since the beginning of the launch") {
  std::uint64_t asked = 10, served = 0, written = 5, taken = 5;
  support::StatGroup collectors("sm0.pipeline.collectors"), file("sm0.register_file"),
      writeback("sm0.pipeline.writeback");
  collectors.counter("reads", asked, "", "");
  file.counter("reads", served, "", "");
  file.counter("writes", taken, "", "");
  writeback.counter("writes", written, "", "");
  const std::vector<support::StatGroup> groups{collectors, file, writeback};
  assembly::ConservationLaws laws(groups);
  laws.add("reads", {"sm0.register_file.reads"}, {"sm0.pipeline.collectors.reads"});
  laws.add("writes", {"sm0.register_file.writes"}, {"sm0.pipeline.writeback.writes"});
  REQUIRE(laws.size() == 2);
  laws.begin();
  REQUIRE(laws.broken().empty());
  asked += 3;
  served += 3;
  REQUIRE(laws.broken().empty());
  ++served;
  REQUIRE(laws.broken() == "reads: sm0.register_file.reads (4) = 4 must equal sm0.pipeline.collectors.reads (3) = 3");
  laws.begin();
  ++taken;
  REQUIRE(laws.broken().find("writes: ") == 0);
}

TEST_CASE("a law over many modules adds them up") {
  std::uint64_t fetches[2] = {3, 4}, reads[2] = {5, 2};
  std::vector<support::StatGroup> groups;
  for (unsigned i = 0; i < 2; ++i) {
    groups.emplace_back("memory.dram_" + std::to_string(i)).counter("reads", reads[i], "", "");
    groups.emplace_back("memory.l2_" + std::to_string(i)).counter("fetches", fetches[i], "", "");
  }
  assembly::ConservationLaws laws(groups);
  laws.add("fetches", {"memory.dram_*.reads"}, {"memory.l2_*.fetches"});
  laws.begin();
  fetches[0] += 2;
  reads[1] += 2;
  REQUIRE(laws.broken().empty());
  reads[0] += 1;
  REQUIRE(laws.broken() ==
          "fetches: memory.dram_0.reads (1) + memory.dram_1.reads (2) = 3 must equal "
          "memory.l2_0.fetches (2) + memory.l2_1.fetches (0) = 2");
}

TEST_CASE("a law weighs its terms, and may name what is there now") {
  std::uint64_t sectors = 1, bytes = 4, left = 6;
  double there = 50;
  support::StatGroup lsu("lsu"), cache("cache");
  lsu.counter("sectors", sectors, "", "");
  cache.counter("bytes", bytes, "", "");
  cache.counter("left", left, "", "");
  cache.derived(
      "there", [&] { return there; }, "", "");
  const std::vector<support::StatGroup> groups{lsu, cache};
  assembly::ConservationLaws laws(groups);
  laws.add("sectors", {"32*lsu.sectors"}, {"cache.bytes"});
  laws.add("balance", {"cache.bytes"}, {"cache.left", "cache.there"});
  laws.begin();
  sectors += 2;
  bytes += 64;
  left += 80;
  there -= 16;
  REQUIRE(laws.broken().empty());
  bytes += 32;
  left += 32;
  REQUIRE(laws.broken() == "sectors: 32 x lsu.sectors (2) = 64 must equal cache.bytes (96) = 96");
  sectors += 1;
  ++left;
  REQUIRE(laws.broken() == "balance: cache.bytes (96) = 96 must equal cache.left (113) + cache.there (-16) = 97");
}

TEST_CASE("a law that names what nobody counts is an error, unless it is optional") {
  std::uint64_t reads = 0;
  std::vector<support::StatGroup> groups;
  groups.emplace_back("sm0.osu.shard0").counter("reads", reads, "", "");
  assembly::ConservationLaws laws(groups);
  const auto refused = [&](const assembly::ConservationLaws::Side& left,
                           const assembly::ConservationLaws::Side& right) -> std::string {
    try {
      laws.add("reads", left, right);
    } catch (const std::logic_error& e) {
      return e.what();
    }
    return "accepted";
  };
  REQUIRE(refused({"sm0.osu.shard0.reads"}, {"sm0.osu.shard0.raeds"}) ==
          "the conservation law 'reads' names 'sm0.osu.shard0.raeds', which no module counts; did you mean "
          "'sm0.osu.shard0.reads'?");
  REQUIRE(refused({"sm0.osu.shard*.writes"}, {"sm0.osu.shard0.reads"}).find("names 'sm0.osu.shard*.writes'") !=
          std::string::npos);
  REQUIRE(laws.size() == 0);
  laws.add_optional("reads", {"sm0.osu.shard0.reads"}, {"sm0.pipeline.reads"});
  REQUIRE(laws.size() == 0);
  laws.add_optional("reads", {"sm0.osu.shard0.reads"}, {"sm0.osu.shard*.reads"});
  REQUIRE(laws.size() == 1);
}

TEST_CASE("a scheme whose law names what nobody counts does not run") {
  class Careless : public test::FunctionScheme {
   public:
    Careless() : FunctionScheme([](const assembly::BuildContext& c) { return assembly::baseline_parts(c); }) {}
    void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override {
      laws.add("a slip", {sm + ".register_file.raeds"}, {sm + ".pipeline.collectors.reads"});
    }
  } scheme;
  std::string said;
  try {
    test::simulate(test::mixed_trace("careless"), scheme);
  } catch (const std::logic_error& e) {
    said = e.what();
  }
  REQUIRE(said.find("the conservation law 'a slip' names 'sm0.register_file.raeds'") == 0);
}

TEST_CASE("every law applies to the baseline") {
  const auto r = test::simulate_baseline(test::mixed_trace("all_laws"), {}, 2);
  test::require_clean(r);
  // Per SM; of the interconnect, L2 and DRAM together; per partition.
  REQUIRE(r.laws == 2 * 10 + 9 + 3 * assembly::MachineConfig().memory.l2.partitions);
}

TEST_CASE("a run that does not conserve ends so") {
  const auto r = test::simulate_with(test::mixed_trace("forgetful"), [](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.storage.reset();
    parts.storage = std::make_unique<Forgetful>("register_file", c.machine.register_file, c.clock);
    return parts;
  });
  REQUIRE(r.ending == assembly::Ending::not_conserved);
  REQUIRE(r.mismatches == 0);
  REQUIRE(r.message.find("not conserved in launch 0") == 0);
  REQUIRE(r.message.find("the register file serves what the collectors ask") != std::string::npos);
}
