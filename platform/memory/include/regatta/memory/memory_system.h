// SPDX-License-Identifier: Apache-2.0
//
// Everything behind the L1s: interconnect, L2 partitions, DRAM channels.
#pragma once

#include <regatta/memory/dram_channel.h>
#include <regatta/memory/interconnect.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/l2_partition.h>
#include <regatta/memory/memory_config.h>
#include <regatta/support/clock_domain.h>

#include <memory>
#include <vector>

namespace regatta::memory {

/// Checks both configurations and their combination; throws support::ConfigError.
void check(const L1Config& l1, const MemorySystemConfig& config);

/// Children: interconnect, `l2_<i>`, `dram_<i>`. Throws support::ConfigError if the configuration does not fit.
class MemorySystem : public sc_core::sc_module {
 public:
  /// One per simulated SM, bound to the L1s' downstream sockets: port i serves the SM with MemoryAccess::sm == i.
  sc_core::sc_vector<protocol::MemoryTargetSocket>& upstream() { return interconnect_->upstream; }

  /// `sm_clocks`: as with Interconnect.
  MemorySystem(const sc_core::sc_module_name& name, const MemorySystemConfig& config, support::ClockDomain& clock,
               const std::vector<support::ClockDomain*>& sm_clocks = {});

  const MemorySystemConfig& config() const { return config_; }
  Interconnect& interconnect() { return *interconnect_; }
  L2Partition& l2(std::size_t i) { return *l2_[i]; }
  DramChannel& dram(std::size_t i) { return *dram_[i]; }
  /// Changes the L2's tags and the DRAM's open rows as an access of data to one line would, without time and uncounted:
  /// for accesses of the past that are not simulated. Only while the memory system is idle.
  void warm(std::uint64_t address, std::uint8_t sectors, protocol::AccessClass access);
  /// Bytes of all partitions together.
  std::uint64_t l2_bytes() const {
    return std::uint64_t{config_.l2.partitions} * config_.partition_sets() * config_.l2.ways * config_.l2.line_bytes;
  }
  /// The L2's own payloads in flight.
  std::size_t outstanding() const;
  /// Nothing is queued, waiting or in flight.
  bool idle() const;

 private:
  MemorySystemConfig config_;
  PartitionMap partitions_;
  std::unique_ptr<Interconnect> interconnect_;
  std::vector<std::unique_ptr<L2Partition>> l2_;
  std::vector<std::unique_ptr<DramChannel>> dram_;
};

}  // namespace regatta::memory
