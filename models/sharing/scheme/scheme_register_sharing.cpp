// SPDX-License-Identifier: Apache-2.0
#include "scheme_register_sharing.h"
#include "scheme_scratchpad_multiplexing.h"
#include "scheme_scratchpad_sharing.h"
#include "scheme_warp_level_divergence.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/waits.h>
#include <regatta/sharing/storage_bits.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

std::string RegisterSharing::help() const {
  return "register sharing (Jatala, thesis, chapter 2): pairs of CTAs share registers, so that more CTAs are resident";
}

std::optional<assembly::Published> RegisterSharing::published() const {
  return assembly::Published{
      "Jatala, thesis, chapter 2",
      "fermi_sharing",
      {{"shared.bytes", "49152"}, {"sm.scheduler", "owf"}, {"register_sharing.dynamic", "true"}}};
}

std::string RegisterSharing::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.residency.paired_ctas") != 0) return {};
  return assembly::no_cta_more(facts, "registers", "the registers that are left over hold no pair of CTAs");
}

void RegisterSharing::declare(support::OptionSet& o) {
  PairSharing::declare(o);
  o.add("register_sharing.lock", lock_,
        "a warp may take a free lock when its own partner warp has ended (warp), or only when no warp of its "
        "partner's CTA holds one (cta)",
        {"warp", "cta"});
  o.add("register_sharing.deadlock_rule", deadlock_rule_,
        "false: a warp may take a free lock in any case, which may deadlock, for experiments");
  o.add("register_sharing.dynamic", dynamic_,
        "non-owner warps issue memory instructions with a probability that follows the stalls; never on SM 0");
  dynamic_config_.declare("register_sharing.", o);
}

void RegisterSharing::validate(const assembly::MachineConfig& machine) const {
  PairSharing::validate(machine);
  if (dynamic_ && !deadlock_rule_) {
    throw support::ConfigError(
        "configuration: register_sharing.dynamic = true needs register_sharing.deadlock_rule = true: a non-owner that "
        "holds locks and may not access memory would keep its owner waiting");
  }
}

std::string RegisterSharing::held_by_ctas() const {
  return "a CTA of '" + name() + "' holds registers for which its partner waits";
}

models::LockGrant RegisterSharing::grant() const {
  if (!deadlock_rule_) return models::LockGrant::always;
  return lock_ == "cta" ? models::LockGrant::cta : models::LockGrant::warp;
}

void RegisterSharing::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  // The names are the new parts'.
  parts.residency.reset();
  parts.registered_residency = nullptr;
  parts.storage.reset();
  auto residency = std::make_unique<models::PairedRegisters>("residency", threshold());
  auto file = std::make_unique<models::SharedRegisterFile>("register_file", c.machine.register_file,
                                                           c.machine.sm.sub_cores, c.clock);
  auto owners = std::make_unique<models::OwnerTable>("owner_table");
  auto locks = std::make_unique<models::LockTable>("lock_table", c.clock);
  auto rule = std::make_unique<models::PairLockRule>("lock_rule", grant(), c.clock);
  auto gate = std::make_unique<models::RegisterGate>("register_gate", c.clock);
  parts.row_uses = {&file->row_use};
  file->pairs.bind(residency->pairs);
  file->boundary.bind(residency->boundary);
  owners->pairs.bind(residency->pairs);
  locks->pairs.bind(residency->pairs);
  rule->pairs.bind(residency->pairs);
  gate->pairs.bind(residency->pairs);
  gate->boundary.bind(boundary_for_gate(parts, *residency));
  gate->locks.bind(locks_for_gate(parts, *locks));
  gate->rule.bind(rule_for_gate(parts, *rule));
  gate->owners.bind(owners_for_gate(parts, *owners));
  assembly::add_description(parts, [g = gate.get()] { return g->describe_circles(); });
  parts.gates.push_back(std::move(gate));
  if (dynamic_) add_dynamic(c, parts, *residency, *owners);
  parts.listeners.insert(parts.listeners.end(), {locks.get(), rule.get()});
  set_storage_bits(models::register_sharing_bits(c.machine.sm.max_ctas, c.machine.sm.max_warps).total());
  parts.residency = std::move(residency);
  parts.storage = std::move(file);
  parts.modules.push_back(std::move(locks));
  parts.modules.push_back(std::move(rule));
  protocol::LifecycleListener& events = owner_events(parts, *owners);
  add_owners(parts, std::move(owners), events);
}

void RegisterSharing::add_dynamic(const assembly::BuildContext& c, assembly::SmParts& parts,
                                  models::PairedRegisters& residency, models::OwnerTable& owners) {
  models::DynamicWarpsConfig config = dynamic_config_;
  config.sm = c.sm_index;
  auto dynamic = std::make_unique<models::DynamicWarps>("dynamic_warps", config, c.clock);
  auto meter = std::make_unique<models::StallMeter>("stall_meter");
  if (c.sm_index == 0) probe_ = meter.get();
  dynamic->pairs.bind(residency.pairs);
  dynamic->owners.bind(owners.owners);
  dynamic->own_stalls.bind(meter->stalls);
  dynamic->probe_stalls.bind(probe_->stalls);
  owners.listeners.bind(dynamic->ownership);
  parts.observers.push_back(std::move(meter));
  parts.gates.push_back(std::move(dynamic));
}

void RegisterSharing::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  PairSharing::register_stats(g, modules);
  if (!dynamic_) return;
  add_sum(g, modules, "denials", "sm*.dynamic_warps.denials", "warps",
          "of non-owners that had to wait before a memory instruction");
  add_sum(g, modules, "denied_cycles", "sm*.dynamic_warps.denied_cycles", "warp-cycles", "that they waited");
}

void RegisterSharing::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  PairSharing::add_laws(laws, sm);
  laws.add("the deadlock rule counts the locks of the table", {sm + ".lock_table.takes"}, {sm + ".lock_rule.taken"});
}

void RegisterSharing::add_waits(assembly::Waits& waits) const {
  PairSharing::add_waits(waits);
  waits.add("sm*.dynamic_warps.denied_cycles", assembly::Wait::Of::warps, {"register_sharing.dynamic"});
}

void add_sharing(assembly::SchemeRegistry& registry) {
  registry.add(std::make_unique<RegisterSharing>());
  registry.add(std::make_unique<ScratchpadSharing>());
  registry.add(std::make_unique<WarpLevelDivergence>());
  registry.add(std::make_unique<ScratchpadMultiplexing>());
}

}  // namespace regatta::schemes
