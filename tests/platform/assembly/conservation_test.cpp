// SPDX-License-Identifier: Apache-2.0
//
// Laws that hold on every run are seen to be broken when they are.
#include "harness.h"

#include <regatta/assembly/conservation.h>

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

  void warp_started(const protocol::WarpInfo&) override { ++reads; }
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
  assembly::ConservationLaws laws(groups, {"sm0.register_file"});
  REQUIRE(laws.size() == 2);  // the others' modules are not there
  laws.begin();
  REQUIRE(laws.broken().empty());
  asked += 3;
  served += 3;
  REQUIRE(laws.broken().empty());
  ++served;
  REQUIRE(laws.broken() ==
          "the register file serves what the collectors ask: sm0.register_file.reads (4) = 4 must equal "
          "sm0.pipeline.collectors.reads (3) = 3");
  laws.begin();
  ++taken;
  REQUIRE(laws.broken().find("the register file takes what is written back") == 0);
  // Behind a block that answers for it, the register file owes the pipeline nothing.
  assembly::ConservationLaws behind(groups, {"sm0.operand_cache"});
  REQUIRE(behind.size() == 0);
}

TEST_CASE("a law over many modules adds them up") {
  std::uint64_t fetches[2] = {3, 4}, reads[2] = {5, 2};
  std::vector<support::StatGroup> groups;
  for (unsigned i = 0; i < 2; ++i) {
    groups.emplace_back("memory.dram_" + std::to_string(i)).counter("reads", reads[i], "", "");
    groups.emplace_back("memory.l2_" + std::to_string(i)).counter("fetches", fetches[i], "", "");
  }
  assembly::ConservationLaws laws(groups, {"sm0.register_file", "sm1.register_file"});
  REQUIRE(laws.size() == 1);
  laws.begin();
  fetches[0] += 2;
  reads[1] += 2;
  REQUIRE(laws.broken().empty());
  reads[0] += 1;
  REQUIRE(laws.broken() ==
          "DRAM reads are the fetches of the L2: memory.dram_0.reads (1) + memory.dram_1.reads (2) = 3 must equal "
          "memory.l2_0.fetches (2) + memory.l2_1.fetches (0) = 2");
}

TEST_CASE("every law applies to the baseline") {
  const auto r = test::simulate_baseline(test::mixed_trace("all_laws"), {}, 2);
  test::require_clean(r);
  REQUIRE(r.laws == 2 * 6 + 5);
}

TEST_CASE("a run that does not conserve ends so") {
  const auto r = test::simulate_with(test::mixed_trace("forgetful"), [](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.storage.reset();
    parts.storage = std::make_unique<Forgetful>("register_file", c.machine.register_file, c.clock_period);
    return parts;
  });
  REQUIRE(r.ending == assembly::Ending::not_conserved);
  REQUIRE(r.mismatches == 0);
  REQUIRE(r.message.find("not conserved in launch 0") == 0);
  REQUIRE(r.message.find("the register file serves what the collectors ask") != std::string::npos);
}
