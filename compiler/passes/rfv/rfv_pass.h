// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/rfv.h>

namespace regatta::passes {

/// RFV's release points as a pass of regatta-annotate: regatta/passes/rfv.h.
class RfvPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::rfv_section; }
  void declare(PassOptions& options) override;
  void validate() const override;
  bool is_required() const override { return asked_ || options_.table_entries != 0; }
  LaneOrder lane_order() const override { return LaneOrder::by_block; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override;
  std::string listing_above(const trace::Kernel& kernel, std::uint32_t index) const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  bool asked_ = false;
  RfvOptions options_;
  RfvPlan plan_;
};

}  // namespace regatta::passes
