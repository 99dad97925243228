// SPDX-License-Identifier: Apache-2.0
#include "stuck_report.h"

#include "contract.h"

#include <algorithm>
#include <vector>

namespace regatta::sm {

namespace {

std::string pc_of(const InstructionTraits& t) {
  return "PC " + hex(std::uint64_t{t.index} * trace::bytes_per_instruction) + " " + t.info->opcode;
}

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

/// Warps that wait for the same holder.
struct Group {
  std::string holder;
  std::vector<unsigned> warps;
  std::vector<std::string> examples;
  Cycle since = protocol::never;
  bool for_others = false;  ///< it is other warps that they wait for
};

}  // namespace

Hold StuckReport::of(const DynamicInstruction& d) const {
  if (auto hold = sm_.reuse.holds(d)) return *hold;
  if (auto hold = sm_.operands->holds(d)) return *hold;
  if (auto hold = sm_.execution.holds(d)) return *hold;
  if (auto hold = sm_.lsu.holds(d)) return *hold;
  if (auto hold = sm_.writeback.holds(d)) return *hold;
  const std::string unit = protocol::to_string(d.traits->unit);
  return Hold{"results on their way through the " + unit + " pipelines", "", d.issued};
}

Hold StuckReport::of_dependent(const Warp& w) const {
  const InstructionTraits& head = *w.front()->traits;
  if (const std::string waits = sm_.issue.describe_wait(w); !waits.empty()) {
    return Hold{"control bits", "waits for " + waits, w.last_issued};
  }
  const DynamicInstruction* producer = nullptr;
  std::string wanted;
  sm_.core.for_each_in_flight(w, [&](const DynamicInstruction& d) {
    if (producer != nullptr && producer->issued <= d.issued) return;
    std::string found;
    for (unsigned i = 0; i < d.traits->write_count; ++i) {
      const protocol::RegisterId r = d.traits->writes[i];
      if (found.empty() && (head.accessed[r.value() >> 6] >> (r.value() & 63) & 1) != 0) {
        found = "R" + std::to_string(r.value());
      }
    }
    const unsigned predicates = d.traits->written_predicates & head.accessed_predicates;
    if (found.empty() && predicates != 0) found = "P" + std::to_string(__builtin_ctz(predicates));
    if (found.empty()) return;
    producer = &d;
    wanted = found;
  });
  if (producer == nullptr) return Hold{"results that no instruction in flight writes", "", w.last_issued};
  // A move that a gate inserted ahead of the instruction ends soon, but the gate then refuses again: report the gate.
  Hold hold = producer->injected ? sm_.issue.holds(w) : of(*producer);
  hold.detail = "waits for " + wanted + " of " + pc_of(*producer->traits) + in_brackets(hold.detail);
  return hold;
}

Hold StuckReport::of_ready(const Warp& w) const {
  const protocol::Unit unit = w.front()->traits->unit;
  if (!w.closed && !w.paused && unit != protocol::Unit::none && !sm_.operands.available(w.scheduler, unit)) {
    const auto holders = sm_.operands->holders(w.scheduler, unit);
    if (!holders.empty()) {
      Hold hold = of(*holders.front());
      hold.holder = "no collector unit is free, since " + hold.holder;
      hold.detail = "waits for a unit of " + describe(sm_.core, *holders.front()) +
                    (holders.size() == 1 ? "" : " or one of " + std::to_string(holders.size() - 1) + " others") +
                    in_brackets(hold.detail);
      return hold;
    }
  }
  return sm_.issue.holds(w);
}

Hold StuckReport::of(const Warp& w) const {
  if (!w.active) return sm_.ctas.inactive(w);
  switch (w.state) {
    case WarpState::barrier:
      if (!w.at_barrier) return sm_.ctas.at_budget(w, *w.front()->traits->info);
      return sm_.ctas.at_barrier(w);
    case WarpState::instruction_fetch:
      if (w.line_pending) return sm_.lsu.lines_held(w.fetch_since);
      return sm_.front_end.holds(w);
    case WarpState::ready:
      return of_ready(w);
    case WarpState::scoreboard:
      return of_dependent(w);
    case WarpState::memory: {
      const FetchedInstruction* head = w.front();
      if (head != nullptr && (sm_.core.depends(w, *head->traits) || !sm_.issue.describe_wait(w).empty())) {
        return of_dependent(w);
      }
      if (head != nullptr && w.memory_in_flight == 0) return sm_.lsu.stores_held(w.info.warp, w.last_issued);
      break;
    }
    default:
      break;
  }
  Hold hold{"nothing that the SM knows of", "", w.last_issued};
  sm_.core.for_each_in_flight(w, [&](const DynamicInstruction& d) {
    hold = of(d);
    hold.detail = "waits for " + pc_of(*d.traits) + in_brackets(hold.detail);
  });
  return hold;
}

std::string StuckReport::text() const {
  constexpr std::size_t most_examples = 3;
  std::vector<Group> groups;
  for (const Warp& w : sm_.core.warps) {
    if (!w.resident) continue;
    const Hold hold = of(w);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.holder == hold.holder; });
    if (group == groups.end()) group = groups.insert(group, Group{hold.holder, {}, {}});
    group->for_others = w.active && w.state == WarpState::barrier;
    group->warps.push_back(w.info.warp.value());
    group->since = std::min(group->since, hold.since);
    if (group->examples.size() == most_examples) continue;
    std::string example = describe(sm_.core, w.info.warp);
    if (const FetchedInstruction* head = w.front()) example += " " + pc_of(*head->traits);
    group->examples.push_back(example + (hold.detail.empty() ? "" : " " + hold.detail) + ", since cycle " +
                              std::to_string(hold.since.value()));
  }
  // Warps that wait for other warps are listed last.
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.for_others != b.for_others ? b.for_others : a.warps.size() > b.warps.size();
  });
  std::string text;
  for (const Group& g : groups) {
    const std::size_t count = g.warps.size();
    text += "  " + sm_.core.path + ": " + g.holder + ": " + std::to_string(count) +
            (count == 1 ? " warp (" : " warps (") + ranges(g.warps) + "), since cycle " +
            std::to_string(g.since.value()) + "\n";
    for (const std::string& example : g.examples) text += "    " + example + "\n";
    if (count > g.examples.size()) text += "    and " + std::to_string(count - g.examples.size()) + " more\n";
  }
  for (const std::string& gate : sm_.issue.silent_gates()) text += "  " + sm_.core.path + ": " + gate + "\n";
  for (const std::string& residency : {sm_.ctas.launches_nothing(), sm_.ctas.admits_nothing()}) {
    if (!residency.empty()) text += "  " + sm_.core.path + ": " + residency + "\n";
  }
  return text;
}

}  // namespace regatta::sm
