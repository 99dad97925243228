// SPDX-License-Identifier: Apache-2.0
//
// The register file under renaming (WIR section V): banks of physical warp registers, accessed at the registers that an
// instruction received at rename and in the register allocation stage.
#pragma once

#include <regatta/models/banks/banked_file.h>
#include <regatta/models/wir/register_state.h>
#include <regatta/models/wir/verify_cache.h>
#include <regatta/protocol/warp_registers.h>

#include <cstdint>
#include <memory>
#include <systemc>

namespace regatta::models::wir {

/// BankedFile supplies sockets, timing and back-pressure; the bank of physical register p is p modulo the banks.
/// Verify-reads and dummy MOVs use slots of the same ports. Owns the state that the stages share.
class PhysicalRegisterFile : public BankedFile<PhysicalRegisterFile> {
 public:
  PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirConfig& config, sc_core::sc_time clock_period);

  std::uint64_t capacity_registers() const override { return wir_.physical(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override { state_->warp_started(warp); }
  void warp_finished(const protocol::WarpInfo& warp) override { state_->warp_finished(warp); }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  RegisterState& state() { return *state_; }
  const RegisterMapping& mapping() const { return state_->rename; }
  VerifyCache& verify_cache() { return verify_cache_; }
  const std::uint32_t* value(PhysicalRegister reg) const { return rows_[reg.value()]; }
  /// Prefetches the value on the host: it will be read or written in some cycles.
  void fetch_ahead(PhysicalRegister reg) const { rows_.prefetch(reg.value()); }
  std::size_t value_bytes() const { return value_bytes_; }
  unsigned warp_size() const { return warp_size_; }

  /// A read of `reg` in addition to operand reads. Returns the cycle in which the value is available; 0 if the bank's
  /// port is taken and `first_come` is false, so operands go first.
  std::uint64_t read_extra(PhysicalRegister reg, bool first_come);
  /// Copies a register to another (a dummy MOV): a bank read, then a bank write. Returns the cycle in which it is done.
  std::uint64_t move(PhysicalRegister from, PhysicalRegister to);

  std::uint64_t bank_reads() const { return bank_reads_; }
  std::uint64_t bank_writes() const { return ports_.writes() + moves_; }

 private:
  friend class BankedFile<PhysicalRegisterFile>;
  unsigned bank(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const {
    const PhysicalRegister reg = place(payload, access);
    return reg == no_register ? no_bank : bank_of(reg);
  }
  std::size_t row(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const {
    return place(payload, access).value();
  }
  [[gnu::always_inline]] std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access,
                                                unsigned bank, std::uint64_t done) {
    if (__builtin_expect(bank == no_bank, 0)) {
      ++unmapped_reads_;
      read_nothing(payload, access);
      return done;
    }
    InFlight& f = state_->of(*access.instruction);
    if (payload.is_write()) {
      write(payload, f.targets[access.operand]);
      return done;
    }
    const PhysicalRegister reg = f.sources[access.operand];
    read(payload, access, reg);
    ++bank_reads_;
    if (!f.keeps) {
      f.held &= static_cast<std::uint8_t>(~(1u << access.operand));
      state_->begin();
      state_->unhold(reg);
    }
    return done;
  }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank);
  void read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, PhysicalRegister reg) const {
    trace::copy_value(payload.get_data_ptr(), rows_[reg.value()], payload.get_data_length());
    access.origin = protocol::Origin{"physical register", reg.value()};
  }
  void write(tlm::tlm_generic_payload& payload, PhysicalRegister reg) {
    copy_row(payload, rows_[reg.value()]);
    state_->written(reg);
    verify_cache_.written(reg);
  }
  [[gnu::noinline]] static void read_nothing(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access);

  /// The physical register of the instruction's operand; no_register if it was never written.
  PhysicalRegister place(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const {
    if (__builtin_expect(access.instruction == nullptr, 0)) refuse_stranger();
    const InFlight& f = state_->of(*access.instruction);
    return payload.is_read() ? f.sources[access.operand] : f.targets[access.operand];
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_stranger() const;
  unsigned bank_of(PhysicalRegister reg) const {
    const unsigned n = ports_.banks();
    return (n & (n - 1)) == 0 ? reg.value() & (n - 1) : reg.value() % n;
  }

  std::unique_ptr<RegisterState> state_;
  const WirConfig& wir_;
  protocol::WarpRegisters rows_;
  VerifyCache verify_cache_;
  std::size_t value_bytes_ = 128;

  std::uint64_t bank_reads_ = 0, unmapped_reads_ = 0;
  std::uint64_t verify_reads_ = 0, verify_retries_ = 0, moves_ = 0;
};

}  // namespace regatta::models::wir
