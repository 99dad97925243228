// SPDX-License-Identifier: Apache-2.0
// What the schemes that switch CTAs report.
#include "scheme_finereg.h"

#include <regatta/assembly/run_facts.h>
#include <regatta/support/stat_query.h>

#include <algorithm>

namespace regatta::schemes {

namespace {

using Counters = models::SwitchEngine::Counters;

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

}  // namespace

std::string SwitchingScheme::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.residency.switches") != 0) return {};
  const std::string none = "no CTA was switched out: ";
  std::uint64_t active = 0, resident = 0, stalls = 0;
  for (const models::SwitchEngine* e : engines_) {
    active = std::max(active, e->counters().active_peak);
    resident = std::max(resident, e->counters().resident_peak);
    stalls += e->counters().stalls;
  }
  if (resident > active)
    return none + (stalls == 0 ? "none had all its warps waiting" : "none that waited had a ready successor");
  if (facts.all_fit()) return none + "all CTAs are active at once";
  return none + "no more of them are resident than can be active (limited by " + facts.limits() + ")";
}

void SwitchingScheme::register_residency(support::StatGroup& g) const {
  // One of the engines' counters, or the cycles, over all SMs.
  const auto sum = [this](std::uint64_t Counters::*counter) {
    double all = 0;
    for (models::SwitchEngine* e : engines_) {
      e->account();
      all += double(e->counters().*counter);
    }
    return all;
  };
  const auto cycles = [this] {
    double all = 0;
    for (models::SwitchEngine* e : engines_) {
      e->account();
      all += double(e->elapsed());
    }
    return all;
  };
  const auto peak = [this](std::uint64_t Counters::*counter) {
    std::uint64_t most = 0;
    for (const models::SwitchEngine* e : engines_) most = std::max(most, e->counters().*counter);
    return double(most);
  };
  g.derived(
      "ctas.active", [=] { return ratio(sum(&Counters::active_cycles), cycles()); }, "CTAs",
      "active on an SM, mean over the cycles in which any is resident");
  g.derived(
      "ctas.pending", [=] { return ratio(sum(&Counters::pending_cycles), cycles()); }, "CTAs",
      "resident on an SM and not active, mean over the same cycles");
  g.derived(
      "ctas.active_peak", [=] { return peak(&Counters::active_peak); }, "CTAs", "active on an SM at a time, at most");
  g.derived(
      "ctas.resident_peak", [=] { return peak(&Counters::resident_peak); }, "CTAs",
      "resident on an SM at a time, at most");
  g.derived(
      "time_to_full_stall", [=] { return ratio(sum(&Counters::cycles_to_stall), sum(&Counters::stalls)); }, "cycles",
      "from a CTA's launch until all its warps are stalled for the first time, mean");
  g.derived(
      "longest_wait", [=] { return peak(&Counters::wait_peak); }, "cycles",
      "for which a pending CTA was ready and not switched in, at most");
}

namespace {

void total(support::StatGroup& g, const std::vector<support::StatGroup>& modules, const char* name, const char* query,
           const char* unit, const char* what) {
  g.derived(
      name, [all = support::StatSum(modules, {support::StatQuery(query)})] { return double(all.total()); }, unit, what);
}

void per(support::StatGroup& g, const std::vector<support::StatGroup>& modules, const char* name, const char* all,
         const char* count, const char* unit, const char* what) {
  g.derived(
      name,
      [a = support::StatSum(modules, {support::StatQuery(all)}),
       b = support::StatSum(modules, {support::StatQuery(count)})] {
        return ratio(double(a.total()), double(b.total()));
      },
      unit, what);
}

void register_switches(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  total(g, modules, "switches", "sm*.switch_engine.switches", "CTAs", "stalled ones that were switched out");
  total(g, modules, "switch_cycles", "sm*.switch_engine.switch_cycles", "cycles",
        "from switching a CTA out until its successor is switched in, summed over the switches");
  total(g, modules, "context_cycles", "sm*.pipeline.context_passes", "cycles",
        "in which shared memory banks were occupied by contexts of CTAs");
}

}  // namespace

void VirtualThread::register_own(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  register_switches(g, modules);
}

void RegDram::register_own(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  register_switches(g, modules);
  if (spill_.ctas == 0) return;
  total(g, modules, "lines_written", "sm*.register_spill.lines_written", "warp registers", "moved to memory");
  total(g, modules, "lines_read", "sm*.register_spill.lines_read", "warp registers", "moved back");
  total(g, modules, "merged_results", "sm*.register_spill.merged_results", "warp registers",
        "results of loads that were merged into a line in memory");
  total(g, modules, "depletion_stall_cycles", "sm*.switch_engine.depleted_cycles", "cycles",
        "in which a CTA was stalled and another could have taken its place, had its registers found room");
}

void VtRegMutex::register_own(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  register_switches(g, modules);
  total(g, modules, "acquires", "sm*.register_pool.acquires", "sections", "of the pool taken by warps");
  per(g, modules, "hold_cycles", "sm*.register_pool.held_cycles", "sm*.register_pool.releases", "cycles",
      "for which a section was held, mean");
  total(g, modules, "srp_stall_cycles", "sm*.pipeline.stall_issue_gate_cycles", "scheduler-cycles",
        "in which a warp was ready and none issued, because no section was free");
}

void FineReg::register_own(support::StatGroup& g, const std::vector<support::StatGroup>& modules) {
  register_switches(g, modules);
  per(g, modules, "live_registers", "sm*.rmu.counter.live_registers", "sm*.rmu.counter.ctas", "warp registers",
      "live in a stalled CTA, mean");
  total(g, modules, "bitvector_cache.hits", "sm*.rmu.vectors.hits", "lookups", "of live-register vectors, found");
  total(g, modules, "bitvector_cache.misses", "sm*.rmu.vectors.misses", "lookups", "the same, read from memory");
  total(g, modules, "depletion_stall_cycles", "sm*.switch_engine.depleted_cycles", "cycles",
        "in which a CTA was stalled and another could have taken its place, had its registers found room");
  total(g, modules, "moved_out", "sm*.rmu.mover.moved_out", "warp registers", "moved to the pending file");
  total(g, modules, "moved_in", "sm*.rmu.mover.moved_in", "warp registers", "moved back");
  total(g, modules, "merged_results", "sm*.rmu.mover.merged_results", "warp registers",
        "results of loads that went to the pending file");
  total(g, modules, "dead_results", "sm*.rmu.mover.dead_results", "warp registers",
        "results of loads of pending CTAs that nobody will read");
}

}  // namespace regatta::schemes
