// SPDX-License-Identifier: Apache-2.0
#include "scheme_scratchpad_sharing.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/waits.h>
#include <regatta/sharing/storage_bits.h>
#include <regatta/trace/sharing.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

std::string ScratchpadSharing::help() const {
  return "scratchpad sharing (Jatala, thesis, chapters 2 and 3): pairs of CTAs share shared memory, so that more CTAs "
         "are resident";
}

std::optional<assembly::Published> ScratchpadSharing::published() const {
  return assembly::Published{"Jatala, thesis, chapters 2 and 3",
                             "fermi_sharing",
                             {{"sm.scheduler", "owf"}, {"scratchpad_sharing.relssp", "optimal"}}};
}

std::string ScratchpadSharing::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.residency.paired_ctas") != 0) return {};
  return assembly::no_cta_more(facts, "shared memory", "the shared memory that is left over holds no pair of CTAs");
}

void ScratchpadSharing::declare(support::OptionSet& o) {
  PairSharing::declare(o);
  o.add("scratchpad_sharing.relssp", relssp_,
        "instructions with which threads give up the common part before their CTA ends: none, postdom or optimal; for "
        "traces that are annotated with --scratchpad-layout");
}

void ScratchpadSharing::validate(const assembly::MachineConfig& machine) const {
  PairSharing::validate(machine);
  if (relssp_ != "none" && relssp_ != "postdom" && relssp_ != "optimal") {
    throw support::ConfigError("configuration: scratchpad_sharing.relssp = " + relssp_ +
                               ", expected none, postdom or optimal");
  }
}

std::string ScratchpadSharing::held_by_ctas() const {
  return "a CTA of '" + name() + "' holds shared memory for which its partner waits";
}

void ScratchpadSharing::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  // The name is the new part's.
  parts.residency.reset();
  parts.registered_residency = nullptr;
  const std::string inserted = relssp_ == "none"      ? ""
                               : relssp_ == "optimal" ? trace::relssp_optimal_scheme
                                                      : trace::relssp_postdom_scheme;
  auto residency = std::make_unique<models::PairedScratchpad>("residency", threshold());
  auto contents = std::make_unique<models::SharedScratchpad>("shared_memory", c.machine.sm.shared_bytes);
  auto owners = std::make_unique<models::OwnerTable>("owner_table");
  auto locks = std::make_unique<models::ScratchpadLockTable>("scratchpad_lock_table", c.clock);
  auto gate = std::make_unique<models::ScratchpadGate>("scratchpad_gate", threshold(), inserted, c.clock);
  contents->pairs.bind(pairs_for_contents(parts, *residency));
  contents->boundary.bind(residency->boundary);
  owners->pairs.bind(residency->pairs);
  locks->pairs.bind(residency->pairs);
  gate->pairs.bind(residency->pairs);
  gate->boundary.bind(boundary_for_gate(parts, *residency));
  gate->locks.bind(locks_for_gate(parts, *locks));
  gate->owners.bind(owners->owners);
  std::uint64_t bits = models::scratchpad_sharing_bits(c.machine.sm.max_ctas, c.machine.sm.max_warps).total();
  if (releases()) {
    auto table = std::make_unique<models::ReleaseTable>("release_table");
    gate->release_bits.bind(bits_for_gate(parts, *table));
    parts.listeners.push_back(table.get());
    parts.modules.push_back(std::move(table));
    bits += models::release_bits(c.machine.sm.max_threads);
  }
  set_storage_bits(bits);
  parts.listeners.push_back(locks.get());
  parts.modules.push_back(std::move(locks));
  protocol::LifecycleListener& events = owner_events(parts, *owners);
  add_owners(parts, std::move(owners), events);
  parts.gates.push_back(std::move(gate));
  parts.residency = std::move(residency);
  parts.shared_contents = std::move(contents);
}

void ScratchpadSharing::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  PairSharing::register_stats(g, modules);
  add_sum(g, modules, "common_accesses", "sm*.scratchpad_gate.common_accesses", "warp instructions",
          "of CTAs of pairs that access the common part");
  add_sum(g, modules, "words_read", "sm*.shared_memory.words_read", "words",
          "that lanes read, if the trace has the contents of shared memory");
  if (!releases()) return;
  add_sum(g, modules, "relssp", "sm*.scratchpad_gate.relssp", "warp instructions", "that released, of CTAs of pairs");
  add_sum(g, modules, "releases", "sm*.scratchpad_gate.releases", "CTAs",
          "of which all threads have released the common part");
}

void ScratchpadSharing::add_waits(assembly::Waits& waits) const {
  // Two knobs of one wait: threads give the common part up earlier, or there is less of it.
  waits.add("sm*.scratchpad_gate.wait_cycles", assembly::Wait::Of::warps,
            {"scratchpad_sharing.relssp", "scratchpad_sharing.t"});
}

void ScratchpadSharing::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  PairSharing::add_laws(laws, sm);
  if (!releases()) return;
  laws.add("every CTA of a pair has released the common part when it ends, and the owner table knows it",
           {sm + ".residency.paired_ctas"}, {sm + ".scratchpad_gate.releases"});
  laws.add("releases are known to the owner table", {sm + ".scratchpad_gate.releases"}, {sm + ".owner_table.releases"});
}

}  // namespace regatta::schemes
