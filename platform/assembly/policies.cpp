// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/policies.h>
#include <regatta/base/suggestion.h>

#include <regatta/assembly/machine.h>
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/baseline/schedulers.h>

#include <algorithm>

namespace regatta::assembly {

namespace {

template <class Part>
void insert(std::vector<Policy<Part>>& policies, Policy<Part> policy, const char* kind) {
  if (policy.name.empty() || !policy.make) {
    throw support::ConfigError(std::string(kind) + " '" + policy.name + "': expected a name and a maker");
  }
  for (const Policy<Part>& known : policies) {
    if (known.name == policy.name) {
      throw support::ConfigError(std::string(kind) + " '" + policy.name + "' is there already");
    }
  }
  policies.push_back(std::move(policy));
}

template <class Part>
const Policy<Part>& find(const std::vector<Policy<Part>>& policies, const std::string& name, const char* knob) {
  for (const Policy<Part>& p : policies) {
    if (p.name == name) return p;
  }
  throw support::ConfigError(std::string("configuration: ") + knob + ": unknown policy '" + name + "'" +
                             base::suggestion_and_known(name, names_of(policies)));
}

}  // namespace

PolicyRegistry::PolicyRegistry() {
  const auto builtin = [this](const char* name, const char* help) {
    add(SchedulerPolicy{name, help, [name = std::string(name)](const MachineConfig& machine) {
                          return models::make_scheduler(name, machine.scheduler);
                        }});
  };
  builtin("gto", "greedy, then oldest");
  builtin("lrr", "loose round robin");
  builtin("two_level", "in turn among a few active warps (scheduler.active_warps)");
  builtin("owf", "owner warp first: the oldest warp of the lowest class that the scheme gives (register_sharing)");
  builtin("cggty", "greedy, then youngest (modern NVIDIA SMs)");
  add(ResidencyPolicy{"occupancy", "as many CTAs as fit, all of them active",
                      [](const MachineConfig&) { return std::make_unique<models::OccupancyResidency>("residency"); }});
  own_schedulers_ = schedulers_.size();
  own_residencies_ = residencies_.size();
}

bool PolicyRegistry::are_own(const std::string& scheduler, const std::string& residency) const {
  const auto is_among = [](const auto& policies, std::size_t own, const std::string& name) {
    const auto end = policies.begin() + static_cast<std::ptrdiff_t>(own);
    return std::any_of(policies.begin(), end, [&name](const auto& policy) { return policy.name == name; });
  };
  return is_among(schedulers_, own_schedulers_, scheduler) && is_among(residencies_, own_residencies_, residency);
}

void PolicyRegistry::add(SchedulerPolicy policy) { insert(schedulers_, std::move(policy), "warp scheduler"); }
void PolicyRegistry::add(ResidencyPolicy policy) { insert(residencies_, std::move(policy), "residency policy"); }

const SchedulerPolicy& PolicyRegistry::scheduler(const std::string& name) const {
  return find(schedulers_, name, "sm.scheduler");
}

const ResidencyPolicy& PolicyRegistry::residency(const std::string& name) const {
  return find(residencies_, name, "sm.residency");
}

void PolicyRegistry::declare(support::OptionSet& options) const {
  const auto all = [&options](const auto& policies) {
    for (const auto& p : policies) {
      if (p.declare) p.declare(options);
    }
  };
  all(schedulers_);
  all(residencies_);
}

}  // namespace regatta::assembly
