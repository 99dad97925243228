// SPDX-License-Identifier: Apache-2.0
#include "timeline_laws.h"

#include <regatta/test/catch.h>
#include <nlohmann/json.hpp>

namespace regatta::test {

namespace {

/// The timeline's counters below `group` against the statistics of modules whose paths begin with `prefix`. Returns the
/// number of tracks.
std::size_t check_counters(const PerfettoFacts& timeline, const nlohmann::json& stats, const std::string& group,
                           const std::string& prefix) {
  std::size_t found = 0;
  for (const auto& [path, track] : timeline.tracks) {
    if (!track.is_counter || path.compare(0, group.size(), group) != 0) continue;
    const std::string name = path.substr(group.size());
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) continue;  // of the recorder itself
    const std::string module = prefix + name.substr(0, slash), stat = name.substr(slash + 1);
    CAPTURE(module, stat);
    REQUIRE(stats.contains(module));
    const double value = stats.at(module).at(stat).get<double>();
    const bool is_maximum = stat.size() > 4 && stat.compare(stat.size() - 4, 4, "_max") == 0;
    CHECK((is_maximum ? timeline.counters.at(path).back().second : timeline.sum(path)) == value);
    ++found;
  }
  return found;
}

}  // namespace

void check_timeline(const PerfettoFacts& timeline, const nlohmann::json& stats, unsigned sms, unsigned warp_size) {
  REQUIRE(timeline.error == "");
  CHECK(check_counters(timeline, stats, "run (1 ns = 1 cycle)/counters/", "") > 20);
  std::uint64_t warps = 0;
  for (unsigned i = 0; i < sms; ++i) {
    CAPTURE(i);
    const std::string sm = "SM " + std::to_string(i);
    const nlohmann::json& pipeline = stats.at("sm" + std::to_string(i) + ".pipeline");
    auto reasons = timeline.lengths(sm + "/schedulers/");
    CHECK(reasons["issued"] == pipeline.at("issue_cycles"));
    reasons.erase("issued");
    for (const auto& [name, value] : pipeline.items()) {
      if (name.compare(0, 6, "stall_") != 0) continue;
      const std::string reason = name.substr(6, name.size() - 6 - 7);  // without "_cycles"
      CAPTURE(reason);
      CHECK(reasons[reason] == value);
      reasons.erase(reason);
    }
    CHECK(reasons.empty());
    CHECK(timeline.outermost(sm + "/CTA slots/") == pipeline.at("ctas"));
    std::uint64_t warp_cycles = 0, state_cycles = 0;
    for (const PerfettoSlice& s : timeline.slices) {
      if (s.track.compare(0, sm.size() + 12, sm + "/warp slots/") != 0) continue;
      const bool is_warp = s.within.empty() && s.name.compare(0, 4, "CTA ") == 0;
      warps += is_warp ? 1 : 0;
      warp_cycles += is_warp ? s.length() : 0;
      state_cycles += s.within.empty() ? 0 : s.length();
    }
    // At every time a warp is in one state.
    CHECK(state_cycles == warp_cycles);
    CHECK(timeline.integral(sm + "/counters/resident warps") == double(warp_cycles));
    CHECK(check_counters(timeline, stats, sm + "/counters/", "sm" + std::to_string(i) + ".") > 20);
    CHECK(timeline.sum(sm + "/counters/pipeline/warp_instructions") == pipeline.at("warp_instructions").get<double>());
  }
  for (const PerfettoSlice& s : timeline.slices) {
    if (s.track != "run (1 ns = 1 cycle)/launches") continue;
    warps -= s.arguments.at("CTAs") * ((s.arguments.at("threads per CTA") + warp_size - 1) / warp_size);
  }
  CHECK(warps == 0);
}

}  // namespace regatta::test
