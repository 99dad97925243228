// SPDX-License-Identifier: Apache-2.0
//
// What a scheme is asked with after a run, to say whether it did anything (Scheme::idle()).
#pragma once

#include <regatta/assembly/machine.h>
#include <regatta/support/stats.h>
#include <regatta/trace/file.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

class RunFacts {
 public:
  /// `launches`: those that were simulated, by their numbers in the trace. `groups` must outlive the object.
  RunFacts(const std::vector<support::StatGroup>& groups, const MachineConfig& machine, unsigned sms,
           const trace::Reader& trace, const std::vector<std::uint32_t>& launches);

  /// The sum of the statistics that match (support::StatQuery).
  std::uint64_t count(const std::string& query) const;
  /// What limits the CTAs that an SM of the conventional machine holds: "threads", or of several launches "registers,
  /// threads". Launches all of whose CTAs fit are not asked.
  const std::string& limits() const { return limits_; }
  /// Whether this resource is among the limits.
  bool limited_by(const std::string& resource) const;
  /// Whether the SMs of the conventional machine hold all CTAs of each launch.
  bool all_fit() const { return limits_.empty(); }

 private:
  const std::vector<support::StatGroup>& groups_;
  std::string limits_;
  std::vector<std::string> bounds_;
};

/// Why a scheme that makes room for more CTAs by `resource` ("registers") had no effect: all fit, or something else
/// limits them, or `otherwise`.
std::string no_cta_more(const RunFacts& facts, const std::string& resource, const std::string& otherwise);

}  // namespace regatta::assembly
