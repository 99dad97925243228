// SPDX-License-Identifier: Apache-2.0
//
// Configuration of everything behind the L1s, and the quantities that follow from it.
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
  unsigned flit_bytes = 32;      ///< bytes per cycle of an SM's port for requests
  unsigned response_flits = 1;   ///< flits per cycle of an SM's port for answers
  unsigned partition_flits = 4;  ///< flits per cycle of a partition's port, per direction
  unsigned header_flits = 1;     ///< header of a packet; a read request is only the header
  unsigned header_bytes = 0;     ///< header that shares a flit with the first data; 0: header_flits flits of its own
  unsigned mask_flits = 0;       ///< byte mask of a store that leaves bytes of its sectors out; 0: has none
  unsigned latency = 24;         ///< cycles of a one-flit packet from port to port
  unsigned queue = 8;            ///< packets a port holds before it exerts back-pressure
};

struct L2Config {
  std::uint64_t size_bytes = 2 * 1024 * 1024;  ///< capacity of the whole machine
  unsigned partitions = 4;
  unsigned line_bytes = 128;
  unsigned ways = 8;
  unsigned banks = 4;         ///< per partition; a bank moves one sector per cycle
  unsigned mshrs = 256;       ///< per partition
  unsigned merge_limit = 16;  ///< requests that may wait for one fetch
  bool sector_merge = false;  ///< fetch only sectors that are not on their way, and wait for all
  unsigned queue = 8;         ///< requests a partition can hold
  unsigned response_queue = 8;
  unsigned dram_queue = 16;  ///< fetches and write-backs on their way to DRAM
  /// Minimum load latency of a one-sector hit, load-store unit to load-store unit, with an idle machine, in cycles.
  unsigned latency = 216;
  unsigned interleave_bytes = 256;      ///< consecutive bytes in one partition
  std::string store = "write_back";     ///< "write_back" | "write_through"; registers are always written back
  std::string store_miss = "allocate";  ///< "allocate" | "no_allocate": stores that miss
  std::string hash = "xor";             ///< "xor" | "modulo": distribution of chunks over the partitions
};

/// The whole configuration. If fewer SMs are simulated than the machine has, L2 capacity and DRAM bandwidth shrink in
/// proportion, unless `extent` is "whole", and latencies stay the same. Defaults: platform/machines/gtx980.toml, which
/// names their sources.
struct MemorySystemConfig {
  InterconnectConfig interconnect;
  L2Config l2;
  DramConfig dram;
  std::string extent = "share";  ///< "share" | "whole": of L2 and DRAM, what the simulated SMs have
  unsigned machine_sms = 16;     ///< set by the assembly
  unsigned simulated_sms = 1;    ///< set by the assembly
  unsigned clock_mhz = 1126;     ///< set by the assembly

  void declare(support::OptionSet& options);
  /// Throws support::ConfigError with a message if the values do not fit together.
  void check() const;

  // Derived quantities.
  unsigned packet_flits(unsigned sectors) const;
  unsigned store_flits(unsigned sectors, bool partial) const;
  /// The SMs whose part of L2 and DRAM there is.
  unsigned served_sms() const { return extent == "whole" ? machine_sms : simulated_sms; }
  /// Sets of one partition after scaling; at least one.
  std::size_t partition_sets() const;
  /// Cycles from the acceptance of a request by a partition to its answer on a hit, such that l2.latency results.
  std::int64_t l2_access_cycles() const;
  /// SM cycles from the acceptance of a read by a channel to its first data with an open row, such that dram.latency
  /// results.
  std::int64_t dram_access_cycles() const;
  /// The part of it that is not the column access but a constant delay in the controller; all of it with a fixed access
  /// time.
  std::int64_t dram_pipeline_cycles() const;
  /// Bandwidth of one partition's channel after scaling, as a reduced ratio: per SM cycle, and per command cycle.
  Bandwidth channel_bandwidth() const;
  Bandwidth dram_bandwidth() const;
  ClockRatio dram_clock() const { return ClockRatio(clock_mhz, dram.clock_mhz); }
  PartitionMap partition_map() const { return PartitionMap(l2.interleave_bytes, l2.partitions, l2.hash == "xor"); }
};

}  // namespace regatta::memory
