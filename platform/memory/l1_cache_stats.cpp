// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/l1_cache.h>

namespace regatta::memory {

using protocol::AccessClass;

std::uint64_t L1Cache::data_bytes() const {
  std::uint64_t sum = 0;
  for (const AccessClass c : {AccessClass::data_load, AccessClass::local_load, AccessClass::data_store,
                              AccessClass::local_store, AccessClass::atomic, AccessClass::texture}) {
    sum += class_bytes_[static_cast<unsigned>(c)];
  }
  return sum;
}

// Counted from the lines themselves, so that the conservation laws can account for sectors that stores made dirty.
std::uint64_t L1Cache::dirty_bytes() const {
  std::uint64_t sectors = 0;
  for (std::size_t i = 0; i < tags_.size(); ++i) sectors += count_sectors(tags_.line(i).dirty);
  for (const Flushed& f : flushed_) sectors += count_sectors(f.sectors);
  return sectors * protocol::sector_bytes;
}

void L1Cache::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "accesses", "loads, register reads and other reads accepted, including bypassing ones");
  g.counter("read_hits", read_hits_, "accesses", "reads answered by the L1");
  g.counter("read_misses", read_misses_, "accesses", "reads that missed, including merged ones");
  g.counter("mshr_merges", merges_, "accesses", "read misses that joined a fetch in flight");
  g.counter("bypassed_reads", bypassed_, "accesses", "reads that bypassed the L1");
  g.counter("reservation_failures", all_failures_, "accesses", "requests that had to wait, for any reason");
  static const char* const reasons[] = {"for a free MSHR", "as the fetch of their line had all the waiters it can have",
                                        "for a place in the miss queue", "for a place among the answers"};
  static const char* const names[] = {"mshr", "merge", "miss_queue", "answers"};
  for (unsigned r = 0; r < reservation_failure_count; ++r) {
    g.counter(std::string("reservation_failures_") + names[r], failures_[r], "accesses",
              std::string("requests that had to wait ") + reasons[r]);
    g.counter(std::string("waited_") + names[r], waited_[r], "cycles",
              std::string("in which a request waited, first ") + reasons[r]);
  }
  g.counter("texture_hits", texture_hits_, "accesses", "texture fetches answered by the L1");
  g.counter("texture_misses", texture_misses_, "accesses", "texture fetches that missed, including merged ones");
  g.counter("sector_misses", sector_misses_, "accesses", "read misses that found their line without the sectors");
  g.counter("writes", writes_, "accesses", "stores, atomics and register writes accepted");
  g.counter("write_hits", write_hits_, "accesses", "stores, atomics and register writes that found their line");
  g.counter("stores_absorbed", absorbed_, "accesses", "stores and register writes that stayed in the L1 (write-back)");
  g.counter("array_writes", array_writes_, "accesses", "stores and register writes that were kept in a line");
  g.counter("lines_dropped", write_evicts_, "lines",
            "lines dropped by a store, an atomic, a read that bypasses the L1, or an invalidation");
  g.counter("writebacks", writebacks_, "lines", "dirty lines sent to the L2");
  g.counter("last_reads", last_reads_, "lines", "lines dropped when read: register values that are not read again");
  g.counter("invalidations", invalidations_, "accesses", "register invalidations");
  g.counter("fills", fills_count_, "lines", "lines that came from the L2 for a miss");
  g.counter("fills_installed", installed_, "lines",
            "fills installed: not those of last reads, or of lines that a store has changed since");
  g.counter("fills_not_installed", not_installed_, "lines",
            "fills not installed because a dirty victim could not leave");
  g.counter("bytes_read", bytes_read_, "bytes", "sectors requested by reads");
  g.counter("bytes_written", bytes_written_, "bytes", "sectors carried by writes");
  g.counter("bytes_fetched", bytes_fetched_, "bytes", "sectors requested from the L2 for misses");
  g.counter("bytes_bypassed", bytes_bypassed_, "bytes",
            "sectors requested by reads and atomics that were forwarded to the L2");
  g.counter("bytes_absorbed", bytes_absorbed_, "bytes",
            "sectors of the stores and register writes that stayed in the L1");
  g.counter("bytes_dirtied", bytes_dirtied_, "bytes", "sectors that a store or a register write made dirty");
  g.counter("bytes_written_back", bytes_written_back_, "bytes", "dirty sectors sent to the L2");
  g.counter("bytes_discarded", bytes_discarded_, "bytes",
            "dirty sectors discarded: invalidated and last-read registers, local memory of finished threads");
  g.derived(
      "data_bytes", [this] { return double(data_bytes()); }, "bytes", "sectors of loads, stores and atomics accepted");
  g.derived(
      "dirty_bytes", [this] { return double(dirty_bytes()); }, "bytes", "sectors that are dirty now");
  g.counter("busy_cycles", busy_cycles_, "cycles", "cycles in which a request was accepted");
  for (unsigned c = 0; c < protocol::access_class_count; ++c) {
    const std::string name = protocol::to_string(static_cast<AccessClass>(c));
    g.counter("accesses_" + name, accesses_[c], "accesses", "requests of class " + name);
  }
  g.counter("mshrs_max", mshrs_.max_in_use_counter(), "entries", "most MSHRs in use at a time");
  g.counter("miss_queue_max", misses_.max_size_counter(), "entries", "most requests waiting for the interconnect");
  if (tlb_.enabled()) {
    g.counter("tlb_hits", tlb_.hits(), "accesses", "requests to the L2 whose page was in the TLB");
    g.counter("tlb_misses", tlb_.misses(), "accesses", "requests to the L2 whose page was not, including merged ones");
    g.counter("tlb_merges", tlb_.merges(), "accesses", "misses of the TLB that joined one of the same page");
    g.counter("tlb_walks", tlb_.walks(), "accesses", "misses of the TLB's second level");
  }
  g.counter("response_queue_max", responses_.max_size_counter(), "entries", "most answers waiting for the SM");
}

}  // namespace regatta::memory
