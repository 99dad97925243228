// SPDX-License-Identifier: Apache-2.0
#include "rfv_pass.h"

namespace regatta::passes {

void RfvPass::declare(PassOptions& options) {
  options.flag("rfv", on_, "RFV: annotates where registers are released; kernels of at most 63 registers");
  options.number("rfv-table", options_.table_entries, "N",
                 "RFV: entries of the renaming table per warp, 0 to 63; the registers that live longest are exempt; 0: "
                 "an entry for each register");
}

void RfvPass::validate() const {
  check(options_);
  if (!on_ && options_.table_entries != 0) throw trace::InputError("error: --rfv-table without --rfv");
}

void RfvPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  if (!on_) return;
  plan_ = plan_rfv(kernel, analyses, options_);
  add_rfv(kernel, plan_);
}

PassSummary RfvPass::summary(const trace::Kernel& kernel) const {
  PassSummary summary;
  if (!on_) return summary;
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
  if (!on_) return {};
  const std::string exempt = trace::rfv_text(plan_.section.exempt);
  return "rfv: at most " + std::to_string(plan_.section.most) +
         " registers at once; exempt: " + (exempt.empty() ? "-" : exempt);
}

std::string RfvPass::listing_column() const { return on_ ? "the registers that are released" : ""; }

std::string RfvPass::listing_above(const trace::Kernel& kernel, std::uint32_t index) const {
  std::string text;
  for (std::size_t b = 0; on_ && b < kernel.blocks.size(); ++b) {
    const trace::RfvRegisters released = kernel.blocks[b].first == index ? plan_.releases.at_block.at(b) : 0;
    if (released != 0) text += "  // release " + trace::rfv_text(released) + "\n";
  }
  return text;
}

std::string RfvPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  const trace::RfvRegisters released = on_ ? plan_.releases.at_operand.at(index) : 0;
  return released == 0 ? "" : "releases " + trace::rfv_text(released);
}

}  // namespace regatta::passes
