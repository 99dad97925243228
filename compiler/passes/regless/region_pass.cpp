// SPDX-License-Identifier: Apache-2.0
#include "region_pass.h"

#include "region_listing.h"

#include <algorithm>

namespace regatta::passes {

void RegionPass::declare(PassOptions& options) {
  using analysis::LaneRule;
  options.number(
      "region-registers", options_.max_registers, "N",
      "maximum registers that a region for RegLess holds at a time, 1 to 248 (half of a scheduler's staging unit)");
  options.number("region-bank-lines", options_.lines_per_bank, "N",
                 "maximum of them in one of 8 banks, 1 to 31 (lines of a bank: 16 at 512 entries per SM, 4 at 128)");
  options.number("region-head-words", options_.head_words, "N",
                 "maximum words that a region needs to start, 2 to 64 (capacity_manager.metadata_words)");
  options.choice<LaneRule>(
      "region-lanes", options_.lanes,
      {{"every-path", LaneRule::every_path}, {"printed", LaneRule::printed}, {"mended", LaneRule::printed_mended}},
      "RULE",
      "which values count as live for waiting lanes: every-path loses none; printed is the paper's algorithm 2 for "
      "soft "
      "definitions, mended the same with its loop test corrected: both lose values");
}

std::vector<RegisterGroup> RegionPass::register_groups(const trace::Kernel& kernel,
                                                       analysis::FunctionAnalyses& analyses) {
  std::vector<RegisterGroup> groups;
  for (const Region& r : plan_regions(kernel, analyses, options_).regions) groups.push_back({r.block, r.registers()});
  return groups;
}

void RegionPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  plan_ = plan_regions(kernel, analyses, options_);
  words_ = insert_region_words(kernel, plan_);
}

PassSummary RegionPass::summary(const trace::Kernel& kernel) const {
  const std::size_t regions = plan_.regions.size();
  const auto instructions = static_cast<double>(kernel.instructions.size());
  const double per_region = regions == 0 ? 0.0 : instructions / static_cast<double>(regions);
  const double overhead = kernel.instructions.empty() ? 0.0 : static_cast<double>(words_) / instructions;
  PassSummary summary;
  summary.figures = {{"regions", regions},
                     {"region_words", words_},
                     {"region_instructions", per_region},
                     {"region_overhead", overhead},
                     {"oversized_regions", std::uint64_t{plan_.oversized}}};
  summary.columns = {{"regions", regions}};
  summary.text = std::to_string(regions) + " regions told by " + std::to_string(words_) + " words";
  return summary;
}

std::string RegionPass::listing_head() const {
  const std::size_t regions = plan_.regions.size();
  std::string text = std::to_string(regions) + (regions == 1 ? " region" : " regions") + " for the scheme " +
                     trace::region_scheme + ", told by " + std::to_string(words_) + " instruction words";
  if (plan_.oversized != 0) text += ", " + std::to_string(plan_.oversized) + " beyond the limits";
  return text;
}

std::size_t RegionPass::region_at(std::uint32_t index) const {
  const auto after = std::upper_bound(plan_.regions.begin(), plan_.regions.end(), index,
                                      [](std::uint32_t i, const Region& r) { return i < r.begin; });
  return static_cast<std::size_t>(after - plan_.regions.begin()) - 1;
}

std::string RegionPass::listing_above(const trace::Kernel& kernel, std::uint32_t index) const {
  const std::size_t number = region_at(index);
  const Region& region = plan_.regions.at(number);
  return region.begin == index ? region_head(kernel, region, number) : "";
}

std::string RegionPass::listing_note(const trace::Kernel& kernel, std::uint32_t index) const {
  return region_marks(kernel, plan_.regions.at(region_at(index)), index);
}

}  // namespace regatta::passes
