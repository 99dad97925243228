// SPDX-License-Identifier: Apache-2.0
//
// The register file under renaming (WIR section V): banks of physical warp registers, read and written at the places
// that an instruction was given at rename and in the register allocation stage.
#pragma once

#include <regatta/models/wir/register_state.h>
#include <regatta/models/wir/verify_cache.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// Banks, ports and timing are those of the conventional register file (models/register_file), the bank of physical
/// register p is p modulo the banks. Each access is served in order of arrival, so that its finishing time is known
/// when it is asked for; a write to a bank with `write_queue` cycles of work before it is held.
///
/// Owns the state that the stages share.
class PhysicalRegisterFile : public sc_core::sc_module,
                             public protocol::OperandStorage,
                             public support::StatProvider,
                             tlm::tlm_fw_transport_if<> {
 public:
  PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirConfig& config, sc_core::sc_time clock_period);

  protocol::OperandTargetSocket reads;
  protocol::OperandTargetSocket writes;

  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  bool keeps_cycle_time() const override { return true; }
  std::uint64_t capacity_registers() const override { return state_->config.physical(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override { state_->warp_started(warp); }
  void warp_finished(const protocol::WarpInfo& warp) override { state_->warp_finished(warp); }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  RegisterState& state() { return *state_; }
  VerifyCache& verify_cache() { return verify_cache_; }
  const std::uint32_t* value(PhysicalRegister reg) const { return rows_[reg.value()]; }
  std::size_t value_bytes() const { return value_bytes_; }
  unsigned warp_size() const { return warp_size_; }

  /// A read of `reg` on top of the operands': the cycle in which the value is there, 0 when the bank's port is taken
  /// and `first_come` is false, so that operands go first.
  std::uint64_t read_extra(PhysicalRegister reg, bool first_come);
  /// Copies a register to another (a dummy MOV): a bank read, then a bank write. The cycle in which it is done.
  std::uint64_t move(PhysicalRegister from, PhysicalRegister to);

  std::uint64_t bank_reads() const { return bank_reads_; }
  std::uint64_t bank_writes() const { return write_count_ + moves_; }

 private:
  struct Bank {
    std::uint64_t read_free = 0;
    std::uint64_t write_free = 0;  ///< unused when the port is shared
  };
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;

  PhysicalRegister place(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const;
  void read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, PhysicalRegister reg);
  void write(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access, PhysicalRegister reg);
  std::uint64_t access(tlm::tlm_generic_payload& payload, std::uint64_t arrival);
  std::uint64_t schedule(bool write, unsigned bank, std::uint64_t at);
  unsigned bank_of(PhysicalRegister reg) const {
    const auto n = static_cast<unsigned>(banks_.size());
    return (n & (n - 1)) == 0 ? reg.value() & (n - 1) : reg.value() % n;
  }
  void release_held();

  std::unique_ptr<RegisterState> state_;
  const WirConfig& config_;
  support::CycleScheduler& clock_;
  std::uint64_t period_;
  protocol::WarpRegisters rows_;
  VerifyCache verify_cache_;
  std::vector<Bank> banks_;
  unsigned warp_size_ = 32;
  std::size_t value_bytes_ = 128;
  tlm::tlm_generic_payload* held_ = nullptr;  ///< the write that waits for room
  support::CycleClient room_;

  std::uint64_t read_count_ = 0, write_count_ = 0, bank_reads_ = 0, unmapped_reads_ = 0;
  std::uint64_t verify_reads_ = 0, verify_retries_ = 0, moves_ = 0;
  std::uint64_t read_conflicts_ = 0, write_conflicts_ = 0, read_wait_ = 0, write_wait_ = 0, held_writes_ = 0;
};

}  // namespace regatta::models::wir
