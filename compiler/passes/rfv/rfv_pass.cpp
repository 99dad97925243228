// SPDX-License-Identifier: Apache-2.0
#include "rfv_pass.h"

namespace regatta::passes {

void RfvPass::declare(PassOptions& options) {
  options.flag("rfv", asked_,
               "RFV: refuses kernels of more than 63 registers; without it they are left without the annotation, which "
               "says where registers are released");
  options.number("rfv-table", options_.table_entries, "N",
                 "RFV: entries of the renaming table per warp, 0 to 63; the registers that live longest are exempt; 0: "
                 "an entry for each register");
}

void RfvPass::validate() const { check(options_); }

void RfvPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  plan_ = plan_rfv(kernel, analyses, options_);
  add_rfv(kernel, plan_);
}

PassSummary RfvPass::summary(const trace::Kernel& kernel) const {
  PassSummary summary;
  std::uint64_t pir = 0, pbr = 0;
  for (const trace::InsertedInstruction& i : kernel.inserted) {
    if (i.instruction.scheme != trace::rfv_scheme) continue;
    ++(i.instruction.opcode == trace::rfv_pir ? pir : pbr);
  }
  const auto exempt = static_cast<std::uint64_t>(__builtin_popcountll(plan_.section.exempt));
  summary.figures = {{"rfv", std::vector<Figure>{{"most", std::uint64_t{plan_.section.most}},
                                                 {"exempt", exempt},
                                                 {"pir", pir},
                                                 {"pbr", pbr},
                                                 {"flagged", plan_.flagged},
                                                 {"unflagged", plan_.unflagged}}}};
  summary.columns = {{"most", plan_.section.most}, {"pir", pir}, {"pbr", pbr}};
  summary.text = std::to_string(plan_.section.most) + " registers of a warp at once";
  return summary;
}

std::string RfvPass::listing_head() const {
  const std::string exempt = trace::rfv_text(plan_.section.exempt);
  return "rfv: at most " + std::to_string(plan_.section.most) +
         " registers at once; exempt: " + (exempt.empty() ? "-" : exempt);
}

std::string RfvPass::listing_column() const { return "the registers that are released"; }

std::string RfvPass::listing_above(const trace::Kernel& kernel, std::uint32_t index) const {
  std::string text;
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
    const trace::RfvRegisters released = kernel.blocks[b].first == index ? plan_.releases.at_block.at(b) : 0;
    if (released != 0) text += "  // release " + trace::rfv_text(released) + "\n";
  }
  return text;
}

std::string RfvPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  const trace::RfvRegisters released = plan_.releases.at_operand.at(index);
  return released == 0 ? "" : "releases " + trace::rfv_text(released);
}

}  // namespace regatta::passes
