// SPDX-License-Identifier: Apache-2.0
#include "scheme_scratchpad_multiplexing.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/waits.h>
#include <regatta/sharing/storage_bits.h>
#include <regatta/support/stat_query.h>
#include <regatta/trace/sharing.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

using support::StatQuery;
using support::StatSum;

std::string ScratchpadMultiplexing::help() const {
  return "shared memory multiplexing (Yang et al., PACT 2012): more CTAs are resident than shared memory holds, and "
         "have "
         "it in turn";
}

std::optional<assembly::Published> ScratchpadMultiplexing::published() const {
  return assembly::Published{"Jatala, thesis, chapter 3",
                             "fermi_sharing",
                             {{"scratchpad_multiplexing.relssp", "optimal"}, {"scratchpad_multiplexing.t", "0.1"}}};
}

std::string ScratchpadMultiplexing::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.residency.multiplexed_ctas") != 0) return {};
  return assembly::no_cta_more(facts, "shared memory", "the shared memory that is left over holds no CTA more");
}

void ScratchpadMultiplexing::declare(support::OptionSet& o) {
  o.add("scratchpad_multiplexing.t", t_,
        "part of its shared memory that each CTA has for itself, as a decimal number from 0 to 1");
  o.add("scratchpad_multiplexing.relssp", relssp_,
        "instructions with which threads give their place up before their CTA ends; for traces that are annotated with "
        "--scratchpad-layout",
        {"none", "postdom", "optimal"});
  o.add("scratchpad_multiplexing.ctas", ctas_, "CTAs",
        "resident at most; 0: two for every place at most, and as many as the other limits allow", 0, 1024);
}

models::Threshold ScratchpadMultiplexing::threshold() const {
  return models::Threshold::parse_or_zero("scratchpad_multiplexing.t", t_);
}

void ScratchpadMultiplexing::validate(const assembly::MachineConfig&) const { threshold(); }

std::string ScratchpadMultiplexing::held_by_ctas() const {
  return "a CTA of '" + name() + "' holds shared memory for which others wait";
}

void ScratchpadMultiplexing::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  // The name is the new part's.
  parts.residency.reset();
  parts.registered_residency = nullptr;
  const std::string inserted = relssp_ == "none"      ? ""
                               : relssp_ == "optimal" ? trace::relssp_optimal_scheme
                                                      : trace::relssp_postdom_scheme;
  auto residency = std::make_unique<models::MultiplexedResidency>("residency", threshold(), ctas_);
  auto contents = std::make_unique<models::MultiplexedScratchpad>("shared_memory", c.machine.sm.shared_bytes);
  auto table = std::make_unique<models::AllocationTable>("allocation_table", c.clock);
  auto gate = std::make_unique<models::AllocationGate>("allocation_gate", threshold(), inserted, c.clock);
  contents->boundary.bind(residency->boundary);
  contents->multiplex.bind(residency->multiplex);
  contents->places.bind(places_for_contents(parts, *table));
  table->multiplex.bind(residency->multiplex);
  gate->multiplex.bind(residency->multiplex);
  gate->boundary.bind(boundary_for_gate(parts, *residency));
  gate->places.bind(places_for_gate(parts, *table));
  storage_bits_ = models::allocation_bits(c.machine.sm.max_ctas);
  if (releases()) {
    auto bits = std::make_unique<models::ReleaseTable>("release_table");
    gate->release_bits.bind(bits_for_gate(parts, *bits));
    parts.listeners.push_back(bits.get());
    parts.modules.push_back(std::move(bits));
    storage_bits_ += models::release_bits(c.machine.sm.max_threads);
  }
  parts.listeners.push_back(table.get());
  parts.modules.push_back(std::move(table));
  parts.gates.push_back(std::move(gate));
  parts.residency = std::move(residency);
  parts.shared_contents = std::move(contents);
}

void ScratchpadMultiplexing::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const auto sum = [&](const char* name, const std::string& counter, const char* unit, const char* help) {
    g.derived(
        name, [all = StatSum(modules, {StatQuery(counter)})] { return double(all.total()); }, unit, help);
  };
  const std::string gate = "sm*.allocation_gate.";
  sum("multiplexed_ctas", "sm*.residency.multiplexed_ctas", "CTAs", "of launches with more CTAs than places");
  sum("whole_ctas", "sm*.residency.whole_ctas", "CTAs", "of other launches");
  sum("common_accesses", gate + "common_accesses", "warp instructions", "that access the common part, of these CTAs");
  sum("allocations", "sm*.allocation_table.takes", "places", "allocated to CTAs");
  sum("queued", gate + "queued", "CTAs", "that found no place free");
  sum("waits", gate + "waits", "warps", "that had to wait for a place of their CTA, counted once per wait");
  sum("wait_cycles", gate + "wait_cycles", "warp-cycles", "that they waited");
  sum("words_read", "sm*.shared_memory.words_read", "words",
      "that lanes read, if the trace has the contents of shared memory");
  if (releases()) {
    sum("relssp", gate + "relssp", "warp instructions", "that released, of these CTAs");
    sum("releases", gate + "releases", "CTAs", "of which all threads have released the common part");
  }
  g.derived(
      "storage_bits", [this] { return double(storage_bits_); }, "bits",
      "of an SM's tables: the place of every CTA, the queue, places that are taken; with relssp two for every thread");
}

void ScratchpadMultiplexing::add_waits(assembly::Waits& waits) const {
  waits.add("sm*.allocation_gate.wait_cycles", assembly::Wait::Of::warps,
            {"scratchpad_multiplexing.relssp", "scratchpad_multiplexing.t", "scratchpad_multiplexing.ctas"});
}

void ScratchpadMultiplexing::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string table = sm + ".allocation_table.", gate = sm + ".allocation_gate.";
  laws.add("places that are allocated are given back", {table + "takes"}, {table + "returns"});
  laws.add("places are allocated at a first access, or as they are given back", {table + "takes"},
           {gate + "acquires", gate + "granted"});
  laws.add("CTAs that wait for a place get one", {gate + "queued"}, {gate + "granted"});
  if (!releases()) return;
  laws.add("every CTA has released the common part when it ends", {sm + ".residency.multiplexed_ctas"},
           {gate + "releases"});
}

}  // namespace regatta::schemes
