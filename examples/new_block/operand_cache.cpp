// SPDX-License-Identifier: Apache-2.0
#include "operand_cache.h"

#include <regatta/support/energy.h>

#include <cstring>

namespace new_block {

void OperandCacheConfig::declare(support::OptionSet& o) {
  o.add("operand_cache.entries", entries, "registers", "that the operand cache holds per warp", 1, 255);
  o.add("operand_cache.latency", latency, "cycles", "of a hit", 1, 100);
}

OperandCache::OperandCache(const sc_core::sc_module_name& name, const OperandCacheConfig& config,
                           std::unique_ptr<protocol::OperandStorage> inside, const support::ClockDomain& clock)
    : InterposedStorage(name, std::move(inside)), config_(config), hit_time_(clock.time(config.latency)) {}

OperandCache::Entry& OperandCache::entry(const protocol::WarpAccess& access) {
  return entries_[access.warp.value() * std::size_t{config_.entries} + access.reg.value() % config_.entries];
}

/// The payload holds every lane of the register: the entry becomes that register.
void OperandCache::keep(Entry& e, const protocol::WarpAccess& access, const Payload& payload) {
  e.valid = true;
  e.reg = access.reg;
  std::memcpy(e.value.lane.data(), payload.get_data_ptr(), payload.get_data_length());
}

tlm::tlm_sync_enum OperandCache::read(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return InterposedStorage::read(payload, phase, delay);
  protocol::WarpAccess& access = protocol::warp_access(payload);
  Entry& e = entry(access);
  if (e.valid && e.reg == access.reg) {
    ++hits_;
    std::memcpy(payload.get_data_ptr(), e.value.lane.data(), payload.get_data_length());
    access.origin = protocol::Origin{"operand cache entry", access.reg.value() % config_.entries};
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += hit_time_;
    return tlm::TLM_COMPLETED;
  }
  ++misses_;
  const tlm::tlm_sync_enum answer = InterposedStorage::read(payload, phase, delay);
  // Kept only when the value is there at once: one that comes later may be overwritten by then.
  if (answer == tlm::TLM_COMPLETED) keep(e, access, payload);
  return answer;
}

tlm::tlm_sync_enum OperandCache::write(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return InterposedStorage::write(payload, phase, delay);
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  const tlm::tlm_sync_enum answer = InterposedStorage::write(payload, phase, delay);
  Entry& e = entry(access);
  const bool present = e.valid && e.reg == access.reg;
  if (answer != tlm::TLM_COMPLETED) {  // held: the storage inside has the word until it has written
    if (present) e.valid = false;
  } else if (payload.get_byte_enable_ptr() == nullptr) {
    keep(e, access, payload);
    ++updates_;
  } else if (present) {  // some lanes: the others stay what they were
    const auto* written = reinterpret_cast<const std::uint32_t*>(payload.get_data_ptr());
    for (protocol::LaneMask lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
      e.value.lane[lane] = written[lane];
    }
    ++updates_;
  }
  return answer;
}

tlm::tlm_sync_enum OperandCache::write_answered(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  Entry& e = entry(access);
  if (e.valid && e.reg == access.reg) e.valid = false;  // read, and kept, while the write was held
  return InterposedStorage::write_answered(payload, phase, delay);
}

void OperandCache::kernel_started(const protocol::KernelContext& context) {
  InterposedStorage::kernel_started(context);
  entries_.clear();
}

void OperandCache::warp_started(const protocol::WarpInfo& warp) {
  InterposedStorage::warp_started(warp);
  const std::size_t first = warp.warp.value() * std::size_t{config_.entries};
  if (entries_.size() < first + config_.entries) entries_.resize(first + config_.entries);
  for (unsigned i = 0; i < config_.entries; ++i) entries_[first + i].valid = false;
}

void OperandCache::register_stats(support::StatGroup& g) {
  g.counter("hits", hits_, "warp registers", "reads answered by the cache");
  g.counter("misses", misses_, "warp registers", "reads passed on to the storage inside");
  g.counter("updates", updates_, "warp registers", "writes that left their value in the cache");
  g.derived(
      "hit_rate", [this] { return hits_ + misses_ == 0 ? 0.0 : double(hits_) / double(hits_ + misses_); }, "ratio",
      "hits per read");
}

// A small array of the register file's cells: the energy table's accesses, scaled to its size.
void OperandCache::register_energy(support::EnergyGroup& g) {
  const support::ArrayGeometry size{double(entries_.size()) * 32 * 4, 1};
  g.event("register_structures", "register_file.read", hits_, 1, size);
  g.event("register_structures", "register_file.write", updates_, 1, size);
  g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace new_block
