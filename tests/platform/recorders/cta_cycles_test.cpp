// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "recorded.h"

using namespace regatta;

namespace {

struct Rows {
  std::map<std::string, std::size_t> column;
  std::vector<std::vector<std::string>> rows;
  std::uint64_t at(std::size_t row, const std::string& name) const { return std::stoull(rows[row][column.at(name)]); }
};

Rows rows_of(const std::string& file) {
  Rows r;
  r.rows = test::read_csv(file);
  for (std::size_t i = 0; i < r.rows[0].size(); ++i) r.column[r.rows[0][i]] = i;
  r.rows.erase(r.rows.begin());
  return r;
}

}  // namespace

TEST_CASE("warp-cycles per CTA: reasons add up, issues are the instructions") {
  assembly::Recording recording;
  recording.cta_file = "ctas.csv";
  const auto r = test::record_run(test::mixed_trace("cta_cycles"), recording, {}, 2);
  test::require_clean(r);
  const Rows c = rows_of("ctas.csv");
  REQUIRE(c.rows.size() == 12);
  std::uint64_t issued = 0, barrier = 0;
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    std::uint64_t sum = 0;
    for (const char* reason :
         {"issued", "instruction_fetch", "ready", "scoreboard", "memory", "barrier", "drained", "inactive"}) {
      sum += c.at(i, reason);
    }
    REQUIRE(sum == c.at(i, "warp_cycles"));
    REQUIRE(c.at(i, "warps") == 4);
    // Warps of a CTA start together and end one by one.
    REQUIRE(sum <= 4 * (c.at(i, "finished") - c.at(i, "launched")));
    REQUIRE(sum > c.at(i, "finished") - c.at(i, "launched"));
    REQUIRE(c.at(i, "issued") == r.warp_instructions / 12);
    REQUIRE(c.at(i, "inactive") == 0);
    issued += c.at(i, "issued");
    barrier += c.at(i, "barrier");
  }
  REQUIRE(issued == r.warp_instructions);
  REQUIRE(barrier > 0);
}

TEST_CASE("warp-cycles per CTA: one warp's are its gaps") {
  assembly::Recording recording;
  recording.cta_file = "one_warp.csv";
  const auto r = test::record_run(test::one_warp_trace("cta_one_warp"), recording, test::one_scheduler());
  test::require_clean(r);
  const Rows c = rows_of("one_warp.csv");
  REQUIRE(c.rows.size() == 1);
  const auto scheduler = [&](protocol::Stall s) { return r.stall_cycles[static_cast<unsigned>(s)]; };
  // The only warp of the only scheduler: what it waits for is what the scheduler waits for.
  REQUIRE(c.at(0, "issued") == 4);
  REQUIRE(c.at(0, "memory") == scheduler(protocol::Stall::memory));
  REQUIRE(c.at(0, "scoreboard") == scheduler(protocol::Stall::scoreboard));
  REQUIRE(c.at(0, "ready") == 0);
}
