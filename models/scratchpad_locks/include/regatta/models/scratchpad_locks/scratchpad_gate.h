// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/models/resource_sharing/sharing.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The access check of scratchpad sharing (Jatala, thesis, figure 2.6): a warp of a pair issues an access of the common
/// part of shared memory when its CTA holds the pair's lock. It takes the lock as it issues, if the lock is free. The
/// CTA keeps the lock until it ends, or until the release bits of all its threads are set (section 3.2.2).
///
/// A warp that has to wait is closed until the lock is returned.
class ScratchpadGate final : public sc_core::sc_module, public protocol::IssueGate, public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<ScratchpadBoundary> boundary;
  sc_core::sc_port<ScratchpadLocks> locks;
  sc_core::sc_port<CtaOwners> owners;
  /// Unbound: CTAs keep the lock until they end.
  sc_core::sc_port<ReleaseBits, 1, sc_core::SC_ZERO_OR_MORE_BOUND> release_bits;

  /// `relssp`: the scheme of the inserted instructions that release, in traces that are annotated for `t`; empty: there
  /// are none.
  ScratchpadGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                 sc_core::sc_time clock_period);

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  std::string inserted_scheme() const override { return relssp_; }
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

 private:
  struct Cta {
    PairMember member;
    bool paired = false;
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

  /// Whether the instruction, of a CTA of a pair, accesses the common part.
  bool touches_common(const protocol::DynamicInstruction& d) const;
  bool is_available(const Cta& cta) const;
  void release(protocol::WarpSlot warp, protocol::LaneMask lanes);
  void give_back(protocol::CtaSlot cta);
  /// Opens the closed warps of the CTA.
  void reopen(protocol::CtaSlot cta);
  /// Throws support::ConfigError if the kernel is not annotated for this share.
  void require_section(const trace::Kernel& kernel) const;
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

  support::CycleScheduler& clock_;
  const Threshold t_;
  const std::string relssp_;
  sc_core::sc_event changed_;  ///< never notified: closed warps are opened
  protocol::GateListener* listener_ = nullptr;
  const CtaPairs* pairs_ = nullptr;
  ScratchpadLocks* locks_ = nullptr;
  CtaOwners* owners_ = nullptr;
  ReleaseBits* bits_ = nullptr;
  unsigned warps_per_cta_ = 1;
  std::uint64_t private_ = 0;
  bool sharing_ = false;
  std::vector<Cta> ctas_;                 ///< by slot
  std::vector<Warp> warps_;               ///< by slot
  std::vector<Kind> kinds_;               ///< by static instruction
  std::vector<std::uint64_t> free_from_;  ///< by pair: the first cycle in which the lock may be taken
  std::uint64_t checks_ = 0, common_ = 0, acquires_ = 0, waits_ = 0, wait_cycles_ = 0, releases_ = 0, relssps_ = 0;
};

}  // namespace regatta::models
