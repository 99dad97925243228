// SPDX-License-Identifier: Apache-2.0
//
// Warp schedulers and residency policies by name: the choices of sm.scheduler (--scheduler) and sm.residency. Another
// program adds its own to MachineConfig::policies or passes them to run_tool(); the pipeline does not change.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/config.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::assembly {

struct MachineConfig;

/// Name and factory of one policy of an extension point.
template <class Part>
struct Policy {
  std::string name;
  std::string help;  ///< one line for --help
  /// Creates the part for one SM (a WarpScheduler: for one scheduler). Modules are created inside the SM's scope: a
  /// residency policy is called "residency".
  std::function<std::unique_ptr<Part>(const MachineConfig&)> make;
  /// Declares the policy's knobs, under a module name of its own; may be empty.
  std::function<void(support::OptionSet&)> declare = {};
};
using SchedulerPolicy = Policy<protocol::WarpScheduler>;
using ResidencyPolicy = Policy<protocol::Residency>;

class PolicyRegistry {
 public:
  /// With the built-in policies.
  PolicyRegistry();
  /// Throws ConfigError if the policy has no name or factory, or its name is taken.
  void add(SchedulerPolicy policy);
  void add(ResidencyPolicy policy);
  const std::vector<SchedulerPolicy>& schedulers() const { return schedulers_; }
  const std::vector<ResidencyPolicy>& residencies() const { return residencies_; }
  /// Throws ConfigError with the nearest known name.
  const SchedulerPolicy& scheduler(const std::string& name) const;
  const ResidencyPolicy& residency(const std::string& name) const;
  /// Whether both policies are built in.
  bool are_own(const std::string& scheduler, const std::string& residency) const;
  /// Declares the knobs of all policies.
  void declare(support::OptionSet& options) const;

 private:
  std::vector<SchedulerPolicy> schedulers_;
  std::vector<ResidencyPolicy> residencies_;
  std::size_t own_schedulers_ = 0, own_residencies_ = 0;  ///< the first ones are built in
};

/// "gto: greedy, then oldest; lrr: ...", for help texts.
template <class Part>
std::string described(const std::vector<Policy<Part>>& policies) {
  std::string text;
  for (const Policy<Part>& p : policies) text += (text.empty() ? "" : "; ") + p.name + ": " + p.help;
  return text;
}

template <class Part>
std::vector<std::string> names_of(const std::vector<Policy<Part>>& policies) {
  std::vector<std::string> names;
  for (const Policy<Part>& p : policies) names.push_back(p.name);
  return names;
}

/// What makes the schedulers of a registered policy; results go by its name as long as no scheme wraps it.
struct RegisteredScheduler {
  std::string name;
  std::function<std::unique_ptr<protocol::WarpScheduler>()> make;
  std::unique_ptr<protocol::WarpScheduler> operator()() const { return make(); }
};

}  // namespace regatta::assembly
