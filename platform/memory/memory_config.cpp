// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_config.h>

#include <algorithm>
#include <numeric>

namespace regatta::memory {
namespace {

using support::ConfigError;

bool power_of_two(std::uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

void check_line(const std::string& name, unsigned bytes) {
  if (!power_of_two(bytes) || bytes < protocol::sector_bytes || bytes > 8 * protocol::sector_bytes) {
    throw ConfigError(name + " is " + std::to_string(bytes) + ": expected a power of two from 32 to 256 bytes");
  }
}

void check_positive(const std::string& name, std::uint64_t value) {
  if (value == 0) throw ConfigError(name + " is 0: expected at least 1");
}

void check_class(const std::string& name, const std::string& loads, const std::string& stores,
                 const std::string& store_miss) {
  if (loads != "bypass" && loads != "cache") {
    throw ConfigError("l1." + name + "_policy is '" + loads + "': expected 'bypass' or 'cache'");
  }
  if (stores != "write_evict" && stores != "write_through" && stores != "write_back") {
    throw ConfigError("l1." + name + "_store is '" + stores +
                      "': expected 'write_evict', 'write_through' or 'write_back'");
  }
  if (store_miss != "no_allocate" && store_miss != "allocate") {
    throw ConfigError("l1." + name + "_store_miss is '" + store_miss + "': expected 'no_allocate' or 'allocate'");
  }
  if (stores == "write_back" && loads == "bypass") {
    throw ConfigError("l1." + name + "_store is 'write_back' and l1." + name +
                      "_policy is 'bypass': loads would pass by what the stores left in the L1; expected 'cache'");
  }
}

// Cycles of a load that hits the L2 outside the partition: one in the L1's miss queue, one per hop (L1 to
// interconnect, interconnect to L2, L2 to interconnect, interconnect to L1, L1 to SM), and the crossings.
std::int64_t cycles_outside_l2(const MemorySystemConfig& c) {
  return 6 + 2 * std::int64_t{c.interconnect.latency} + (c.packet_flits(0) - 1) +
         ((c.packet_flits(1) + c.interconnect.response_flits - 1) / c.interconnect.response_flits - 1);
}
// Cycles of a miss from the partition's taking of the request to its answer, without those of the DRAM channel: queue
// and hop to DRAM, hop back, fill.
constexpr std::int64_t cycles_around_dram = 4;

Bandwidth reduced(std::uint64_t bytes, std::uint64_t cycles) {
  const std::uint64_t divisor = std::gcd(bytes, cycles);
  return {bytes / divisor, cycles / divisor};
}

}  // namespace

void L1Config::declare(support::OptionSet& o) {
  o.add("l1.enabled", enabled, "use the L1; false: every request goes to the L2");
  o.add("l1.size_bytes", size_bytes, "bytes", "capacity of an SM's L1", 32, 1u << 30);
  o.add("l1.line_bytes", line_bytes, "bytes", "line size of the L1; must equal the L2's", 32, 256);
  o.add("l1.ways", ways, "ways", "associativity of the L1", 1, 1u << 16);
  o.add("l1.mshrs", mshrs, "entries", "lines that the L1 can fetch at a time", 1, 1u << 16);
  o.add("l1.merge_limit", merge_limit, "requests", "requests that may wait for one fetch of the L1", 1, 1024);
  o.add("l1.sector_merge", sector_merge,
        "in the L1, a read of which some sectors are on their way fetches only the others and waits for all; "
        "false: it fetches all that it misses, unless one fetch brings them all");
  o.add("l1.hit_latency", hit_latency, "cycles", "cycles from request to answer on a hit", 1, 100000);
  o.add("l1.tags", tags, "lines", "lines of accesses that the L1 looks up per cycle", 1, 32);
  o.add("l1.sectors", sectors, "sectors",
        "sectors of those accesses that the L1 reads or writes per cycle; 0: any number", 0, 256);
  o.add("l1.tag_banks", tag_banks, "banks",
        "banks of the L1's tags, each of which looks up one line per cycle; 0: any lines together", 0, 32);
  o.add("l1.miss_queue", miss_queue, "entries", "requests of the L1 that may wait for the interconnect", 1, 1u << 16);
  o.add("l1.fill_queue", fill_queue, "entries", "fills that the L1 holds before it exerts back-pressure", 1, 1u << 16);
  o.add("l1.response_queue", response_queue, "entries", "answers of the L1 that may wait for the SM", 1, 1u << 16);
  const std::vector<std::string> stores{"write_evict", "write_through", "write_back"};
  const std::vector<std::string> misses{"no_allocate", "allocate"};
  o.add("l1.fill", fill, "fetch the whole line on a miss, or only the missing sectors", {"line", "sector"});
  o.add("l1.data_policy", data_policy, "loads of global memory bypass the L1 (gtx980) or are cached in it",
        {"bypass", "cache"});
  o.add("l1.local_policy", local_policy, "loads of local memory bypass the L1 or are cached in it",
        {"bypass", "cache"});
  o.add("l1.texture_policy", texture_policy, "texture fetches bypass the L1 or are cached in it", {"bypass", "cache"});
  o.add("l1.data_store", data_store, "policy for stores to global memory, if its loads are cached", stores);
  o.add("l1.local_store", local_store, "policy for stores to local memory, if its loads are cached", stores);
  o.add("l1.data_store_miss", data_store_miss,
        "whether a store to global memory allocates a line on a miss (not with write_evict)", misses);
  o.add("l1.local_store_miss", local_store_miss,
        "whether a store to local memory allocates a line on a miss (not with write_evict)", misses);
  o.add("tlb.entries", tlb.entries, "pages",
        "pages of an SM's TLB, for data that the L1 sends to the L2; 0: no translation", 0, 1u << 20);
  o.add("tlb.page_bytes", tlb.page_bytes, "bytes", "size of a page of the TLB", 256, std::uint64_t{1} << 40);
  o.add("tlb.latency", tlb.latency, "cycles", "cycles of a TLB miss that the second level answers", 1, 100000);
  o.add("tlb.queue", tlb.queue, "entries", "requests that may wait for a translation", 1, 1u << 16);
  o.add("tlb.second_entries", tlb.second_entries, "pages",
        "pages of the TLB's second level, of which each SM has one; 0: it has all pages from the start", 0, 1u << 20);
  o.add("tlb.second_page_bytes", tlb.second_page_bytes, "bytes", "size of a page of the TLB's second level", 256,
        std::uint64_t{1} << 40);
  o.add("tlb.walk_latency", tlb.walk_latency, "cycles", "further cycles of a miss of the TLB's second level", 1,
        100000);
  o.add("tlb.walks", tlb.walks, "walks", "misses of the TLB's second level that an SM can have under way", 1, 4096);
}

void L1Config::check() const {
  check_line("l1.line_bytes", line_bytes);
  check_positive("l1.ways", ways);
  check_positive("l1.mshrs", mshrs);
  check_positive("l1.merge_limit", merge_limit);
  check_positive("l1.hit_latency", hit_latency);
  check_positive("l1.tags", tags);
  if (sectors != 0 && sectors * protocol::sector_bytes < line_bytes) {
    throw ConfigError("l1.sectors is " + std::to_string(sectors) + ": expected 0 or at least the " +
                      std::to_string(line_bytes / protocol::sector_bytes) + " of a line");
  }
  if (tag_banks != 0 && !power_of_two(tag_banks)) {
    throw ConfigError("l1.tag_banks is " + std::to_string(tag_banks) + ": expected 0 or a power of two up to 32");
  }
  if (!power_of_two(tlb.page_bytes) || tlb.page_bytes < line_bytes) {
    throw ConfigError("tlb.page_bytes is " + std::to_string(tlb.page_bytes) +
                      ": expected a power of two of at least l1.line_bytes = " + std::to_string(line_bytes));
  }
  if (!power_of_two(tlb.second_page_bytes) || tlb.second_page_bytes < tlb.page_bytes) {
    throw ConfigError("tlb.second_page_bytes is " + std::to_string(tlb.second_page_bytes) +
                      ": expected a power of two of at least tlb.page_bytes = " + std::to_string(tlb.page_bytes));
  }
  check_positive("tlb.queue", tlb.queue);
  if (tlb.second_entries != 0) check_positive("tlb.walks", tlb.walks);
  check_positive("l1.miss_queue", miss_queue);
  check_positive("l1.fill_queue", fill_queue);
  check_positive("l1.response_queue", response_queue);
  if (size_bytes < std::uint64_t{line_bytes} * ways || size_bytes % (std::uint64_t{line_bytes} * ways) != 0) {
    throw ConfigError("l1.size_bytes is " + std::to_string(size_bytes) + ": expected a multiple of l1.ways x " +
                      "l1.line_bytes = " + std::to_string(std::uint64_t{line_bytes} * ways));
  }
  if (fill != "line" && fill != "sector") {
    throw ConfigError("l1.fill is '" + fill + "': expected 'line' or 'sector'");
  }
  check_class("data", data_policy, data_store, data_store_miss);
  check_class("local", local_policy, local_store, local_store_miss);
}

void MemorySystemConfig::declare(support::OptionSet& o) {
  o.add("interconnect.flit_bytes", interconnect.flit_bytes, "bytes",
        "width of an SM's port for requests: bytes per cycle", 1, 4096);
  o.add("interconnect.response_flits", interconnect.response_flits, "flits",
        "width of an SM's port for answers: flits per cycle", 1, 64);
  o.add("interconnect.partition_flits", interconnect.partition_flits, "flits",
        "width of a partition's port: flits per cycle and direction", 1, 1024);
  o.add(
      "interconnect.header_flits", interconnect.header_flits, "flits",
      "header flits of a packet, before its data; 0: headers have wires of their own, and a packet has a flit at least",
      0, 64);
  o.add("interconnect.header_bytes", interconnect.header_bytes, "bytes",
        "header of a packet, in one flit with the first of its data; 0: interconnect.header_flits flits without data",
        0, 1024);
  o.add("interconnect.mask_flits", interconnect.mask_flits, "flits",
        "byte mask behind the data of a store from the SM's load-store unit that does not write its sectors whole; the "
        "headers of stores then have wires of their own. 0: stores have headers like other packets, and no masks",
        0, 64);
  o.add("interconnect.latency", interconnect.latency, "cycles", "latency of a one-flit packet", 1, 100000);
  o.add("interconnect.queue", interconnect.queue, "packets", "packets that a port holds before it exerts back-pressure",
        1, 1u << 16);
  o.add(
      "machine.memory", extent,
      "L2 and DRAM, if fewer SMs are simulated than the machine has: their share of the capacity and bandwidth, or all "
      "of it",
      {"share", "whole"});
  o.add("l2.size_bytes", l2.size_bytes, "bytes", "L2 capacity of the whole machine; scaled as machine.memory says", 32,
        std::uint64_t{1} << 32);
  o.add("l2.partitions", l2.partitions, "partitions", "L2 slices, each with a DRAM channel", 1, 1024);
  o.add("l2.line_bytes", l2.line_bytes, "bytes", "line size of the L2", 32, 256);
  o.add("l2.ways", l2.ways, "ways", "associativity of the L2", 1, 1024);
  o.add("l2.banks", l2.banks, "banks", "banks per partition; each moves one sector per cycle", 1, 1024);
  o.add("l2.mshrs", l2.mshrs, "entries", "fetches that a partition can have in flight", 1, 1u << 16);
  o.add("l2.merge_limit", l2.merge_limit, "requests", "requests that may wait for one fetch of the L2", 1, 1024);
  o.add("l2.sector_merge", l2.sector_merge,
        "in the L2, a read of which some sectors are on their way fetches only the others and waits for all; "
        "false: it fetches all that it misses, unless one fetch brings them all");
  o.add("l2.queue", l2.queue, "entries", "requests that a partition holds before it exerts back-pressure", 1, 1u << 16);
  o.add("l2.response_queue", l2.response_queue, "entries", "answers of a partition that may wait behind its pipeline",
        1, 1u << 16);
  o.add("l2.dram_queue", l2.dram_queue, "entries", "fetches and write-backs of a partition that may wait for DRAM", 2,
        1u << 16);
  o.add("l2.latency", l2.latency, "cycles",
        "minimum load latency of an L2 hit, from load-store unit to load-store unit", 1, 1000000);
  o.add("l2.interleave_bytes", l2.interleave_bytes, "bytes", "consecutive bytes in one partition", 32, 1u << 30);
  o.add("l2.store", l2.store, "stores mark their sectors dirty, or are also sent to DRAM",
        {"write_back", "write_through"});
  o.add("l2.store_miss", l2.store_miss, "a store that misses allocates a line without a fetch, or goes to DRAM",
        {"allocate", "no_allocate"});
  o.add("l2.hash", l2.hash, "distribution of address chunks over the partitions", {"xor", "modulo"});
  dram.declare(o);
}

void MemorySystemConfig::check() const {
  check_line("l2.line_bytes", l2.line_bytes);
  check_positive("interconnect.flit_bytes", interconnect.flit_bytes);
  check_positive("interconnect.response_flits", interconnect.response_flits);
  check_positive("interconnect.partition_flits", interconnect.partition_flits);
  if (interconnect.header_bytes != 0 && interconnect.header_flits != 1) {
    throw ConfigError("interconnect.header_bytes is " + std::to_string(interconnect.header_bytes) +
                      " and interconnect.header_flits " + std::to_string(interconnect.header_flits) +
                      ": expected one of the two (header_flits = 1)");
  }
  check_positive("interconnect.latency", interconnect.latency);
  check_positive("interconnect.queue", interconnect.queue);
  check_positive("l2.partitions", l2.partitions);
  check_positive("l2.ways", l2.ways);
  check_positive("l2.banks", l2.banks);
  check_positive("l2.mshrs", l2.mshrs);
  check_positive("l2.merge_limit", l2.merge_limit);
  check_positive("l2.queue", l2.queue);
  check_positive("l2.response_queue", l2.response_queue);
  check_positive("the number of the machine's SMs", machine_sms);
  check_positive("the number of simulated SMs", simulated_sms);
  check_positive("the clock in MHz", clock_mhz);
  if (l2.dram_queue < 2)
    throw ConfigError("l2.dram_queue is less than 2: a miss may need a write-back beside its fetch");
  if (simulated_sms > machine_sms) {
    throw ConfigError(std::to_string(simulated_sms) + " SMs to simulate: the machine has " +
                      std::to_string(machine_sms));
  }
  if (l2.interleave_bytes % l2.line_bytes != 0 || l2.interleave_bytes == 0) {
    throw ConfigError("l2.interleave_bytes is " + std::to_string(l2.interleave_bytes) +
                      ": expected a multiple of l2.line_bytes = " + std::to_string(l2.line_bytes));
  }
  if (partition_sets() == 0) {
    const std::uint64_t least =
        (std::uint64_t{l2.ways} * l2.line_bytes * l2.partitions * machine_sms + served_sms() - 1) / served_sms();
    throw ConfigError("l2.size_bytes is " + std::to_string(l2.size_bytes) + ": the share of " +
                      std::to_string(served_sms()) + " of the machine's " + std::to_string(machine_sms) +
                      " SMs is no set of each partition (l2.ways x l2.line_bytes x l2.partitions), expected at least " +
                      std::to_string(least));
  }
  if (l2.hash != "xor" && l2.hash != "modulo") {
    throw ConfigError("l2.hash is '" + l2.hash + "': expected 'xor' or 'modulo'");
  }
  if (l2.store != "write_back" && l2.store != "write_through") {
    throw ConfigError("l2.store is '" + l2.store + "': expected 'write_back' or 'write_through'");
  }
  if (l2.store_miss != "allocate" && l2.store_miss != "no_allocate") {
    throw ConfigError("l2.store_miss is '" + l2.store_miss + "': expected 'allocate' or 'no_allocate'");
  }
  dram.check();
  if (dram.row_bytes % l2.interleave_bytes != 0 || dram.row_bytes == 0) {
    throw ConfigError("dram.row_bytes is " + std::to_string(dram.row_bytes) +
                      ": expected a multiple of l2.interleave_bytes = " + std::to_string(l2.interleave_bytes));
  }
  if (l2_access_cycles() < 1) {
    throw ConfigError("l2.latency is " + std::to_string(l2.latency) +
                      " cycles: the way through the interconnect alone " + "takes " +
                      std::to_string(cycles_outside_l2(*this)) + "; lower interconnect.latency or raise l2.latency");
  }
  if (dram_access_cycles() < 1) {
    throw ConfigError("dram.latency is " + std::to_string(dram.latency) + " cycles: expected at least " +
                      std::to_string(cycles_outside_l2(*this) + cycles_around_dram + 1) +
                      ", as the way to the L2 and back is part of it");
  }
  if (dram_pipeline_cycles() < 0) {
    throw ConfigError("dram.latency is " + std::to_string(dram.latency) + " cycles: expected at least " +
                      std::to_string(dram.latency - dram_pipeline_cycles()) +
                      ", as the way to the L2 and back and dram.cl = " + std::to_string(dram.timing.cl) +
                      " cycles of " + std::to_string(dram.clock_mhz) + " MHz are part of it");
  }
}

unsigned MemorySystemConfig::packet_flits(unsigned sectors) const {
  const auto flits = [this](unsigned bytes) { return (bytes + interconnect.flit_bytes - 1) / interconnect.flit_bytes; };
  const unsigned data = sectors * protocol::sector_bytes;
  return interconnect.header_bytes != 0 ? flits(interconnect.header_bytes + data)
                                        : std::max(1u, interconnect.header_flits + flits(data));
}

unsigned MemorySystemConfig::store_flits(unsigned sectors, bool partial) const {
  if (interconnect.mask_flits == 0 || sectors == 0) return packet_flits(sectors);
  const unsigned data = sectors * protocol::sector_bytes;
  return (data + interconnect.flit_bytes - 1) / interconnect.flit_bytes + (partial ? interconnect.mask_flits : 0);
}

std::size_t MemorySystemConfig::partition_sets() const {
  const std::uint64_t set_bytes = std::uint64_t{l2.ways} * l2.line_bytes * l2.partitions;
  return l2.size_bytes * served_sms() / (machine_sms * set_bytes);
}

std::int64_t MemorySystemConfig::l2_access_cycles() const { return l2.latency - cycles_outside_l2(*this); }

std::int64_t MemorySystemConfig::dram_access_cycles() const {
  return dram.latency - cycles_outside_l2(*this) - cycles_around_dram;
}

std::int64_t MemorySystemConfig::dram_pipeline_cycles() const {
  if (dram.fixed()) return dram_access_cycles();
  return dram_access_cycles() - static_cast<std::int64_t>(dram_clock().sm_cycle_of(dram.timing.cl));
}

Bandwidth MemorySystemConfig::channel_bandwidth() const {
  return reduced(dram.bandwidth * served_sms(), std::uint64_t{clock_mhz} * machine_sms * l2.partitions);
}

Bandwidth MemorySystemConfig::dram_bandwidth() const {
  return reduced(dram.bandwidth * served_sms(), std::uint64_t{dram.clock_mhz} * machine_sms * l2.partitions);
}

}  // namespace regatta::memory
