// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/control.h>

#include <optional>
#include <string>

namespace regatta::passes {

/// Control bits as a pass of regatta-annotate: regatta/passes/control.h. It does
/// nothing unless an option is given.
class ControlPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::control_section; }
  void declare(PassOptions& options) override;
  void validate() const override;
  bool by_default() const override { return false; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  bool is_asked_for() const { return asked_ || changed_latencies_; }
  ControlLatencies latencies() const;

  bool asked_ = false;
  std::optional<std::string> changed_latencies_;
  trace::ControlSection control_;
};

}  // namespace regatta::passes
