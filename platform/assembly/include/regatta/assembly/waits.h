// SPDX-License-Identifier: Apache-2.0
//
// Which statistics of a scheme count waits, and which knobs make these waits fewer or shorter. regatta-compare looks
// among them for what slows a scheme down, and --describe-stats names the knobs.
#pragma once

#include <regatta/support/config.h>
#include <regatta/support/stat_query.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace regatta::assembly {

/// A statistic whose counts are cycles of waiting.
struct Wait {
  /// Whose cycles they are.
  enum class Of : std::uint8_t {
    warps,      ///< of single warps, or of requests or results of theirs, summed
    ctas,       ///< of single CTAs, summed
    module,     ///< in each of them, the module holds up all that want something of it
    residents,  ///< no waits: cycles of resident CTAs, of which there are fewer because of the knobs
  };
  support::StatQuery statistic;
  Of of = Of::warps;
  std::vector<std::string> knobs;  ///< with more of which, or with a greater effect of which, there are fewer
  bool is_latency = false;         ///< each count stands for as many cycles as its only knob says
};

/// The waits of one scheme. Order does not matter.
class Waits {
 public:
  /// `statistic` counts cycles of waiting, or events that cost a cycle each.
  void add(const support::StatQuery& statistic, Wait::Of of, std::vector<std::string> knobs);
  /// `statistic` counts events of single warps, each of which takes the cycles that `knob` says.
  void add_latency(const support::StatQuery& statistic, const std::string& knob);
  const std::vector<Wait>& all() const { return waits_; }

  /// Those whose statistic is among the groups.
  Waits of(const std::vector<support::StatGroup>& groups) const;
  /// For stats.json. A latency has the least value of its knob. Throws std::logic_error for a knob that is not among
  /// the options.
  nlohmann::ordered_json json(const support::OptionSet& options) const;
  /// The knobs of one statistic, each once.
  std::vector<std::string> knobs_of(const std::string& path, const std::string& name) const;
  /// Those of the wait that has most cycles, "osu.entries, l1.mshrs"; of a latency, which is counted by event, those
  /// cycles count that its knob among `options` is above its least value. "": there is no wait.
  std::string knobs_of_longest(const std::vector<support::StatGroup>& groups, const support::OptionSet& options) const;

 private:
  std::vector<Wait> waits_;
};

}  // namespace regatta::assembly
