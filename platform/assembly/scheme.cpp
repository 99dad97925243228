// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/scheme.h>
#include <regatta/base/suggestion.h>

namespace regatta::assembly {

SmParts baseline_parts(const BuildContext& c) {
  SmParts parts;
  parts.storage = std::make_unique<models::RegisterFile>("register_file", c.machine.register_file, c.clock_period);
  parts.residency = c.machine.policies.residency(c.machine.sm.residency).make(c.machine);
  if (parts.residency != nullptr) {
    const protocol::Residency& policy = *parts.residency;
    parts.registered_residency = &typeid(policy);
  }
  const SchedulerPolicy& scheduler = c.machine.policies.scheduler(c.machine.sm.scheduler);
  parts.scheduler =
      RegisteredScheduler{scheduler.name, [make = scheduler.make, machine = c.machine] { return make(machine); }};
  return parts;
}

void connect_memory(const BuildContext& context, SmParts& parts, const std::string& name,
                    protocol::MemoryInitiatorSocket& from, protocol::MemoryTargetSocket& to) {
  if (!context.check_protocol) {
    from.bind(to);
    return;
  }
  parts.memory_checkers.push_back(std::make_unique<protocol::BaseProtocolChecker<256>>(name.c_str()));
  from.bind(parts.memory_checkers.back()->in);
  parts.memory_checkers.back()->out.bind(to);
}

namespace {

class Baseline : public Scheme {
 public:
  std::string name() const override { return "baseline"; }
  std::string help() const override { return "conventional GPU: banked register file, as many resident CTAs as fit"; }
  SmParts build(const BuildContext& context) override { return baseline_parts(context); }
};

}  // namespace

SchemeRegistry SchemeRegistry::with_baseline() {
  SchemeRegistry registry;
  registry.add(std::make_unique<Baseline>());
  return registry;
}

void SchemeRegistry::add(std::unique_ptr<Scheme> scheme) {
  for (const auto& known : schemes_) {
    if (known->name() == scheme->name()) throw support::ConfigError("scheme '" + scheme->name() + "' is there already");
  }
  schemes_.push_back(std::move(scheme));
}

Scheme& SchemeRegistry::get(const std::string& name) const {
  if (const std::size_t plus = name.find('+'); plus != std::string::npos) {
    for (const auto& scheme : combined_) {
      if (scheme->name() == name) return *scheme;
    }
    const Scheme& upper = get(name.substr(0, plus));
    std::unique_ptr<Scheme> both = upper.over(get(name.substr(plus + 1)));
    if (both == nullptr) {
      throw support::ConfigError("--scheme: found '" + name + "', and '" + upper.name() +
                                 "' cannot be put on the parts of another scheme");
    }
    combined_.push_back(std::move(both));
    return *combined_.back();
  }
  std::vector<std::string> names;
  std::string known;
  for (const auto& scheme : schemes_) {
    if (scheme->name() == name) return *scheme;
    names.push_back(scheme->name());
    known += (known.empty() ? "" : ", ") + scheme->name();
  }
  const std::string nearest = base::nearest(name, names);
  throw support::ConfigError("--scheme: unknown scheme '" + name + "'" +
                             (nearest.empty() ? "." : ", did you mean '" + nearest + "'?") + " Known: " + known);
}

}  // namespace regatta::assembly
