// SPDX-License-Identifier: Apache-2.0
//
// Which CTAs are resident on an SM, which of them are active, and how a CTA is switched.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/protocol/time_keeper.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::protocol {

/// What one SM offers to resident CTAs.
struct SmLimits {
  unsigned warp_size = 32;
  unsigned ctas = 32;   ///< active at a time
  unsigned warps = 64;  ///< active at a time
  unsigned threads = 2048;
  std::uint64_t registers = 2048;     ///< warp registers of the operand storage
  unsigned register_granularity = 8;  ///< warp registers a warp's allocation is rounded up to
  unsigned shared_bytes = 98304;
  unsigned shared_granularity = 256;  ///< bytes
  unsigned shared_cta_bytes = 98304;  ///< shared memory that one CTA may have
  /// Equal parts of the register storage among which warps are dealt; a warp's registers lie in one of them.
  unsigned sub_cores = 1;
};

/// How a launch uses an SM. The SM refuses a plan that does not fit its SmLimits.
struct ResourcePlan {
  unsigned resident_ctas = 0;      ///< at most at once: the SM has that many CTA slots
  unsigned active_ctas = 0;        ///< of these, scheduled at once at most
  std::uint64_t registers = 0;     ///< warp registers of the operand storage that the resident CTAs take at most
  std::uint64_t shared_bytes = 0;  ///< of shared memory that they take at most, saved contexts included
  /// Bytes of a unified on-chip store that are left to the L1 for this launch, whole ways of it; 0: all of
  /// l1.size_bytes.
  std::uint64_t l1_bytes = 0;

  /// The conventional plan: `ctas` CTAs are resident, and each is active and keeps its registers and its shared memory
  /// from launch to end.
  static ResourcePlan conventional(const KernelContext& context, const SmLimits& limits, unsigned ctas) {
    const std::uint64_t granularity = limits.shared_granularity;
    const std::uint64_t shared = (context.launch->shared_bytes_per_cta + granularity - 1) / granularity * granularity;
    return {ctas, ctas, std::uint64_t{ctas} * context.warps_per_cta * context.registers_per_warp, ctas * shared, 0};
  }
};

/// The way of a resident CTA: it is launched active; switched out, it drains, is quiesced, and is parked once the
/// policy says that its registers have moved; it may be switched in from any of these.
enum class CtaPhase : std::uint8_t {
  active,    ///< its warps are scheduled
  draining,  ///< switched out: instructions in flight, or its context on the way to shared memory
  quiesced,  ///< nothing of it is in flight, but for loads that are steered; its registers lie where they lay
  parked,    ///< the policy has moved its registers away; the storage may use their place
  entering,  ///< switched in: its context is on the way from shared memory
};

const char* to_string(CtaPhase p);

/// State of one resident CTA as the residency policy sees it.
struct CtaStatus {
  CtaSlot cta;
  std::uint64_t cta_index = 0;  ///< linear CTA index in the grid
  CtaPhase phase = CtaPhase::active;
  bool active = false;   ///< phase is active
  bool stalled = false;  ///< every unfinished warp waits for off-SM memory or at a barrier
  bool ready = false;    ///< at least one warp could go on
  unsigned warps_left = 0;
  Cycle launched;
};

/// Which CTAs are resident and which of them are active.
///
/// Called by: the SM's CTA stage, last in a cycle, when a CTA was launched, ended, became quiesced, entered, changed
/// its stall status, or changed() was notified; repeatedly in that cycle until it answers none. The SM carries the
/// action out before the next call. May change: its own state. Must not: ask for a launch that the storage cannot hold.
class Residency : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  struct Action {
    enum class Kind : std::uint8_t {
      none,
      launch,      ///< the next CTA of the grid takes a slot, active
      switch_out,  ///< an active CTA leaves the schedulers and drains
      moved,       ///< the registers of a quiesced CTA have left the storage: it is parked
      switch_in,   ///< a CTA that is draining, quiesced or parked is scheduled again; of a parked one the registers are
                   ///< back in the storage
    };
    Kind kind = Kind::none;
    CtaSlot cta;  ///< all but launch
    /// switch_out. False: the CTA is quiesced when all its instructions have retired. True: results of long-latency
    /// memory instructions that have their operands are not waited for; the scheme's write-back point takes those that
    /// come when the registers are gone (WritebackPoint::Decision::drop).
    bool steer_loads = false;
    /// switch_out, switch_in: bytes of the CTA's context (PCs, SIMT stacks, barriers) that are written to, or read
    /// from, shared memory. They occupy its banks, and the CTA drains, or enters, at least as long.
    unsigned context_bytes = 0;
  };
  struct View {
    const std::vector<CtaStatus>* ctas = nullptr;  ///< resident CTAs
    std::uint64_t ctas_waiting = 0;                ///< of the grid, not yet launched on any SM
    unsigned active_ctas = 0;                      ///< entering ones included
    unsigned active_warps = 0;
  };
  /// Fixes the plan for a launch; throws support::ConfigError when not even one CTA fits.
  virtual ResourcePlan plan(const KernelContext& context, const SmLimits& limits) = 0;
  virtual Action next(const View& view) = 0;
  /// False for a policy that is not asked when all that changed is the stall status of a CTA.
  virtual bool follows_stalls() const { return true; }
  /// True for a policy that may switch CTAs: the SM then has statistics of it. Asked once, before the first launch.
  virtual bool switches() const { return false; }
  virtual const sc_core::sc_event& changed() const = 0;
};

}  // namespace regatta::protocol
