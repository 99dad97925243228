// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/power.h>

namespace regatta::passes {

/// GREENER's power states as a pass of regatta-annotate: regatta/passes/power.h.
class PowerPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::power_section; }
  void declare(PassOptions& options) override;
  void validate() const override { check(options_); }
  LaneOrder lane_order() const override { return LaneOrder::any; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_column() const override { return "power states that its registers get"; }
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  PowerOptions options_;
  trace::PowerStates states_;
};

}  // namespace regatta::passes
