// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/run_facts.h>

#include <regatta/baseline/occupancy.h>
#include <regatta/support/stat_query.h>

#include <algorithm>

namespace regatta::assembly {

RunFacts::RunFacts(const std::vector<support::StatGroup>& groups, const MachineConfig& machine, unsigned sms,
                   const trace::Reader& trace, const std::vector<std::uint32_t>& launches)
    : groups_(groups) {
  for (const std::uint32_t number : launches) {
    const trace::Launch& launch = trace.launches()[number];
    const trace::Kernel& kernel = trace.kernels()[launch.kernel];
    const models::Occupancy fits = models::occupancy(
        machine.sm.limits(kernel.warp_size, machine.register_file.registers), launch.warps_per_cta(kernel.warp_size),
        machine.sm.allocated_registers(trace::registers_at_launch(kernel)), launch.shared_bytes_per_cta);
    if (launch.cta_count <= std::uint64_t{fits.ctas()} * sms) continue;
    const std::string bound = fits.bound();
    if (std::find(bounds_.begin(), bounds_.end(), bound) == bounds_.end()) bounds_.push_back(bound);
  }
  std::sort(bounds_.begin(), bounds_.end());
  for (const std::string& bound : bounds_) limits_ += (limits_.empty() ? "" : ", ") + bound;
}

std::uint64_t RunFacts::count(const std::string& query) const { return support::StatSum(groups_, {query}).total(); }

bool RunFacts::limited_by(const std::string& resource) const {
  return std::find(bounds_.begin(), bounds_.end(), resource) != bounds_.end();
}

std::string no_cta_more(const RunFacts& facts, const std::string& resource, const std::string& otherwise) {
  if (facts.all_fit()) return "no effect: all CTAs are resident without it";
  if (!facts.limited_by(resource)) return "no effect: no CTA more fits, limited by " + facts.limits();
  return "no effect: " + otherwise;
}

}  // namespace regatta::assembly
