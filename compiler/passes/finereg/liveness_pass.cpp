// SPDX-License-Identifier: Apache-2.0
#include "liveness_pass.h"

#include <cmath>

namespace regatta::passes {

void LivenessPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  live_ = live_registers_of(kernel, analyses);
  add_liveness_section(kernel, live_);
}

PassSummary LivenessPass::summary(const trace::Kernel& /*kernel*/) const {
  const LivenessSummary counted = summarise(live_);
  PassSummary summary;
  summary.figures = {{"liveness", std::vector<Figure>{{"max", counted.max}, {"mean", counted.mean}}}};
  summary.columns = {{"live max", counted.max}, {"live mean", static_cast<std::uint64_t>(std::lround(counted.mean))}};
  return summary;
}

std::string LivenessPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  return trace::live_text(live_, index);
}

}  // namespace regatta::passes
