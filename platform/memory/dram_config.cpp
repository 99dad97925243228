// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/dram_config.h>

#include <numeric>

namespace regatta::memory {

using support::ConfigError;

namespace {

constexpr unsigned longest = 4096;  // command cycles: the ring of reserved command slots is sized by the sum

void check_range(const std::string& name, unsigned value, unsigned least) {
  if (value < least || value > longest) {
    throw ConfigError(name + " is " + std::to_string(value) + ": expected " + std::to_string(least) + " to " +
                      std::to_string(longest) + " command cycles");
  }
}

}  // namespace

void DramConfig::declare(support::OptionSet& o) {
  o.add("dram.bandwidth", bandwidth, "10^6 bytes/s", "10^6 bytes/s of the whole machine; scaled to the simulated SMs",
        1, 1000000000);
  o.add("dram.queue", queue, "entries", "requests that a DRAM channel holds before it exerts back-pressure", 1,
        1u << 16);
  o.add("dram.latency", latency, "cycles",
        "minimum load latency of an L2 miss with an open row, from load-store unit to load-store unit, without the "
        "time on the DRAM bus",
        1, 1000000);
  o.add("dram.scheduler", scheduler, "order in which a channel serves its queue; fixed: one access time, no banks",
        {"fr_fcfs", "fcfs", "fixed"});
  o.add("dram.clock_mhz", clock_mhz, "MHz", "command clock of the DRAM; the unit of its timing parameters", 1, 100000);
  o.add("dram.banks", banks, "banks", "banks per channel", 1, 1024);
  o.add("dram.row_bytes", row_bytes, "bytes", "row size of a channel", 32, 1u << 24);
  o.add("dram.mapping", mapping, "mapping of addresses to the banks of a channel",
        {"xor", "row_bank_column", "row_column_bank"});
  o.add("dram.starvation_limit", starvation_limit, "requests",
        "younger requests that fr_fcfs may serve before the oldest one", 0, 1u << 20);
  o.add("dram.turnaround", turnaround, "command cycles",
        "command cycles that the data bus idles between a read and a write", 0, longest);
  o.add("dram.ccd", timing.ccd, "command cycles", "command cycles from column command to column command", 1, longest);
  o.add("dram.rrd", timing.rrd, "command cycles", "command cycles from activate to activate, different banks", 1,
        longest);
  o.add("dram.rcd", timing.rcd, "command cycles", "command cycles from activate to column command", 1, longest);
  o.add("dram.ras", timing.ras, "command cycles", "command cycles from activate to precharge", 1, longest);
  o.add("dram.rp", timing.rp, "command cycles", "command cycles from precharge to activate", 1, longest);
  o.add("dram.rc", timing.rc, "command cycles", "command cycles from activate to activate, same bank", 1, longest);
  o.add("dram.cl", timing.cl, "command cycles", "command cycles from a read to its first data", 1, longest);
  o.add("dram.wl", timing.wl, "command cycles", "command cycles from a write to its first data", 0, longest);
  o.add("dram.cdlr", timing.cdlr, "command cycles", "command cycles from the last data of a write to a read", 0,
        longest);
  o.add("dram.wr", timing.wr, "command cycles",
        "command cycles from the last data of a write to the precharge of its bank", 0, longest);
}

void DramConfig::check() const {
  if (bandwidth == 0) throw ConfigError("dram.bandwidth is 0: expected at least 1");
  if (queue == 0) throw ConfigError("dram.queue is 0: expected at least 1");
  if (scheduler != "fr_fcfs" && scheduler != "fcfs" && scheduler != "fixed") {
    throw ConfigError("dram.scheduler is '" + scheduler + "': expected 'fr_fcfs', 'fcfs' or 'fixed'");
  }
  if (mapping != "xor" && mapping != "row_bank_column" && mapping != "row_column_bank") {
    throw ConfigError("dram.mapping is '" + mapping + "': expected 'xor', 'row_bank_column' or 'row_column_bank'");
  }
  if (clock_mhz == 0) throw ConfigError("dram.clock_mhz is 0: expected at least 1");
  if (banks == 0 || banks > 1024) {
    throw ConfigError("dram.banks is " + std::to_string(banks) + ": expected 1 to 1024");
  }
  if (mapping == "xor" && (banks & (banks - 1)) != 0) {
    throw ConfigError("dram.banks is " + std::to_string(banks) +
                      ": expected a power of two with dram.mapping 'xor'; 'row_bank_column' takes any number");
  }
  check_range("dram.ccd", timing.ccd, 1);
  check_range("dram.rrd", timing.rrd, 1);
  check_range("dram.rcd", timing.rcd, 1);
  check_range("dram.ras", timing.ras, 1);
  check_range("dram.rp", timing.rp, 1);
  check_range("dram.rc", timing.rc, 1);
  check_range("dram.cl", timing.cl, 1);
  check_range("dram.wl", timing.wl, 0);
  check_range("dram.cdlr", timing.cdlr, 0);
  check_range("dram.wr", timing.wr, 0);
  check_range("dram.turnaround", turnaround, 0);
}

ClockRatio::ClockRatio(std::uint64_t sm_mhz, std::uint64_t dram_mhz) {
  const std::uint64_t divisor = std::gcd(sm_mhz, dram_mhz);
  sm_ = sm_mhz / divisor;
  dram_ = dram_mhz / divisor;
}

}  // namespace regatta::memory
