// SPDX-License-Identifier: Apache-2.0
#include "rfh_pass.h"

#include <algorithm>

namespace regatta::passes {

void RfhPass::declare(PassOptions& options) {
  options.number("rfh", options_.entries, "N",
                 "RFH: entries of the operand register file per thread, 1 to 8 (the paper: 3)");
  options.choice<bool>("rfh-lrf", options_.split, {{"unified", false}, {"split", true}}, "FORM",
                       "RFH: the last-result file has one entry per thread, or one for each operand slot, which other "
                       "slots cannot read");
}

void RfhPass::validate() const { check(options_); }

void RfhPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& /*analyses*/) {
  plan_ = plan_rfh(kernel, options_);
  add_rfh(kernel, plan_);
}

PassSummary RfhPass::summary(const trace::Kernel& kernel) const {
  PassSummary summary;
  trace::RfhAccesses n;
  std::uint64_t strands = 0;
  // A kernel that was refused has no plan.
  if (!plan_.instructions.empty()) n = trace::count_accesses(kernel, plan_);
  for (const trace::RfhInstruction& i : plan_.instructions) strands += i.strand_begins;
  summary.figures = {{"rfh", std::vector<Figure>{{"orf_entries", std::uint64_t{options_.entries}},
                                                 {"lrf_entries", std::uint64_t{options_.split ? trace::lrf_banks : 1}},
                                                 {"strands", strands},
                                                 {"mrf_reads", n.main_reads},
                                                 {"orf_reads", n.orf_reads},
                                                 {"lrf_reads", n.last_reads},
                                                 {"mrf_writes", n.main_writes},
                                                 {"orf_writes", n.orf_writes},
                                                 {"lrf_writes", n.last_writes}}}};
  summary.columns = {{"strands", strands}};
  summary.text = std::to_string(strands) + " strands";
  return summary;
}

std::string RfhPass::listing_head() const {
  return "rfh: " + std::to_string(options_.entries) + " ORF entries" + (options_.split ? ", split LRF" : "");
}

std::string RfhPass::listing_column() const { return "levels of the register hierarchy"; }

std::string RfhPass::listing_note(const trace::Kernel& kernel, std::uint32_t index) const {
  return trace::rfh_text(kernel.instructions.at(index), plan_.instructions.at(index));
}

}  // namespace regatta::passes
