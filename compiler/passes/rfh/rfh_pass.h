// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/rfh.h>

namespace regatta::passes {

/// RFH's levels as a pass of regatta-annotate: regatta/passes/rfh.h.
class RfhPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::rfh_section; }
  void declare(PassOptions& options) override;
  void validate() const override;
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  RfhOptions options_;
  trace::RfhPlan plan_;
};

}  // namespace regatta::passes
