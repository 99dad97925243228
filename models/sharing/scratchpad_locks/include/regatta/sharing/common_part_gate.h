// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The access check of shared memory of which CTAs have a part in turn: the common part. A warp issues an access of it
/// when its CTA has it. The CTA takes it as the warp issues, if that is possible, and keeps it until it ends, or until
/// the release bits of all its threads are set (Jatala, thesis, section 3.2.2).
///
/// A warp that has to wait is closed until a CTA gives the common part up. A derived class says who has it.
class CommonPartGate : public sc_core::sc_module,
                       public protocol::IssueGate,
                       public protocol::GateReporter,
                       public protocol::InsertedStream,
                       public support::StatProvider {
 public:
  sc_core::sc_port<ScratchpadBoundary> boundary;
  /// Unbound: CTAs keep the common part until they end.
  sc_core::sc_port<ReleaseBits, 1, sc_core::SC_ZERO_OR_MORE_BOUND> release_bits;

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  std::string inserted_scheme() const override { return relssp_; }
  /// The thesis's compiler knows the machine, and inserts nothing where sharing brings no CTA (section 3.4.2).
  bool takes_inserted() const override { return sharing(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void cta_finished(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 protected:
  /// `t`, the knob of this name: the share of a CTA's shared memory that is its own. `relssp`: the scheme of the
  /// inserted instructions that release, in traces that are annotated for `t`; empty: there are none.
  CommonPartGate(const sc_core::sc_module_name& name, std::string knob, const Threshold& t, std::string relssp,
                 support::ClockDomain& clock);

  /// Whether any CTA of the launch has its common part in turn with others.
  virtual bool sharing() const = 0;
  virtual bool takes_turns(protocol::CtaSlot cta) const = 0;
  /// Whether the CTA has the common part and may access it now; of a CTA that takes turns, here and below.
  virtual bool has(protocol::CtaSlot cta) const = 0;
  /// The first cycle in which the CTA, of which has() is false, may take it; none: another CTA has to give it up.
  virtual std::optional<std::uint64_t> may_take_from(protocol::CtaSlot cta) const = 0;
  virtual void take(protocol::CtaSlot cta) = 0;
  /// The CTA has it. Another one may take it from cycle `from` on; calls reopen() for those that wait.
  virtual void give_back(protocol::CtaSlot cta, std::uint64_t from) = 0;
  /// A warp of the CTA begins to wait.
  virtual void waits(protocol::CtaSlot) {}
  /// All threads of the CTA have released the common part, which it will not access any more.
  virtual void released(protocol::CtaSlot) {}

  /// Opens the closed warps of the CTA.
  void reopen(protocol::CtaSlot cta);
  /// False also of slots beyond those that a small grid fills.
  bool is_resident(protocol::CtaSlot cta) const { return cta.value() < ctas_.size() && ctas_[cta.value()].resident; }
  const support::ClockDomain& clock() const { return clock_; }
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

 private:
  struct Cta {
    bool takes_turns = false;
    bool resident = false;
    bool released = false;  ///< all its threads have given up the common part
  };
  struct Warp {
    bool closed = false;
    std::uint64_t since = 0;         ///< closed
    unsigned in_flight = 0;          ///< accesses of the common part that have issued and are not complete
    protocol::LaneMask leaving = 0;  ///< lanes that have ended while there were any
  };
  enum class Kind : std::uint8_t { other, shared, generic };

  /// Whether the instruction, of a CTA that takes turns, accesses the common part.
  bool touches_common(const protocol::DynamicInstruction& d) const;
  void release(protocol::WarpSlot warp, protocol::LaneMask lanes);
  /// Throws support::ConfigError if the kernel is not annotated for this share.
  void require_section(const trace::Kernel& kernel) const;

  support::ClockDomain& clock_;
  const std::string knob_;
  const Threshold t_;
  const std::string relssp_;
  support::CycleEvent changed_;  ///< never notified: closed warps are opened
  protocol::GateListener* listener_ = nullptr;
  ReleaseBits* bits_ = nullptr;
  unsigned warps_per_cta_ = 1;
  std::uint64_t private_ = 0;
  bool sharing_ = false;
  std::vector<Cta> ctas_;    ///< by slot
  std::vector<Warp> warps_;  ///< by slot
  std::vector<Kind> kinds_;  ///< by static instruction
  std::uint64_t checks_ = 0, common_ = 0, acquires_ = 0, waits_ = 0, wait_cycles_ = 0, releases_ = 0, relssps_ = 0;
};

}  // namespace regatta::models
