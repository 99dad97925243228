// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/sharing.h>

#include <algorithm>
#include <string>

namespace regatta::passes {

namespace {

void insert_points(trace::Kernel& kernel, const std::vector<trace::RelsspPoint>& points, const std::string& scheme,
                   std::uint32_t relssp_id) {
  for (const trace::RelsspPoint& p : points) {
    trace::InsertedInstruction inserted;
    inserted.before = p.before;
    inserted.after = p.after;
    inserted.disposition = trace::Disposition::issue;
    inserted.instruction = trace::relssp_instruction(scheme, relssp_id);
    kernel.inserted.push_back(inserted);
    if (!p.jump) continue;
    inserted.instruction = trace::relssp_jump(scheme, relssp_id + 1, p.before);
    kernel.inserted.push_back(std::move(inserted));
  }
}

}  // namespace

SharingPlan plan_sharing(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses, const trace::Share& t,
                         std::uint32_t dynamic_bytes, bool registers_reordered) {
  SharingPlan plan;
  trace::SharingLayout& l = plan.layout;
  l.registers_reordered = registers_reordered;
  l.t = t;
  l.shared_bytes = kernel.static_shared_bytes + dynamic_bytes;
  l.boundary = trace::private_bytes(t, l.shared_bytes);
  VariableSet common = 0;
  for (std::size_t v = 0; v < kernel.shared_variables.size(); ++v) {
    l.common_variables.push_back(trace::reaches_common_part(kernel.shared_variables[v], l.boundary));
    if (l.common_variables.back()) common |= analysis::variable_bit(v);
  }
  for (const ir::Block& block : analyses.function().blocks)
    for (const ir::Instruction& i : block.instructions) l.common_accesses.push_back((i.shared_accesses & common) != 0);
  // Without shared memory there is nothing to give up.
  if (!kernel.shared_variables.empty()) {
    plan.optimal = place_relssp_optimal(kernel, l.common_accesses);
    plan.postdom = place_relssp_postdom(kernel, l.common_accesses);
  }
  l.optimal = static_cast<std::uint32_t>(plan.optimal.size());
  l.optimal_jumps = static_cast<std::uint32_t>(
      std::count_if(plan.optimal.begin(), plan.optimal.end(), [](const trace::RelsspPoint& p) { return p.jump; }));
  l.postdom = static_cast<std::uint32_t>(plan.postdom.size());
  return plan;
}

void add_sharing(trace::Kernel& kernel, const SharingPlan& plan) {
  std::uint32_t next_id = 0;
  for (const trace::StaticInstruction& i : kernel.instructions) next_id = std::max(next_id, i.opcode_id + 1);
  for (const trace::InsertedInstruction& i : kernel.inserted) next_id = std::max(next_id, i.instruction.opcode_id + 1);
  insert_points(kernel, plan.optimal, trace::relssp_optimal_scheme, next_id);
  insert_points(kernel, plan.postdom, trace::relssp_postdom_scheme, next_id);
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  kernel.annotations.push_back({trace::sharing_section, trace::sharing_section_version, trace::encode(plan.layout)});
}

}  // namespace regatta::passes
