// SPDX-License-Identifier: Apache-2.0
//
// The shared register pool (SRP) of RegMutex (Khorasani et al., ISCA 2018), the comparator of FineReg (MICRO 2018,
// section VI): sections of extended registers, which warps acquire and release by instructions of the compiler.
#pragma once

#include <regatta/finereg/cta_registers.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>
#include <regatta/trace/regmutex.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Which section of the pool a warp holds: for the register file, in every access to an extended register.
class PoolSections : public virtual sc_core::sc_interface {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// Of the warp in this slot; `none` if it holds none.
  virtual std::uint32_t section(protocol::WarpSlot warp) const = 0;
};

/// Told when a warp's section changes, after it took one and before it gives it back.
class SectionUser : public virtual sc_core::sc_interface {
 public:
  virtual void section_taken(protocol::WarpSlot warp) = 0;
  virtual void section_returns(protocol::WarpSlot warp) = 0;
};

/// A warp has one section at most, from an `acquire` until all instructions that name its registers are complete after
/// a `release`. An acquire without a free section does not issue. It closes its warp until a section comes back: a
/// scheduler with a set of active warps takes in another one, which may be a holder. Sections are given in the order in
/// which the schedulers offer warps; the lowest free one. A warp that ends returns its section.
///
/// Cannot deadlock with one section: no section is held at a barrier (the compiler sees to it), so a holder waits for
/// memory only, and a CTA with a holder is not switched out.
class SharedRegisterPool final : public sc_core::sc_module,
                                 public protocol::IssueGate,
                                 public protocol::GateReporter,
                                 public protocol::InsertedStream,
                                 public PoolSections,
                                 public SwitchVeto,
                                 public support::StatProvider {
 public:
  sc_core::sc_export<PoolSections> sections;
  sc_core::sc_export<SwitchVeto> veto;
  sc_core::sc_port<SectionUser, 1, sc_core::SC_ZERO_OR_MORE_BOUND> user;  ///< the file

  /// `registers`: warp registers of the pool.
  SharedRegisterPool(const sc_core::sc_module_name& name, std::uint32_t registers, support::ClockDomain& clock);

  /// The sets of the kernel; throws support::ConfigError, naming the option of regatta-annotate, if it has none.
  static trace::RegMutexRegisters sets_of(const trace::Kernel& kernel);
  /// Sections for a kernel with these sets; throws support::ConfigError when not one fits.
  std::uint32_t sections_for(const trace::Kernel& kernel, const trace::RegMutexRegisters& sets) const;

  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  std::string inserted_scheme() const override { return trace::regmutex_scheme; }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  void issued(const protocol::DynamicInstruction& instruction) override;
  void written_back(const protocol::DynamicInstruction& instruction) override;
  const sc_core::sc_event& changed() const override { return changed_; }

  std::uint32_t section(protocol::WarpSlot warp) const override { return warps_[warp.value()].section; }
  bool may_leave(protocol::CtaSlot cta) const override { return holders_[cta.value()] == 0; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Warp {
    std::uint32_t section = none;
    bool releasing = false;
    bool closed = false;    ///< its acquire was refused
    unsigned using_it = 0;  ///< instructions in flight that name an extended register
    std::uint64_t since = 0;
  };
  bool names_extended(const protocol::DynamicInstruction& d) const { return extended_[d.traits->index]; }
  unsigned cta_of(protocol::WarpSlot warp) const { return warp.value() / warps_per_cta_; }
  void give_back(protocol::WarpSlot warp);
  [[gnu::noinline]] void complain(protocol::WarpSlot warp, const char* what) const;

  support::ClockDomain& clock_;
  support::CycleEvent changed_;
  const std::uint32_t registers_;
  unsigned warps_per_cta_ = 1;
  protocol::GateListener* listener_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<protocol::WarpSlot> closed_;
  std::vector<unsigned> holders_;  ///< by CTA slot: warps with a section
  std::vector<bool> taken_;        ///< by section
  std::uint32_t free_ = 0;
  std::vector<bool> extended_;  ///< by static instruction: names an extended register
  std::uint64_t acquires_ = 0, releases_ = 0, refusals_ = 0, held_cycles_ = 0, held_max_ = 0;
};

}  // namespace regatta::models
