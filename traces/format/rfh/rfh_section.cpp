// SPDX-License-Identifier: Apache-2.0
#include "rfh_section.h"

#include <algorithm>

namespace regatta::trace {

namespace {

std::optional<RfhPlan> rfh_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, rfh_section, rfh_section_version);
  if (section == nullptr) return std::nullopt;
  return decode_rfh(kernel, section->payload);
}

/// "MRF 40.0 %, ORF 35.0 %, LRF 25.0 % of 20"
std::string level_shares(std::uint64_t main, std::uint64_t orf, std::uint64_t last) {
  const std::uint64_t all = main + orf + last;
  const auto percent = [all](std::uint64_t n) {
    const std::uint64_t tenths = all == 0 ? 0 : (n * 2000 / all + 1) / 2;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
  };
  return "MRF " + percent(main) + ", ORF " + percent(orf) + ", LRF " + percent(last) + " of " + std::to_string(all);
}

}  // namespace

void RfhSection::validate(const Kernel& kernel) const { rfh_of(kernel); }

void RfhSection::verify(const Kernel& kernel) const {
  if (const std::optional<RfhPlan> plan = rfh_of(kernel)) verify_rfh(kernel, *plan);
}

std::vector<InfoRow> RfhSection::info(const Kernel& kernel) const {
  const std::optional<RfhPlan> plan = rfh_of(kernel);
  if (!plan) return {};
  const RfhAccesses n = count_accesses(kernel, *plan);
  const auto strands = std::count_if(plan->instructions.begin(), plan->instructions.end(),
                                     [](const RfhInstruction& i) { return i.strand_begins; });
  return {{"rfh", std::to_string(plan->entries) + " ORF entries, " + (plan->split ? "split LRF, " : "") +
                      std::to_string(strands) + " strands"},
          {"rfh reads", level_shares(n.main_reads, n.orf_reads, n.last_reads)},
          {"rfh writes", level_shares(n.main_writes, n.orf_writes, n.last_writes)}};
}

std::vector<std::string> RfhSection::notes(const Kernel& kernel) const {
  const std::optional<RfhPlan> plan = rfh_of(kernel);
  std::vector<std::string> notes;
  if (!plan) return notes;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const std::string text = rfh_text(kernel.instructions[i], plan->instructions[i]);
    notes.push_back(text.empty() ? "" : "rfh " + text);
  }
  return notes;
}

}  // namespace regatta::trace
