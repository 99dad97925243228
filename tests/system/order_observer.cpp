// SPDX-License-Identifier: Apache-2.0
#include "order_observer.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace regatta::test {

std::map<unsigned, std::vector<Passage>> read_passages(const std::string& kanata) {
  std::istringstream lines(kanata);
  std::string line;
  std::uint64_t now = 0;
  std::map<std::string, std::pair<unsigned, Passage>> flying;
  std::map<unsigned, std::vector<Passage>> passages;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string what, id, lane, text;
    std::getline(fields, what, '\t');
    std::getline(fields, id, '\t');
    std::getline(fields, lane, '\t');
    std::getline(fields, text, '\t');
    if (what == "C=") now = std::stoull(id);
    if (what == "C") now += std::stoull(id);
    auto& [warp, passage] = flying[id];
    if (what == "L" && lane == "0") {
      warp = static_cast<unsigned>(std::stoul(text.substr(text.find(" warp ") + 6)));
      passage.index = static_cast<std::uint32_t>(std::stoul(text.substr(text.find(": 0x") + 4), nullptr, 16) /
                                                 trace::bytes_per_instruction);
    }
    if (what == "S" && text == "I") passage.issued = now;
    if (what == "S" && text == "X") passage.executed = now;
    if (what == "S" && text == "W") passage.written = now;
    if (what == "R") {
      passage.retired = now;
      passages[warp].push_back(passage);
      flying.erase(id);
    }
  }
  for (auto& [warp, all] : passages) {
    std::sort(all.begin(), all.end(), [](const Passage& a, const Passage& b) { return a.issued < b.issued; });
  }
  return passages;
}

void OrderObserver::step(const Passage& p, trace::LaneMask active, Order& order) {
  const trace::StaticInstruction& i = kernel_.instructions[p.index];
  const unsigned latency = control_.latency[p.index];
  std::vector<unsigned> at_issue(i.source_predicates.begin(), i.source_predicates.begin() + i.source_predicate_count);
  if (i.guard.predicate >= 0) at_issue.push_back(static_cast<unsigned>(i.guard.predicate));
  if (i.reads_carry) at_issue.push_back(carry);
  // The machine may be quicker than the compiler counts.
  const bool fixed = latency != 0;
  const std::uint64_t counted = p.executed + latency;
  const Written now{fixed, !fixed ? p.retired : p.written != 0 ? p.written : counted, counted, p.index};
  for (trace::LaneMask m = active; m != 0; m &= m - 1) {
    Lane& lane = lanes_[static_cast<unsigned>(__builtin_ctzll(m))];
    for (const unsigned r : at_issue) {
      const Written& w = lane.predicates[r];
      if (p.issued + (w.fixed ? stages : 0) < w.when) order.early_predicate = true;
    }
    for (unsigned s = 0; s < i.source_count; ++s) {
      const Written& w = lane.registers[i.sources[s]];
      if (latency != 0 && w.fixed) {
        order.early_operand = order.early_operand || p.executed < w.when;
        if (p.executed >= w.when && p.executed < w.counted) {
          order.sooner = true;
          const std::string& opcode = kernel_.instructions[w.index].opcode;
          if (order.sooner_opcodes.find(opcode) == std::string::npos) order.sooner_opcodes += opcode + " ";
        }
      } else if (p.issued + (w.fixed ? stages - 1 : 0) < w.when) {
        order.may_be_early = true;
      }
    }
    for (unsigned d = 0; d < i.destination_count; ++d) {
      Written& w = lane.registers[i.destinations[d]];
      order.may_be_early = order.may_be_early || now.when <= w.when;
      w = now;
    }
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) lane.predicates[i.destination_predicates[d]] = now;
    if (i.writes_carry) lane.predicates[carry] = now;
  }
}

}  // namespace regatta::test
