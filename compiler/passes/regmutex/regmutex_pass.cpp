// SPDX-License-Identifier: Apache-2.0
#include "regmutex_pass.h"

namespace regatta::passes {

void RegMutexPass::declare(PassOptions& options) {
  options.number("regmutex-base", base_, "N", "RegMutex: registers of the base set, 0 to 255; 0: the pass chooses");
}

void RegMutexPass::validate() const { check(RegMutexOptions{base_}); }

void RegMutexPass::run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) {
  plan_ = plan_regmutex(kernel, analyses, RegMutexOptions{base_});
  add_regmutex(kernel, plan_);
}

PassSummary RegMutexPass::summary(const trace::Kernel& /*kernel*/) const {
  PassSummary summary;
  const trace::RegMutexRegisters& r = plan_.registers;
  const std::uint64_t acquires = plan_.acquires();
  summary.figures = {{"regmutex", std::vector<Figure>{{"base", std::uint64_t{r.base}},
                                                      {"extended", std::uint64_t{r.extended}},
                                                      {"least_base", std::uint64_t{plan_.least_base}},
                                                      {"acquires", acquires},
                                                      {"releases", plan_.changes.size() - acquires},
                                                      {"held_share", plan_.held_share}}}};
  summary.columns = {{"base", r.base}, {"extended", r.extended}};
  summary.text =
      std::to_string(r.base) + " registers in the base set, " + std::to_string(r.extended) + " in the extended set";
  return summary;
}

std::string RegMutexPass::listing_head() const {
  const trace::RegMutexRegisters& r = plan_.registers;
  std::string text = "regmutex: " + std::to_string(r.base) + " registers in the base set, at least " +
                     std::to_string(plan_.least_base) + "; extended set:";
  if (r.extended == 0) return text + " -";
  for (unsigned reg = 0; reg < r.registers(); ++reg)
    if (r.is_extended(reg)) text += " R" + std::to_string(reg);
  return text;
}

std::string RegMutexPass::listing_column() const { return "whether the warp holds a section"; }

std::string RegMutexPass::listing_above(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  std::string text;
  for (const SectionChange& c : plan_.changes) {
    if (c.before != index) continue;
    text += std::string("  // ") + (c.acquires ? trace::regmutex_acquire : trace::regmutex_release);
    if (c.after >= 0) text += ", from instruction " + std::to_string(c.after) + " only";
    text += "\n";
  }
  return text;
}

std::string RegMutexPass::listing_note(const trace::Kernel& /*kernel*/, std::uint32_t index) const {
  return plan_.held.at(index) ? "section" : "";
}

}  // namespace regatta::passes
