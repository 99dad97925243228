// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/physical_register_file.h>

#include <regatta/support/energy.h>

#include <cstring>
#include <stdexcept>

namespace regatta::models::wir {

using protocol::WarpAccess;

PhysicalRegisterFile::PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirMachine& config,
                                           support::ClockDomain& clock)
    : BankedFile(name, config.file, clock),
      access("access"),
      references("references"),
      cached("cached"),
      physical_(config.physical()),
      writers_(config.physical()) {
  access.bind(*this);
  rows_.resize(physical_, 32);
}

void PhysicalRegisterFile::kernel_started(const protocol::KernelContext& context) {
  BankedFile::kernel_started(context);
  value_bytes_ = std::size_t{warp_size_} * trace::bytes_per_lane;
  rows_.resize(physical_, warp_size_);
}

void PhysicalRegisterFile::refuse_stranger() const {
  SC_REPORT_ERROR("regatta/wir", "an access to a renamed register file that is no instruction's");
  throw std::logic_error("an error that SystemC reported was ignored");
}

const std::uint32_t* PhysicalRegisterFile::sent_by(std::uint32_t writer) const {
  const protocol::DynamicInstruction* const d = in_flight_[writer / trace::max_destination_registers].instruction;
  return d->results[writer % trace::max_destination_registers].lane.data();
}

/// An operand that was never written: no physical register is spent on it.
void PhysicalRegisterFile::read_nothing(tlm::tlm_generic_payload& payload, WarpAccess& access) {
  std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
  access.origin = protocol::Origin{"no register", 0};
}

void PhysicalRegisterFile::debug_transfer(tlm::tlm_generic_payload& payload, WarpAccess& access, unsigned bank) {
  if (bank == no_bank) return read_nothing(payload, access);
  const PhysicalRegister reg = place(payload, access);
  payload.is_read() ? read(payload, access, reg) : write(payload, reg);
}

std::uint64_t PhysicalRegisterFile::read_extra(PhysicalRegister reg, bool first_come) {
  const std::uint64_t at = clock_.now() + config_.arbitration;
  const unsigned bank = bank_of(reg);
  if (!first_come && ports_.read_free(bank) > at) {
    ++verify_retries_;
    return 0;
  }
  ++verify_reads_;
  ++bank_reads_;
  return ports_.schedule(false, bank, at);
}

std::uint64_t PhysicalRegisterFile::move(PhysicalRegister from, PhysicalRegister to) {
  const std::uint64_t read = ports_.schedule(false, bank_of(from), clock_.now() + config_.arbitration);
  ++bank_reads_;
  ++moves_;
  // All lanes: those that the instruction has will be overwritten by its result, which follows.
  trace::copy_value(rows_[to.value()], rows_[from.value()], value_bytes_);
  cached_->written(to);
  return ports_.schedule(true, bank_of(to), read);
}

void PhysicalRegisterFile::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  BankedFile::register_stats(g);  // reads and writes: operands and results; waits: all accesses to banks
  g.counter("bank_reads", bank_reads_, regs, "bank reads: operands, verify-reads and dummy MOVs");
  g.counter("unmapped_reads", unmapped_reads_, regs, "operands that no instruction has written: no bank is read");
  g.counter("verify_reads", verify_reads_, regs, "candidates read from a bank to be compared");
  g.counter("verify_retries", verify_retries_, "attempts", "of verify-reads that found their bank busy");
  g.counter("moves", moves_, regs, "copied for the inactive lanes of a divergent write: a read and a write each");
}

void PhysicalRegisterFile::register_energy(support::EnergyGroup& g) {
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(physical_) * double(value_bytes_), double(config_.banks)};
  g.event("register_structures", "register_file.read", bank_reads_, rows, size);
  g.event("register_structures", "register_file.write", ports_.writes(), rows, size);
  g.event("register_structures", "register_file.write", moves_, rows, size);
  g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models::wir
