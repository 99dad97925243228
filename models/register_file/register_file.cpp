// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/register_file/register_file.h>

#include "bank_arbiter.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace regatta::models {

using protocol::WarpAccess;

void RegisterFileConfig::declare(support::OptionSet& o) {
  o.add("register_file.banks", banks, "banks", "of one SM's register file, a warp register wide", 1, 1024);
  o.add("register_file.registers", registers, "warp registers", "of one SM: 2048 are 256 KB at 32 lanes", 1, 1 << 20);
  o.add("register_file.latency", latency, "cycles", "of one bank access", 1, 1000);
  o.add("register_file.arbitration", arbitration, "cycles", "from a read request to the earliest bank access", 0, 1000);
  o.add("register_file.ports", ports, "of a bank: one for reads and writes, or one (two) for reads and one for writes",
        {"1rw", "1r1w", "2r1w"});
  o.add(
      "register_file.mapping", mapping,
      "bank of a register: (register + warp) or register modulo the banks, or within the banks of the warp's sub-core",
      {"warp_interleaved", "register", "sub_core"});
  o.add("register_file.priority", priority,
        "at a port for reads and writes: in order of arrival, or one kind before the other", {"fcfs", "read", "write"});
  o.add("register_file.write_queue", write_queue, "writes", "that may wait at a bank before write-back is held", 1,
        4096);
}

void RegisterFileConfig::validate() const {
  if (banks > registers) {
    throw support::ConfigError("configuration: register_file.banks = " + std::to_string(banks) +
                               " exceeds register_file.registers = " + std::to_string(registers) +
                               ": a bank would hold nothing");
  }
  if (mapping == "sub_core" && banks % sub_cores != 0) {
    throw support::ConfigError(
        "configuration: register_file.mapping = sub_core divides register_file.banks = " + std::to_string(banks) +
        " among sm.sub_cores = " + std::to_string(sub_cores) + ": expected a multiple");
  }
}

RegisterFile::RegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                           sc_core::sc_time clock_period)
    : sc_module(name),
      reads("reads"),
      writes("writes"),
      config_(config),
      clock_(support::CycleScheduler::of(clock_period)),
      period_(clock_period.value()),
      shared_port_(config.ports == "1rw"),
      read_shift_(config.ports == "2r1w" ? 1 : 0),
      part_banks_(config.mapping == "sub_core" ? config.banks / config.sub_cores : config.banks),
      parts_(config.mapping == "sub_core" ? config.sub_cores : 1),
      by_warp_(config.mapping != "register"),
      bank_mask_(part_banks_ - 1),
      part_mask_(parts_ - 1),
      banks_(config.banks),
      room_(
          clock_period,
          [](void* file) {
            auto& f = *static_cast<RegisterFile*>(file);
            f.arbiter_ == nullptr ? f.release_held() : f.arbitrate();
          },
          this) {
  config.validate();
  if (shared_port_ && config.priority != "fcfs") {
    arbiter_ = std::make_unique<BankArbiter>(config.banks, config.write_queue, config.priority == "write");
  }
  auto power_of_two = [](unsigned n) { return (n & (n - 1)) == 0; };
  powers_of_two_ = power_of_two(part_banks_) && power_of_two(parts_);
  part_shift_ = static_cast<unsigned>(__builtin_ctz(part_banks_));
  warp_shift_ = by_warp_ ? static_cast<unsigned>(__builtin_ctz(parts_)) : 16;
  rows_.resize(config.registers, 32);
  reads.bind(*this);
  writes.bind(*this);
}

RegisterFile::~RegisterFile() = default;

void RegisterFile::kernel_started(const protocol::KernelContext& context) {
  registers_per_warp_ = context.registers_per_warp;
  warp_size_ = context.warp_size;
  rows_.resize(config_.registers, context.warp_size);
}

unsigned RegisterFile::slow_bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const {
  const unsigned shift = by_warp_ ? warp.value() / parts_ : 0;
  return (reg.value() + shift) % part_banks_ + warp.value() % parts_ * part_banks_;
}

void RegisterFile::refuse(const WarpAccess& a) const {
  SC_REPORT_FATAL("regatta/register_file",
                  ("warp " + std::to_string(a.warp.value()) + " register R" + std::to_string(a.reg.value()) +
                   " lies outside the register file (" + std::to_string(registers_per_warp_) + " registers per warp, " +
                   std::to_string(rows_.size()) + " in all)")
                      .c_str());
  throw std::logic_error("a fatal SystemC report returned");
}

void RegisterFile::transfer(tlm::tlm_generic_payload& payload, WarpAccess& access, unsigned bank) {
  auto* cell = reinterpret_cast<unsigned char*>(rows_[row(access)]);
  const std::size_t bytes = payload.get_data_length();
  unsigned char* data = payload.get_data_ptr();
  if (payload.is_read()) {
    trace::copy_value(data, cell, bytes);
    access.origin = protocol::Origin{"bank", bank};
    return;
  }
  const unsigned char* enable = payload.get_byte_enable_ptr();
  if (enable == nullptr) {
    trace::copy_value(cell, data, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    cell[i] = static_cast<unsigned char>((data[i] & enable[i]) | (cell[i] & ~enable[i]));
  }
}

inline std::uint64_t RegisterFile::schedule(bool write, unsigned bank, std::uint64_t at) {
  Bank& b = banks_[bank];
  std::uint64_t slot = 0;
  if (write && !shared_port_) {
    slot = std::max(at, b.write_free);
    b.write_free = slot + 1;
  } else {
    const std::uint64_t numbered = std::max(at << read_shift_, b.read_free);
    b.read_free = numbered + 1;
    slot = numbered >> read_shift_;
  }
  if (slot != at) {
    ++(write ? write_conflicts_ : read_conflicts_);
    (write ? write_wait_ : read_wait_) += slot - at;
  }
  return slot + config_.latency;
}

tlm::tlm_sync_enum RegisterFile::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  WarpAccess& access = protocol::warp_access(payload);
  const unsigned bank = bank_of(access.warp, access.reg);
  const std::uint64_t arrival = arrival_cycle(delay);
  if (arbiter_ != nullptr) return wait_at_bank(payload, phase, arrival);
  const bool write = payload.is_write();
  if (write) {
    const std::uint64_t free = shared_port_ ? banks_[bank].read_free : banks_[bank].write_free;
    if (free > arrival + config_.write_queue) {
      held_ = &payload;
      ++held_writes_;
      room_.request(free - config_.write_queue);
      return tlm::TLM_ACCEPTED;
    }
    ++write_count_;
  } else {
    ++read_count_;
  }
  const std::uint64_t done = schedule(write, bank, arrival + (write ? 0 : config_.arbitration));
  transfer(payload, access, bank);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  delay += clock_.time(done - arrival);
  return tlm::TLM_COMPLETED;
}

void RegisterFile::release_held() {
  // The bank has room: take the write, and answer it in the same breath (BEGIN_RESP implies END_REQ).
  tlm::tlm_generic_payload& payload = *held_;
  held_ = nullptr;
  WarpAccess& access = protocol::warp_access(payload);
  const std::uint64_t at = clock_.now();
  ++write_count_;
  const unsigned bank = bank_of(access.warp, access.reg);
  const std::uint64_t done = schedule(true, bank, at);
  transfer(payload, access, bank);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = clock_.time(done - at);
  writes->nb_transport_bw(payload, phase, delay);
}

tlm::tlm_sync_enum RegisterFile::wait_at_bank(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              std::uint64_t arrival) {
  WarpAccess& access = protocol::warp_access(payload);
  const unsigned bank = bank_of(access.warp, access.reg);
  const bool write = payload.is_write();
  if (write && !arbiter_->has_room(bank, arrival)) {
    held_ = &payload;
    held_since_ = arrival;
    ++held_writes_;
    room_.request(arrival + 1);
    return tlm::TLM_ACCEPTED;
  }
  // The value moves now, as everywhere in this file; the arbiter keeps accesses to one row in order.
  transfer(payload, access, bank);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  const std::uint64_t earliest = arrival + (write ? 1 : std::max(1u, config_.arbitration));
  arbiter_->add(write, bank, payload, row(access), earliest);
  room_.request(earliest);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void RegisterFile::arbitrate() {
  const std::uint64_t now = clock_.now();
  arbiter_->serve(now, [&](const BankArbiter::Request& r, bool write) {
    ++(write ? write_count_ : read_count_);
    if (r.earliest != now) {
      ++(write ? write_conflicts_ : read_conflicts_);
      (write ? write_wait_ : read_wait_) += now - r.earliest;
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock_.time(config_.latency);
    (write ? writes : reads)->nb_transport_bw(*r.payload, phase, delay);
  });
  if (held_ != nullptr && held_since_ < now) {
    tlm::tlm_generic_payload& payload = *held_;
    WarpAccess& access = protocol::warp_access(payload);
    const unsigned bank = bank_of(access.warp, access.reg);
    if (arbiter_->has_room_now(bank)) {
      held_ = nullptr;
      transfer(payload, access, bank);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      arbiter_->add(true, bank, payload, row(access), now + 1);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      writes->nb_transport_bw(payload, phase, delay);
    }
  }
  if (!arbiter_->empty() || held_ != nullptr) room_.request(now + 1);
}

void RegisterFile::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  WarpAccess& access = protocol::warp_access(payload);
  const bool write = payload.is_write();
  const std::uint64_t arrival = arrival_cycle(delay);
  ++(write ? write_count_ : read_count_);
  const unsigned bank = bank_of(access.warp, access.reg);
  const std::uint64_t done = schedule(write, bank, arrival + (write ? 0 : config_.arbitration));
  transfer(payload, access, bank);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  delay += clock_.time(done - arrival);
}

unsigned RegisterFile::transport_dbg(tlm::tlm_generic_payload& payload) {
  WarpAccess& access = protocol::warp_access(payload);
  transfer(payload, access, bank_of(access.warp, access.reg));
  return payload.get_data_length();
}

void RegisterFile::register_stats(support::StatGroup& g) {
  g.counter("reads", read_count_, "warp registers", "bank reads");
  g.counter("writes", write_count_, "warp registers", "bank writes");
  g.counter("read_conflicts", read_conflicts_, "warp registers", "reads that had to wait for their bank");
  g.counter("write_conflicts", write_conflicts_, "warp registers", "writes that had to wait for their bank");
  g.counter("read_wait", read_wait_, "cycles", "that reads waited for their bank, summed");
  g.counter("write_wait", write_wait_, "cycles", "that writes waited for their bank, summed");
  g.counter("held_writes", held_writes_, "warp registers", "writes held back because the bank's queue was full");
}

}  // namespace regatta::models
