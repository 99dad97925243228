// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/regmutex.h>

namespace regatta::passes {

/// RegMutex's register sets as a pass of regatta-annotate: regatta/passes/regmutex.h.
class RegMutexPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::regmutex_section; }
  void declare(PassOptions& options) override;
  void validate() const override;
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override;
  std::string listing_above(const trace::Kernel& kernel, std::uint32_t index) const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  unsigned base_ = 0;
  RegMutexPlan plan_;
};

}  // namespace regatta::passes
