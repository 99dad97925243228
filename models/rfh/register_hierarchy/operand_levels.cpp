// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfh/operand_levels.h>

#include <regatta/support/config.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace regatta::models {

namespace {

std::uint8_t byte_of(const trace::RfhLevels& l) {
  unsigned byte = (l.main ? level_main : 0) | (l.last ? level_last : 0);
  byte |= static_cast<unsigned>(l.bank) << level_bank_shift;
  if (l.orf >= 0) byte |= level_orf | static_cast<unsigned>(l.orf);
  return static_cast<std::uint8_t>(byte);
}

}  // namespace

trace::RfhPlan rfh_plan_of(const trace::Kernel& kernel) {
  std::optional<trace::RfhPlan> plan = trace::find_rfh(kernel);
  if (!plan) {
    throw support::UnfitTrace("kernel " + kernel.name +
                              ": its trace has no levels of operands (section 'rfh'), which RFH needs: annotate it "
                              "with --for rfh");
  }
  return *std::move(plan);
}

std::vector<OperandLevels> operand_levels(const trace::RfhPlan& plan, const protocol::KernelContext& context) {
  std::vector<OperandLevels> all(context.kernel->instructions.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const trace::StaticInstruction& s = context.kernel->instructions[i];
    const protocol::InstructionTraits& t = (*context.traits)[i];
    const trace::RfhInstruction& levels = plan.instructions[i];
    OperandLevels& o = all[i];
    for (unsigned r = 0; r < t.read_count; ++r) {
      // All sources that name the register name the same levels.
      const auto at = std::find(s.sources.begin(), s.sources.begin() + s.source_count, t.reads[r].value());
      const trace::RfhLevels& l = levels.sources[static_cast<std::size_t>(at - s.sources.begin())];
      o.reads[r] = byte_of(l);
      if (l.copies()) o.copies |= static_cast<std::uint16_t>(1u << r);
    }
    o.last_read = static_cast<std::uint8_t>(t.read_count == 0 ? 0 : t.read_count - 1);
    for (unsigned w = 0; w < t.write_count; ++w) o.writes[w] = byte_of(levels.destinations[w]);
  }
  return all;
}

}  // namespace regatta::models
