// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/physical_register_file.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace regatta::models::wir {

using protocol::WarpAccess;

PhysicalRegisterFile::PhysicalRegisterFile(const sc_core::sc_module_name& name, const WirConfig& config,
                                           sc_core::sc_time clock_period)
    : sc_module(name),
      reads("reads"),
      writes("writes"),
      state_(std::make_unique<RegisterState>(config, clock_period)),
      config_(state_->config),
      clock_(support::CycleScheduler::of(clock_period)),
      period_(clock_period.value()),
      verify_cache_(config.verify_cache() ? config.verify_entries : 0, 32),
      banks_(config.banks),
      room_(
          clock_period, [](void* file) { static_cast<PhysicalRegisterFile*>(file)->release_held(); }, this) {
  rows_.resize(config.physical(), 32);
  reads.bind(*this);
  writes.bind(*this);
}

void PhysicalRegisterFile::kernel_started(const protocol::KernelContext& context) {
  warp_size_ = context.warp_size;
  value_bytes_ = std::size_t{warp_size_} * trace::bytes_per_lane;
  rows_.resize(config_.physical(), warp_size_);
  verify_cache_ = VerifyCache(config_.verify_cache() ? config_.verify_entries : 0, warp_size_);
  state_->kernel_started(context);
}

PhysicalRegister PhysicalRegisterFile::place(const tlm::tlm_generic_payload& payload, const WarpAccess& access) const {
  if (access.instruction == nullptr) {
    SC_REPORT_FATAL("regatta/wir", "an access to a renamed register file that is no instruction's");
    throw std::logic_error("a fatal SystemC report returned");
  }
  const InFlight& f = state_->of(*access.instruction);
  return payload.is_read() ? f.sources[access.operand] : f.targets[access.operand];
}

void PhysicalRegisterFile::read(tlm::tlm_generic_payload& payload, WarpAccess& access, PhysicalRegister reg) {
  if (reg == no_register) {
    // Never written: no physical register is spent on it.
    std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
    access.origin = protocol::Origin{"no register", 0};
    return;
  }
  trace::copy_value(payload.get_data_ptr(), rows_[reg.value()], payload.get_data_length());
  access.origin = protocol::Origin{"physical register", reg.value()};
}

void PhysicalRegisterFile::write(tlm::tlm_generic_payload& payload, const WarpAccess& access, PhysicalRegister reg) {
  std::uint32_t* const cell = rows_[reg.value()];
  const auto* const data = reinterpret_cast<const std::uint32_t*>(payload.get_data_ptr());
  if (payload.get_byte_enable_ptr() == nullptr) {
    trace::copy_value(cell, data, value_bytes_);
  } else {
    for (protocol::LaneMask m = access.lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
      cell[lane] = data[lane];
    }
  }
  state_->writers[reg.value()] = {};
  verify_cache_.written(reg);
}

std::uint64_t PhysicalRegisterFile::schedule(bool write, unsigned bank, std::uint64_t at) {
  Bank& b = banks_[bank];
  std::uint64_t& free = write && !config_.shared_port ? b.write_free : b.read_free;
  const std::uint64_t slot = std::max(at, free);
  free = slot + 1;
  if (slot != at) {
    ++(write ? write_conflicts_ : read_conflicts_);
    (write ? write_wait_ : read_wait_) += slot - at;
  }
  return slot + config_.latency;
}

std::uint64_t PhysicalRegisterFile::access(tlm::tlm_generic_payload& payload, std::uint64_t arrival) {
  WarpAccess& access = protocol::warp_access(payload);
  const PhysicalRegister reg = place(payload, access);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_write()) {
    ++write_count_;
    write(payload, access, reg);
    return schedule(true, bank_of(reg), arrival);
  }
  ++read_count_;
  read(payload, access, reg);
  if (reg == no_register) {
    ++unmapped_reads_;
    return arrival + config_.arbitration + config_.latency;
  }
  InFlight& f = state_->of(*access.instruction);
  if (!f.keeps) {
    f.held &= static_cast<std::uint8_t>(~(1u << access.operand));
    state_->unhold(reg);
  }
  ++bank_reads_;
  return schedule(false, bank_of(reg), arrival + config_.arbitration);
}

tlm::tlm_sync_enum PhysicalRegisterFile::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                         sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  const std::uint64_t arrival = delay == sc_core::SC_ZERO_TIME ? clock_.now() : clock_.now() + delay.value() / period_;
  if (payload.is_write()) {
    const Bank& b = banks_[bank_of(place(payload, protocol::warp_access(payload)))];
    const std::uint64_t free = config_.shared_port ? b.read_free : b.write_free;
    if (free > arrival + config_.write_queue) {
      held_ = &payload;
      ++held_writes_;
      room_.request(free - config_.write_queue);
      return tlm::TLM_ACCEPTED;
    }
  }
  delay += clock_.time(access(payload, arrival) - arrival);
  return tlm::TLM_COMPLETED;
}

void PhysicalRegisterFile::release_held() {
  tlm::tlm_generic_payload& payload = *std::exchange(held_, nullptr);
  const std::uint64_t at = clock_.now();
  sc_core::sc_time delay = clock_.time(access(payload, at) - at);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  writes->nb_transport_bw(payload, phase, delay);
}

void PhysicalRegisterFile::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t arrival = clock_.now() + delay.value() / period_;
  delay += clock_.time(access(payload, arrival) - arrival);
}

unsigned PhysicalRegisterFile::transport_dbg(tlm::tlm_generic_payload& payload) {
  WarpAccess& access = protocol::warp_access(payload);
  const PhysicalRegister reg = place(payload, access);
  if (payload.is_read()) {
    read(payload, access, reg);
  } else {
    write(payload, access, reg);
  }
  return payload.get_data_length();
}

std::uint64_t PhysicalRegisterFile::read_extra(PhysicalRegister reg, bool first_come) {
  const std::uint64_t at = clock_.now() + config_.arbitration;
  const unsigned bank = bank_of(reg);
  if (!first_come && banks_[bank].read_free > at) {
    ++verify_retries_;
    return 0;
  }
  ++verify_reads_;
  ++bank_reads_;
  return schedule(false, bank, at);
}

std::uint64_t PhysicalRegisterFile::move(PhysicalRegister from, PhysicalRegister to) {
  const std::uint64_t read = schedule(false, bank_of(from), clock_.now() + config_.arbitration);
  ++bank_reads_;
  ++moves_;
  // All lanes: those that the instruction has will be overwritten by its result, which follows.
  trace::copy_value(rows_[to.value()], rows_[from.value()], value_bytes_);
  verify_cache_.written(to);
  return schedule(true, bank_of(to), read);
}

}  // namespace regatta::models::wir
