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
  unsigned register_granularity = 8;  ///< warp registers; a warp's allocation is a multiple of this
  unsigned shared_bytes = 98304;
  unsigned shared_granularity = 256;  ///< bytes
  unsigned shared_cta_bytes = 98304;  ///< shared memory that one CTA may have
  /// Equal partitions of the register storage. Warps are distributed among them; a warp's registers lie in one of them.
  unsigned sub_cores = 1;
};

/// How a launch uses an SM. The SM refuses a plan that does not fit its SmLimits.
struct ResourcePlan {
  unsigned resident_ctas = 0;      ///< most at a time; the SM has this many CTA slots
  unsigned active_ctas = 0;        ///< most of these that are active at a time
  std::uint64_t registers = 0;     ///< most warp registers of the operand storage that they occupy
  std::uint64_t shared_bytes = 0;  ///< most shared memory that they occupy, including saved contexts
  /// Bytes of a unified on-chip memory that the L1 keeps for this launch, in whole ways; 0: all of l1.size_bytes.
  std::uint64_t l1_bytes = 0;

  /// The conventional plan: `ctas` CTAs are resident, and each is active and keeps its registers and its shared memory
  /// from launch to end.
  static ResourcePlan conventional(const KernelContext& context, const SmLimits& limits, unsigned ctas) {
    const std::uint64_t granularity = limits.shared_granularity;
    const std::uint64_t shared = (context.launch->shared_bytes_per_cta + granularity - 1) / granularity * granularity;
    return {ctas, ctas, std::uint64_t{ctas} * context.warps_per_cta * context.registers_per_warp, ctas * shared, 0};
  }
};

/// Phases of a resident CTA. It starts active. After it is switched out, it drains, is quiesced, and is parked once the
/// policy reports that its registers have moved. It may be switched in from any of these phases.
enum class CtaPhase : std::uint8_t {
  active,    ///< its warps are scheduled
  draining,  ///< switched out: instructions in flight, or its context on the way to shared memory
  quiesced,  ///< nothing in flight except steered loads (Action::steer_loads); its registers have not moved
  parked,    ///< the policy has moved its registers away; the storage may use their place
  entering,  ///< switched in: its context is on the way from shared memory
};

const char* to_string(CtaPhase p);

/// State of one resident CTA as the residency policy sees it.
struct CtaStatus {
  CtaSlot cta;
  std::uint64_t cta_index = 0;  ///< linear CTA index in the grid
  CtaPhase phase = CtaPhase::active;
  bool active = false;         ///< phase is active
  bool stalled = false;        ///< every unfinished warp waits for off-SM memory or at a barrier
  bool ready = false;          ///< at least one warp could go on
  unsigned warps_left = 0;     ///< unfinished, those that wait included
  unsigned warps_waiting = 0;  ///< of these, not admitted yet (Action::warps_wait)
  Cycle launched;
};

/// Which CTAs are resident and which of them are active.
///
/// Called by: the SM's CTA stage, last in a cycle, when a launch began or a CTA ended, was quiesced, entered, changed
/// its stall status, a warp ended (follows_warps()), or changed() was notified; repeatedly in that cycle until it
/// answers none. The SM carries the action out before the next call. May change: its own state. Must not: ask for a
/// launch that the storage cannot hold.
class Residency : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  struct Action {
    enum class Kind : std::uint8_t {
      none,
      launch,      ///< the next CTA of the grid takes a slot, active
      switch_out,  ///< an active CTA leaves the schedulers and drains
      moved,       ///< the registers of a quiesced CTA have left the storage: it is parked
      switch_in,   ///< a draining, quiesced or parked CTA is scheduled again; a parked CTA's registers must be back in
                   ///< the storage by then
      admit,       ///< a waiting warp of an active CTA starts
    };
    Kind kind = Kind::none;
    CtaSlot cta;  ///< the CTA concerned; unused by launch and none
    /// switch_out. False: the CTA is quiesced when all its instructions have retired. True: it does not wait for memory
    /// instructions that have made their addresses, unless they have a result that comes from inside the SM; the
    /// scheme's write-back point takes the results that arrive after the registers have moved
    /// (WritebackPoint::Decision::drop).
    bool steer_loads = false;
    /// switch_out, switch_in: bytes of the CTA's context (PCs, SIMT stacks, barriers) that are written to, or read
    /// from, shared memory. They occupy its banks, and the CTA drains, or enters, at least as long.
    unsigned context_bytes = 0;
    /// launch. True: the CTA is resident without its warps, which wait until each is admitted. They count towards the
    /// SM's limits and at the CTA's barriers; they have no registers, and fetch nothing.
    bool warps_wait = false;
    unsigned warp_in_cta = 0;  ///< admit: the warp
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
  /// False: next() is not called when only the stall status of a CTA has changed.
  virtual bool follows_stalls() const { return true; }
  /// True: next() is also called when a warp has ended whose CTA goes on.
  virtual bool follows_warps() const { return false; }
  /// True if the policy may switch CTAs: the SM then reports switch statistics. Asked once, before the first launch.
  virtual bool switches() const { return false; }
  virtual const sc_core::sc_event& changed() const = 0;
  /// A policy under which a CTA keeps the registers of its launch to its end overrides this.
  std::string budget_obstacle() const override { return "plans for warps that keep their registers"; }
};

}  // namespace regatta::protocol
