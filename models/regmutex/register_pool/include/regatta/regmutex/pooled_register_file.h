// SPDX-License-Identifier: Apache-2.0
//
// The register file of RegMutex (Khorasani et al., ISCA 2018): base registers of every resident warp, and a pool of
// extended registers.
#pragma once

#include <regatta/baseline/banked_file.h>
#include <regatta/baseline/fixed_windows.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/regmutex/shared_register_pool.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Rows from 0 on are windows of base registers, one per warp slot; the last `sections x size` rows are the pool. An
/// access to an extended register of a warp without a section is an error. Banks are those of the conventional file.
class PooledRegisterFile final : public BankedFile<PooledRegisterFile>, public SectionUser {
 public:
  sc_core::sc_port<PoolSections> sections;
  sc_core::sc_export<SectionUser> section_user;

  /// `slices`: equal parts of the base rows (sm.sub_cores). The pool outlives the file.
  PooledRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config, unsigned slices,
                     unsigned granularity, const SharedRegisterPool& pool, support::ClockDomain& clock);

  void end_of_elaboration() override { sections_ = sections.operator->(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void register_energy(support::EnergyGroup& group) override;

  void section_taken(protocol::WarpSlot warp) override;
  void section_returns(protocol::WarpSlot warp) override;

  /// Base registers of a warp, rounded to the granularity of allocations.
  unsigned base_registers(const trace::RegMutexRegisters& sets) const {
    return (std::max(1U, sets.base) + granularity_ - 1) / granularity_ * granularity_;
  }

 private:
  friend class BankedFile<PooledRegisterFile>;
  static constexpr bool answers_late = false;
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of(access.warp, access.reg);
  }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  /// Calls f(RegisterId, index in its set) for the warp's base registers, or its extended ones.
  template <class F>
  void for_each_register(bool extended, F&& f) const {
    for (unsigned r = 0; r < sets_.place.size(); ++r) {
      if (sets_.is_extended(r) == extended) f(protocol::RegisterId(static_cast<std::uint8_t>(r)), sets_.index(r));
    }
  }
  std::uint32_t row_of(const protocol::WarpAccess& access) const {
    const unsigned reg = access.reg.value();
    if (reg >= sets_.place.size()) refuse(access);
    if (!sets_.is_extended(reg)) return fixed_.base(access.warp) + sets_.index(reg);
    const std::uint32_t section = sections_->section(access.warp);
    if (__builtin_expect(static_cast<int>(section == PoolSections::none), 0) != 0) refuse_extended(access);
    return pool_begin_ + section * sets_.extended + sets_.index(reg);
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_extended(const protocol::WarpAccess& access) const;
  std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const { return row_of(access); }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    copy_row(payload, rows_[row_of(access)]);
    if (payload.is_read()) access.origin = protocol::Origin{"bank", bank};
    return done;
  }

  const SharedRegisterPool& pool_;
  const unsigned granularity_;
  PoolSections* sections_ = nullptr;
  FixedWindows fixed_;
  trace::RegMutexRegisters sets_;
  std::uint32_t pool_begin_ = 0;
  protocol::WarpRegisters rows_;
};

}  // namespace regatta::models
