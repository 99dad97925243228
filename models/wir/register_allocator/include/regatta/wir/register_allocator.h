// SPDX-License-Identifier: Apache-2.0
//
// The register allocator (WIR section V-E): free pool, reference counters, and the policies for few free registers.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/stats.h>
#include <regatta/trace/types.h>
#include <regatta/wir/references.h>
#include <regatta/wir/register_pool.h>
#include <regatta/wir/wir_config.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

struct AllocationRequest {
  unsigned registers = 0;  ///< 0 to 4
  bool reduced = false;    ///< the instruction asks for fewer than it was refused before
};
/// As many registers as were asked for, with one reference each, and the cycles until the pool's port gives them out.
struct GrantedRegisters {
  std::array<PhysicalRegister, trace::max_destination_registers> regs;
  std::array<std::uint16_t, trace::max_destination_registers> waits{};
};

/// `allocation` grants all registers of a request or refuses it (busy) for lack of free ones. Which registers are
/// granted, and when, is decided when the request is accepted.
class RegisterAllocator : public sc_core::sc_module,
                          public References,
                          public ReaderCredits,
                          public protocol::Lookup<AllocationRequest, GrantedRegisters>,
                          public protocol::LifecycleListener,
                          public support::StatProvider,
                          public support::HoldsWork {
 public:
  sc_core::sc_export<References> references;
  sc_core::sc_export<ReaderCredits> credits;
  protocol::LookupTarget<AllocationRequest, GrantedRegisters> allocation;
  /// Asked for registers in this order.
  sc_core::sc_port<ReferenceKeeper, 0, sc_core::SC_ZERO_OR_MORE_BOUND> keepers;

  RegisterAllocator(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock);

  // References.
  void hold(const PhysicalRegister* regs, unsigned count) override {
    if (was_low_) begin();
    for (unsigned i = 0; i < count; ++i) {
      if (regs[i] != no_register) pool_.hold(regs[i]);
    }
  }
  void end_hold(PhysicalRegister reg) override {
    if (was_low_) begin();
    // A single, rarely taken branch.
    if (unsigned{pool_.unhold(reg)} & ((promised_ | unsigned{refused_}) != 0)) no_holds(reg);
    if (pool_.drop(reg)) pool_.leave(reg, clock_.now());
  }
  bool share(const PhysicalRegister* regs, unsigned count) override {
    if (was_low_) begin();
    for (unsigned i = 0; i < count && regs[i] != no_register; ++i) {
      if (__builtin_expect(static_cast<int>(pool_.acquire(regs[i])), 1) != 0) {
        ++counted_;
        continue;
      }
      while (i-- > 0) pool_.release(regs[i], clock_.now());
      return false;
    }
    return true;
  }
  void release(PhysicalRegister reg) override {
    if (reg == no_register) return;
    if (was_low_) begin();
    if (pool_.drop(reg)) pool_.leave(reg, clock_.now());
  }
  void replace(PhysicalRegister before, PhysicalRegister /*after*/) override {
    release(before);
    ++counted_;
  }
  bool low() override {
    begin();
    return low_now();
  }
  void settle() override { begin(); }
  const bool& low_mode() const override { return was_low_; }
  void check() const override;

  // ReaderCredits.
  const RegisterPool& view() const override { return pool_; }
  bool credits_left(unsigned wanted) const override { return promised_ + wanted <= credits_; }
  void promise(PhysicalRegister reg) override {
    ++promises_[reg.value()];
    ++promised_;
  }
  void refused() override { refused_ = true; }
  const sc_core::sc_event& opened() const override { return opened_; }

  protocol::LookupReply look_up(const AllocationRequest& request, std::uint32_t tag,
                                GrantedRegisters& granted) override;
  /// Never notified: a request that is refused is repeated every cycle, in order.
  const sc_core::sc_event& changed() const override { return changed_; }

  void kernel_started(const protocol::KernelContext& context) override;
  /// Checks that the counts equal the references and that none is left. Reports a SystemC error.
  void kernel_finished(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  /// With capped registers, the keepers give up the registers beyond the new limit. The rename tables have given up the
  /// warp's before.
  void warp_finished(const protocol::WarpInfo& warp) override;

  /// In low-register mode: what is wanted, and who has the registers.
  std::string held_work() const override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// Cycles in low-register mode so far.
  std::uint64_t low_cycles();
  unsigned peak() const { return pool_.peak(); }
  /// Registers in use, summed over the cycles so far.
  std::uint64_t register_cycles() {
    begin();
    return pool_.register_cycles(now_);
  }
  std::uint64_t now() const { return clock_.now(); }
  const std::uint64_t& allocated() const { return allocated_; }
  /// A message if the counts differ from the actual references; empty if they match.
  std::string recount() const;

 private:
  /// First in a transaction: the present cycle, and what past cycles of low-register mode did. Outside of this mode,
  /// one that does not need the cycle goes without.
  void begin() {
    now_ = clock_.now();
    if (was_low_ && evicted_until_ < now_) evict_idle();
  }
  void no_holds(PhysicalRegister reg) {
    std::uint32_t& promises = promises_[reg.value()];
    promised_ -= promises;
    promises = 0;
    if (__builtin_expect(static_cast<int>(refused_), 0) != 0) reopen();
  }
  bool low_now() {
    const bool is_low = is_low_in(now_);
    if (is_low != was_low_) switch_mode(is_low, now_);
    return is_low;
  }
  bool is_low_in(std::uint64_t cycle) { return pool_.available(cycle) < wanted_; }
  [[gnu::noinline]] void reopen();
  [[gnu::noinline]] void switch_mode(bool is_low, std::uint64_t at);
  void account_mode(std::uint64_t at);
  [[gnu::noinline]] void evict_idle();
  std::string leak();
  std::vector<ReferenceCounts> counts_by_keeper() const;
  /// "; referred to by sm0.wir.reuse_buffer (2)".
  std::string owners(PhysicalRegister reg) const;
  [[noreturn]] void refuse(PhysicalRegister reg, const std::string& what) const;
  /// "sm0.wir.allocator in cycle 59".
  std::string at_present() const;
  void report(const std::string& wrong) const;

  const unsigned physical_, max_warps_, max_ctas_;
  const bool capped_;
  support::ClockDomain& clock_;
  RegisterPool pool_;
  Ports ports_;
  std::uint64_t now_ = 0;
  std::vector<std::uint32_t> promises_;  ///< by register: the credits that it took
  std::uint32_t promised_ = 0, credits_ = 0;
  unsigned registers_per_warp_ = 1;
  unsigned warps_ = 0;  ///< resident
  bool refused_ = false;
  bool was_low_ = false;
  unsigned wanted_ = 1;  ///< registers that an instruction needs at once and could not have; 1 when none waits
  unsigned over_limit_ = 0;
  std::uint64_t mode_since_ = 0;
  std::uint64_t evicted_until_ = 0;  ///< the first cycle whose idle evictions are not done
  std::uint64_t allocated_ = 0, counted_ = 0, low_cycles_ = 0;
  support::CycleEvent changed_, opened_;
};

}  // namespace regatta::models::wir
