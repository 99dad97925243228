// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/passes/regions.h>

namespace regatta::passes {

/// RegLess's regions as a pass of regatta-annotate: regatta/passes/regions.h.
class RegionPass : public AnnotationPass {
 public:
  std::string name() const override { return trace::regions_section; }
  void declare(PassOptions& options) override;
  void validate() const override { check(options_); }
  /// What shares a region shall not share a bank; the limits per bank then cut the regions anew.
  std::vector<RegisterGroup> register_groups(const trace::Kernel& kernel,
                                             analysis::FunctionAnalyses& analyses) override;
  LaneOrder lane_order() const override { return LaneOrder::by_block; }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) override;
  PassSummary summary(const trace::Kernel& kernel) const override;
  std::string listing_head() const override;
  std::string listing_column() const override { return "what the region does with registers last used there"; }
  std::string listing_above(const trace::Kernel& kernel, std::uint32_t index) const override;
  std::string listing_note(const trace::Kernel& kernel, std::uint32_t index) const override;

 private:
  /// Place in plan_.regions of the region that the instruction is in.
  std::size_t region_at(std::uint32_t index) const;

  RegionOptions options_;
  RegionPlan plan_;
  std::size_t words_ = 0;
};

}  // namespace regatta::passes
