// SPDX-License-Identifier: Apache-2.0
#include "instruction_report.h"

#include <regatta/support/table.h>
#include <regatta/trace/instruction_text.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "why.h"

namespace regatta::assembly {

namespace {

using Json = nlohmann::ordered_json;

const char* reason(unsigned s) { return s == 0 ? "issued" : protocol::to_string(static_cast<protocol::Stall>(s)); }

std::uint64_t sum(const CycleStack& stack) { return std::accumulate(stack.begin(), stack.end(), std::uint64_t{0}); }

Json stack_json(const CycleStack& stack) {
  Json all = Json::object();
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    if (stack[s] != 0) all[reason(s)] = stack[s];
  }
  return all;
}

/// Cycles by source line, in the order of the code.
std::vector<std::pair<std::string, CycleStack>> by_line(const LaunchResult& l, const trace::Kernel& kernel) {
  std::vector<std::pair<std::string, CycleStack>> lines;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i + 1 < l.by_instruction.size(); ++i) {
    if (sum(l.by_instruction[i]) == 0) continue;
    const std::string source = source_of(kernel, kernel.instructions[i]);
    const auto [found, added] = known.emplace(source, lines.size());
    if (added) lines.emplace_back(source, CycleStack{});
    CycleStack& all = lines[found->second].second;
    for (unsigned s = 0; s < protocol::stall_count; ++s) all[s] += l.by_instruction[i][s];
  }
  return lines;
}

/// By kernel of the trace and source line, the other line that its instructions waited for most. A line that waited for
/// its own instructions most has none.
std::map<std::pair<std::uint32_t, std::string>, std::string> culprits(const SimulationResult& r,
                                                                      const trace::Reader& trace) {
  std::map<std::pair<std::uint32_t, std::string>, std::map<std::string, std::uint64_t>> blamed;
  for (const auto& [key, sum] : r.cause_samples) {
    if (key.cause == sm::Cause::issued || key.kernel >= trace.kernels().size()) continue;
    const trace::Kernel& kernel = trace.kernels()[key.kernel];
    const std::size_t size = kernel.instructions.size();
    if (key.victim >= size || key.culprit >= size) continue;
    blamed[{key.kernel, source_of(kernel, kernel.instructions[key.victim])}]
          [source_of(kernel, kernel.instructions[key.culprit])] += sum.weight;
  }
  std::map<std::pair<std::uint32_t, std::string>, std::string> worst;
  for (const auto& [line, others] : blamed) {
    const auto most = std::max_element(others.begin(), others.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->first != line.second) worst[line] = most->first;
  }
  return worst;
}

}  // namespace

Json cpi_lines_json(const SimulationResult& r, const trace::Reader& trace) {
  Json launches = Json::array();
  const auto blamed = culprits(r, trace);
  for (std::size_t n = 0; n < r.launches.size(); ++n) {
    const LaunchResult& l = r.launches[n];
    if (l.by_instruction.empty()) continue;
    const trace::Kernel& kernel = trace.kernels()[l.kernel_index];
    Json lines = Json::array(), instructions = Json::array();
    for (const auto& [source, stack] : by_line(l, kernel)) {
      lines.push_back({{"source", source}, {"scheduler_cycles", sum(stack)}, {"by_reason", stack_json(stack)}});
      if (const auto found = blamed.find({l.kernel_index, source}); found != blamed.end()) {
        lines.back()["because_of"] = found->second;
      }
    }
    for (std::size_t i = 0; i + 1 < l.by_instruction.size(); ++i) {
      const CycleStack& stack = l.by_instruction[i];
      if (sum(stack) == 0) continue;
      const trace::StaticInstruction& instruction = kernel.instructions[i];
      instructions.push_back({{"index", i},
                              {"text", trace::instruction_text(instruction)},
                              {"source", source_of(kernel, instruction)},
                              {"ptx_line", instruction.ptx_line},
                              {"scheduler_cycles", sum(stack)},
                              {"by_reason", stack_json(stack)}});
    }
    launches.push_back({{"launch", n},
                        {"kernel", l.kernel},
                        {"lines", std::move(lines)},
                        {"instructions", std::move(instructions)},
                        {"no_instruction", stack_json(l.by_instruction.back())}});
  }
  return launches;
}

void print_cpi_lines(const SimulationResult& r, const trace::Reader& trace) {
  constexpr std::size_t shown = 15;
  using support::Table;
  constexpr auto right = Table::Align::right;
  std::map<std::string, CycleStack> lines;
  std::map<std::string, std::string> because_of;
  for (const auto& [line, culprit] : culprits(r, trace)) because_of.emplace(line.second, culprit);
  CycleStack none{};
  std::uint64_t total = 0;
  const auto add = [&](CycleStack& to, const CycleStack& stack) {
    for (unsigned s = 0; s < protocol::stall_count; ++s) to[s] += stack[s];
    total += sum(stack);
  };
  for (const LaunchResult& l : r.launches) {
    if (l.by_instruction.empty()) continue;
    for (const auto& [source, stack] : by_line(l, trace.kernels()[l.kernel_index])) add(lines[source], stack);
    add(none, l.by_instruction.back());
  }
  if (total == 0) return;
  std::vector<std::pair<std::string, CycleStack>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return sum(a.second) > sum(b.second); });
  Table table({{"source line"},
               {"cycles", right},
               {"issued", right},
               {"waits most for"},
               {"of cycles", right},
               {"because of"}});
  const auto share = [&](std::uint64_t cycles) {
    return support::fixed(100.0 * double(cycles) / double(total), 1) + " %";
  };
  const auto row = [&](const std::string& name, const CycleStack& stack) {
    const auto most = std::max_element(stack.begin() + 1, stack.end());
    table.row({name, share(sum(stack)), share(stack[0]),
               *most == 0 ? "-" : reason(static_cast<unsigned>(most - stack.begin())), *most == 0 ? "-" : share(*most),
               *most == 0 || because_of.count(name) == 0 ? "-" : because_of.at(name)});
  };
  for (std::size_t i = 0; i < sorted.size() && i < shown; ++i) row(sorted[i].first, sorted[i].second);
  if (sorted.size() > shown) {
    CycleStack rest{};
    for (std::size_t i = shown; i < sorted.size(); ++i) {
      for (unsigned s = 0; s < protocol::stall_count; ++s) rest[s] += sorted[i].second[s];
    }
    row(std::to_string(sorted.size() - shown) + " other lines", rest);
  }
  if (sum(none) != 0) row("no instruction", none);
  std::cout << "\nscheduler-cycles by source line, of " << total << "\n" << table.str();
}

}  // namespace regatta::assembly
