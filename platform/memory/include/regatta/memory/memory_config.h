// SPDX-License-Identifier: Apache-2.0
//
// Configuration of what lies behind the L1s, and the quantities that follow from it.
#pragma once

#include <regatta/memory/dram_config.h>
#include <regatta/memory/partition_map.h>
#include <regatta/protocol/payload.h>
#include <regatta/support/config.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace regatta::memory {

/// The crossbar between the SMs and the L2 partitions; the same for both directions.
struct InterconnectConfig {
  unsigned flit_bytes = 32;      ///< bytes per cycle of an SM's port, per direction
  unsigned partition_flits = 4;  ///< flits per cycle of a partition's port, per direction
  unsigned header_flits = 1;     ///< of a packet: a read request is the header alone
  unsigned latency = 24;         ///< cycles of a one-flit packet from port to port
  unsigned queue = 8;            ///< packets a port can hold before it is refused
};

struct L2Config {
  std::uint64_t size_bytes = 2 * 1024 * 1024;  ///< of the whole machine
  unsigned partitions = 4;
  unsigned line_bytes = 128;
  unsigned ways = 8;
  unsigned banks = 4;         ///< per partition; a bank moves one sector per cycle
  unsigned mshrs = 256;       ///< per partition
  unsigned merge_limit = 16;  ///< requests that may wait for one fetch
  unsigned queue = 8;         ///< requests a partition can hold
  unsigned response_queue = 8;
  unsigned dram_queue = 16;  ///< fetches and write-backs on their way to DRAM
  /// Minimum load latency of a one-sector hit, load-store unit to load-store unit, with an idle machine, in cycles.
  unsigned latency = 216;
  unsigned interleave_bytes = 256;      ///< consecutive bytes in one partition
  std::string store = "write_back";     ///< "write_back" | "write_through"; registers are always written back
  std::string store_miss = "allocate";  ///< "allocate" | "no_allocate": stores that do not find their line
  std::string hash = "xor";             ///< "xor" | "modulo": how chunks are spread over the partitions
};

/// All of it. With fewer SMs simulated than the machine has, L2 capacity and DRAM bandwidth shrink in proportion
/// and latencies stay. Defaults: platform/machines/gtx980.toml, which names their sources.
struct MemorySystemConfig {
  InterconnectConfig interconnect;
  L2Config l2;
  DramConfig dram;
  unsigned machine_sms = 16;   ///< set by the assembly
  unsigned simulated_sms = 1;  ///< set by the assembly
  unsigned clock_mhz = 1126;   ///< set by the assembly

  void declare(support::OptionSet& options);
  /// Throws support::ConfigError with a sentence when the values do not fit together.
  void check() const;

  // What follows.
  unsigned packet_flits(unsigned sectors) const;
  /// Sets of one partition after scaling; at least one.
  std::size_t partition_sets() const;
  /// Cycles from a partition's taking a request to its answer for a hit, so that l2.latency comes out.
  std::int64_t l2_access_cycles() const;
  /// SM cycles from a channel's taking a read to its first data when the row is open, so that dram.latency comes out.
  std::int64_t dram_access_cycles() const;
  /// What of it is not the column access but a constant way through the controller; all of it with a fixed access time.
  std::int64_t dram_pipeline_cycles() const;
  /// Of one partition's channel, after scaling, reduced: per SM cycle, and per cycle of the command clock.
  Bandwidth channel_bandwidth() const;
  Bandwidth dram_bandwidth() const;
  ClockRatio dram_clock() const { return ClockRatio(clock_mhz, dram.clock_mhz); }
  PartitionMap partition_map() const { return PartitionMap(l2.interleave_bytes, l2.partitions, l2.hash == "xor"); }
};

}  // namespace regatta::memory
