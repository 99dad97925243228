// SPDX-License-Identifier: Apache-2.0
//
// The conventional banked register file (the baseline of the papers): every resident warp owns a contiguous
// range of warp registers for its lifetime, interleaved over the banks by register and warp number.
#pragma once

#include <regatta/baseline/fixed_windows.h>
#include <regatta/baseline/read_window.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <memory>
#include <systemc>

namespace regatta::models {

/// BankedFile supplies sockets, timing and back-pressure. The row of a register is its position in its warp's window,
/// which is fixed per warp slot (FixedWindows) unless another policy assigns windows.
class RegisterFile : public WindowedFile<RegisterFile>, private protocol::ReadPlanner {
 public:
  RegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config, support::ClockDomain& clock,
               std::unique_ptr<WindowPolicy> windows = std::make_unique<FixedWindows>());

  void kernel_started(const protocol::KernelContext& context) override;
  void budget_changed(const protocol::WarpInfo& warp, unsigned before, unsigned after) override {
    change_budget(warp, before, after);
  }
  void cta_finished(const protocol::CtaInfo& cta) override { end_cta(cta); }
  std::string budget_obstacle() const override { return fixed_windows_obstacle(); }
  void register_energy(support::EnergyGroup& group) override;
  /// Not while rows are switched, or registers moved: both take ports, or time, that no plan knows of.
  protocol::ReadPlanner* plan_reads() override;

 private:
  friend class BankedFile<RegisterFile>;
  static constexpr bool answers_late = false;
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of(access.warp, access.reg);
  }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    copy_row(payload, rows_[row_of(access)]);
    if (payload.is_read()) access.origin = protocol::Origin{"bank", bank};
    return done;
  }

  bool plan(protocol::WarpSlot warp, const protocol::RegisterId* registers, unsigned count, protocol::Cycle first,
            unsigned cycles, std::uint8_t* slots) override;

  protocol::WarpRegisters rows_;
  ReadWindow window_;
};

}  // namespace regatta::models
