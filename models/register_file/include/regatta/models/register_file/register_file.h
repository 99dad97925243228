// SPDX-License-Identifier: Apache-2.0
//
// The conventional banked register file (the baseline of all five papers): every resident warp owns a contiguous
// range of warp registers for its lifetime, interleaved over the banks by register and warp number.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_scheduler.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

struct RegisterFileConfig {
  unsigned banks = 16;
  unsigned registers = 2048;                 ///< warp registers of one SM: 2048 x 32 lanes x 4 bytes = 256 KB
  unsigned latency = 1;                      ///< cycles of one bank access
  unsigned arbitration = 1;                  ///< cycles from a read request to the earliest bank access
  std::string ports = "1rw";                 ///< per bank: one shared port, or one or two read ports and a write port
  std::string mapping = "warp_interleaved";  ///< register and warp to bank
  unsigned sub_cores = 1;         ///< of the SM, for the mapping of that name; set by the assembly (sm.sub_cores)
  std::string priority = "fcfs";  ///< of reads and writes at a shared port
  unsigned write_queue = 8;       ///< writes a bank may have waiting before write-back is held

  /// Knobs register_file.*.
  void declare(support::OptionSet& options);
  void validate() const;
};

class BankArbiter;

/// Accesses of one bank are served in order of arrival, one per port and cycle, so the finishing time is known
/// when a request arrives and most requests complete at once (TLM_COMPLETED with the annotated delay).
/// A write to a bank whose write queue is full is left TLM_ACCEPTED: END_REQ follows when the bank has room,
/// and write-back is held meanwhile. Reads are bounded by the collectors' entries and never held.
///
/// With a priority at a shared port, the finishing time depends on what comes later: requests are taken (END_REQ), wait
/// at their bank, which is arbitrated cycle by cycle, and are answered when served (BEGIN_RESP).
class RegisterFile : public sc_core::sc_module,
                     public protocol::OperandStorage,
                     public support::StatProvider,
                     tlm::tlm_fw_transport_if<> {
 public:
  RegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config, sc_core::sc_time clock_period);
  ~RegisterFile() override;

  protocol::OperandTargetSocket reads;
  protocol::OperandTargetSocket writes;

  protocol::OperandTargetSocket& read_socket() override { return reads; }
  protocol::OperandTargetSocket& write_socket() override { return writes; }
  bool keeps_cycle_time() const override { return true; }
  std::uint64_t capacity_registers() const override { return config_.registers; }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo&) override {}
  void warp_finished(const protocol::WarpInfo&) override {}

  /// Bank of a register.
  ///
  /// warp_interleaved: (register + warp) mod banks, so that neighbouring registers of a warp, and the same register of
  /// neighbouring warps, differ (RegLess section 5.2, GPGPU-Sim). register: register mod banks. sub_core: the banks are
  /// divided among the sub-cores, to which warps are dealt in turn, and interleaved by register and warp within one.
  unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    if (!powers_of_two_) return slow_bank_of(warp, reg);
    return ((unsigned{reg.value()} + (unsigned{warp.value()} >> warp_shift_)) & bank_mask_) +
           ((warp.value() & part_mask_) << part_shift_);
  }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// The first free slot of a bank's ports; with n equal ports there are n slots a cycle, numbered through.
  struct Bank {
    std::uint64_t read_free = 0;
    std::uint64_t write_free = 0;  ///< unused when a port is shared
  };
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;

  std::uint64_t arrival_cycle(const sc_core::sc_time& delay) const {
    return delay == sc_core::SC_ZERO_TIME ? clock_.now() : clock_.now() + delay.value() / period_;
  }
  /// Row of a register; reports a SystemC error when it lies outside.
  std::size_t row(const protocol::WarpAccess& access) const {
    const std::size_t row = std::size_t{access.warp.value()} * registers_per_warp_ + access.reg.value();
    if (access.reg.value() >= registers_per_warp_ || row >= rows_.size()) refuse(access);
    return row;
  }
  unsigned slow_bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const;
  [[noreturn]] void refuse(const protocol::WarpAccess& access) const;
  void transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank);
  std::uint64_t schedule(bool write, unsigned bank, std::uint64_t at);
  void release_held();
  tlm::tlm_sync_enum wait_at_bank(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, std::uint64_t arrival);
  void arbitrate();

  RegisterFileConfig config_;
  support::CycleScheduler& clock_;
  std::uint64_t period_;
  bool shared_port_;
  unsigned read_shift_;  ///< log2 of the read ports of a bank
  // The mapping. Masks and shifts when all are powers of two: a division would be felt in every access.
  bool powers_of_two_;
  unsigned part_banks_;      ///< banks that a warp's registers are spread over
  unsigned parts_;           ///< such groups of banks
  bool by_warp_;             ///< the warp shifts its registers
  unsigned bank_mask_;       ///< part_banks_ - 1
  unsigned part_mask_;       ///< parts_ - 1
  unsigned part_shift_ = 0;  ///< log2(part_banks_)
  unsigned warp_shift_ = 0;  ///< log2(parts_); the width of a warp number when the warp shifts nothing
  unsigned registers_per_warp_ = 0;
  unsigned warp_size_ = 32;
  protocol::WarpRegisters rows_;
  std::vector<Bank> banks_;
  tlm::tlm_generic_payload* held_ = nullptr;  ///< the write that waits for room
  std::uint64_t held_since_ = 0;              ///< where there is an arbiter: the cycle of its arrival
  std::unique_ptr<BankArbiter> arbiter_;      ///< none: first come first served
  support::CycleClient room_;                 ///< runs when there is, or when there is something to arbitrate

  std::uint64_t read_count_ = 0, write_count_ = 0, read_conflicts_ = 0, write_conflicts_ = 0;
  std::uint64_t read_wait_ = 0, write_wait_ = 0, held_writes_ = 0;
};

}  // namespace regatta::models
