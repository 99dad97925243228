// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/register_budget.h>

#include <regatta/trace/types.h>

#include <algorithm>

namespace regatta::passes {

namespace {

constexpr std::uint64_t warp_size = 32;
constexpr std::uint64_t register_file = 65536 / warp_size;  ///< warp registers of an SM
constexpr std::uint64_t warp_granularity = 4;               ///< warps: one for each sub-core
constexpr std::uint64_t register_granularity = 8;           ///< warp registers of a warp
constexpr unsigned least_maxnreg = 24;                      ///< to which ptxas raises a smaller .maxnreg

/// Threads and CTAs that an SM can hold, beyond which ptxas ignores a bound.
struct SmSize {
  std::uint32_t target;  ///< first with this size
  std::uint64_t threads, ctas;
};
/// ptxas 13 for sm_75 and later; CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", before.
constexpr SmSize sm_sizes[] = {{0, 2048, 32},  {20, 1536, 8},  {30, 2048, 16}, {50, 2048, 32}, {75, 1024, 16},
                               {80, 2048, 32}, {86, 1536, 16}, {89, 1536, 24}, {90, 2048, 32}, {110, 1536, 24}};

SmSize size_of_sm(std::uint32_t target) {
  const auto after = std::upper_bound(std::begin(sm_sizes), std::end(sm_sizes), target,
                                      [](std::uint32_t t, const SmSize& s) { return t < s.target; });
  return *(after - 1);
}

std::uint64_t warps_of(std::uint64_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

unsigned registers_for(std::uint64_t threads, std::uint64_t ctas) {
  const std::uint64_t warps = (warps_of(threads) * ctas + warp_granularity - 1) / warp_granularity * warp_granularity;
  const std::uint64_t registers = register_file / warps / register_granularity * register_granularity;
  return static_cast<unsigned>(std::min<std::uint64_t>(registers, trace::max_general_registers));
}

RegisterBudget register_budget(const ir::Function& f, unsigned max_registers) {
  const ir::LaunchBounds& b = f.bounds;
  RegisterBudget budget;
  const auto warn = [&](const std::string& what) {
    budget.warnings.push_back(f.ptx_file + ":" + std::to_string(b.where.line) + ":" + std::to_string(b.where.column) +
                              ": warning: kernel '" + f.name + "': " + what);
  };
  budget.registers = max_registers;
  budget.set_by = "--max-registers";
  const auto bound = [&](unsigned registers, const std::string& by) {
    if (registers >= budget.registers) return;
    budget.registers = registers;
    budget.set_by = by;
  };

  bool has_limit = b.max_registers != 0;
  if (b.max_registers > trace::max_general_registers) {
    warn(".maxnreg " + std::to_string(b.max_registers) + " is ignored, expected at most " +
         std::to_string(trace::max_general_registers));
    has_limit = false;
  } else if (has_limit) {
    const unsigned registers = std::max(b.max_registers, least_maxnreg);
    if (registers != b.max_registers) {
      warn(".maxnreg " + std::to_string(b.max_registers) + " counts as " + std::to_string(registers) +
           ", the least that ptxas allocates by");
    }
    bound(registers, ".maxnreg " + std::to_string(b.max_registers));
  }

  const SmSize sm = size_of_sm(f.target);
  const std::uint64_t threads = b.threads(), warp_threads = warps_of(threads) * warp_size;
  const std::string ntid = std::string(b.exact ? ".reqntid " : ".maxntid ") + std::to_string(threads);
  const std::string of_sm = " of .target sm_" + std::to_string(f.target);
  if (threads == 0) {
    if (b.min_ctas != 0) warn(".minnctapersm is ignored without .maxntid or .reqntid");
    return budget;
  }
  if (warp_threads > sm.threads) {
    warn(ntid + " is ignored: an SM" + of_sm + " has " + std::to_string(sm.threads) + " threads");
    return budget;
  }
  if (b.min_ctas > sm.ctas || b.min_ctas * warp_threads > sm.threads) {
    warn(".minnctapersm " + std::to_string(b.min_ctas) + " with " + ntid + " is ignored: an SM" + of_sm + " has " +
         std::to_string(sm.threads) + " threads and " + std::to_string(sm.ctas) + " CTAs");
  } else if (b.min_ctas != 0) {
    bound(registers_for(threads, b.min_ctas), ntid + " with .minnctapersm " + std::to_string(b.min_ctas));
    return budget;
  }
  if (!has_limit) bound(registers_for(threads, 1), ntid);
  return budget;
}

}  // namespace regatta::passes
