// SPDX-License-Identifier: Apache-2.0
//
// The register file of register sharing (Jatala, thesis, section 2.2.1): a pair of warps has rows of its own for the
// registers that the two share.
#pragma once

#include <regatta/baseline/windowed_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/sharing/shared_windows.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Shared registers of both warps of a pair are the same rows, in the same banks. The file does not know the locks: if
/// both warps have access, each loses its values to the other.
class SharedRegisterFile final : public WindowedFile<SharedRegisterFile> {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<RegisterBoundary> boundary;

  /// `slices`: equal parts of the rows (sm.sub_cores).
  SharedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config, unsigned slices,
                     support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  friend class BankedFile<SharedRegisterFile>;
  static constexpr bool answers_late = false;
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  SharedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                     std::unique_ptr<SharedWindows> windows, support::ClockDomain& clock);

  bool is_shared(const protocol::WarpAccess& access) const { return access.reg.value() >= private_; }
  /// A shared row is in the bank that it has for side 0 of the pair.
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of(is_shared(access) ? homes_[access.warp.value()] : access.warp, access.reg);
  }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    copy_row(payload, rows_[row_of(access)]);
    if (payload.is_read()) access.origin = protocol::Origin{"bank", bank};
    return done;
  }

  SharedWindows& shared_;
  unsigned private_ = 0;
  std::vector<protocol::WarpSlot> homes_;  ///< by warp slot: the warp on side 0 of its pair, or itself
  protocol::WarpRegisters rows_;
};

}  // namespace regatta::models
