// SPDX-License-Identifier: Apache-2.0
#include "scheme_warp_level_divergence.h"

#include <regatta/assembly/conservation.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/waits.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/support/stat_query.h>

#include <memory>
#include <utility>

namespace regatta::schemes {

using support::StatQuery;
using support::StatSum;

std::string WarpLevelDivergence::help() const {
  return "warp-level divergence (Xiang et al., HPCA 2014): registers are allocated by warp, and one CTA may be "
         "resident "
         "with a part of its warps";
}

std::optional<assembly::Published> WarpLevelDivergence::published() const {
  return assembly::Published{"Jatala, thesis, section 2.5.1.9", "fermi_sharing", {{"shared.bytes", "49152"}}};
}

std::string WarpLevelDivergence::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.residency.partial_ctas") != 0) return {};
  return assembly::no_cta_more(facts, "registers", "no registers are left over for a warp of one CTA more");
}

void WarpLevelDivergence::declare(support::OptionSet& o) {
  o.add("warp_level_divergence.release", release_,
        "when the registers of a warp can be allocated again: when the warp has ended, or its CTA", {"warp", "cta"});
}

std::string WarpLevelDivergence::held_by_ctas() const {
  return "a CTA of '" + name() + "' holds registers for which warps of a partial CTA wait";
}

void WarpLevelDivergence::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  // The name is the new part's.
  parts.residency.reset();
  parts.registered_residency = nullptr;
  auto residency = std::make_unique<models::PartialResidency>("residency", c.clock);
  auto table = std::make_unique<models::WarpTable>(
      "warp_table", c.machine.sm.sub_cores, release_ == "cta" ? models::RowRelease::cta : models::RowRelease::warp,
      c.clock);
  residency->room.bind(room_for_residency(parts, *table));
  models::MovableFile& file = assembly::file_without_windows(parts, name());
  file.window_port().bind(windows_for_file(parts, *table));
  storage_bits_ = models::warp_table_bits(c.machine.sm.max_ctas, c.machine.sm.max_warps,
                                          c.machine.register_file.registers, c.machine.sm.register_granularity);
  parts.listeners.push_back(table.get());
  parts.modules.push_back(std::move(table));
  parts.residency = std::move(residency);
}

void WarpLevelDivergence::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  const auto sum = [&](const char* name, const char* counter, const char* unit, const char* help) {
    g.derived(
        name, [all = StatSum(modules, {StatQuery(counter)})] { return double(all.total()); }, unit, help);
  };
  sum("whole_ctas", "sm*.residency.whole_ctas", "CTAs", "launched with all of their warps");
  sum("partial_ctas", "sm*.residency.partial_ctas", "CTAs", "launched with registers for a part of their warps");
  sum("late_warps", "sm*.residency.late_warps", "warps", "of these CTAs, admitted after the cycle of the launch");
  sum("late_cycles", "sm*.residency.late_cycles", "warp-cycles", "from the launch of their CTA to their admission");
  sum("partial_cycles", "sm*.residency.partial_cycles", "cycles", "in which a resident CTA did not have all its warps");
  g.derived(
      "rows_mean",
      [rows = StatSum(modules, {StatQuery("sm*.warp_table.row_cycles")}),
       cycles = StatSum(modules, {StatQuery("sm*.pipeline.active_cycles")})] {
        return cycles.total() == 0 ? 0.0 : double(rows.total()) / double(cycles.total());
      },
      "warp registers", "that warps have in an SM, mean over its active cycles");
  g.derived(
      "rows_max", [rows = StatSum(modules, {StatQuery("sm*.warp_table.rows_max")})] { return double(rows.largest()); },
      "warp registers", "that warps have in an SM at a time, at most");
  g.derived(
      "storage_bits", [this] { return double(storage_bits_); }, "bits",
      "of an SM's tables: the rows of every warp, warps that wait, windows that are taken, the partial CTA");
}

void WarpLevelDivergence::add_waits(assembly::Waits& waits) const {
  waits.add("sm*.residency.late_cycles", assembly::Wait::Of::warps, {"warp_level_divergence.release"});
}

void WarpLevelDivergence::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  const std::string table = sm + ".warp_table.", residency = sm + ".residency.";
  laws.add("warps that get rows give them back", {table + "assigned"}, {table + "released"});
  laws.add("CTAs are launched whole or partial", {residency + "whole_ctas", residency + "partial_ctas"},
           {sm + ".pipeline.ctas"});
}

}  // namespace regatta::schemes
