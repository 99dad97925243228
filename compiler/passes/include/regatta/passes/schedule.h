// SPDX-License-Identifier: Apache-2.0
//
// List scheduling within basic blocks, as an assembler's back end does it: loads early, uses late, but never at the
// price of more registers than the function needs anyway (Gibbons and Muchnick, 1986; pressure as in Goodman and Hsu,
// 1988).
#pragma once

#include <regatta/ir/ir.h>
#include <regatta/passes/latency.h>

#include <cstdint>

namespace regatta::passes {

struct ScheduleOptions {
  LatencyTable latency;
  /// General registers per thread that the result may need: a block is never made to need more, unless it did before.
  unsigned max_registers = 255;
  /// Where setmaxnreg sets lower limits, orders that need this many registers less than they allow.
  unsigned margin = 0;
  /// Registers that loads may take to come early beyond what the function needs at its tightest point: this many, ...
  unsigned slack = 2;
  /// ... plus this share of the tightest point.
  double slack_share = 0.06;
  /// Registers that loads may take in any case, since they cost no occupancy: 65,536 registers for 2,048 threads.
  unsigned free_registers = 32;
  /// With the kernel's launch bounds, those that cost no occupancy are as many as 32 CTAs of these threads leave.
  bool fills_occupancy = false;
  /// Where too many predicates are live at once, to try orders that have fewer of them as well as the one with the
  /// fewest registers.
  bool spares_predicates = false;
  /// analysis::Dependences: loads through the read-only path move past stores.
  bool read_only_passes = false;
};

struct ScheduleResult {
  unsigned pressure_before = 0;  ///< most general registers live at once, over all blocks
  unsigned pressure_after = 0;
  unsigned bound = 0;               ///< what the schedule was kept under where the block allows it
  std::uint64_t cycles_before = 0;  ///< sum over blocks of the cycles one warp alone would take, by the latency table
  std::uint64_t cycles_after = 0;
  std::uint32_t moved = 0;  ///< instructions that are no longer at their place in their block
};

/// Reorders instructions within blocks; works on virtual registers, edges built. Everything analysis::Dependences
/// orders stays in order, so that what the program does is unchanged. Deterministic.
ScheduleResult schedule(ir::Function& f, const ScheduleOptions& options = {});

}  // namespace regatta::passes
