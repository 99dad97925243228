// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/occupancy.h>

#include <regatta/support/config.h>
#include <regatta/trace/types.h>

#include <algorithm>
#include <climits>

namespace regatta::models {
namespace {

/// The option that makes code for a CTA for which there are too few registers; empty if something else is missing too,
/// or if no code could do with the registers that there are.
std::string remedy(const Occupancy& o, const protocol::SmLimits& l, unsigned warps_per_cta) {
  if (o.by_registers != 0 || std::min({o.by_ctas, o.by_warps, o.by_threads, o.by_shared}) == 0) return "";
  const std::uint64_t warps_of_sub_core = (warps_per_cta + l.sub_cores - 1) / l.sub_cores;
  const std::uint64_t left =
      l.registers / l.sub_cores / warps_of_sub_core / l.register_granularity * l.register_granularity;
  if (left < trace::min_register_budget) return "";
  return "--max-registers " + std::to_string(left);
}

}  // namespace

unsigned Occupancy::ctas() const { return std::min({by_ctas, by_warps, by_threads, by_registers, by_shared}); }

std::string Occupancy::bound() const {
  const unsigned least = ctas();
  if (least == by_registers) return "registers";
  if (least == by_shared) return "shared memory";
  if (least == by_warps) return "warps";
  if (least == by_threads) return "threads";
  return "CTAs";
}

Occupancy occupancy(const protocol::SmLimits& l, unsigned warps_per_cta, unsigned registers_per_warp,
                    unsigned shared_bytes) {
  Occupancy o;
  o.by_ctas = l.ctas;
  o.by_warps = l.warps / warps_per_cta;
  o.by_threads = l.threads / (warps_per_cta * l.warp_size);
  // Warps are distributed over the sub-cores, and all registers of a warp are in one sub-core.
  const std::uint64_t warps = l.registers / l.sub_cores / registers_per_warp * l.sub_cores;
  o.by_registers = static_cast<unsigned>(std::min<std::uint64_t>(warps / warps_per_cta, UINT_MAX));
  const unsigned shared = (shared_bytes + l.shared_granularity - 1) / l.shared_granularity * l.shared_granularity;
  o.by_shared = shared_bytes > l.shared_cta_bytes ? 0 : shared == 0 ? UINT_MAX : l.shared_bytes / shared;
  return o;
}

Occupancy occupancy_of(const protocol::KernelContext& context, const protocol::SmLimits& limits) {
  const Occupancy o =
      occupancy(limits, context.warps_per_cta, context.registers_per_warp, context.launch->shared_bytes_per_cta);
  if (o.ctas() == 0) {
    const std::string for_one = limits.shared_cta_bytes < limits.shared_bytes
                                    ? ", " + std::to_string(limits.shared_cta_bytes) + " of them for one CTA"
                                    : "";
    const std::string option = remedy(o, limits, context.warps_per_cta);
    const std::string found = "kernel " + context.kernel->name + ": not one CTA fits on this machine, bound by " +
                              o.bound() + " (a CTA has " + std::to_string(context.warps_per_cta) + " warps of " +
                              std::to_string(context.registers_per_warp) + " registers and " +
                              std::to_string(context.launch->shared_bytes_per_cta) + " bytes of shared memory; an SM " +
                              std::to_string(limits.warps) + " warps, " + std::to_string(limits.threads) +
                              " threads, " + std::to_string(limits.registers) + " warp registers, " +
                              std::to_string(limits.shared_bytes) + " bytes" + for_one + ")";
    if (option.empty()) throw support::ConfigError(found);
    throw support::UnfitTrace(found + "; regatta-annotate " + option + " makes a kernel that fits", option);
  }
  return o;
}

}  // namespace regatta::models
