// SPDX-License-Identifier: Apache-2.0
//
// The first-level cache of an SM: data of the load-store unit and, write-back, the registers of a staging unit
// (RegLess section 5.2: evicted registers share the L1 with data).
#pragma once

#include <regatta/memory/cache_array.h>
#include <regatta/memory/lookup_ports.h>
#include <regatta/memory/mshr_table.h>
#include <regatta/memory/tlb.h>
#include <regatta/memory/transport.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/holds_work.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace regatta::memory {

/// The reason why a request of the L1 waits.
enum class ReservationFailure : std::uint8_t { mshr, merge, miss_queue, answers };
inline constexpr unsigned reservation_failure_count = 4;

/// Sizes and policies of one L1. Defaults: platform/machines/gtx980.toml, which names their sources.
struct L1Config {
  bool enabled = true;              ///< false: every request goes to the L2
  unsigned size_bytes = 48 * 1024;  ///< bytes
  unsigned line_bytes = 128;
  unsigned ways = 8;
  unsigned mshrs = 32;
  unsigned merge_limit = 8;              ///< requests that may wait for one fetch
  bool sector_merge = false;             ///< fetch only sectors that are not on their way, and wait for all
  unsigned hit_latency = 82;             ///< cycles
  unsigned tags = 1;                     ///< requests per cycle, each for a line
  unsigned sectors = 0;                  ///< sectors per cycle that these have together; 0: any number
  unsigned tag_banks = 0;                ///< banks of the tags, each with one lookup per cycle; 0: any lines
  unsigned miss_queue = 16;              ///< requests waiting to leave for the L2
  unsigned fill_queue = 8;               ///< answers taken from the interconnect
  unsigned response_queue = 16;          ///< answers waiting for the SM
  std::string fill = "line";             ///< "line" | "sector": what a miss of a load fetches
  std::string data_policy = "bypass";    ///< loads of global memory: "bypass" | "cache"
  std::string local_policy = "bypass";   ///< loads of local memory
  std::string texture_policy = "cache";  ///< texture fetches: of an SM without a texture cache of its own
  /// Stores of a class whose loads are cached: "write_evict" | "write_through" | "write_back".
  std::string data_store = "write_evict";
  std::string local_store = "write_evict";
  /// Stores that miss, with "write_through" and "write_back": "no_allocate" | "allocate".
  std::string data_store_miss = "no_allocate";
  std::string local_store_miss = "no_allocate";
  TlbConfig tlb;  ///< between the L1 and the L2

  void declare(support::OptionSet& options);
  /// Throws support::ConfigError with a sentence when the values do not fit together.
  void check() const;
};

/// As many requests per cycle as its LookupPorts permit, and set-associative lines with LRU replacement.
///
/// A hit is answered immediately: TLM_COMPLETED, delay = hit latency. A miss or a request that bypasses the L1 is
/// accepted with TLM_UPDATED / END_REQ (delay one cycle) and answered by BEGIN_RESP. TLM_ACCEPTED means that a resource
/// is missing; END_REQ follows when it is available.
///
///   data_load        policy "cache": allocates, and fetches the whole line or the missing sectors; "bypass": to the L2
///   local_load       the same, with its own policy
///   texture          the same, with its own policy. Stores do not matter: a kernel may not write what it fetches
///   data_store       loads not cached: to the L2. Otherwise by policy:
///   local_store        write_evict    to the L2; the line leaves the L1, written back first if dirty
///                      write_through  to the L2; the line stays, with the sectors written
///                      write_back     the sectors become dirty, answered like a hit
///                    the latter two allocate a line without a fetch; a write-back store that misses and does not
///                    allocate goes to the L2
///   atomic           performed at the L2, otherwise like write_evict
///   register_read    read-allocate; carries the line
///   register_write   write-back, allocated without a fetch; whole lines only; the line holds the bytes
///                    both with bypass_l1: to the L2, and no line stays
///   register_invalidate  the line is dropped without a write-back
///   instruction, metadata  to the L2
class L1Cache final : public sc_core::sc_module,
                      public NonBlockingTarget,
                      public NonBlockingInitiator,
                      public support::StatProvider,
                      public support::HoldsWork {
 public:
  protocol::MemoryTargetSocket upstream;
  protocol::MemoryInitiatorSocket downstream;

  L1Cache(const sc_core::sc_module_name& name, const L1Config& config, support::ClockDomain& clock);

  /// Kernel boundary: data lines are dropped, register lines stay. Loads in flight are not installed. Dirty global
  /// lines leave as fast as the miss queue accepts them; dirty local lines are dead with their threads.
  void invalidate_data();
  /// Kernel boundary, after invalidate_data(): the cache has `bytes` from now on, all of it if 0, and gives up ways for
  /// that. Register lines in them are dropped: their warps have ended. Throws support::ConfigError if `bytes` is not a
  /// whole number of ways or is larger than l1.size_bytes.
  void use_bytes(std::uint64_t bytes);
  /// Its own payloads (fetches and write-backs) in flight.
  std::size_t outstanding() const { return pool_.outstanding(); }
  /// Requests accepted so far, of all classes.
  std::uint64_t requests() const { return std::accumulate(accesses_.begin(), accesses_.end(), std::uint64_t{0}); }
  /// Nothing is queued, waiting or in flight.
  bool idle() const;
  std::string held_work() const override;
  bool work_is_due() const override { return wakeup_.is_due() && !idle(); }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const protocol::MemoryRequestRules& rules() const override { return rules_; }

  const protocol::MemoryRequestRules rules_;
  const protocol::AnswerRules answer_rules_;
  enum class Admission : std::uint8_t { completed, taken, refused };
  enum class Store : std::uint8_t { evict, through, back };
  /// The policy for a class of data.
  struct Policy {
    bool cached = false;
    Store store = Store::evict;
    bool allocate = false;
  };
  static Policy policy(const std::string& loads, const std::string& stores, const std::string& store_miss);
  const Policy& policy_of(protocol::AccessClass c) const {
    return c == protocol::AccessClass::local_load || c == protocol::AccessClass::local_store ? local_ : data_;
  }
  Admission refuse(ReservationFailure reason) {
    reason_ = reason;
    return Admission::refused;
  }
  void count_failure(std::uint64_t now) {
    ++all_failures_;
    ++failures_[static_cast<unsigned>(reason_)];
    refused_at_ = now;
    refused_for_ = reason_;
  }

  void work();
  void catch_up(std::uint64_t now);
  bool fill(Payload& payload, std::uint64_t now);
  std::uint32_t waits_next(Payload& waiter) const;
  void install(Payload& payload, std::uint8_t sectors, bool registers, std::uint64_t now);
  Admission admit(Payload& payload, protocol::MemoryAccess& access, std::uint64_t now);
  Admission admit_read(Payload& payload, protocol::MemoryAccess& access, bool registers, std::uint64_t now);
  Admission admit_store(Payload& payload, const protocol::MemoryAccess& access, const Policy& policy,
                        std::uint64_t now);
  Admission store_here(Payload& payload, const protocol::MemoryAccess& access, std::size_t index);
  void write_back(std::size_t index, std::uint64_t now);
  void flush(std::uint64_t now);
  Admission admit_register_write(Payload& payload, std::uint64_t now);
  Admission forward(Payload& payload, const protocol::MemoryAccess& access, std::uint64_t now);
  bool make_room(std::size_t index, std::uint64_t now);
  void drop(std::uint64_t address, bool registers_too);
  /// Frees a way whose dirty sectors are no longer needed.
  void discard(std::size_t index);
  void make_dirty(CacheArray::Line& line, std::uint8_t sectors);
  /// Counts the sectors that a request moves, read or written.
  void count(const protocol::MemoryAccess& access, unsigned bytes) {
    ++accesses_[static_cast<unsigned>(access.access)];
    class_bytes_[static_cast<unsigned>(access.access)] += bytes;
    ++busy_cycles_;
  }
  unsigned bytes_of(const protocol::MemoryAccess& access) const {
    return count_sectors(access.sectors & all_sectors_) * protocol::sector_bytes;
  }
  std::uint64_t data_bytes() const;
  std::uint64_t dirty_bytes() const;
  void close_fetches(std::uint64_t address);
  void copy_line(std::size_t index, Payload& to) const;
  void store_line(std::size_t index, const Payload& from);
  void retry_held(std::uint64_t now);
  /// Whether a request to the L2 finds a place: with a TLB, among those that wait for a translation or for the miss
  /// queue.
  bool way_down(std::uint64_t now) const {
    return tlb_.enabled() ? translating_.size() < config_.tlb.queue : misses_.has_room(now);
  }
  void send_down(Payload& payload, std::uint64_t now);
  void send_translated(Payload& payload, std::uint64_t now);
  bool take_translations(std::uint64_t now);
  void send_down_at(Payload& payload, std::uint64_t now, std::uint64_t at);
  bool pass_up(Payload& payload, std::uint64_t now, std::uint64_t at);
  bool send_request(std::uint64_t now);
  bool send_response(std::uint64_t now);

  L1Config config_;
  CycleClock clock_;
  support::CycleClient wakeup_{clock_.domain(), [](void* m) { static_cast<L1Cache*>(m)->work(); }, this};
  Policy data_, local_;
  bool texture_cached_;
  bool sectored_;
  std::uint8_t all_sectors_;
  std::uint16_t sm_ = 0;  // of the last write; names the write-backs
  CacheArray tags_;
  std::vector<unsigned char> bytes_;
  MshrTable mshrs_;
  protocol::MemoryPayloadPool pool_;

  Tlb tlb_;
  struct Translating {
    Payload* payload = nullptr;
    std::uint64_t ready = 0, number = 0;
    bool operator>(const Translating& o) const { return ready != o.ready ? ready > o.ready : number > o.number; }
  };
  // Requests that wait for a translation: a heap, the first to go at its front; those of a page keep their order.
  std::vector<Translating> translating_;
  std::uint64_t translated_ = 0;  ///< requests that have waited
  TransferQueue misses_;          // towards the L2
  TransferArrivals fills_;        // from the L2
  TransferQueue responses_;       // towards the SM
  TransferQueue late_hits_;       // hits of requests that were held, after their latency
  struct Flushed {
    std::uint64_t address = 0;
    std::uint8_t sectors = 0;
  };
  std::vector<Flushed> flushed_;  // dirty lines of the kernel before, last first; their ways are free already
  ReservationFailure reason_ = ReservationFailure::mshr;       // of the last refusal
  ReservationFailure refused_for_ = ReservationFailure::mshr;  ///< of the held request, when it was refused first
  std::uint64_t refused_at_ = 0;
  Payload* held_ = nullptr;  // request without END_REQ
  std::uint64_t held_at_ = 0;
  bool held_counted_ = false;
  Payload* held_fill_ = nullptr;  // response without END_RESP
  std::uint64_t held_fill_at_ = 0;
  // From this cycle on answers of the L1's own may come in between: loads are cached or there are register accesses.
  std::uint64_t own_answers_from_;
  bool moved_ = false;  // catch_up() did something that work() has not yet taken note of
  // The entry of the fill at the head when it is installed and its waiters are being answered.
  std::uint32_t filling_ = MshrTable::none;
  LookupPorts ports_;
  RequestSender requester_;
  ResponseSender responder_;

  std::array<std::uint64_t, protocol::access_class_count> accesses_{}, class_bytes_{};
  std::uint64_t texture_hits_ = 0, texture_misses_ = 0;
  std::uint64_t reads_ = 0, read_hits_ = 0, read_misses_ = 0, merges_ = 0, bypassed_ = 0, sector_misses_ = 0,
                all_failures_ = 0;
  std::array<std::uint64_t, reservation_failure_count> failures_{}, waited_{};
  std::uint64_t writes_ = 0, write_hits_ = 0, write_evicts_ = 0, absorbed_ = 0, array_writes_ = 0, writebacks_ = 0,
                invalidations_ = 0, last_reads_ = 0, fills_count_ = 0, installed_ = 0, not_installed_ = 0;
  std::uint64_t bytes_read_ = 0, bytes_written_ = 0, busy_cycles_ = 0;
  std::uint64_t bytes_fetched_ = 0, bytes_bypassed_ = 0, bytes_absorbed_ = 0, bytes_dirtied_ = 0,
                bytes_written_back_ = 0, bytes_discarded_ = 0;
};

}  // namespace regatta::memory
