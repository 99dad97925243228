// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/live_registers.h>

namespace regatta::passes {

/// FineReg's live registers as a pass of regatta-annotate: regatta/passes/live_registers.h.
class LivenessPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::liveness_section; }
  /// Whose lanes wait where is in the trace.
  bool needs_stack_order() const override { return false; }
  LaneOrder lane_order() const override { return LaneOrder::any; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_column() const override { return "registers live before it"; }
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  trace::LiveRegisters live_;
};

}  // namespace regatta::passes
