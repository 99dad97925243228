// SPDX-License-Identifier: Apache-2.0
#include "power_pass.h"

namespace regatta::passes {

void PowerPass::declare(PassOptions& options) {
  options.number(
      "power-threshold", options_.threshold, "W",
      "GREENER keeps a register on if it is accessed again within this many instructions, 1 to 31; a simulation "
      "may use another (--greener.threshold)");
}

void PowerPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  states_ = plan_power_states(kernel, analyses, options_);
  add_power_section(kernel, states_);
}

PassSummary PowerPass::summary(const trace::Kernel& kernel) const {
  const PowerSummary counted = summarise(kernel, states_);
  PassSummary summary;
  summary.figures = {
      {"power_states",
       std::vector<Figure>{
           {"on", counted.on}, {"sleep", counted.sleep}, {"off", counted.off}, {"no_field", counted.without_field}}}};
  return summary;
}

std::string PowerPass::listing_note(const trace::Kernel& kernel, std::uint32_t index) const {
  const trace::StaticInstruction& i = kernel.instructions.at(index);
  const std::string text = trace::power_text(i, trace::power_bits(i, states_.next.at(index), states_.threshold));
  return text.empty() ? "" : "power " + text;
}

}  // namespace regatta::passes
