// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/sharing.h>

#include <cstdint>
#include <optional>
#include <string>

namespace regatta::passes {

/// Register order, scratchpad layout and relssp as a pass of regatta-annotate: regatta/passes/sharing.h. It does
/// nothing unless an option is given.
class SharingPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::sharing_section; }
  void declare(PassOptions& options) override;
  void validate() const override;
  bool by_default() const override { return false; }
  bool places_shared_variables() const override { return t_.has_value(); }
  ir::SharedPlacement shared_placement(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses,
                                       std::uint32_t dynamic_bytes) override;
  bool orders_registers() const override { return reorder_; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override;
  std::string listing_above(const trace::Kernel& kernel, std::uint32_t index) const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  bool reorder_ = false;
  std::optional<std::string> t_;  ///< the option; validate() has seen that it is a share
  std::uint32_t dynamic_bytes_ = 0;
  bool is_exact_ = true;
  std::uint64_t range_ = 0;  ///< weight of the common variables' access range
  std::string variables_;    ///< for the listing
  SharingPlan plan_;
};

}  // namespace regatta::passes
