// SPDX-License-Identifier: Apache-2.0
//
// Switches CTAs when all warps of an active one wait for memory: Virtual Thread (Yoon et al., ISCA 2016), and FineReg
// (MICRO 2018, sections IV-A, V-B and V-E) where registers of pending CTAs can leave the register file.
#pragma once

#include <regatta/baseline/unified_memory.h>
#include <regatta/finereg/cta_registers.h>
#include <regatta/finereg/status_monitor.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::models {

struct CtaSwitchingConfig {
  unsigned max_ctas = monitored_ctas;    ///< resident on an SM, active and pending (section V-F)
  unsigned max_warps = monitored_warps;  ///< the same
  unsigned stall_cycles = 1;             ///< a CTA has to be stalled so long before it is switched out
  /// Launch a CTA in the place of a stalled one while there is room for it, before ready pending CTAs are considered
  /// (abstract, sections IV-A and V-B, Figure 6).
  bool launch_first = true;
  unsigned latency = 20;         ///< cycles from switching a CTA out to switching another in, at least
  unsigned entry_bytes = 12;     ///< of a SIMT stack entry in a saved context: PC, reconvergence PC, lanes
  unsigned context_entries = 4;  ///< SIMT stack entries of a warp for which a pending CTA has shared memory

  /// Knobs switching.*.
  void declare(support::OptionSet& options);
};

/// The residency policy. CTAs are launched until shared memory, 128 CTAs or 512 warps are reached, or the registers: of
/// the register file, and of what a transfer engine can move elsewhere. As many are active as the scheduling limits and
/// the register file allow.
///
/// When an active CTA stalls, in this order:
///   1. a CTA of the grid is launched, in a free place, or after the registers of the stalled CTA have left;
///   2. a ready pending CTA whose registers are in the file: the contexts are exchanged;
///   3. a ready pending CTA whose registers are elsewhere: they come back, into a free place of the file or in exchange
///      for those of the stalled CTA.
/// If the registers of the stalled CTA find no room, it stays active. When an active CTA ends, its successor is a
/// pending CTA if one is ready, and otherwise one of the grid. One switch is made at a time.
class SwitchEngine final : public sc_core::sc_module,
                           public protocol::Residency,
                           public protocol::LookupClient<unsigned>,
                           public support::StatProvider {
 public:
  sc_core::sc_port<CtaStatusAccess> status;
  /// Unbound: the file has a place for every resident CTA.
  sc_core::sc_port<CtaPlaces, 1, sc_core::SC_ZERO_OR_MORE_BOUND> places;
  /// Unbound: registers stay in the file.
  sc_core::sc_port<RegisterTransfer, 1, sc_core::SC_ZERO_OR_MORE_BOUND> transfer;
  RegisterCountInitiator counts;
  /// Unbound: every CTA may leave.
  sc_core::sc_port<SwitchVeto, 1, sc_core::SC_ZERO_OR_MORE_BOUND> veto;

  SwitchEngine(const sc_core::sc_module_name& name, const CtaSwitchingConfig& config, support::ClockDomain& clock);

  void end_of_elaboration() override;
  /// For schemes in which a CTA does not take all its registers, or a part of the file is not for CTAs: changes the
  /// context and the limits by which a launch is planned.
  using Footprint = std::function<void(protocol::KernelContext&, protocol::SmLimits&)>;
  void set_footprint(Footprint footprint) { footprint_ = std::move(footprint); }

  /// The launch's CTAs and the L1 divide this memory. `with_file`: the register file is part of it; otherwise only what
  /// the transfer engine uses is.
  void set_unified_memory(const UnifiedMemory& memory, bool with_file) {
    unified_ = memory;
    unified_file_ = with_file;
  }

  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool switches() const override { return true; }
  bool keeps_cycle_time() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }

  void attach(protocol::SmControl& control) override { control_ = &control; }
  void kernel_started(const protocol::KernelContext& context) override;
  void kernel_finished(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void cta_switched(const protocol::CtaInfo& cta, bool active) override;
  void cta_finished(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = true; }
  void warp_finished(const protocol::WarpInfo& warp) override { alive_[warp.warp.value()] = false; }
  void answered(std::uint32_t tag, const unsigned& registers) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  struct Counters {
    std::uint64_t switches = 0;          ///< CTAs switched out
    std::uint64_t context_switches = 0;  ///< of these, with their registers left in the file
    std::uint64_t exchanges = 0;         ///< whose registers left and those of another CTA came back
    std::uint64_t evictions = 0;         ///< whose registers left, and nothing came back
    std::uint64_t restores = 0;          ///< CTAs whose registers came back into a free place
    std::uint64_t switch_cycles = 0;     ///< from switching out to the end of the switch
    std::uint64_t depleted_cycles = 0;   ///< a CTA is stalled and another could take its place, had its registers room
    std::uint64_t active_cycles = 0;     ///< CTAs x cycles
    std::uint64_t pending_cycles = 0;    ///< CTAs x cycles
    std::uint64_t stalls = 0;            ///< CTAs that stalled for the first time since they were launched
    std::uint64_t cycles_to_stall = 0;   ///< from their launch
    std::uint64_t launches = 0;
    std::uint64_t active_peak = 0, resident_peak = 0;
    std::uint64_t wait_peak = 0;    ///< cycles that a ready pending CTA waited, at most
    std::uint64_t wait_cycles = 0;  ///< that ready pending CTAs waited, summed over those that were switched in
  };
  const Counters& counters() const { return counters_; }
  /// The counters that depend on time, until now.
  void account();
  std::uint64_t elapsed() const { return elapsed_; }

 private:
  using CtaSlot = protocol::CtaSlot;
  using Room = RegisterTransfer::Room;
  /// The switch under way.
  struct Switch {
    enum class Step : std::uint8_t {
      none,
      draining,  ///< `out` is on its way to being quiesced
      moving,    ///< registers are on their way
      entering   ///< the latency of the switch has to pass, then `in` becomes active, or a CTA is launched
    };
    Step step = Step::none;
    std::optional<CtaSlot> out, in;
    bool launch = false;
    bool moves_out = false, moves_in = false;
    bool replaces = false;  ///< an active CTA was switched out for it
    std::uint64_t begun = 0;
  };
  struct Cta {
    bool stalled = false, ready = false;
    bool stalled_once = false;
    bool active = false;
    std::uint64_t since = 0;        ///< stalled
    std::uint64_t ready_since = 0;  ///< pending and ready
    std::uint64_t launched = 0;
  };

  std::uint64_t now() const { return clock_.now(); }
  bool has_free_place() const { return places_ == nullptr || places_->free_places() != 0; }
  void look(const View& view);
  Action proceed(const View& view);
  Action begin(const View& view);
  Action begin_with(const View& view, std::optional<CtaSlot> pending);
  Action fill_meanwhile(const View& view);
  /// One more CTA can be active: the pending one, or (none) a CTA of the grid.
  Action fill(std::optional<CtaSlot> pending);
  /// The same CTA is to take the place of a stalled one.
  Action replace(CtaSlot stalled, std::optional<CtaSlot> pending);
  /// The active CTA that has been stalled for longest, but for those that were tried.
  std::optional<CtaSlot> longest_stalled(const CtaSet& tried) const;
  /// A pending CTA that is not ready and whose registers are in the file, and could leave it for another CTA.
  std::optional<CtaSlot> idle_in_file() const;
  /// Whether the registers of `out` can leave; asks for their number if that is not known.
  bool can_leave(CtaSlot out, std::optional<CtaSlot> in);
  Action leave(CtaSlot out, std::optional<CtaSlot> in, bool moves_out, bool moves_in);
  Action enter(CtaSlot in);
  void begin_move();
  void transfer_ended() { changed_.notify(); }
  Action finish(const View& view);
  unsigned context_bytes(CtaSlot cta);
  /// next() is called again in cycle `at`, or in the next one.
  void wake(std::uint64_t at);

  const CtaSwitchingConfig config_;
  support::ClockDomain& clock_;
  support::CycleClient wakeup_;
  support::CycleEvent changed_;
  protocol::SmControl* control_ = nullptr;
  CtaStatusAccess* status_ = nullptr;
  CtaPlaces* places_ = nullptr;
  RegisterTransfer* transfer_ = nullptr;
  SwitchVeto* veto_ = nullptr;
  Footprint footprint_;
  UnifiedMemory unified_;
  bool unified_file_ = false;
  protocol::ResourcePlan plan_;
  unsigned warps_per_cta_ = 1;
  std::vector<Cta> ctas_;    ///< by slot
  std::vector<bool> alive_;  ///< by warp slot
  Switch switch_;
  std::optional<CtaSlot> counting_;  ///< whose registers are being counted
  protocol::WarpContext context_;    ///< memory for context_bytes()
  Counters counters_;
  unsigned active_ = 0, resident_ = 0;
  bool depleted_ = false;  ///< as Counters::depleted_cycles
  std::uint64_t accounted_ = 0, elapsed_ = 0;
};

}  // namespace regatta::models
