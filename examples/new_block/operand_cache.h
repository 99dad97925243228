// SPDX-License-Identifier: Apache-2.0
//
// A last-value operand cache in front of an operand storage: every warp has a few entries, direct-mapped by register
// number, that hold its most recently read and written registers. A hit never reaches the storage inside, so its
// banks see less traffic. Write-through, so the storage inside is always right.
#pragma once

#include <regatta/protocol/interposed_storage.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/stats.h>

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

class OperandCache : public protocol::InterposedStorage, public support::StatProvider {
 public:
  OperandCache(const sc_core::sc_module_name& name, const OperandCacheConfig& config,
               std::unique_ptr<protocol::OperandStorage> inside, const support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Entry {
    bool valid = false;
    protocol::RegisterId reg;
    protocol::WarpValue value;
  };
  tlm::tlm_sync_enum read(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum write(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum write_answered(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  Entry& entry(const protocol::WarpAccess& access);
  void keep(Entry& entry, const protocol::WarpAccess& access, const Payload& payload);

  OperandCacheConfig config_;
  sc_core::sc_time hit_time_;
  std::vector<Entry> entries_;  ///< warp slot after warp slot
  std::uint64_t hits_ = 0, misses_ = 0, updates_ = 0;
};

}  // namespace new_block
