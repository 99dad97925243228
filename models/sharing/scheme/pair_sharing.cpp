// SPDX-License-Identifier: Apache-2.0
#include "pair_sharing.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/waits.h>
#include <regatta/support/stat_query.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

PairSharing::PairSharing(std::string resource, std::string gate, std::string lock_table)
    : resource_(std::move(resource)), gate_(std::move(gate)), lock_table_(std::move(lock_table)) {}

void PairSharing::declare(support::OptionSet& o) {
  o.add(name() + ".t", t_, "part of its " + resource_ + " for itself, as a decimal number: (1 - t) x 100 % are shared");
}

void PairSharing::validate(const assembly::MachineConfig&) const { threshold(); }

models::Threshold PairSharing::threshold() const { return models::Threshold::parse(name() + ".t", t_); }

void PairSharing::add_owners(assembly::SmParts& parts, std::unique_ptr<models::OwnerTable> owners,
                             protocol::LifecycleListener& listener) {
  parts.listeners.push_back(&listener);
  parts.modules.push_back(std::move(owners));
}

void PairSharing::add_sum(support::StatGroup& g, const std::vector<support::StatGroup>& modules, const char* name,
                          const std::string& counters, const char* unit, const char* help) {
  g.derived(
      name, [all = support::StatSum(modules, {support::StatQuery(counters)})] { return double(all.total()); }, unit,
      help);
}

void PairSharing::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const std::string gate = "sm*." + gate_ + ".";
  add_sum(g, modules, "unshared_ctas", "sm*.residency.unshared_ctas", "CTAs", "that shared nothing");
  add_sum(g, modules, "paired_ctas", "sm*.residency.paired_ctas", "CTAs", "that were one of a pair");
  add_sum(g, modules, "acquires", gate + "acquires", "locks", "taken");
  add_sum(g, modules, "waits", gate + "waits", "warps", "that had to wait for a lock, counted once per wait");
  add_sum(g, modules, "wait_cycles", gate + "wait_cycles", "warp-cycles", "that they waited");
  add_sum(g, modules, "transfers", "sm*.owner_table.transfers", "CTAs",
          "that became owners because their partner ended");
  add_sum(g, modules, "takeovers", "sm*.owner_table.takeovers", "CTAs", "that became owners by taking a lock");
  g.derived(
      "storage_bits", [this] { return double(storage_bits_); }, "bits",
      "of an SM's tables: sharing mode, partners, owners, warps that share, locks");
}

void PairSharing::add_waits(assembly::Waits& waits) const {
  waits.add("sm*." + gate_ + ".wait_cycles", assembly::Wait::Of::warps, {name() + ".t"});
}

void PairSharing::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string table = sm + "." + lock_table_ + ".", owners = sm + ".owner_table.";
  laws.add("locks that the gate takes are in the lock table", {sm + "." + gate_ + ".acquires"}, {table + "takes"});
  laws.add("locks that are taken are returned", {table + "takes"}, {table + "returns"});
  laws.add("pairs that begin with an owner, and CTAs that inherit a pair, end as owners",
           {owners + "owners_launched", owners + "transfers"}, {owners + "owners_ended"});
}

}  // namespace regatta::schemes
