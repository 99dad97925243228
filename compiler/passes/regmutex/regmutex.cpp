// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/regmutex.h>

#include "extended_set.h"
#include "hold_places.h"
#include "min_cut.h"

#include <algorithm>
#include <string>

namespace regatta::passes {

namespace {

using analysis::BitSet;

/// An inserted instruction costs as much as a section that is held for so many instructions longer.
constexpr std::uint64_t cost_of_change = 2;

/// Registers keep their order within each set.
trace::RegMutexRegisters place_registers(const BitSet& extended) {
  trace::RegMutexRegisters r;
  r.extended = static_cast<unsigned>(extended.count());
  r.base = static_cast<unsigned>(extended.size()) - r.extended;
  unsigned next_base = 0, next_extended = r.base;
  for (std::size_t reg = 0; reg < extended.size(); ++reg)
    r.place.push_back(static_cast<std::uint8_t>(extended.test(reg) ? next_extended++ : next_base++));
  return r;
}

bool meet(const BitSet& a, const BitSet& b) {
  BitSet both = a;
  both.intersect(b);
  return both.any();
}

/// Per group: the section is held. Held where it is needed, and between two such stretches where that costs less than
/// a release and an acquire.
std::vector<bool> choose_held(const HoldPlaces& places, const BitSet& extended) {
  MinCut cut(places.groups());
  for (std::uint32_t g = 0; g < places.groups(); ++g) {
    if (meet(places.needs(g), extended)) {
      cut.cost_of_no(g, MinCut::never);
    } else if (places.is_free(g)) {
      cut.cost_of_yes(g, MinCut::never);
    } else {
      cut.cost_of_yes(g, places.weight(g));
    }
  }
  for (const HoldPlaces::Step& s : places.steps()) cut.cost_of_difference(s.from, s.to, cost_of_change * s.weight);
  return cut.solve();
}

}  // namespace

std::size_t RegMutexPlan::acquires() const {
  return static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(), [](const SectionChange& c) { return c.acquires; }));
}

void check(const RegMutexOptions& options) {
  if (options.base > trace::max_general_registers)
    throw trace::InputError("error: --regmutex-base is " + std::to_string(options.base) + ", expected 0 to " +
                            std::to_string(trace::max_general_registers));
}

RegMutexPlan plan_regmutex(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                           const RegMutexOptions& options) {
  check(options);
  const HoldPlaces places(kernel, analyses);
  RegMutexPlan plan;
  plan.asked = options.base;
  plan.least_base = static_cast<unsigned>(places.base_only().count());
  const unsigned base = options.base == 0 ? choose_base(places) : std::max(options.base, plan.least_base);
  const BitSet extended = choose_extended_set(places, base).registers;
  plan.registers = place_registers(extended);
  const std::vector<bool> held = choose_held(places, extended);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) plan.held.push_back(held[places.group_of(i)]);
  for (const HoldPlaces::Step& s : places.steps())
    if (held[s.from] != held[s.to]) plan.changes.push_back({held[s.to], s.before, s.after});
  std::uint64_t weight = 0;
  for (std::uint32_t g = 0; g < places.groups(); ++g) weight += held[g] ? places.weight(g) : 0;
  if (const std::uint64_t total = total_weight(places); total != 0)
    plan.held_share = static_cast<double>(weight) / static_cast<double>(total);
  return plan;
}

void add_regmutex(trace::Kernel& kernel, const RegMutexPlan& plan) {
  std::uint32_t next_id = 0;
  for (const trace::StaticInstruction& i : kernel.instructions) next_id = std::max(next_id, i.opcode_id + 1);
  for (const trace::InsertedInstruction& i : kernel.inserted) next_id = std::max(next_id, i.instruction.opcode_id + 1);
  for (const SectionChange& change : plan.changes) {
    trace::InsertedInstruction inserted;
    inserted.before = change.before;
    inserted.after = change.after;
    inserted.disposition = trace::Disposition::issue;
    inserted.instruction = change.acquires ? trace::regmutex_instruction(trace::regmutex_acquire, next_id)
                                           : trace::regmutex_instruction(trace::regmutex_release, next_id + 1);
    kernel.inserted.push_back(std::move(inserted));
  }
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  kernel.annotations.push_back(
      {trace::regmutex_section, trace::regmutex_section_version, trace::encode(plan.registers)});
}

}  // namespace regatta::passes
