// SPDX-License-Identifier: Apache-2.0
//
// The register file under renaming (WIR section V): banks of physical warp registers, accessed at the registers that an
// instruction received at rename and in the register allocation stage.
#pragma once

#include <regatta/baseline/banked_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/clock_domain.h>
#include <regatta/wir/in_flight.h>
#include <regatta/wir/verify_cache.h>
#include <regatta/wir/wir_config.h>

#include <cstdint>
#include <systemc>

namespace regatta::models::wir {

/// What the stages ask of the banks besides operands and results.
class RegisterAccess : public virtual sc_core::sc_interface {
 public:
  /// A read of `reg` in addition to operand reads. Returns the cycle in which the value is available; 0 if the bank's
  /// port is taken and `first_come` is false, so operands go first.
  virtual std::uint64_t read_extra(PhysicalRegister reg, bool first_come) = 0;
  /// Copies a register to another (a dummy MOV): a bank read, then a bank write. Returns the cycle in which it is done.
  virtual std::uint64_t move(PhysicalRegister from, PhysicalRegister to) = 0;
  /// The value in the bank.
  virtual const std::uint32_t* value(PhysicalRegister reg) const = 0;
  /// Bytes of a value.
  virtual std::size_t value_bytes() const = 0;
  /// The instruction's result for `reg` is on its way to the bank from now on.
  virtual void send(const protocol::DynamicInstruction& d, unsigned destination, PhysicalRegister reg) = 0;
  /// The value that is on its way to the register; null if none is.
  virtual const std::uint32_t* on_its_way(PhysicalRegister reg) const = 0;
  /// Prefetches values on the host, those of no_register excepted: they will be read or written in some cycles.
  virtual void fetch_ahead(const PhysicalRegister* regs, unsigned count) const = 0;
};

/// BankedFile supplies sockets, timing and back-pressure; the bank of physical register p is p modulo the banks.
/// Verify-reads and dummy MOVs use slots of the same ports.
class PhysicalRegisterFile : public BankedFile<PhysicalRegisterFile>, public RegisterAccess {
 public:
  sc_core::sc_export<RegisterAccess> access;
  sc_core::sc_port<References> references;
  sc_core::sc_port<CachedValues> cached;  ///< told of writes

  PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock);

  std::uint64_t capacity_registers() const override { return physical_; }
  void end_of_elaboration() override {
    references_ = references.operator->();
    cached_ = cached.operator->();
  }
  void kernel_started(const protocol::KernelContext& context) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  /// The registers of instructions in flight, which the stages fill in.
  InFlightTable& in_flight() { return in_flight_; }

  std::uint64_t read_extra(PhysicalRegister reg, bool first_come) override;
  std::uint64_t move(PhysicalRegister from, PhysicalRegister to) override;
  const std::uint32_t* value(PhysicalRegister reg) const override { return rows_[reg.value()]; }
  std::size_t value_bytes() const override { return value_bytes_; }
  void send(const protocol::DynamicInstruction& d, unsigned destination, PhysicalRegister reg) override {
    rows_.prefetch(reg.value());
    writers_[reg.value()] = d.pool_index * trace::max_destination_registers + destination + 1;
  }
  const std::uint32_t* on_its_way(PhysicalRegister reg) const override {
    const std::uint32_t writer = writers_[reg.value()];
    return __builtin_expect(static_cast<int>(writer == 0), 1) != 0 ? nullptr : sent_by(writer - 1);
  }
  void fetch_ahead(const PhysicalRegister* regs, unsigned count) const override {
    for (unsigned i = 0; i < count; ++i) {
      if (regs[i] != no_register) rows_.prefetch(regs[i].value());
    }
  }

  std::uint64_t bank_reads() const { return bank_reads_; }
  std::uint64_t bank_writes() const { return ports_.writes() + moves_; }

 private:
  friend class BankedFile<PhysicalRegisterFile>;
  static constexpr bool answers_late = false;
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
    InFlight& f = in_flight_.of(*access.instruction);
    if (payload.is_write()) {
      write(payload, f.targets[access.operand]);
      return done;
    }
    const PhysicalRegister reg = f.sources[access.operand];
    read(payload, access, reg);
    ++bank_reads_;
    if (!f.keeps) {
      f.held &= static_cast<std::uint16_t>(~(1u << access.operand));
      references_->end_hold(reg);
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
    writers_[reg.value()] = 0;
    cached_->written(reg);
  }
  [[gnu::noinline]] static void read_nothing(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access);
  [[gnu::noinline]] const std::uint32_t* sent_by(std::uint32_t writer) const;

  /// The physical register of the instruction's operand; no_register if it was never written.
  PhysicalRegister place(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access) const {
    if (__builtin_expect(access.instruction == nullptr, 0)) refuse_stranger();
    const InFlight& f = in_flight_.of(*access.instruction);
    return payload.is_read() ? f.sources[access.operand] : f.targets[access.operand];
  }
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_stranger() const;
  unsigned bank_of(PhysicalRegister reg) const {
    const unsigned n = ports_.banks();
    return (n & (n - 1)) == 0 ? reg.value() & (n - 1) : reg.value() % n;
  }

  const unsigned physical_;
  References* references_ = nullptr;
  CachedValues* cached_ = nullptr;
  InFlightTable in_flight_;
  protocol::WarpRegisters rows_;
  std::size_t value_bytes_ = 128;
  std::vector<std::uint32_t> writers_;  ///< by register: whose result for it is on its way (a number of pool index and
                                        ///< destination), 0: nobody's

  std::uint64_t bank_reads_ = 0, unmapped_reads_ = 0;
  std::uint64_t verify_reads_ = 0, verify_retries_ = 0, moves_ = 0;
};

}  // namespace regatta::models::wir
