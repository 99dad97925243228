// SPDX-License-Identifier: Apache-2.0
#include "sharing_pass.h"

#include <algorithm>

namespace regatta::passes {

namespace {

std::string points_above(const std::vector<trace::RelsspPoint>& points, const char* scheme, std::uint32_t index) {
  std::string text;
  for (const trace::RelsspPoint& p : points) {
    if (p.before != index) continue;
    text += std::string("  // ") + trace::relssp_opcode + ", " + scheme;
    if (p.after >= 0) text += ", from instruction " + std::to_string(p.after) + " only";
    if (p.jump) text += ", and a jump";
    text += "\n";
  }
  return text;
}

}  // namespace

void SharingPass::declare(PassOptions& options) {
  options.flag("reorder-registers", reorder_,
               "register sharing: numbers the registers in the order of their first use, so that a warp needs the "
               "shared ones late");
  options.text("scratchpad-layout", t_, "T",
               "scratchpad sharing: moves the shared variables so that those behind the share T of a CTA's shared "
               "memory are needed for a short time, and inserts relssp behind their last use; T is a decimal number "
               "above 0 and at most 1; default: no layout");
}

void SharingPass::validate() const {
  if (t_ && !trace::parse_share(*t_))
    throw trace::InputError("error: --scratchpad-layout is '" + *t_ +
                            "', expected a decimal number above 0 and at most 1, with at most 9 decimals");
}

ir::SharedPlacement SharingPass::shared_placement(const trace::Kernel& /*kernel*/, analysis::FunctionAnalyses& analyses,
                                                  std::uint32_t dynamic_bytes) {
  dynamic_bytes_ = dynamic_bytes;
  const AccessRanges ranges(analyses);
  const RangeWeight weight(ranges, analyses);
  const ScratchpadLayout layout =
      choose_layout(analyses.function().shared_variables, dynamic_bytes, trace::parse_share(*t_).value(),
                    [&](VariableSet s) { return weight.of(s); });
  is_exact_ = layout.is_exact;
  return layout.placement;
}

void SharingPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  if (!t_) return;
  plan_ = plan_sharing(kernel, analyses, trace::parse_share(*t_).value(), dynamic_bytes_, reorder_);
  const AccessRanges ranges(analyses);
  VariableSet common = 0;
  for (std::size_t v = 0; v < kernel.shared_variables.size(); ++v) {
    if (plan_.layout.common_variables[v]) common |= analysis::variable_bit(v);
    variables_ += (v == 0 ? " " : ", ") + kernel.shared_variables[v].name + " " +
                  (plan_.layout.common_variables[v] ? "common" : "private");
  }
  range_ = RangeWeight(ranges, analyses).of(common);
  add_sharing(kernel, plan_);
}

PassSummary SharingPass::summary(const trace::Kernel& /*kernel*/) const {
  PassSummary summary;
  if (!t_) return summary;
  const trace::SharingLayout& l = plan_.layout;
  const auto common =
      static_cast<std::uint64_t>(std::count(l.common_variables.begin(), l.common_variables.end(), true));
  summary.figures = {{"sharing", std::vector<Figure>{{"t_numerator", std::uint64_t{l.t.numerator}},
                                                     {"t_denominator", std::uint64_t{l.t.denominator}},
                                                     {"shared_bytes", std::uint64_t{l.shared_bytes}},
                                                     {"boundary", std::uint64_t{l.boundary}},
                                                     {"variables", std::uint64_t{l.common_variables.size()}},
                                                     {"common_variables", common},
                                                     {"common_range", range_},
                                                     {"exact", std::uint64_t{is_exact_ ? 1u : 0u}},
                                                     {"relssp_optimal", std::uint64_t{l.optimal}},
                                                     {"relssp_optimal_jumps", std::uint64_t{l.optimal_jumps}},
                                                     {"relssp_postdom", std::uint64_t{l.postdom}},
                                                     {"registers_reordered", std::uint64_t{reorder_ ? 1u : 0u}}}}};
  summary.columns = {{"boundary", l.boundary}, {"common", common}, {"relssp", l.optimal}, {"postdom", l.postdom}};
  summary.text = std::to_string(l.boundary) + " of " + std::to_string(l.shared_bytes) + " shared bytes private, " +
                 std::to_string(l.optimal) + " relssp";
  return summary;
}

std::string SharingPass::listing_head() const {
  if (!t_) return reorder_ ? "sharing: registers in the order of first use" : "";
  const trace::SharingLayout& l = plan_.layout;
  return "sharing: t " + trace::to_string(l.t) + ", " + std::to_string(l.boundary) + " of " +
         std::to_string(l.shared_bytes) + " shared bytes private; " + std::to_string(range_) +
         " instructions in the common range" + (is_exact_ ? "" : " (greedy)") +
         "; variables:" + (variables_.empty() ? " -" : variables_) +
         (reorder_ ? "; registers in the order of first use" : "");
}

std::string SharingPass::listing_column() const { return t_ ? "whether it may access the common part" : ""; }

std::string SharingPass::listing_above(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  return points_above(plan_.optimal, trace::relssp_optimal_scheme, index) +
         points_above(plan_.postdom, trace::relssp_postdom_scheme, index);
}

std::string SharingPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  return t_ && plan_.layout.common_accesses.at(index) ? "common" : "";
}

}  // namespace regatta::passes
