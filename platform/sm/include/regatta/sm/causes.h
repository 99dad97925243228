// SPDX-License-Identifier: Apache-2.0
//
// What schedulers did or waited for in sampled cycles, with the instruction that made them wait; and what each memory
// instruction asked of the load-store unit. The source of the reasons at the end of a run (assembly/why.h).
#pragma once

#include <regatta/protocol/observer.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace regatta::sm {

/// What a scheduler met. The culprit of a sample is the instruction that is named here, the victim the one that waits.
enum class Cause : std::uint8_t {
  issued,      ///< it issued; victim and culprit: the instruction
  dependence,  ///< a warp waits for a result that a pipeline or shared memory is making; culprit: the producer
  unit,        ///< a pipeline is busy; culprit: an instruction that waits for it
  storage,  ///< the operand storage has not delivered, or takes no results; culprit: the instruction that waits for it
  lsu,      ///< the load-store unit is busy; culprit: the instruction at the head of its queue
  memory,   ///< data are on the way from beyond the SM; culprit: the access
  gate,     ///< a gate of the scheme holds a ready warp; `detail`: the gate
  scheduler,   ///< the scheduling policy or its turn
  barrier,     ///< all warps, or nearly all, wait for their CTA; culprit: what a warp that is late does or waits for
  fetch_miss,  ///< a line of the instruction or constant cache is on the way
  branch,      ///< the front end: behind a branch, or at the start of a warp
  fence,       ///< a fence waits
  idle,        ///< no warp has anything left to issue
};

struct CauseKey {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  std::uint32_t kernel = 0;                       ///< in the trace
  std::uint32_t victim = nothing;                 ///< static index
  std::uint32_t culprit = nothing;                ///< static index
  Cause cause = Cause::idle;                      ///< why
  protocol::Stall stall = protocol::Stall::idle;  ///< as the cycle accounting has it
  std::uint8_t detail = 0;                        ///< a protocol::Unit, or the number of a gate
  bool tail = false;  ///< no CTA is left to launch, and at most half of the warps that there were at most
  bool operator<(const CauseKey& o) const {
    return std::tie(kernel, victim, culprit, cause, stall, detail, tail) <
           std::tie(o.kernel, o.victim, o.culprit, o.cause, o.stall, o.detail, o.tail);
  }
};

/// Sums over the samples of a key. A sample stands for the scheduler-cycles between two samples, its weight.
struct CauseSum {
  std::uint64_t weight = 0;   ///< scheduler-cycles
  std::uint64_t squares = 0;  ///< of the weights, for the uncertainty of a share
  std::uint64_t lanes = 0;    ///< active lanes x weight, of those that issued
  std::uint64_t warps = 0;    ///< warps in the SM's schedulers x weight
  std::uint64_t most = 0;     ///< most warps of the launch so far x weight
  void add(const CauseSum& o) {
    weight += o.weight;
    squares += o.squares;
    lanes += o.lanes;
    warps += o.warps;
    most += o.most;
  }
};

using CauseSamples = std::map<CauseKey, CauseSum>;

/// What the executions of one memory instruction asked of the load-store unit, summed.
struct AccessCounts {
  std::uint64_t executions = 0;  ///< warp instructions
  std::uint64_t lanes = 0;       ///< active lanes
  std::uint64_t passes = 0;      ///< cycles in which they occupied the banks of shared memory
  std::uint64_t lines = 0;       ///< requests to the L1
  std::uint64_t sectors = 0;     ///< of 32 bytes, in these
  void add(const AccessCounts& o) {
    executions += o.executions;
    lanes += o.lanes;
    passes += o.passes;
    lines += o.lines;
    sectors += o.sectors;
  }
};

}  // namespace regatta::sm
