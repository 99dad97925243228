// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/renaming_plan.h>

#include <algorithm>
#include <optional>
#include <string>

namespace regatta::models {

namespace {

unsigned count(trace::RfvRegisters registers) { return static_cast<unsigned>(__builtin_popcountll(registers)); }

trace::RfvSection section_of(const trace::Kernel& kernel) {
  const std::optional<trace::RfvSection> section = trace::find_rfv(kernel);
  if (!section) {
    throw support::UnfitTrace("kernel " + kernel.name +
                              ": its trace does not say where registers are released (section 'rfv'), which RFV "
                              "needs: annotate it with --for rfv");
  }
  return *section;
}

[[noreturn]] void does_not_fit(const RenamingPlan& p, const RenamingConfig& config, const std::string& kernel) {
  const unsigned warps = (p.warps_per_cta + p.parts - 1) / p.parts;
  const std::string where = p.parts == 1 ? "the register file" : "each of " + std::to_string(p.parts) + " sub-cores";
  const std::string found = "; found " + std::to_string(p.rows) + " (rfv.share = " + std::to_string(config.share) + ")";
  if (config.spill) {
    throw support::ConfigError("kernel " + kernel + ": one warp may have " + std::to_string(p.warp_rows) +
                               " registers at once in " + where + ", beside " + std::to_string(warps * p.exempt) +
                               " that are mapped directly" + found +
                               ". RFV spills registers of warps that wait: expected a file for one warp that runs");
  }
  throw support::ConfigError("kernel " + kernel + ": one CTA may have " + std::to_string(warps * p.section.most) +
                             " registers at once in " + where + ", " + std::to_string(p.section.most) +
                             " for each of " + std::to_string(warps) + " warps" + found +
                             ". RFV does not spill registers: expected a larger file, or rfv.spill");
}

}  // namespace

unsigned RenamingPlan::warps_in(unsigned part, protocol::CtaSlot cta) const {
  const unsigned first = cta.value() * warps_per_cta % parts;
  const unsigned distance = (part + parts - first) % parts;  // of the part's first warp from the CTA's
  return distance >= warps_per_cta ? 0 : (warps_per_cta - distance + parts - 1) / parts;
}

RenamingPlan renaming_plan(const protocol::KernelContext& context, const RenamingConfig& config, unsigned most_ctas) {
  RenamingPlan p;
  p.section = section_of(*context.kernel);
  p.registers = context.kernel->registers_per_thread;
  p.exempt = count(p.section.exempt);
  p.parts = config.parts();
  p.rows = config.rows_per_part();
  p.warps_per_cta = context.warps_per_cta;
  p.warp_rows = p.section.most > p.exempt ? p.section.most - p.exempt : 0;
  const unsigned warps_in_part = (p.warps_per_cta + p.parts - 1) / p.parts;
  p.cta_rows = p.warp_rows * warps_in_part;
  p.start_rows = count(p.section.at_start & ~p.section.exempt);
  const auto needs = [&](unsigned ctas) {
    const unsigned warps = (ctas * p.warps_per_cta + p.parts - 1) / p.parts;
    return std::uint64_t{warps} * p.exempt + std::uint64_t{config.admits_by_rows() ? ctas : 1} * p.cta_rows;
  };
  while (p.resident_ctas < most_ctas && needs(p.resident_ctas + 1) <= p.rows) ++p.resident_ctas;
  if (p.resident_ctas == 0 && most_ctas != 0 && config.spill && warps_in_part * p.exempt + p.warp_rows <= p.rows) {
    p.spills = true;
    p.resident_ctas = 1;
  }
  if (p.resident_ctas == 0) does_not_fit(p, config, context.kernel->name);
  return p;
}

}  // namespace regatta::models
