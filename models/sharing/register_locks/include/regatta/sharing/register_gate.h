// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The access check of register sharing (Jatala, thesis, figure 2.5): a warp of a pair issues an instruction that names
/// a shared register when it holds the lock of its pair of warps. It takes the lock as it issues, if the lock is free
/// and the deadlock rule agrees, and keeps it until it ends.
///
/// A warp that has to wait is closed until locks of its pair of CTAs are returned.
class RegisterGate final : public sc_core::sc_module,
                           public protocol::IssueGate,
                           public protocol::GateReporter,
                           public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<RegisterBoundary> boundary;
  sc_core::sc_port<RegisterLocks> locks;
  sc_core::sc_port<LockRule> rule;
  sc_core::sc_port<CtaOwners> owners;

  RegisterGate(const sc_core::sc_module_name& name, support::ClockDomain& clock);

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  /// Warps that wait for each other in a circle, a line for each circle; empty if there is none.
  std::string describe_circles() const;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// `ended` also before its CTA is launched; `launched` until the warp starts, which may be later.
  enum class Life : std::uint8_t { ended, launched, resident };
  struct Warp {
    PairMember cta;
    unsigned lock = 0;
    unsigned partner = 0;  ///< the other warp of the pair
    bool paired = false;
    Life life = Life::ended;
    bool closed = false;
    std::uint64_t since = 0;  ///< closed
    bool is_resident() const { return life == Life::resident; }
  };
  bool names_shared(const protocol::DynamicInstruction& d) const {
    return __builtin_expect(static_cast<int>(d.injected), 0) != 0 ? names_shared(*d.traits) : shared_[d.traits->index];
  }
  bool names_shared(const protocol::InstructionTraits& traits) const;
  LockClaim claim_of(const Warp& w) const {
    return {w.cta, owners_->role(pairs_->slot(w.cta)) == WarpRole::owner, warps_[w.partner].life == Life::ended};
  }
  /// The warp, which does not hold its lock, may take it.
  bool is_available(const Warp& w) const { return !locks_->holder(w.lock) && rule_->may_take(claim_of(w)); }
  void close(Warp& w, protocol::WarpSlot slot);
  /// Opens the closed warps of the CTA that may take their locks.
  void reopen(PairMember cta);
  /// The resident warp for which this one waits; itself, if for none.
  unsigned waits_for(unsigned warp) const;
  bool at_barrier(unsigned warp) const;
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

  support::ClockDomain& clock_;
  support::CycleEvent changed_;  ///< never notified: closed warps are opened
  protocol::GateListener* listener_ = nullptr;
  protocol::SmControl* control_ = nullptr;
  const CtaPairs* pairs_ = nullptr;
  RegisterLocks* locks_ = nullptr;
  LockRule* rule_ = nullptr;
  CtaOwners* owners_ = nullptr;
  unsigned warps_per_cta_ = 1;
  unsigned private_ = 0;
  bool sharing_ = false;
  std::vector<Warp> warps_;   ///< by slot
  std::vector<bool> shared_;  ///< by static instruction: names a shared register
  std::uint64_t checks_ = 0, acquires_ = 0, waits_ = 0, wait_cycles_ = 0;
};

}  // namespace regatta::models
