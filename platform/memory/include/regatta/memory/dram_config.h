// SPDX-License-Identifier: Apache-2.0
//
// Configuration of the DRAM channels.
#pragma once

#include <regatta/support/config.h>

#include <cstdint>
#include <string>

namespace regatta::memory {

/// Distances between the commands of a channel, in cycles of its command clock. Defaults: those of
/// platform/machines/gtx980.toml, from GPGPU-Sim's TITAN X.
struct DramTiming {
  unsigned ccd = 2;   ///< column command to column command
  unsigned rrd = 8;   ///< activate to activate, different banks
  unsigned rcd = 16;  ///< activate to column command
  unsigned ras = 37;  ///< activate to precharge
  unsigned rp = 16;   ///< precharge to activate
  unsigned rc = 52;   ///< activate to activate, same bank
  unsigned cl = 16;   ///< read to its first data
  unsigned wl = 6;    ///< write to its first data
  unsigned cdlr = 7;  ///< last data of a write to a read
  unsigned wr = 16;   ///< last data of a write to the precharge of its bank
};

struct DramConfig {
  std::uint64_t bandwidth = 224000;  ///< of the whole machine, 10^6 bytes per second
  unsigned queue = 32;               ///< entries per partition
  /// Minimum load latency of an L2 miss, load-store unit to load-store unit, idle machine, without the time that the
  /// sectors take on the DRAM bus, in SM cycles. Minimum: the row is open. A closed row costs timing.rcd more, another
  /// row timing.rp + timing.rcd. With scheduler "fixed": of every miss.
  unsigned latency = 350;
  /// "fr_fcfs": of a bank's requests first those to its open row, of the banks' the one that can go first; "fcfs": the
  /// data of all requests in the order of arrival; "fixed": in order with one access time, no banks, no timing.
  std::string scheduler = "fr_fcfs";
  unsigned clock_mhz = 1753;  ///< command clock
  unsigned banks = 16;        ///< of a channel
  unsigned row_bytes = 4096;  ///< of a channel's row
  /// "xor": rows over banks, the bank permuted by the row's low bits; "row_bank_column": rows over banks;
  /// "row_column_bank": consecutive pieces of l2.interleave_bytes over banks.
  std::string mapping = "xor";
  unsigned starvation_limit = 32;  ///< younger requests that may be served before the oldest one
  unsigned turnaround = 2;         ///< command cycles that the data bus rests between a read and a write
  DramTiming timing;

  bool fixed() const { return scheduler == "fixed"; }
  void declare(support::OptionSet& options);
  /// Throws support::ConfigError with a sentence when the values do not fit together.
  void check() const;
};

/// A bandwidth as an exact ratio: bytes per cycles of the clock that is meant.
struct Bandwidth {
  std::uint64_t bytes = 1;
  std::uint64_t cycles = 1;
};

/// Cycles of the SM clock and of a channel's command clock, converted exactly: no rounding accumulates.
class ClockRatio {
 public:
  ClockRatio(std::uint64_t sm_mhz, std::uint64_t dram_mhz);
  /// The first command cycle that begins in or after SM cycle `sm`.
  std::uint64_t first_in(std::uint64_t sm) const { return (sm * dram_ + sm_ - 1) / sm_; }
  /// The SM cycle in which a command cycle begins.
  std::uint64_t sm_cycle_of(std::uint64_t dram) const { return dram * sm_ / dram_; }
  /// The first SM cycle that begins when a command cycle does, or after.
  std::uint64_t sm_cycle_after(std::uint64_t dram) const { return (dram * sm_ + dram_ - 1) / dram_; }

 private:
  std::uint64_t sm_, dram_;
};

}  // namespace regatta::memory
