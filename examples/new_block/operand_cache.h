// SPDX-License-Identifier: Apache-2.0
//
// A last-value operand cache in front of an operand storage: every warp has a few entries, direct-mapped by register
// number, that hold its most recently read and written registers. A hit never reaches the storage inside, so its
// banks see less traffic. Write-through, so the storage inside is always right.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/support/config.h>
#include <regatta/support/stats.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

namespace new_block {

namespace protocol = regatta::protocol;
namespace support = regatta::support;

struct OperandCacheConfig {
  unsigned entries = 4;  ///< per warp
  unsigned latency = 1;  ///< cycles of a hit

  /// Knobs operand_cache.*.
  void declare(support::OptionSet& options);
};

class OperandCache : public sc_core::sc_module, public protocol::OperandStorage, public support::StatProvider {
 public:
  OperandCache(const sc_core::sc_module_name& name, const OperandCacheConfig& config,
               std::unique_ptr<protocol::OperandStorage> inside, sc_core::sc_time clock_period);

  protocol::OperandTargetSocket& read_socket() override { return reads_; }
  protocol::OperandTargetSocket& write_socket() override { return writes_; }
  std::uint64_t capacity_registers() const override { return inside_->capacity_registers(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Entry {
    bool valid = false;
    protocol::RegisterId reg;
    protocol::WarpValue value;
  };
  tlm::tlm_sync_enum read(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum write(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum read_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum write_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  Entry& entry(const protocol::WarpAccess& access);
  void keep(Entry& entry, const protocol::WarpAccess& access, const tlm::tlm_generic_payload& payload);

  OperandCacheConfig config_;
  std::unique_ptr<protocol::OperandStorage> inside_;
  sc_core::sc_time hit_time_;
  tlm_utils::simple_target_socket<OperandCache, 1024> reads_, writes_;
  tlm_utils::simple_initiator_socket<OperandCache, 1024> inside_reads_, inside_writes_;
  std::vector<Entry> entries_;  ///< warp slot after warp slot
  std::uint64_t hits_ = 0, misses_ = 0, updates_ = 0;
};

}  // namespace new_block
