// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <algorithm>

namespace regatta::import {

Layout::Layout(const Code& code) : guarded_(code.lines.size(), false) {
  const auto add = [this](std::uint64_t pc, const CodeLine& line) {
    index_.emplace(pc, static_cast<std::uint32_t>(lines_.size()));
    lines_.push_back(&line);
  };
  const auto entry = code.lines.find(code.entry);
  for (auto it = entry; it != code.lines.end(); ++it) add(it->first, it->second);
  for (auto it = code.lines.begin(); it != entry; ++it) add(it->first, it->second);
  flow_.lines.resize(lines_.size());
  for (std::uint32_t index = 0; index < lines_.size(); ++index) find_target(index);
}

/// Where a branch leads: where most of its lanes were seen next at once, otherwise later. Lanes of a direct branch that
/// were seen at the next instruction did not take it.
void Layout::find_target(std::uint32_t index) {
  const CodeLine& line = *lines_[index];
  FlowCode::Line& flow = flow_.lines[index];
  flow.control = line.meaning.control;
  if (flow.control != Control::target && flow.control != Control::anywhere) return;
  const bool certain =
      std::any_of(line.successors.begin(), line.successors.end(), [](const auto& s) { return s.second.at_once != 0; });
  std::uint64_t most = 0;
  unsigned targets = 0;
  const std::uint32_t last = static_cast<std::uint32_t>(lines_.size()) - 1;
  flow.target = std::min(index + 1, last);
  for (const auto& [pc, evidence] : line.successors) {
    const bool is_direct = flow.control == Control::target;
    const std::uint64_t count = !is_direct ? evidence.at_once + evidence.later
                                : certain  ? evidence.at_once
                                           : evidence.later;
    const std::uint32_t to = index_of(pc);
    if (count == 0 || (flow.control == Control::target && to == index + 1)) continue;
    flow_.lines[to].leads = true;
    ++targets;
    if (count <= most) continue;
    most = count;
    flow.target = to;
  }
  flow.one_target = targets <= 1;
}

void Layout::found(const std::vector<Step>& steps, const WarpPath& path) {
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if (steps[n].mask != path.lanes[n]) guarded_[steps[n].index] = true;
  }
  for (const Departure& d : path.departures) edges_.emplace(steps[d.step].index, d.to);
}

trace::Kernel Layout::kernel(const Header& header, std::uint32_t local_bytes) const {
  trace::KernelBuilder code(header.name);
  for (std::uint32_t index = 0; index < lines_.size(); ++index) {
    const Meaning& m = lines_[index]->meaning;
    auto line = m.op_class == trace::OpClass::branch
                    ? code.branch(lines_[index]->traced.opcode, flow_.lines[index].target)
                    : code.op(lines_[index]->traced.opcode, m.op_class);
    line.writes(m.destinations).reads(m.sources).at_line(static_cast<std::uint32_t>(lines_[index]->line));
    if (guarded_[index]) line.guard(0);
    trace::StaticInstruction& i = line.instruction();
    i.space = m.space;
    i.access_bytes = static_cast<std::uint8_t>(m.access_bytes);
    i.reads_memory = m.reads_memory;
    i.writes_memory = m.writes_memory;
    i.bypasses_l1 = m.bypasses_l1;
    i.is_volatile = m.is_volatile;
    i.barrier_arrives = m.barrier_arrives;
  }
  for (const auto& [from, to] : edges_) code.add_edge(from, to);
  code.set_registers(std::min(header.registers, trace::max_general_registers));
  code.set_local_bytes(local_bytes);
  trace::Kernel kernel = code.build();
  kernel.ptx_file = lines_.front()->file;
  kernel.version_tags = true;
  return kernel;
}

}  // namespace regatta::import
