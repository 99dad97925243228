// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/physical_register_file.h>

#include <cstring>
#include <stdexcept>

namespace regatta::models::wir {

using protocol::WarpAccess;

PhysicalRegisterFile::PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirConfig& config,
                                           sc_core::sc_time clock_period)
    : BankedFile(name, config.file, clock_period),
      state_(std::make_unique<RegisterState>(config, clock_period)),
      wir_(state_->config),
      verify_cache_(config.verify_cache() ? config.verify_entries : 0, 32) {
  rows_.resize(config.physical(), 32);
}

void PhysicalRegisterFile::kernel_started(const protocol::KernelContext& context) {
  BankedFile::kernel_started(context);
  value_bytes_ = std::size_t{warp_size_} * trace::bytes_per_lane;
  rows_.resize(wir_.physical(), warp_size_);
  verify_cache_ = VerifyCache(wir_.verify_cache() ? wir_.verify_entries : 0, warp_size_);
  state_->kernel_started(context);
}

void PhysicalRegisterFile::refuse_stranger() const {
  SC_REPORT_FATAL("regatta/wir", "an access to a renamed register file that is no instruction's");
  throw std::logic_error("a fatal SystemC report returned");
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
  verify_cache_.written(to);
  return ports_.schedule(true, bank_of(to), read);
}

}  // namespace regatta::models::wir
