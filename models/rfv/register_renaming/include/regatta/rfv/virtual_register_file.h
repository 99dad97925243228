// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/banked_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/rfv/rename_table.h>
#include <regatta/rfv/renaming_gate.h>
#include <regatta/support/clock_domain.h>
#include <regatta/trace/rfv.h>

#include <cstdint>
#include <systemc>

namespace regatta::models {

/// A banked file whose rows belong to the registers that the rename table names (RFV, MICRO 2015). The bank of an
/// access is that of its row. An access to a register without a row ends the run: its value is lost.
class VirtualRegisterFile final : public BankedFile<VirtualRegisterFile> {
 public:
  sc_core::sc_port<RowLookup> rows;
  sc_core::sc_port<ReadsServed> reads_served;

  VirtualRegisterFile(const sc_core::sc_module_name& name, const RenamingConfig& config, support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  friend class BankedFile<VirtualRegisterFile>;
  static constexpr bool answers_late = false;
  std::uint32_t row_of(const protocol::WarpAccess& access) const {
    const std::uint32_t row = lookup_->row(access.warp, access.reg);
    if (__builtin_expect(static_cast<int>(row == RowLookup::none), 0) != 0) no_row(access);
    return row;
  }
  unsigned bank_of_row(std::uint32_t row) const {
    const unsigned n = config_.banks;
    return (n & (n - 1)) == 0 ? row & (n - 1) : row % n;
  }
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of_row(row_of(access));
  }
  std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const { return row_of(access); }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    copy_row(payload, cells_[row_of(access)]);
    table_accesses_ += (direct_ >> access.reg.value() & 1) ^ 1;
    if (!payload.is_read()) return done;
    access.origin = protocol::Origin{"bank", bank};
    served_->served(access.warp, access.reg);
    return done + rename_cycles_;
  }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    copy_row(payload, cells_[row_of(access)]);
    if (payload.is_read()) access.origin = protocol::Origin{"bank", bank};
  }
  [[noreturn, gnu::noinline, gnu::cold]] static void no_row(const protocol::WarpAccess& access);

  const unsigned rename_cycles_;
  RowLookup* lookup_ = nullptr;
  ReadsServed* served_ = nullptr;
  trace::RfvRegisters direct_ = 0;
  protocol::WarpRegisters cells_;
  std::uint64_t table_accesses_ = 0;
};

}  // namespace regatta::models
