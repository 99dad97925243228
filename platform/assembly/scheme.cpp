// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/scheme.h>
#include <regatta/baseline/register_file_cache.h>
#include <regatta/baseline/windowed_file.h>

#include <stdexcept>
#include <utility>

namespace regatta::assembly {

SmParts baseline_parts(const BuildContext& c) {
  SmParts parts;
  parts.storage = std::make_unique<models::RegisterFile>("register_file", c.machine.register_file, c.clock);
  if (c.machine.register_file.cache) {
    parts.operand_cache = std::make_unique<models::RegisterFileCache>("register_file_cache", c.machine.sm.schedulers);
  }
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

void add_description(SmParts& parts, std::function<std::string()> describe) {
  if (!parts.describe_stuck) {
    parts.describe_stuck = std::move(describe);
    return;
  }
  parts.describe_stuck = [before = std::move(parts.describe_stuck), describe = std::move(describe)] {
    return before() + describe();
  };
}

models::MovableFile& file_without_windows(SmParts& parts, const std::string& scheme) {
  auto* const file = dynamic_cast<models::MovableFile*>(parts.storage.get());
  if (file == nullptr) {
    throw support::ConfigError("scheme " + scheme + ": it gives warps their windows, and the storage takes none");
  }
  if (const std::string windows = file->own_windows(); windows != "fixed") {
    throw support::ConfigError("scheme " + scheme + ": it gives warps their windows, and the register file has " +
                               windows + " windows of its own: expected fixed ones");
  }
  return *file;
}

SmParts Scheme::build(const BuildContext& context) { return build_layers(context, {this}); }

void Scheme::add_parts(const BuildContext&, SmParts&) {
  throw std::logic_error("scheme " + name() + " has neither build() nor add_parts()");
}

SmParts Scheme::build_layers(const BuildContext& c, const std::vector<Scheme*>& layers) {
  const auto prepared = [&](const Scheme* without) {
    machines_.push_back(std::make_unique<MachineConfig>(c.machine));
    for (const Scheme* s : layers) {
      if (s != without) s->prepare(*machines_.back());
    }
    return BuildContext{*machines_.back(), c.clock, c.sm_index, c.check_protocol, c.lookup_delay};
  };
  SmParts parts = baseline_parts(prepared(nullptr));
  for (Scheme* s : layers) s->add_parts(layers.size() == 1 ? c : prepared(s), parts);
  return parts;
}

}  // namespace regatta::assembly
